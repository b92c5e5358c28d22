/* DeviceConversions: pictures as a metric converts them, in device memory, for kernels that read many earlier ones
 * (Reads::converted).
 *
 * Each picture is converted once, by DeviceTwin::convert(), into a place that stays as long as later frames read it.
 * The kernels of all batches run on one stream, one after the other, so the conversions of a batch may overwrite
 * pictures that the batch before was the last to read. */
#ifndef VMAFX_KERNELS_DEVICE_CONVERSIONS_H
#define VMAFX_KERNELS_DEVICE_CONVERSIONS_H

#include <span>
#include <vector>

#include "base/status.h"
#include "kernels/device_twin.h"

namespace vmafx {

class DeviceConversions {
 public:
  /* The number of places needed to read so many earlier pictures of each encode, and of the reference, `batch` frames
   * at a time. */
  static size_t places(int earlier, int batch, int encodes);

  DeviceConversions(int earlier, int batch, int encodes);

  /* A frame of a batch. */
  struct Frame {
    int encode = 0;
    bool new_ref = true;  // its picture of the reference is not that of the frame before it
  };

  /* Queues the conversion of the pictures of a batch, whose frames follow, in the order of their stream, those of the
   * batch before. */
  Status convert(const DeviceTwin& twin, const DeviceBatch& batch, std::span<const Frame> frames);

  /* The places that kernels read for these frames of the batch, which belong to one encode, in the order of the
   * stream. */
  ConvertedPlaces seen_by(std::span<const int> frames) const;

 private:
  using Places = std::vector<uint16_t>;  // consecutive pictures' places, the oldest first

  void forget(Places& places, size_t kept);
  uint16_t take(Places& of);

  struct Taken {  // the pictures that a frame of the batch finds: how many there were, with its own
    int encode;
    size_t refs, dists;
  };

  const size_t earlier_;
  Places free_, refs_;
  std::vector<Places> dists_;  // by encode
  std::vector<Taken> batch_;
};

}  // namespace vmafx

#endif
