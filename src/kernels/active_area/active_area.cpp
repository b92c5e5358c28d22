#include "kernels/active_area/active_area.h"

#include "kernels/metric.h"

namespace vmafx {
namespace {

/* The lines of a picture from one end on that are bars: mean(n) of line n. */
template <class Mean>
int bar(int first, int step, int lines, double most, Mean mean) {
  int n = 0;
  while (n < lines && mean(first + n * step) <= most) n++;
  return n;
}

template <class T>
ActiveArea find(const Plane<const T>& luma, double most) {
  const auto row = [&](int y) {
    uint64_t sum = 0;
    for (int x = 0; x < luma.w; x++) sum += luma.row(y)[x];
    return static_cast<double>(sum) / luma.w;
  };
  const int top = bar(0, 1, luma.h, most, row);
  if (top == luma.h) return {0, 0, luma.w, luma.h};
  const int bottom = bar(luma.h - 1, -1, luma.h, most, row), h = luma.h - top - bottom;
  const auto column = [&](int x) {
    uint64_t sum = 0;
    for (int y = top; y < top + h; y++) sum += luma.row(y)[x];
    return static_cast<double>(sum) / h;
  };
  const int left = bar(0, 1, luma.w, most, column);
  if (left == luma.w) return {0, top, luma.w, h};
  const int right = bar(luma.w - 1, -1, luma.w, most, column);
  return {left, top, luma.w - left - right, h};
}

class ActiveAreaExtractor final : public Extractor {
 public:
  explicit ActiveAreaExtractor(const VideoFormat& format) : format_(format) {}

  std::span<const FeatureInfo> features() const override { return {}; }
  Reads reads() const override { return {.ref = 1, .dist = 0}; }
  size_t sums_bytes() const override { return sizeof(ActiveArea); }
  size_t scratch_bytes() const override { return 0; }
  void extract(const FrameSet& frames, std::byte*, void* sums) const override {
    *static_cast<ActiveArea*>(sums) =
        find_active_area(frames.ref.plane[0], format_.bpc, format_.color.range == Color::Range::kFull);
  }
  std::unique_ptr<StreamScorer> make_scorer() const override { return std::make_unique<NoScores>(); }

 private:
  struct NoScores : StreamScorer {
    void finalize(int64_t, const void*, ScoreSink&) override {}
  };

  const VideoFormat format_;
};

Created create(const NoOptions&, const VideoFormat& format, Placement) {
  return std::unique_ptr<Extractor>(new ActiveAreaExtractor(format));
}

}  // namespace

ActiveArea find_active_area(const SamplePlane& luma, int bpc, bool full_range) {
  constexpr int kAboveBlack = 8, kLimitedBlack = 16;
  const double most = (kAboveBlack + (full_range ? 0 : kLimitedBlack)) << (bpc - 8);
  return bpc == 8 ? find(luma.as<uint8_t>(), most) : find(luma.as<uint16_t>(), most);
}

constexpr ExtractorInfo kActiveAreaExtractor = {
    .name = "active_area",
    .measures = "registration",
    .help = "what black bars leave of a picture",
    .range = "none",
    .flags = 0,
    .features = {},
    .create = with_fields<create>,
};

}  // namespace vmafx
