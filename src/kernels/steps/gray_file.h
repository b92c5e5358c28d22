/* A stream of gray pictures in a file, beside the report: 16 bits a sample, the next picture right behind. Rows are
 * written where they belong, in any order; pictures that nobody writes are holes. */
#ifndef VMAFX_KERNELS_STEPS_GRAY_FILE_H
#define VMAFX_KERNELS_STEPS_GRAY_FILE_H

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kernels/options.h"

namespace vmafx {

class GrayFile {
 public:
  /* The ending of every such file's name. */
  static constexpr std::string_view kEnding = "_16b.gray";

  /* Whether such files can be made in the folder of that name, as far as it is known before it is made: EACCES,
   * ENAMETOOLONG, ENOTDIR, … */
  static Status check_folder(const std::string& folder);

  /* Creates the file NAME_WxH_16b.gray in a folder, which is made if need be. `folder` is the value of the option
   * heatmaps_path. Old content stays until the first row comes. EEXIST: the file's size is not a multiple of such
   * pictures', or it has another name, too; EBUSY: somebody else writes it. */
  static StatusOr<std::unique_ptr<GrayFile>> create(WritePath folder, const std::string& name, int w, int h);
  ~GrayFile();

  /* Writes a row of a picture. Any thread. */
  void put(int64_t frame, int y, std::span<const uint16_t> samples);

  /* Closes the file; the first write that failed, if one did. */
  Status close();

 private:
  GrayFile() = default;
  Status open(const WritePath& folder, int w);
  bool is_file() const;
  void fail(int errno_value);

  int descriptor_ = -1, h_ = 0;
  bool created_ = false;   // by open()
  bool has_rows_ = false;  // some came; set by the first of them
  std::once_flag emptied_;
  std::string path_;
  std::mutex mutex_;
  Status failure_;  // guarded by mutex_
};

}  // namespace vmafx

#endif
