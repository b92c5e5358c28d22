/* Gaussian windows of an odd number of float taps: those of float_vif's scales, which SpEED takes, too. */
#ifndef VMAFX_KERNELS_STEPS_GAUSSIAN_WINDOW_H
#define VMAFX_KERNELS_STEPS_GAUSSIAN_WINDOW_H

namespace vmafx {

inline constexpr int kMaxWindowHalf = 32;  // reached at scale 0 under the largest kernelscale

/* Symmetric: the center tap and one side. Trivially copyable, so that kernels take it as an argument. */
struct GaussianWindow {
  int half = 0;  // taps on each side
  float taps[kMaxWindowHalf + 1] = {};
};

/* `size` is odd, up to 2 * kMaxWindowHalf + 1. The taps add up to 1. They are rounded to floats as libvmaf's are
 * (f85a853, vif_tools.c): a variance is the difference of two sums with them, so that their last bits show in it. */
GaussianWindow gaussian_window(int size, float sigma);

/* VIF's window at `scale` 0 to 3: 17, 9, 5 and 3 taps, times kernelscale and rounded up to odd, at least 3; sigma is a
 * fifth of the taps. Only some kernelscales are valid, libvmaf's list. */
bool is_vif_kernelscale(double kernelscale);
extern const char* const kVifKernelscales;  // for messages
int vif_window_size(int scale, double kernelscale);
GaussianWindow vif_window(int scale, double kernelscale);

}  // namespace vmafx

#endif
