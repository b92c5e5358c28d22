/* Names that a metric's own header declares things with, and need not know: what computes a metric on the CPU sees
 * pictures and that header, nothing of the engine and nothing of the device. */
#ifndef VMAFX_KERNELS_FORWARD_H
#define VMAFX_KERNELS_FORWARD_H

namespace vmafx {

template <class T>
class StatusOr;  // base/status.h

class Options;           // kernels/options.h
struct ExtractorInfo;    // kernels/extractor.h
struct OwnedDeviceTwin;  // kernels/device_twin.h

}  // namespace vmafx

#endif
