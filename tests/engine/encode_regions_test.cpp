/* Scores of regions through the C API: what they are, that whole pictures keep theirs, and what is refused. */
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/encodes.h"
#include "tests/support/stream.h"

using vmafx::format_text;
using namespace vmafx::test;

namespace {

constexpr int kWidth = 192, kHeight = 128;
constexpr VmafxFormat kFormat = {kWidth, kHeight, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST};
constexpr const char* kModel = "version=vmaf_v0.6.1";
constexpr const char* kFeature =
    "name=psnr:enable_mse=true|name=float_psnr|name=xpsnr|name=psnr_hvs|name=float_ssim:enable_lcs=true|name=vif|"
    "name=float_vif|name=ciede";
constexpr const char* kHalves = "all=192x128+0+0|left=64x128+0+0|right=128x128+64+0";

using Damage = std::function<void(Samples& dist, const Samples& ref)>;

/* The distorted pictures are those that `damage` makes of the reference's. */
StreamOptions stream(const Damage& damage = {}, const Damage& prepare_ref = {}) {
  StreamOptions options = {.ref = kFormat, .frames = 3};
  const auto last = std::make_shared<Samples>();
  options.make_ref = [=](const VmafxFormat& format, const Samples& samples) {
    *last = samples;
    if (prepare_ref) prepare_ref(*last, samples);
    return TestPicture::make(format, *last);
  };
  if (damage)
    options.make_dist = [=](const VmafxFormat& format, const Samples&) {
      Samples dist = *last;
      damage(dist, *last);
      return TestPicture::make(format, dist);
    };
  return options;
}

Outcome score(const char* roi, const char* model = kModel, const char* feature = kFeature,
              const StreamOptions& options = stream()) {
  Params params = cpu_params(model, feature);
  params.roi = roi;
  return run_stream(params, options);
}

void assert_refused(const char* roi, const char* feature, const char* why) {
  const Outcome refused = score(roi, "", feature);
  ck_assert_msg(refused.error == -EINVAL, "%s: %d", roi, refused.error);
  assert_contains(refused.log, why);
}

/* 10 log10(255² / mse) of a part of luma. */
double psnr_of(const Samples& ref, const Samples& dist, int x0, int x1) {
  double sum = 0;
  for (int y = 0; y < kHeight; y++)
    for (int x = x0; x < x1; x++) {
      const size_t i = static_cast<size_t>(y * kWidth + x);
      sum += (ref[i] - dist[i]) * (ref[i] - dist[i]);
    }
  return 10 * std::log10(255. * 255 / (sum / ((x1 - x0) * kHeight)));
}

}  // namespace

/* A region that is the picture has the picture's scores, and two that make up the picture have means that make up the
 * picture's. */
START_TEST(regions_make_up_the_picture) {
  const Outcome without = score(nullptr), with = score(kHalves);
  ck_assert_msg(!with.error, "%s", with.log.c_str());
  ck_assert_uint_eq(with.frames.size(), without.frames.size());
  for (size_t n = 0; n < with.frames.size(); n++) {
    const FrameScores& scores = with.frames[n];
    size_t regional = 0;
    for (const auto& [key, value] : without.frames[n]) {
      ck_assert_msg(scores.at(key) == value, "%s of the whole picture changed", key.c_str());
      const auto whole = scores.find(key + ".all");
      if (whole == scores.end()) continue;
      regional++;
      const double most = std::max(1.0, std::abs(value)) * 1e-6;
      ck_assert_msg(std::abs(whole->second - value) < most, "%s.all: %.17g, not %.17g", key.c_str(), whole->second,
                    value);
    }
    ck_assert_uint_eq(regional, 6 + 1 + 4 + 4 + 4 + 4 + 4 + 1 + 1);
    ck_assert_uint_eq(scores.size(), without.frames[n].size() + 3 * regional);
    const auto mean = [&](const std::string& key) {
      return (scores.at(key + ".left") + 2 * scores.at(key + ".right")) / 3;
    };
    for (const char* const key : {"mse_y", "mse_cb", "mse_cr"})
      ck_assert_double_eq_tol(mean(key), scores.at(key), 1e-12 * scores.at(key));
    ck_assert_double_eq_tol(mean("vmaf"), scores.at("vmaf"), 1e-6);
  }
}
END_TEST

/* Where edges lie between blocks, psnr of a rectangle is psnr of the part that is cut out, to the last bit. */
START_TEST(psnr_is_that_of_the_crop) {
  const Outcome received = score(kHalves, "", "name=psnr");
  for (int n = 0; n < 3; n++) {
    const Samples ref = make_samples(kFormat, n, false), dist = make_samples(kFormat, n, true);
    const FrameScores& scores = received.frames[static_cast<size_t>(n)];
    ck_assert(scores.at("psnr_y.left") == psnr_of(ref, dist, 0, 64));
    ck_assert(scores.at("psnr_y.right") == psnr_of(ref, dist, 64, kWidth));
  }
}
END_TEST

/* Damage in one corner shows in the region that has it, and nowhere else. */
START_TEST(damage_shows_in_its_region) {
  const auto flatten = [](Samples& dist, const Samples&) {
    for (int y = 96; y < kHeight; y++)
      for (int x = 160; x < kWidth; x++) dist[static_cast<size_t>(y * kWidth + x)] = 128;
  };
  const auto still = [](Samples& ref, const Samples&) { ref = make_samples(kFormat, 0, false); };  // vmaf is below 100
  const Outcome received = score("corner=64x64+128+64|other=64x64+0+0", kModel, kFeature, stream(flatten, still));
  ck_assert_msg(!received.error, "%s", received.log.c_str());
  for (const FrameScores& scores : received.frames) {
    for (const char* const key : {"psnr_y", "float_psnr", "xpsnr_y", "psnr_hvs_y", "float_ssim", "integer_vif_scale0",
                                  "vif_scale0", "ciede2000", "vmaf"}) {
      const std::string name = key;
      const double corner = scores.at(name + ".corner"), other = scores.at(name + ".other"), all = scores.at(name);
      ck_assert_msg(corner < all && all < other, "%s: %g in the corner, %g elsewhere, %g in all", key, corner, other,
                    all);
    }
    ck_assert(scores.at("mse_y.other") == 0 && scores.at("mse_y.corner") > 0);
    ck_assert(scores.at("mse_cb.corner") == 0);
    ck_assert_double_eq_tol(scores.at("integer_vif_scale0.other"), 1, 1e-6);
  }
}
END_TEST

START_TEST(masks_and_centers_weigh) {
  const std::string path = "/tmp/vmafx-regions-test-" + std::to_string(getpid()) + ".pgm";
  std::string samples(kWidth * kHeight, '\0');
  for (size_t i = 0; i < samples.size(); i++) samples[i] = i % kWidth < 64 ? '\xff' : '\0';
  std::ofstream(path, std::ios::binary) << format_text("P5 %d %d 255\n", kWidth, kHeight) << samples;
  const Outcome received = score(("mask=" + path + "|left=64x128+0+0|center").c_str());
  ck_assert_msg(!received.error, "%s", received.log.c_str());
  for (const FrameScores& scores : received.frames) {
    for (const auto& [key, value] : scores)
      if (key.ends_with(".left")) ck_assert(scores.at(key.substr(0, key.size() - 4) + "mask") == value);
    ck_assert(scores.at("vmaf.center") != scores.at("vmaf"));
  }
  std::ofstream(path, std::ios::binary) << "P5 1 1 255\n7";
  assert_refused(path.c_str(), "name=psnr", "has 1x1 samples, and the pictures 192x128: make them alike");
  Params params = cpu_params("", "name=psnr");
  params.roi = path.c_str();
  params.log_path = path.c_str();
  params.overwrite = 1;
  const Outcome refused = run_stream(params, stream());
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "roi");
  std::remove(path.c_str());
}
END_TEST

/* Bars are those of each picture of the reference. */
START_TEST(the_active_area_is_found) {
  const auto letterbox = [](Samples& ref, const Samples&) {
    const int bar = ref[5 * kWidth] % 2 ? 32 : 16;  // it differs from frame to frame
    for (int y = 0; y < kHeight; y++)
      for (int x = 0; x < kWidth; x++)
        if (size_t i = static_cast<size_t>(y * kWidth + x); y < bar || y >= kHeight - bar) ref[i] = 16;
        else ref[i] = static_cast<uint16_t>(std::max<int>(ref[i], 60));
  };
  const auto coarser = [](Samples& dist, const Samples&) {
    for (uint16_t& sample : dist) sample = static_cast<uint16_t>(sample / 40 * 40);
  };
  const Outcome received =
      score("active|narrow=192x96+0+16|wide=192x64+0+32", kModel, kFeature, stream(coarser, letterbox));
  ck_assert_msg(!received.error, "%s", received.log.c_str());
  bool seen[2] = {};
  for (size_t n = 0; n < received.frames.size(); n++) {
    const Samples ref = make_samples(kFormat, static_cast<int>(n), false);
    const bool wide = ref[5 * kWidth] % 2;
    seen[wide] = true;
    for (const auto& [key, value] : received.frames[n])
      if (key.ends_with(".active"))
        ck_assert_msg(received.frames[n].at(key.substr(0, key.size() - 6) + (wide ? "wide" : "narrow")) == value,
                      "%s of frame %zu", key.c_str(), n);
  }
  ck_assert(seen[0] || seen[1]);
}
END_TEST

/* Every n-th frame, gates, pooled values and main scores know regions. */
START_TEST(streams_have_them) {
  Params params = cpu_params(kModel, "name=psnr");
  params.roi = kHalves;
  params.n_subsample = 2;
  params.summary = 1;
  params.fail_below = "psnr_y.left=99";
  const Outcome received = run_stream(params, stream());
  ck_assert_int_eq(received.error, -ERANGE);
  assert_contains(received.log, "psnr_y.left is ");
  assert_contains(received.log, "vmaf.right: mean ");
  ck_assert(received.frames[1].empty() && !received.frames[2].empty());
  ck_assert_uint_eq(received.features.size(), 1 + 3 * 2);
  ck_assert_double_eq_tol(received.features.at("psnr_y.left"),
                          (received.frames[0].at("psnr_y.left") + received.frames[2].at("psnr_y.left")) / 2, 1e-9);
}
END_TEST

/* Several encodes, on the CPU or a GPU, have what each has alone. The device is the emulator. */
START_TEST(encodes_and_devices_have_the_same) {
  const Encodes encodes = {.count = 2, .frames = 3};
  Params params = params_for("cpu", kModel, kFeature);
  params.roi = "active|center|face=50x40+30+20";
  const auto alone = each_alone(params, encodes);
  ck_assert(alone[0].frames[0][0].contains("vmaf.face"));
  for (const char* const backend : {"cpu", "hip"}) {
    params.backend = backend;
    assert_as_alone(params, encodes, alone);
  }
}
END_TEST

START_TEST(what_cannot_be_is_refused) {
  assert_refused("face", "name=psnr", "roi=face: it is no region; use WIDTHxHEIGHT+X+Y");
  assert_refused("8x8+190+0", "name=psnr", "roi=roi=8x8+190+0 is not inside the picture, which has 192x128 samples");
  assert_refused("center", "name=motion",
                 "nothing that is scored has scores of regions; they have: models of VMAF, vif, ");
  assert_refused("4x4+0+0", "name=float_ssim", "the region 'roi' has nothing of what float_ssim scores");
  ck_assert_int_eq(score("gone.pgm", "", "name=psnr").error, -ENOENT);
}
END_TEST

int main() {
  return run_suite("encode_regions", {{"regions_make_up_the_picture", regions_make_up_the_picture},
                                      {"psnr_is_that_of_the_crop", psnr_is_that_of_the_crop},
                                      {"damage_shows_in_its_region", damage_shows_in_its_region},
                                      {"masks_and_centers_weigh", masks_and_centers_weigh},
                                      {"the_active_area_is_found", the_active_area_is_found},
                                      {"streams_have_them", streams_have_them},
                                      {"encodes_and_devices_have_the_same", encodes_and_devices_have_the_same},
                                      {"what_cannot_be_is_refused", what_cannot_be_is_refused}});
}
