/* Colors: pictures as Vship describes them, as the library takes them. */
#ifndef COMPAT_VSHIP_COLORS_H
#define COMPAT_VSHIP_COLORS_H

#include <string>

#include "compat/vship/abi.h"
#include "vmafx/vmafx.h"

namespace vship {

/* The format that the library scores for pictures of this description. RGB becomes 4:4:4 of 16 bits, of which the
 * matrix of BT.709 makes it again. On failure the message is not empty. */
VmafxFormat format_of(const Vship_Colorspace_t& given, std::string* message);

/* A picture in memory of its own, which its release() frees. Throws std::bad_alloc. */
VmafxPicture copy_of(const Vship_Colorspace_t& given, const uint8_t* const planes[3], const int64_t strides[3]);

}  // namespace vship

#endif
