/* Text files that users name. */
#ifndef VMAFX_BASE_TEXT_FILE_H
#define VMAFX_BASE_TEXT_FILE_H

#include <string>

#include "base/status.h"

namespace vmafx {

/* The whole text. `what` names the file in messages: "model file". EINVAL: it is not a file, or larger than `most`
 * bytes. */
StatusOr<std::string> read_text_file(const char* what, const std::string& path, size_t most);

}  // namespace vmafx

#endif
