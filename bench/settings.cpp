#include "bench/settings.h"

#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/cpu.h"
#include "bench/arguments.h"
#include "kernels/registry/registry.h"
#include "vmafx/vmafx.h"

namespace bench {
namespace {

constexpr const char* kHelp =
    R"(usage: bench/bench [OPTIONS]

Times metrics and models on frames in memory; prints milliseconds per frame.

  --size WxH       size of the clip (1920x1080)
  --bits N         bits per sample, 8 to 16 (8)
  --frames N       frames per run (32)
  --distinct N     frames that differ, and come again and again (all of them)
  --clip DIST,REF  raw video in files, planar 4:2:0, little-endian words for more than 8 bits, in place
                   of the clip that is made
  --runs N         runs of each row, of which the median and the fastest are printed (5)
  --threads LIST   numbers of threads, e.g. 1,2 (1)
  --cpu LIST       instruction sets, e.g. plain,avx2,avx3 (all below but scalar and plain)
  --only LIST      metrics and models, e.g. motion,vmaf_v0.6.1 (all metrics and two models); models joined by + are
                   scored in one session
  --clock NAME     wall, or cpu: processor time, which holds on a machine that does other work too (wall)
  --encodes N      time N encodes of one reference in one session, too, and compare with N sessions (1)
  --check MODE     the option check: off leaves out the look at the pictures (warn)
  --maps           have results hold maps
  --peer PATH      libvmaf's vmaf tool: time it on the same clip, with the same instruction set and with the best it
                   has, and compare the scores
  --json FILE      add each row to FILE, too, as a line of JSON
  --help           this text

Exits with 1 when a run fails or a score differs from the peer's by more than 1e-5 of it.
This machine runs: )";

std::vector<std::string> all_cpus() {
  std::vector<std::string> names = vmafx::runnable_cpu_levels();
  names.push_back("plain");
  return names;
}

bool is_cpu(const std::string& name) {
  const std::vector<std::string> names = all_cpus();
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> all_rows() {
  std::vector<std::string> names;
  for (const vmafx::ExtractorInfo* info : vmafx::extractors()) names.emplace_back(info->name);
  names.insert(names.end(), {"vmaf_v0.6.1", "vmaf_v1.0.16_3d0h"});
  return names;
}

void print_help() {
  std::fputs(kHelp, stdout);
  for (const std::string& cpu : all_cpus()) std::printf("%s ", cpu.c_str());
  std::printf("\n");
}

}  // namespace

Settings parse(int argc, char** argv) {
  enum {
    kSize,
    kBits,
    kFrames,
    kDistinct,
    kClip,
    kRuns,
    kThreads,
    kCpu,
    kOnly,
    kClock,
    kEncodes,
    kPeer,
    kJson,
    kCheck,
    kMaps,
    kHelpText
  };
  const ::option known[] = {{"size", required_argument, nullptr, kSize},
                            {"bits", required_argument, nullptr, kBits},
                            {"frames", required_argument, nullptr, kFrames},
                            {"distinct", required_argument, nullptr, kDistinct},
                            {"clip", required_argument, nullptr, kClip},
                            {"runs", required_argument, nullptr, kRuns},
                            {"threads", required_argument, nullptr, kThreads},
                            {"cpu", required_argument, nullptr, kCpu},
                            {"only", required_argument, nullptr, kOnly},
                            {"clock", required_argument, nullptr, kClock},
                            {"encodes", required_argument, nullptr, kEncodes},
                            {"check", required_argument, nullptr, kCheck},
                            {"maps", no_argument, nullptr, kMaps},
                            {"peer", required_argument, nullptr, kPeer},
                            {"json", required_argument, nullptr, kJson},
                            {"help", no_argument, nullptr, kHelpText},
                            {}};
  Settings settings;
  for (const std::string& cpu : all_cpus())
    if (cpu != "scalar" && cpu != "plain") settings.cpus.push_back(cpu);  // these take minutes
  settings.rows = all_rows();
  for (int which; (which = getopt_long(argc, argv, "", known, nullptr)) != -1;) {
    const std::string text = optarg ? optarg : "";
    switch (which) {
      case kSize: {
        const Size size = size_of(text);
        settings.clip.w = size.w;
        settings.clip.h = size.h;
        break;
      }
      case kBits: settings.clip.bits = whole_number(text, 8, 16, "--bits"); break;
      case kFrames: settings.clip.frames = whole_number(text, 4, 10000, "--frames"); break;
      case kDistinct: settings.clip.distinct = whole_number(text, 1, 10000, "--distinct"); break;
      case kClip:
        settings.files = split(text);
        if (settings.files.size() != 2) die("--clip '" + text + "': name the distorted file and the reference");
        break;
      case kRuns: settings.runs = whole_number(text, 1, 1000, "--runs"); break;
      case kThreads: settings.threads = whole_numbers(text, 1, 256, "--threads"); break;
      case kCpu:
        settings.cpus = split(text);
        for (const std::string& cpu : settings.cpus)
          if (!is_cpu(cpu)) die("--cpu '" + cpu + "': see --help for what this machine runs");
        break;
      case kOnly: settings.rows = split(text); break;
      case kClock:
        if (text != "wall" && text != "cpu") die("--clock '" + text + "': use wall or cpu");
        settings.cpu_time = text == "cpu";
        break;
      case kEncodes: settings.encodes = whole_number(text, 1, VMAFX_MOST_ENCODES, "--encodes"); break;
      case kCheck: settings.check = text; break;
      case kMaps: settings.maps = true; break;
      case kPeer: settings.peer = text; break;
      case kJson: settings.json = text; break;
      case kHelpText: print_help(); std::exit(0);
      default: die("see --help");
    }
  }
  if (optind < argc) die("what is '" + std::string(argv[optind]) + "'? See --help");
  return settings;
}

}  // namespace bench
