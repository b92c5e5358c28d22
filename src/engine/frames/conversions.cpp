#include "engine/frames/conversions.h"

#include <utility>

namespace vmafx {

const std::byte* Conversion::get() {
  std::shared_ptr<HeldPicture> done;  // let go outside the lock, since that calls the application
  const MutexLock lock(mutex_);
  if (converted_) return converted_->get();
  auto memory = memory_.take();
  if (!memory) memory = allocate_aligned(extractor_.converted_bytes());
  const HostPicture& picture = *picture_->in_host();
  extractor_.convert(extractor_.reads().whole_chroma ? picture.planes : picture.cropped, memory->get());
  converted_ = memory_.lend(std::move(*memory));
  if (!keeps_) done = std::move(picture_);
  return converted_->get();
}

void ConvertedPictures::add(SharedConversion picture) {
  if (pictures_.size() == most_) pictures_.pop_back();
  pictures_.insert(pictures_.begin(), std::move(picture));
}

Status ConvertedPictures::bring_to_host() const {
  for (const SharedConversion& conversion : pictures_)
    if (const auto picture = conversion->picture(); picture && picture->comes_to_host())
      VMAFX_TRY(picture->bring_to_host());
  return {};
}

std::vector<const std::byte*> ConvertedPictures::get() const {
  std::vector<const std::byte*> converted;
  for (const SharedConversion& picture : pictures_) converted.push_back(picture->get());
  return converted;
}

}  // namespace vmafx
