/* The text of a file of displays, as cvvdp takes it: what describes no display is refused, and on one that is taken a
 * frame has a JOD. */
#include <cmath>

#include "fuzz/target.h"
#include "kernels/cvvdp/cvvdp_display.h"
#include "tests/support/params.h"
#include "vmafx/vmafx.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

constexpr VideoFormat kFormat = {
    .w = 32, .h = 24, .bpc = 8, .chroma = Chroma::k444, .color = {1, 1, 1, Color::Range::kLimited}, .fps = 25};

void keep_words(void* words, VmafxLogLevel, const char* message) { *static_cast<std::string*>(words) += message; }

/* Scores one pair of small pictures. */
void score(const std::string& path) {
  std::string words;
  const std::string feature = "name=cvvdp:display=d:display_file=" + path;
  test::Params params;
  params.backend = "cpu";
  params.n_threads = 1;
  params.model = "";
  params.feature = feature.c_str();
  params.log = keep_words;
  params.log_cookie = &words;
  VmafxContext* ctx = nullptr;
  REQUIRE(test::open_context(&ctx, params) == 0, "%s", words.c_str());
  VmafxFormat format = {kFormat.w, kFormat.h, VMAFX_CHROMA_444, 8};
  format.color = {.matrix = 1, .range = 1};
  format.fps = 25;
  const bool configured = vmafx_configure(ctx, &format, &format) == 0;
  REQUIRE(configured || *vmafx_last_error(ctx), "no words");
  if (configured) {
    uint8_t samples[2][32 * 24];
    for (size_t i = 0; i < sizeof samples[0]; i++)
      samples[0][i] = static_cast<uint8_t>(i * 7 % 219 + 16), samples[1][i] = static_cast<uint8_t>(i * 5 % 219 + 16);
    VmafxPicture pictures[2] = {};
    for (int i = 0; i < 2; i++)
      for (int p = 0; p < 3; p++) pictures[i].data[p] = samples[i], pictures[i].stride[p] = 32;
    REQUIRE(vmafx_submit(ctx, &pictures[0], &pictures[1]) == 0 && vmafx_finish(ctx) == 0, "%s", words.c_str());
    const char* name = nullptr;
    double jod = 0;
    REQUIRE(vmafx_feature_score(ctx, 0, &name, &jod) == 0, "%s", words.c_str());
    REQUIRE(std::isfinite(jod) && jod <= 10, "%s is %g", name, jod);
  }
  vmafx_close(&ctx);
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile file;
  file.set({reinterpret_cast<const char*>(data), size});
  const auto model = cvvdp_display_model("d", file.path());
  if (!model.ok()) return require_reason(model.status()), 0;
  const double density = cvvdp_pixels_per_degree(model.value());
  REQUIRE(std::isfinite(density) && density > 0, "%g pixels per degree", density);
  if (const auto display = cvvdp_display(model.value(), kFormat); !display.ok()) require_reason(display.status());
  score(file.path());
  return 0;
}
