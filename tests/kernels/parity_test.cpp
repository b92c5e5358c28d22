/* The kernels of every metric against its CPU twin: equal raw sums, on the emulator at 32 and at 64 lanes, or on the runtime
 * that VMAFX_HIP_RUNTIME names. CK_RUN_CASE=vif is one metric. */
#include <map>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "tests/kernels/adm/adm_cases.h"
#include "tests/kernels/cambi/cambi_cases.h"
#include "tests/kernels/ciede/ciede_cases.h"
#include "tests/kernels/float_ansnr/float_ansnr_cases.h"
#include "tests/kernels/float_moment/float_moment_cases.h"
#include "tests/kernels/motion/motion_cases.h"
#include "tests/kernels/psnr/psnr_cases.h"
#include "tests/kernels/psnr_hvs/psnr_hvs_cases.h"
#include "tests/kernels/speed/speed_cases.h"
#include "tests/kernels/ssim/ssim_cases.h"
#include "tests/kernels/ssimulacra2/ssimulacra2_cases.h"
#include "tests/kernels/vif/vif_cases.h"
#include "tests/support/scores.h"

#include <check.h>

using namespace vmafx;
using namespace vmafx::test;

namespace {

const std::map<std::string, ParityCases (*)()> kCases = {
    {"adm", adm_cases},
    {"cambi", cambi_cases},
    {"ciede", ciede_cases},
    {"float_adm", float_adm_cases},
    {"float_ansnr", float_ansnr_cases},
    {"float_moment", float_moment_cases},
    {"float_motion", float_motion_cases},
    {"float_ms_ssim", float_ms_ssim_cases},
    {"float_psnr", float_psnr_cases},
    {"float_ssim", float_ssim_cases},
    {"float_vif", float_vif_cases},
    {"motion", motion_cases},
    {"psnr", psnr_cases},
    {"psnr_hvs", psnr_hvs_cases},
    {"speed_chroma", speed_chroma_cases},
    {"speed_temporal", speed_temporal_cases},
    {"ssimulacra2", ssimulacra2_cases},
    {"vif", vif_cases},
};

void check(const ExtractorInfo& info, const ParityCase& given) {
  std::string what = info.name;
  for (const auto& [name, text] : given.options) what += " " + name + "=" + text;
  TestPictures pictures(given.format, given.frames);
  given.paint(pictures);
  assert_device_agrees(*make_extractor(info, given.format, given.options, Placement::kDevice), given.format,
                       pictures.pairs(), given.batch, what);
}

}  // namespace

/* Of the metric number _i. */
START_TEST(kernels_agree) {
  const ExtractorInfo& info = *extractors()[static_cast<size_t>(_i)];
  if (!(info.flags & kHip)) return;
  const auto cases = kCases.find(info.name);
  ck_assert_msg(cases != kCases.end(), "no cases for %s", info.name);
  for (const ParityCase& given : cases->second()) check(info, given);
}
END_TEST

int main() {
  std::vector<NamedTest> tests;
  for (const ExtractorInfo* info : extractors())
    tests.push_back({info->name, kernels_agree, static_cast<int>(tests.size())});
  return run_suite_on_device("parity", tests);
}
