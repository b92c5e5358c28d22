/* The settings that the command line gives. */
#ifndef VMAFX_BENCH_SETTINGS_H
#define VMAFX_BENCH_SETTINGS_H

#include <string>
#include <vector>

#include "bench/clip.h"
#include "bench/die.h"

namespace bench {

struct Settings {
  ClipFormat clip = {.w = 1920, .h = 1080, .bits = 8, .frames = 32};
  std::vector<std::string> files;  // raw video, the distorted one and its reference; or none
  int runs = 5;
  std::vector<int> threads = {1};
  std::vector<std::string> cpus;  // as VMAFX_CPU names them
  std::vector<std::string> rows;  // metrics and models
  std::string peer;               // a path, or ""
  std::string json;               // a path, or ""
  bool cpu_time = false;
  int encodes = 1;
  std::string check = "warn";
  bool maps = false;  // the option result_maps
};

/* Prints the help and exits for --help; dies of what it does not know. */
Settings parse(int argc, char** argv);

}  // namespace bench

#endif
