/* Settings that the user gives by variables of the environment, since programs made for libvmaf have no options for
 * them. */
#ifndef COMPAT_LIBVMAF_SETTINGS_H
#define COMPAT_LIBVMAF_SETTINGS_H

#include <optional>
#include <string>

namespace compat {

struct Settings {
  std::optional<std::string> backend;  // VMAFX_BACKEND: auto, cpu or hip
  std::string device = "auto";         // VMAFX_DEVICE: an index or a PCI address
  std::string score_format;            // VMAFX_SCORE_FMT: of reports
  int verify = 0;                      // VMAFX_VERIFY: every so many frames
  bool overwrite = false;              // VMAFX_OVERWRITE: reports and heat maps replace files of any kind
  std::optional<int> threads;          // VMAFX_N_THREADS: instead of what the program says; 0: as many as it may use

  /* EINVAL, and the log names the variable. */
  static int read(Settings* settings);
};

}  // namespace compat

#endif
