/* The words of a command line. A word that cannot be understood ends the program. */
#ifndef VMAFX_BENCH_ARGUMENTS_H
#define VMAFX_BENCH_ARGUMENTS_H

#include <string>
#include <vector>

namespace bench {

struct Size {
  int w, h;
};

/* "a,b" -> "a", "b". */
std::vector<std::string> split(const std::string& list);

/* `what` is the option that it belongs to, for the message. */
int whole_number(const std::string& text, int least, int most, const char* what);
std::vector<int> whole_numbers(const std::string& list, int least, int most, const char* what);

/* "1920x1080": of --size. */
Size size_of(const std::string& text);

}  // namespace bench

#endif
