/* Sessions of several encodes, on the CPU and on the GPU, here the emulator: each has the scores that it has alone, to
 * the last bit, whichever pictures of the reference the others have pairs with. */
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/check_main.h"
#include "tests/support/encodes.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr const char* kBackends[] = {"cpu", "hip"};

/* All metrics but float_ms_ssim, which needs larger pictures. */
std::string all_metrics() {
  const std::map<std::string, std::string> options = {{"cambi", ":full_ref=true"},
                                                      {"cvvdp", ":fps=24"},
                                                      {"motion", ":motion_five_frame_window=true"},
                                                      {"psnr", ":enable_apsnr=true"},
                                                      {"xpsnr", ":fps=60"}};
  std::string texts;
  for (int i = 0; vmafx_extractor(i); i++) {
    const std::string metric = vmafx_extractor(i);
    if (metric == "float_ms_ssim" || metric.ends_with("_hip")) continue;
    const auto given = options.find(metric);
    texts += (texts.empty() ? "name=" : "|name=") + metric + (given == options.end() ? "" : given->second);
  }
  return texts;
}

}  // namespace

START_TEST(each_has_the_scores_it_has_alone) {
  for (const Schedule& schedule : {Schedule(every), Schedule(uneven)}) {
    const Encodes encodes = {.count = 5, .has_pair = schedule};
    const std::vector<Result> alone = each_alone(params_for("cpu", "version=vmaf_v0.6.1"), encodes);
    for (const char* backend : kBackends) assert_as_alone(params_for(backend, "version=vmaf_v0.6.1"), encodes, alone);
  }
}
END_TEST

START_TEST(all_metrics_take_several) {
  const Encodes encodes = {.count = test_all() ? 5 : 3,
                           .frames = test_all() ? 6 : 3,
                           .has_pair = uneven,
                           .format = {220, 162, VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0, VMAFX_MEMORY_HOST}};
  const std::string features = all_metrics();
  const std::vector<Result> alone = each_alone(params_for("cpu", "", features.c_str()), encodes);
  for (const char* backend : kBackends) assert_as_alone(params_for(backend, "", features.c_str()), encodes, alone);
}
END_TEST

START_TEST(any_number_of_encodes_and_threads) {
  const auto params_of = [](const char* backend, int threads) {
    Params params = params_for(backend, "", "name=psnr|name=motion|name=speed_temporal");
    params.n_threads = threads;
    params.n_subsample = 2;
    return params;
  };
  Encodes encodes = {.count = VMAFX_MOST_ENCODES, .frames = 7, .has_pair = uneven};
  const std::vector<Result> alone = each_alone(params_of("cpu", 2), encodes);
  for (const char* backend : kBackends)
    for (const int count : {1, 2, 9, VMAFX_MOST_ENCODES})
      for (const int threads : {1, 40}) {
        if (!takes_combination(count % 2, threads == 1)) continue;
        encodes.count = count;
        assert_as_alone(params_of(backend, threads), encodes, alone);
      }
}
END_TEST

START_TEST(formats_may_lie_in_memory_as_they_like) {
  Encodes encodes;
  encodes.format.bits = 10;
  encodes.second = encodes.format;
  encodes.second.layout = VMAFX_LAYOUT_SEMIPLANAR;
  encodes.second.shift = 6;
  assert_as_alone(params_for("cpu", nullptr, "name=ciede"), encodes);
  encodes.second.width = 98;
  const Result refused = run(params_for("cpu", nullptr), encodes, 0, 3);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "main1");
}
END_TEST

START_TEST(the_gpu_is_verified_and_hands_over) {
  Params params = params_for("hip", nullptr, "name=speed_temporal");
  params.verify = 1;
  params.verify_fail = 1;
  assert_as_alone(params, {.count = 3, .has_pair = uneven});
}
END_TEST

START_TEST(one_without_frames_leaves_the_others_theirs) {
  const Result result =
      run(params_for("cpu", nullptr), {.has_pair = [](int encode, int) { return encode != 1; }}, 0, 3);
  ck_assert_int_eq(result.error, -EINVAL);
  assert_contains(result.log, "main1: no frames were scored");
  ck_assert_int_eq(result.frames[0].size(), 8);
  ck_assert_int_eq(result.frames[2].size(), 8);
  ck_assert(result.models[0] > 0 && result.models[2] > 0);
}
END_TEST

START_TEST(wrong_numbers_are_refused) {
  Params params = params_for("cpu", nullptr);
  VmafxContext* ctx = nullptr;
  params.encodes = VMAFX_MOST_ENCODES + 1;
  ck_assert_int_eq(open_context(&ctx, params), -EINVAL);
  params.encodes = 2;
  for (const char* names : {"a|a", "a|b|c", "main1"}) {
    params.encode_names = names;
    ck_assert_int_eq(open_context(&ctx, params), -EINVAL);
  }
  params.encode_names = "low";
  ck_assert_int_eq(open_context(&ctx, params), 0);
  assert_text_eq(vmafx_encode_name(ctx, 0), "low");
  assert_text_eq(vmafx_encode_name(ctx, 1), "main1");
  ck_assert_ptr_null(vmafx_encode_name(ctx, 2));
  const Encodes encodes;
  ck_assert_int_eq(vmafx_configure_encodes(ctx, &encodes.format, &encodes.format, 1), -EINVAL);
  ck_assert_int_eq(vmafx_configure(ctx, &encodes.format, &encodes.format), 0);
  const VmafxPicture* none[2] = {};
  VmafxPicture ref = picture(encodes.format, 0, -1), dist = picture(encodes.format, 0, 0);
  ck_assert_int_eq(vmafx_submit(ctx, &ref, &dist), -EINVAL);  // of one encode
  ck_assert_int_eq(TestPicture::alive, 0);
  ref = picture(encodes.format, 0, -1);
  ck_assert_int_eq(vmafx_submit_encodes(ctx, &ref, none, 2), -EINVAL);
  ck_assert_int_eq(TestPicture::alive, 0);
  const VmafxPairing pairing = {.encode = 2};
  ck_assert_int_eq(vmafx_set_pairing(ctx, &pairing), -EINVAL);
  vmafx_close(&ctx);
}
END_TEST

START_TEST(files_of_one_encode_are_refused) {
  const Result result = run(params_for("cpu", "", "name=cambi:heatmaps_path=/tmp"), {}, 0, 2);
  ck_assert_int_eq(result.error, -EINVAL);
  assert_contains(result.log, "heatmaps_path of cambi writes files of one encode");
}
END_TEST

/* -- Reports ------------------------------------------------------------------------------------------------------- */

namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/* The texts of the reports of two encodes, of which the second is called "b". */
std::vector<std::string> reports(const char* name, const char* format, const std::vector<const char*>& names) {
  const auto folder = std::filesystem::temp_directory_path() / ("vmafx_encodes_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string path = folder / name;
  Params params = params_for("cpu", nullptr, "name=psnr");
  params.log_path = path.c_str();
  params.log_fmt = format;
  params.encode_names = "|b";
  params.window = "0.08";
  const Result result =
      run(params, {.frames = 4, .has_pair = [](int encode, int frame) { return !encode || frame; }}, 0, 2);
  ck_assert_msg(result.error == 0, "%s", result.log.c_str());
  std::vector<std::string> texts;
  for (const char* each : names) texts.push_back(text_of(folder / each));
  std::filesystem::remove_all(folder);
  return texts;
}

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) found++;
  return found;
}

}  // namespace

START_TEST(one_report_has_all) {
  const std::string json = reports("all.json", nullptr, {"all.json"})[0];
  assert_contains(json, "\"encodes\": [\n");
  assert_contains(json, "\"encode\": 0,\n      \"name\": \"main0\",\n      \"frames\": [");
  assert_contains(json, "\"encode\": 1,\n      \"name\": \"b\",");
  ck_assert_uint_eq(count(json, "\"pooled_metrics\""), 2);
  ck_assert_uint_eq(count(json, "\"vmafx\""), 1);
  ck_assert_uint_eq(count(json, "\"frameNum\""), 7);
  const std::string lines = reports("all.ndjson", nullptr, {"all.ndjson"})[0];
  ck_assert_uint_eq(count(lines, "{\"encode\": 0, \"name\": \"main0\", \"frameNum\": "), 4);
  ck_assert_uint_eq(count(lines, "{\"encode\": 1, \"name\": \"b\", \"frameNum\": "), 3);
  ck_assert_uint_eq(count(lines, "{\"encode\": 1, \"name\": \"b\", \"window\": "), 2);
  ck_assert_uint_eq(count(lines, "\n{\"version\": "), 1);
  const std::string csv = reports("all.csv", nullptr, {"all.csv"})[0];
  assert_contains(csv, "Encode,Name,Frame,Time,");
  ck_assert_uint_eq(count(csv, "\n1,b,"), 3);
}
END_TEST

START_TEST(each_has_a_report_where_the_path_says_so) {
  const auto xml = reports("r%d.xml", nullptr, {"r0.xml", "r1.xml"});
  ck_assert_uint_eq(count(xml[0], "<frame "), 4);
  ck_assert_uint_eq(count(xml[1], "<frame "), 3);
  const auto lines = reports("r%d.ndjson", "ndjson", {"r0.ndjson", "r1.ndjson"});
  ck_assert_uint_eq(count(lines[1], "\"encode\""), 0);
  ck_assert_uint_eq(count(lines[1], "{\"frameNum\""), 3);
  Params params = params_for("cpu", nullptr);
  params.log_path = "/tmp/all.xml";
  const Result refused = run(params, {}, 0, 2);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "log_fmt=xml has no place for several encodes");
}
END_TEST

int main() {
  return run_host_suite_on_device("encodes", {{"alone", each_has_the_scores_it_has_alone},
                                              {"metrics", all_metrics_take_several},
                                              {"numbers", any_number_of_encodes_and_threads},
                                              {"formats", formats_may_lie_in_memory_as_they_like},
                                              {"verify", the_gpu_is_verified_and_hands_over},
                                              {"without_frames", one_without_frames_leaves_the_others_theirs},
                                              {"refused", wrong_numbers_are_refused},
                                              {"heatmaps", files_of_one_encode_are_refused},
                                              {"report", one_report_has_all},
                                              {"reports", each_has_a_report_where_the_path_says_so}});
}
