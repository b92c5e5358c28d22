/* Maps through the C API: results have them, files have the same, scores stay, and outputs are safe. */
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <check.h>  // after the streams: it defines a macro fail()

#include "base/status.h"
#include "tests/support/check_main.h"
#include "tests/support/encodes.h"
#include "tests/support/stream.h"

using vmafx::format_text;
using namespace vmafx::test;

namespace {

namespace fs = std::filesystem;

constexpr int kFrames = 5;

struct ReceivedMap {
  std::string unit;
  int w, h, block_w, block_h;
  std::vector<double> values;

  double total() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum;
  }
};
using Maps = std::map<std::string, ReceivedMap>;

struct Received {
  int error = 0;
  std::vector<std::vector<Maps>> maps;           // by encode and frame
  std::vector<std::vector<FrameScores>> scores;  // likewise
  std::string log;
};

Maps maps_of(const VmafxFrameResult& result) {
  Maps maps;
  for (size_t i = 0; i < result.n_maps; i++) {
    const VmafxMap& map = result.maps[i];
    const size_t blocks = static_cast<size_t>(map.width) * static_cast<size_t>(map.height);
    maps[map.name] = {map.unit,        map.width,        map.height,
                      map.block_width, map.block_height, {map.values, map.values + blocks}};
  }
  return maps;
}

/* Has its say in a distorted picture before that is scored. */
using Paint = std::function<void(VmafxPicture& dist, const VmafxPicture& ref)>;

constexpr VmafxFormat kFormat = {96, 84, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};

/* Scores a stream, and keeps the maps of results. */
Received score(Params params, int encodes = 1, const VmafxFormat& format = kFormat, const Paint& paint = {}) {
  Encodes stream = {.count = encodes, .frames = kFrames};
  stream.format = format;
  Received received;
  received.maps.resize(static_cast<size_t>(encodes));
  received.scores.resize(static_cast<size_t>(encodes));
  params.log = append_log;
  params.log_cookie = &received.log;
  params.encodes = encodes;
  VmafxContext* ctx = nullptr;
  const auto keep = [&](int ret) {
    if (ret < 0 && ret != -EAGAIN && !received.error) received.error = ret;
    return ret == 0;
  };
  const auto receive = [&] {
    VmafxFrameResult result;
    while (keep(vmafx_receive(ctx, &result))) {
      const size_t encode = static_cast<size_t>(result.encode);
      received.maps[encode].push_back(maps_of(result));
      FrameScores scores;
      for (size_t i = 0; i < result.n_scores; i++) scores[result.scores[i].key] = result.scores[i].value;
      received.scores[encode].push_back(std::move(scores));
    }
  };
  if (!keep(open_context(&ctx, params))) return received;
  const std::vector<VmafxFormat> formats(static_cast<size_t>(encodes), stream.format);
  keep(vmafx_configure_encodes(ctx, &stream.format, formats.data(), encodes));
  for (int frame = 0; frame < kFrames && !received.error; frame++) {
    std::vector<VmafxPicture> pictures;
    for (int encode = 0; encode < encodes; encode++) pictures.push_back(picture(stream.format, frame, encode));
    std::vector<const VmafxPicture*> dist;
    for (const VmafxPicture& made : pictures) dist.push_back(&made);
    const VmafxPicture ref = picture(stream.format, frame, -1);
    for (VmafxPicture& made : pictures)
      if (paint) paint(made, ref);
    keep(vmafx_submit_encodes(ctx, &ref, dist.data(), encodes));
    receive();
  }
  if (!received.error) keep(vmafx_finish(ctx));
  if (vmafx_finished(ctx)) receive();
  vmafx_close(&ctx);
  return received;
}

/* A folder that goes with its owner. */
class Folder {
 public:
  Folder() {
    const char* const root = std::getenv("TMPDIR");
    path_ = std::string(root ? root : "/tmp") + "/vmafx-maps-test-" + std::to_string(getpid());
    fs::remove_all(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<float> floats_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ck_assert_msg(file.good(), "%s is missing", path.c_str());
  std::vector<float> floats(fs::file_size(path) / sizeof(float));
  file.read(reinterpret_cast<char*>(floats.data()), static_cast<std::streamsize>(floats.size() * sizeof(float)));
  return floats;
}

constexpr const char* kFeature = "name=psnr:enable_mse=true|name=xpsnr|name=vif|name=adm";

}  // namespace

START_TEST(results_have_maps) {
  Params params = cpu_params("", kFeature);
  const Received without = score(params);
  for (const Maps& maps : without.maps[0]) ck_assert(maps.empty());
  params.result_maps = 1;
  const Received with = score(params);
  ck_assert_int_eq(with.error, 0);
  ck_assert(with.scores == without.scores);
  ck_assert_uint_eq(with.maps[0].size(), kFrames);
  for (size_t frame = 0; frame < kFrames; frame++) {
    const Maps& maps = with.maps[0][frame];
    ck_assert_uint_eq(maps.size(), 3 + 3 + 4 + 8);
    const ReceivedMap& luma = maps.at("psnr_y");
    ck_assert_str_eq(luma.unit.c_str(), "squared error");
    ck_assert_int_eq(luma.w, 6);
    ck_assert_int_eq(luma.h, 6);  // 84 rows
    ck_assert_int_eq(luma.block_w, 16);
    ck_assert_int_eq(maps.at("psnr_cb").block_h, 32);
    ck_assert(luma.total() / (96 * 84) == with.scores[0][frame].at("mse_y"));
    ck_assert(luma.total() > 0 && maps.at("vif_scale0").total() > 0);
  }
}
END_TEST

START_TEST(frames_that_are_left_out_have_none) {
  Params params = cpu_params("", "name=psnr:enable_apsnr=true");
  params.result_maps = 1;
  params.n_subsample = 2;
  const Received received = score(params);
  for (size_t frame = 0; frame < kFrames; frame++) ck_assert_uint_eq(received.maps[0][frame].size(), frame % 2 ? 0 : 3);
}
END_TEST

START_TEST(files_have_the_maps_of_results) {
  const Folder folder;
  Params params = cpu_params("", kFeature);
  params.result_maps = 1;
  params.maps = folder.path().c_str();
  for (const int encodes : {1, 2}) {
    const Received received = score(params, encodes);
    ck_assert_msg(!received.error, "%s", received.log.c_str());
    for (size_t encode = 0; encode < received.maps.size(); encode++)
      for (const auto& [name, first] : received.maps[encode][0]) {
        const std::string which = encodes > 1 ? format_text("_encode%zu", encode) : "";
        const std::vector<float> floats =
            floats_of(folder.path() + "/" + name + which + format_text("_%dx%d_f32.gray", first.w, first.h));
        ck_assert_uint_eq(floats.size(), kFrames * first.values.size());
        for (size_t i = 0; i < floats.size(); i++) {
          const ReceivedMap& map = received.maps[encode][i / first.values.size()].at(name);
          ck_assert(floats[i] == static_cast<float>(map.values[i % first.values.size()]));
        }
      }
  }
}
END_TEST

/* Several encodes have the maps that each has alone. */
START_TEST(encodes_have_their_own_maps) {
  Params params = cpu_params("", "name=vif|name=psnr");
  params.result_maps = 1;
  const Received both = score(params, 2), one = score(params);
  for (size_t frame = 0; frame < kFrames; frame++)
    for (const auto& [name, map] : one.maps[0][frame]) {
      ck_assert(both.maps[0][frame].at(name).values == map.values);
      ck_assert(both.maps[1][frame].at(name).values != map.values);
    }
}
END_TEST

/* The device is the emulator. */
START_TEST(the_gpu_has_the_same_maps) {
  use_emulator();
  const std::string features = std::string(kFeature) + "|name=ciede|name=float_ansnr";
  Params params = params_for("cpu", "vmaf_v0.6.1", features.c_str());
  params.result_maps = 1;
  const Received on_cpu = score(params);
  params.backend = "hip";
  const Received on_device = score(params);
  ck_assert_msg(!on_device.error, "%s", on_device.log.c_str());
  ck_assert_msg(on_device.log.find("runs on the CPU") == std::string::npos, "%s", on_device.log.c_str());
  for (size_t frame = 0; frame < kFrames; frame++)
    for (const auto& [name, map] : on_cpu.maps[0][frame])
      ck_assert_msg(on_device.maps[0][frame].at(name).values == map.values, "%s of frame %zu", name.c_str(), frame);
}
END_TEST

double mean(const ReceivedMap& map) { return map.total() / static_cast<double>(map.values.size()); }

/* The distance of a model's scores from its highest. */
double lacks(const std::string& model, double score) {
  return (model.find("3d0h_2160") != model.npos ? 110 : 100) - score;
}

constexpr int kWidth = 480, kHeight = 320;  // as large as v1 models need it

/* Paints a texture that moves into both pictures, and makes one corner of the distorted one flat. */
template <class T>
void damage_corner(VmafxPicture& dist, const VmafxPicture& ref, int scale) {
  const double moved = dist.time * 40;
  for (int p = 0; p < 3; p++) {
    const int w = p ? kWidth / 2 : kWidth, h = p ? kHeight / 2 : kHeight, side = p ? 64 : 128;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        const double texture =
            40 * std::sin((x + moved) * 0.7) * std::cos(y * 0.5) + 40 * std::sin(x * 0.11 + y * 0.07);
        const auto place = [&](const VmafxPicture& of) {
          return reinterpret_cast<T*>(const_cast<uint8_t*>(of.data[p]) + y * of.stride[p]) + x;
        };
        *place(ref) = static_cast<T>((128 + texture) * scale);
        *place(dist) = x >= w - side && y >= h - side ? static_cast<T>(128 * scale) : *place(ref);
      }
  }
}
void damage_corner_8(VmafxPicture& dist, const VmafxPicture& ref) { damage_corner<uint8_t>(dist, ref, 1); }
void damage_corner_10(VmafxPicture& dist, const VmafxPicture& ref) { damage_corner<uint16_t>(dist, ref, 4); }

VmafxFormat large_format(int bits) {
  return {kWidth, kHeight, VMAFX_CHROMA_420, bits, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
}

/* The mean of a model's map is what the frame lacks, of all models that are built in. */
START_TEST(the_mean_of_a_models_map_is_what_the_frame_lacks) {
  for (int i = 0; vmafx_builtin_model(i); i++) {
    const std::string version = vmafx_builtin_model(i), model = "version=" + version + ":name=m";
    const bool v1 = version.find("v1.0") != version.npos;
    Params params = cpu_params(model.c_str(), "");
    params.result_maps = 1;
    const Received received = score(params, 1, large_format(v1 ? 10 : 8), v1 ? damage_corner_10 : damage_corner_8);
    ck_assert_msg(!received.error, "%s: %s", version.c_str(), received.log.c_str());
    for (size_t frame = 0; frame < kFrames; frame++) {
      const ReceivedMap& map = received.maps[0][frame].at("m");
      ck_assert_str_eq(map.unit.c_str(), "points");
      ck_assert_int_eq(map.w, 15);
      ck_assert_int_eq(map.h, 10);
      ck_assert_int_eq(map.block_h, 32);
      const double want = lacks(version, received.scores[0][frame].at("m"));
      ck_assert_msg(want > 0.5, "%s: %g is too little to be tested", version.c_str(), want);
      ck_assert_msg(std::abs(mean(map) - want) < 1e-7, "%s, frame %zu: the mean is %.12g, not %.12g", version.c_str(),
                    frame, mean(map), want);
    }
  }
}
END_TEST

/* Most of what a frame lacks is where it was damaged; files have what results have. */
START_TEST(a_models_map_finds_damage) {
  const Folder folder;
  for (const char* const version : {"vmaf_v0.6.1", "vmaf_float_v0.6.1"}) {
    const std::string model = format_text("version=%s:name=m", version);
    Params params = cpu_params(model.c_str(), "");
    params.result_maps = 1;
    params.maps = folder.path().c_str();
    params.overwrite = 1;
    const Received received = score(params, 1, large_format(8), damage_corner_8);
    ck_assert_msg(!received.error, "%s", received.log.c_str());
    const std::vector<float> file = floats_of(folder.path() + "/m_15x10_f32.gray");
    for (size_t frame = 0; frame < kFrames; frame++) {
      const ReceivedMap& map = received.maps[0][frame].at("m");
      double inside = 0;
      size_t most = 0;
      for (size_t n = 0; n < map.values.size(); n++) {
        const bool damaged = static_cast<int>(n) % map.w >= 11 && static_cast<int>(n) / map.w >= 6;
        inside += damaged ? map.values[n] : 0;
        if (map.values[n] > map.values[most]) most = n;
        ck_assert(file[frame * map.values.size() + n] == static_cast<float>(map.values[n]));
      }
      ck_assert_msg(inside > 0.6 * map.total(), "%s: %g of %g", version, inside, map.total());
      ck_assert_int_ge(static_cast<int>(most) % map.w, 11);
      ck_assert_int_ge(static_cast<int>(most) / map.w, 6);
    }
  }
}
END_TEST

START_TEST(what_has_no_maps_is_told) {
  Params params = cpu_params("", "name=float_moment");
  params.result_maps = 1;
  const Received received = score(params);
  ck_assert_int_eq(received.error, -EINVAL);
  assert_contains(received.log,
                  "none of the metrics has maps: score one of these, too, with feature=name=…: adm, float_adm, vif");
}
END_TEST

START_TEST(outputs_are_safe) {
  const Folder folder;
  Params params = cpu_params("", "name=float_psnr");
  params.maps = " ";
  Received refused = score(params);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "maps=' ': the name consists of blanks");

  const std::string file = folder.path() + "/float_psnr_6x6_f32.gray";
  params.maps = folder.path().c_str();
  params.log_path = file.c_str();
  fs::create_directory(folder.path());
  refused = score(params);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "name one file");
  params.log_path = nullptr;

  std::ofstream(file) << "a film";
  refused = score(params);
  ck_assert_int_eq(refused.error, -EEXIST);
  assert_contains(refused.log, "maps");
  ck_assert_uint_eq(fs::file_size(file), 6);
  params.overwrite = 1;
  ck_assert_int_eq(score(params).error, 0);
  ck_assert_uint_eq(fs::file_size(file), kFrames * 36 * sizeof(float));
  params.overwrite = 0;
  ck_assert_int_eq(score(params).error, 0);  // its own kind is replaced
}
END_TEST

int main() {
  return run_suite("encode_maps", {{"results_have_maps", results_have_maps},
                                   {"frames_that_are_left_out_have_none", frames_that_are_left_out_have_none},
                                   {"files_have_the_maps_of_results", files_have_the_maps_of_results},
                                   {"encodes_have_their_own_maps", encodes_have_their_own_maps},
                                   {"the_gpu_has_the_same_maps", the_gpu_has_the_same_maps},
                                   {"the_mean_of_a_models_map_is_what_the_frame_lacks",
                                    the_mean_of_a_models_map_is_what_the_frame_lacks},
                                   {"a_models_map_finds_damage", a_models_map_finds_damage},
                                   {"what_has_no_maps_is_told", what_has_no_maps_is_told},
                                   {"outputs_are_safe", outputs_are_safe}});
}
