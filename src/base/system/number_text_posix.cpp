#include "base/system/number_text.h"

#include <locale.h>

#include <cstdio>

namespace vmafx::system {
namespace {

/* The calling thread's locale is "C" while one of these lives. */
class CLocale {
 public:
  CLocale() : previous_(uselocale(c_locale())) {}
  ~CLocale() { uselocale(previous_); }
  CLocale(const CLocale&) = delete;
  CLocale& operator=(const CLocale&) = delete;

 private:
  static locale_t c_locale() {
    static const locale_t kLocale = newlocale(LC_ALL_MASK, "C", nullptr);
    return kLocale;
  }
  locale_t previous_;
};

}  // namespace

int print_number(char* text, size_t bytes, const char* format, double number) {
  const CLocale point_not_comma;
  return std::snprintf(text, bytes, format, number);
}

}  // namespace vmafx::system
