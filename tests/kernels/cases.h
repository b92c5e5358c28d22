/* The cases of all metrics, by name (tests/support/parity.h). */
#ifndef VMAFX_TESTS_KERNELS_CASES_H
#define VMAFX_TESTS_KERNELS_CASES_H

#include <map>
#include <string>
#include <vector>

#include "kernels/registry/registry.h"
#include "tests/kernels/adm/adm_cases.h"
#include "tests/kernels/butteraugli/butteraugli_cases.h"
#include "tests/kernels/cambi/cambi_cases.h"
#include "tests/kernels/ciede/ciede_cases.h"
#include "tests/kernels/cvvdp/cvvdp_cases.h"
#include "tests/kernels/float_ansnr/float_ansnr_cases.h"
#include "tests/kernels/float_moment/float_moment_cases.h"
#include "tests/kernels/motion/motion_cases.h"
#include "tests/kernels/psnr/psnr_cases.h"
#include "tests/kernels/psnr_hvs/psnr_hvs_cases.h"
#include "tests/kernels/speed/speed_cases.h"
#include "tests/kernels/ssim/ssim_cases.h"
#include "tests/kernels/ssimulacra2/ssimulacra2_cases.h"
#include "tests/kernels/vif/vif_cases.h"
#include "tests/kernels/xpsnr/xpsnr_cases.h"
#include "tests/support/check_main.h"

namespace vmafx::test {

inline const std::map<std::string, ParityCases (*)()> kParityCases = {
    {"adm", adm_cases},
    {"butteraugli", butteraugli_cases},
    {"cambi", cambi_cases},
    {"ciede", ciede_cases},
    {"cvvdp", cvvdp_cases},
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
    {"xpsnr", xpsnr_cases},
};

/* The cases of a metric. */
inline ParityCases cases_of(const std::string& metric) {
  const auto cases = kParityCases.find(metric);
  ck_assert_msg(cases != kParityCases.end(), "no cases for %s", metric.c_str());
  return cases->second();
}

/* "float_vif vif_prescale=1.3". */
inline std::string name_of(const std::string& metric, const ParityCase& given) {
  std::string name = metric;
  for (const auto& [option, text] : given.options) name += " " + option + "=" + text;
  return name;
}

/* A test for each metric, which finds the number of its own in _i. */
inline std::vector<NamedTest> test_of_each_metric(const TTest* test) {
  std::vector<NamedTest> tests;
  for (const ExtractorInfo* info : extractors()) tests.push_back({info->name, test, static_cast<int>(tests.size())});
  return tests;
}

}  // namespace vmafx::test

#endif
