/* A stream of gray pictures in a file, beside the report: the next picture right behind. Rows are written where they
 * belong, in any order; pictures that nobody writes are holes. */
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

/* The pictures of a file, and the option that asks for them. */
struct GrayKind {
  const char* option;  // names the folder, for messages
  const char* noun;
  const char* may_replace;  // what is replaced without the user's word
  std::string_view ending;  // of every such file's name
  int64_t sample_bytes;
};

/* Samples of 16 bits, which metrics write. */
inline constexpr GrayKind kHeatMaps = {"heatmaps_path", "heat maps", "a file of heat maps of this size", "_16b.gray",
                                       sizeof(uint16_t)};

/* Samples that are floats of 32 bits, which the engine writes of all metrics. */
inline constexpr GrayKind kBlockMaps = {"maps", "maps", "a file of maps of this size", "_f32.gray", sizeof(float)};

class GrayFile {
 public:
  /* Whether such files can be made in the folder of that name, as far as it is known before it is made: EACCES,
   * ENAMETOOLONG, ENOTDIR, … */
  static Status check_folder(const char* option, const std::string& folder);

  /* Creates the file NAME_WxH and the kind's ending in a folder, which is made if need be. `folder` is the value of
   * the kind's option. Old content stays until the first row comes. EEXIST: the file's size is not a multiple of such
   * pictures', or it has another name, too; EBUSY: somebody else writes it. */
  static StatusOr<std::unique_ptr<GrayFile>> create(const GrayKind& kind, WritePath folder, const std::string& name,
                                                    int w, int h);
  ~GrayFile();

  /* Writes a row of a picture. Any thread. */
  template <class Samples>
  void put(int64_t frame, int y, const Samples& samples) {
    put_bytes(frame, y, std::as_bytes(std::span(samples)));
  }

  /* Closes the file; the first write that failed, if one did. */
  Status close();

 private:
  explicit GrayFile(const GrayKind& kind) : kind_(kind) {}
  void put_bytes(int64_t frame, int y, std::span<const std::byte> samples);
  Status open(const WritePath& folder, int w);
  bool is_file() const;
  void fail(int errno_value);

  const GrayKind kind_;
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
