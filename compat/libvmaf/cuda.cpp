/* The calls for pictures in CUDA's memory. They are there so that a program that was linked with a libvmaf for CUDA
 * starts; each of them fails. Pictures in host memory are scored on the GPU without them. */
#include <cerrno>

#include "compat/libvmaf/log.h"

namespace {

int refuse(const char* call) {
  return COMPAT_INVALID(
      "%s: pictures in CUDA's memory are not taken; those in host memory are scored on the GPU "
      "(ffmpeg's filter libvmaf instead of libvmaf_cuda)",
      call);
}

}  // namespace

int vmaf_cuda_state_init(VmafCudaState** cu_state, VmafCudaConfiguration) {
  if (cu_state) *cu_state = nullptr;
  return refuse("vmaf_cuda_state_init()");
}

int vmaf_cuda_import_state(VmafContext*, VmafCudaState*) { return refuse("vmaf_cuda_import_state()"); }

int vmaf_cuda_preallocate_pictures(VmafContext*, VmafCudaPictureConfiguration) {
  return refuse("vmaf_cuda_preallocate_pictures()");
}

int vmaf_cuda_fetch_preallocated_picture(VmafContext*, VmafPicture*) {
  return refuse("vmaf_cuda_fetch_preallocated_picture()");
}
