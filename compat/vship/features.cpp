#include "compat/vship/features.h"

#include <charconv>

namespace vship {
namespace {

std::string number_text(double number) {
  char text[64];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

/* A text as the value of a feature's option. */
std::string quoted(const std::string& text) {
  std::string value;
  for (const char c : text) value += c == ':' || c == '\\' ? std::string{'\\', c} : std::string{c};
  return value;
}

}  // namespace

std::string butteraugli_features(int q, double intensity) {
  const std::string one = "name=butteraugli" + (intensity > 0 ? ":intensity_target=" + number_text(intensity) : "");
  return q == 3 ? one : one + "|" + one + ":norm=" + std::to_string(q);
}

void ButteraugliScores::take(const std::string& key, double value) {
  if (!key.starts_with("butteraugli_pnorm")) norm_inf = value;
  else if (key.find("_p_") == std::string::npos) norm3 = value;
  else has_q_ = true, q_ = value;
}

std::string cvvdp_features(const std::string& display, const std::string& file) {
  return "name=cvvdp" + (display.empty() ? "" : ":display=" + quoted(display)) +
         (file.empty() ? "" : ":display_file=" + quoted(file));
}

}  // namespace vship
