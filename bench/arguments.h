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
std::vector<std::string> split(const std::string& list, char separator = ',');

/* `what` is the option that it belongs to, for the message. */
int whole_number(const std::string& text, int least, int most, const char* what);
std::vector<int> whole_numbers(const std::string& list, int least, int most, const char* what);

/* "1920x1080": of --size. */
Size size_of(const std::string& text);

/* The built-in models of a row of results, "vmaf_v0.6.1" or several, joined by "+"; none: the row is a metric. */
std::vector<std::string> models_of(const std::string& row);

/* The option `model` of a session that scores them; each has its own name. "": the row is a metric. */
std::string model_option(const std::string& row);

}  // namespace bench

#endif
