/* Writing beyond the limit of `ulimit -f`: an error of the call, not the end of the process. */
#ifndef VMAFX_BASE_SYSTEM_SIZE_SIGNAL_H
#define VMAFX_BASE_SYSTEM_SIZE_SIGNAL_H

namespace vmafx {

/* While an object of this class lives, a write of this thread that would make a file too large fails with EFBIG; the
 * signal SIGXFSZ, which ends a process by default, is held back and taken away. Signal handlers of the process stay as
 * they are. errno is kept. Windows has no such signal. */
class SizeSignalHeld {
 public:
  SizeSignalHeld();
  ~SizeSignalHeld();
  SizeSignalHeld(const SizeSignalHeld&) = delete;
  SizeSignalHeld& operator=(const SizeSignalHeld&) = delete;

 private:
  bool was_pending_ = false, was_held_ = false;
};

}  // namespace vmafx

#endif
