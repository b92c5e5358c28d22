#include "engine/frames/device_queue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "engine/frames/copy_rows.h"

namespace vmafx {
namespace {

/* A launch should read this much, and two frames at least, or its start-up time shows: vmaf_v1.0.16 at 1080p has many
 * short kernels, and is 1.6 times as fast with 4 frames in a launch as with 2, and 2.3 times with 8. */
constexpr size_t kBatchBytes = 50 << 20;
constexpr int kFewestBatch = 2;

/* The size of a launch when pictures in the GPU's memory come as fast as they are taken, without an upload. */
constexpr size_t kBatchBytesOfMany = 2 * kBatchBytes;

/* Most frames of a launch for one encode. For 8 encodes of 1080p, twice as many frames in a launch are 9 % faster. */
constexpr int kMostBatchOfOne = 8;

/* Most frames of a launch when the producer of frames in GPU memory, a decoder, has few pictures to spare. */
constexpr int kMostBatchOfFew = 2;

/* Pictures that the library holds besides those of batches in flight and of the one being filled: those ahead in the
 * pipeline, and earlier ones that a metric reads. */
constexpr uint64_t kPicturesBesides = 8;

/* Bytes that one worker copies at once: few enough that all workers share a frame. */
constexpr size_t kFillBytes = 512 << 10;

size_t picture_bytes(const hip::PoolLayout::PlaneSize (&planes)[hip::kPoolPlanes]) {
  size_t bytes = 0;
  for (const hip::PoolLayout::PlaneSize& plane : planes) bytes += plane.row_bytes * plane.rows;
  return bytes;
}

int most_in_batch(const hip::PoolLayout& layout) { return layout.encodes > 1 ? hip::kMostBatch : kMostBatchOfOne; }

/* The most frames in a launch that leave the producers of pictures in GPU memory what they need. */
int most_to_spare(const hip::PoolLayout& layout, std::optional<uint64_t> spare_pictures) {
  const int most = most_in_batch(layout);
  if (!spare_pictures) return most;
  const uint64_t spare = std::max(*spare_pictures, kPicturesBesides) - kPicturesBesides;
  const int of_each = static_cast<int>(std::min<uint64_t>(spare / (layout.batches_in_flight + 1), most));
  return std::clamp(of_each * layout.encodes, kMostBatchOfFew, most);
}

/* The most frames in a launch that leave room for another launch beside it. Where not even the fewest do, or a picture
 * with all its encodes, as many as there may be. */
int most_beside_another(const std::vector<const Extractor*>& extractors, int encodes) {
  const auto leave_room = [&](int frames) {
    return std::ranges::all_of(extractors, [&](const Extractor* extractor) {
      return !extractor->reads().converted &&
             extractor->device_twin()->scratch_bytes(frames) <= hip::kMostScratchToOverlap;
    });
  };
  for (int frames = hip::kMostBatch; frames >= std::max(encodes, kFewestBatch); frames--)
    if (leave_room(frames)) return frames;
  return hip::kMostBatch;
}

/* The number of frames in a launch: whole pictures of the reference with all their encodes, or as many encodes of one
 * picture as fit. */
int batch_for(const hip::PoolLayout& layout, std::optional<uint64_t> spare_pictures, int most_beside) {
  const int encodes = layout.encodes, spare = most_to_spare(layout, spare_pictures),
            most = std::min(spare, most_beside);
  const size_t bytes = spare_pictures && spare == most_in_batch(layout) ? kBatchBytesOfMany : kBatchBytes;
  const size_t of_picture = picture_bytes(layout.ref) + encodes * picture_bytes(layout.dist);
  const int frames =
      static_cast<int>(std::clamp<size_t>(bytes * encodes / std::max<size_t>(1, of_picture), kFewestBatch, most));
  return std::max(frames - frames % encodes, std::min(encodes, hip::kMostBatch));
}

/* Rows of a plane that one fill copies. */
size_t rows_of_fill(size_t row_bytes) { return std::max<size_t>(1, kFillBytes / std::max<size_t>(1, row_bytes)); }

size_t fills_of_frame(const hip::PoolLayout& layout) {
  size_t fills = 0;
  for (const auto* planes : {layout.ref, layout.dist})
    for (int p = 0; p < hip::kPoolPlanes; p++) fills += planes[p].rows / rows_of_fill(planes[p].row_bytes) + 1;
  return fills;
}

/* A plane of the pictures that are converted. */
hip::PoolLayout::PlaneSize source_plane(const Recolor& params, int p) {
  const PictureLight& source = params.source;
  const size_t sample_bytes = source.bpc > 8 ? 2 : 1;
  if (p == 0) return {static_cast<size_t>(source.w) * sample_bytes, static_cast<size_t>(source.h)};
  if (!source.has_chroma) return {};
  return {static_cast<size_t>(source.chroma_w) * sample_bytes, static_cast<size_t>(source.chroma_h)};
}

}  // namespace

StatusOr<std::unique_ptr<DeviceQueue>> DeviceQueue::create(const hip::OpenedDevice& device,
                                                           const std::vector<const Extractor*>& extractors,
                                                           const VideoFormat& format,
                                                           std::optional<uint64_t> spare_pictures, int encodes,
                                                           const Recolorers& recolorers) {
  std::unique_ptr<DeviceQueue> queue(new DeviceQueue(device, encodes));
  VMAFX_TRY(queue->load_recolorers(recolorers));
  Status status = queue->create_pool(extractors, format, spare_pictures);
  if (status.code() == ENOMEM) status = queue->create_pool(extractors, format, spare_pictures, 1);
  VMAFX_TRY(status);
  return queue;
}

Status DeviceQueue::start(Workers& workers) {
  workers_ = &workers;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& failure) {
    return error(ENOMEM,
                 "cannot start the thread that drives the GPU (%s): the system or a limit allows no more threads",
                 failure.what());
  }
  return {};
}

DeviceQueue::~DeviceQueue() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Status DeviceQueue::load_recolorers(const Recolorers& recolorers) {
  for (const auto& recolorer : recolorers) {
    const size_t side = recolorers_.empty() ? 0 : 1;
    recolorers_.emplace_back();
    if (!recolorer) continue;
    VMAFX_ASSIGN(recolorers_.back(), DeviceRecolorer::load(device_, *recolorer));
    for (int p = 0; p < 3; p++) {
      const hip::PoolLayout::PlaneSize size = source_plane(recolorer->params(), p);
      hip::PoolLayout::PlaneSize& largest = source_planes_[side][p];
      largest = {std::max(largest.row_bytes, size.row_bytes), std::max(largest.rows, size.rows)};
    }
  }
  return {};
}

Status DeviceQueue::create_pool(const std::vector<const Extractor*>& extractors, const VideoFormat& format,
                                std::optional<uint64_t> spare_pictures, int batch) {
  hip::PoolLayout layout;
  metrics_.clear();
  for (const Extractor* extractor : extractors) add_reads(extractor->reads(), format, layout);
  std::ranges::copy(source_planes_[0], layout.ref + hip::kSourcePlane);
  std::ranges::copy(source_planes_[1], layout.dist + hip::kSourcePlane);
  layout.batches_in_flight = kBatchesInFlight;
  layout.encodes = encodes_;
  layout.batch = batch ? batch : batch_for(layout, spare_pictures, most_beside_another(extractors, encodes_));
  for (const Extractor* extractor : extractors) {
    VMAFX_TRY(hip::still_wanted(device_.context));
    DeviceTwin* twin = extractor->device_twin();
    VMAFX_TRY(twin->load(*device_.kernels));
    const Reads reads = extractor->reads();
    metrics_.push_back({twin, reads, extractor->sums_bytes(), add_memory(*extractor, layout), std::nullopt});
    if (reads.converted) metrics_.back().conversions.emplace(reads.converted, layout.batch, encodes_);
  }
  VMAFX_ASSIGN(unpacker_, Unpacker::load(*device_.kernels));
  VMAFX_ASSIGN(pool_, hip::FramePool::create(device_.context, layout));
  fills_ = std::vector<Fill>(fills_of_frame(layout) * layout.batch);
  return {};
}

void DeviceQueue::add(Fifo<QueuedFrame> frames) noexcept {
  {
    const MutexLock lock(mutex_);
    while (!frames.empty()) queue_.push_back(frames.pop_front());
    if (abandoned_) return give_up();
  }
  wake_.notify_one();
}

bool DeviceQueue::is_abandoned() {
  const MutexLock lock(mutex_);
  if (abandoned_) return true;
  if (!failure_.ok() || !device_.context->is_stuck()) return false;
  abandoned_ = true;
  failure_ = guarded([this] { return device_.context->lost_status(); });
  thread_.detach();
  give_up();
  return true;
}

/* -- The queue's thread ---------------------------------------------------------------------------------------------
 */

void DeviceQueue::run() {
  const MutexLock lock(mutex_);
  while (!closing_) {
    Status status = failure_.ok() ? step() : Status();
    if (abandoned_) return;
    if (!status.ok()) failure_ = std::move(status);
    if (failure_.ok()) continue;
    give_up();
    while (!closing_ && queue_.empty()) wake_.wait(mutex_);
  }
}

/* Keeps the pairs of a picture of the reference in one batch if they fit in one: each batch uploads the picture. */
bool DeviceQueue::batch_closed() const {
  if (pool_->batch_full()) return true;
  if (staged_.empty() || queue_.empty() || queue_.first()->place != 0) return false;
  return pool_->room() < std::min(queue_.first()->of, pool_->batch_size());
}

/* Does one thing, the most urgent first. Takes the lock off for whatever takes time. */
Status DeviceQueue::step() {
  const bool whole = !last_staged_ || last_staged_->place + 1 == last_staged_->of;
  if (!staged_.empty() && filling_ == 0 && (batch_closed() || (sent_.empty() && whole))) {
    const MutexUnlock unlocked(mutex_);
    return guarded([this] { return send(); });
  }
  if (!queue_.empty() && !pool_->full() && !batch_closed()) {
    QueuedFrame& frame = queue_.pop_front();
    staged_.push_back(frame);
    const MutexUnlock unlocked(mutex_);
    return guarded([&] { return stage(frame); });
  }
  if (filling_ > 0) {
    while (filling_ > 0 && (queue_.empty() || batch_closed())) wake_.wait(mutex_);
    return {};
  }
  if (!sent_.empty()) {
    const MutexUnlock unlocked(mutex_);
    return guarded([this] { return collect(); });
  }
  while (!closing_ && queue_.empty()) wake_.wait(mutex_);
  return {};
}

unsigned DeviceQueue::planes_read(const QueuedFrame& frame, hip::Side side) const {
  unsigned planes = 0;
  for (const Metric& metric : metrics_) {
    const int earlier = std::max(metric.reads.history, metric.reads.converted);
    const bool reads_frame = frame.leads ? earlier >= frame.leads : runs(metric, frame);
    if (reads_frame)
      planes |= metric.reads.in_frame(frame.number, side == hip::Side::kRef ? metric.reads.ref : metric.reads.dist);
  }
  return planes;
}

Status DeviceQueue::stage(const QueuedFrame& frame) {
  hip::PoolFrame& pool_frame = pool_->next();
  remember(frame, pool_frame.number());
  const unsigned ref_planes = planes_read(frame, hip::Side::kRef);
  const bool shares = last_staged_ && last_staged_->ref == frame.ref && !(ref_planes & ~last_ref_planes_);
  last_staged_ = &frame;
  if (shares) pool_frame.share_reference();
  else last_ref_planes_ = ref_planes;
  for (const hip::Side side : {hip::Side::kRef, hip::Side::kDist}) {
    if (shares && side == hip::Side::kRef) continue;
    const unsigned planes = side == hip::Side::kRef ? ref_planes : planes_read(frame, side);
    for (int p = 0; p < hip::kPoolPlanes; p++)
      if (!(planes >> p & 1)) pool_frame.skip(side, p);
    if (planes) VMAFX_TRY(stage_picture(pool_frame, side, frame, planes));
  }
  return {};
}

Status DeviceQueue::stage_picture(hip::PoolFrame& pool_frame, hip::Side side, const QueuedFrame& frame,
                                  unsigned planes) {
  HeldPicture* picture = side == hip::Side::kRef ? frame.ref : frame.dist;
  int first_plane = 0;
  if (HeldPicture* const source = picture->unconverted()) {
    plan_recoloring(pool_frame, {staged_count_ - 1, side, input_of(frame, side), planes});
    picture = source;
    first_plane = hip::kSourcePlane;
  }
  if (picture->on_device()) return place(pool_frame, side, *picture->on_device(), first_plane);
  fill(pool_frame, side, *picture, first_plane);
  return {};
}

/* Has the planes of the source come to the device, for kernels that make of them those that metrics read. */
void DeviceQueue::plan_recoloring(hip::PoolFrame& pool_frame, const Recolored& planned) {
  const Recolor& params = recolorers_[planned.input]->params();
  for (int p = 0; p < 3; p++) {
    if (planned.planes >> p & 1) pool_frame.fill_on_device(planned.side, p);
    const hip::PoolLayout::PlaneSize size = source_plane(params, p);
    if (!size.row_bytes) continue;
    pool_frame.read(planned.side, hip::kSourcePlane + p);
    pool_frame.shrink(planned.side, hip::kSourcePlane + p, size.row_bytes, size.rows);
  }
  recolored_.push_back(planned);
}

/* Notes which frames come before this one, and that this one comes before later ones. */
void DeviceQueue::remember(const QueuedFrame& frame, int64_t number) {
  if (frame.place == 0) {
    before_last_ref_.add(last_ref_);
    last_ref_ = number;
  }
  Before& of_encode = of_encode_[static_cast<size_t>(frame.encode)];
  before_[staged_count_++] = {before_last_ref_, of_encode, frame.number};
  of_encode.add(number);
}

/* Copies a picture into the staging, unless a copy is on the device. The picture must stay until the frame is done.
 * first_plane: of those of the pool. */
void DeviceQueue::fill(hip::PoolFrame& pool_frame, hip::Side side, HeldPicture& held, int first_plane) {
  const HostPicture& picture = *held.in_host();
  bool is_here = true;
  for (int p = 0; p < 3; p++) {
    const int to = first_plane + p;
    const auto staging = pool_frame.staging(side, to);
    if (!staging.data || pool_frame.is_skipped(side, to)) continue;
    if (const auto copy = held.copies() ? held.copies()->find(device_, p) : hip::DevicePlane(); copy.data) {
      pool_frame.use_device(side, to, copy);
      continue;
    }
    is_here = false;
    const SamplePlane& plane = picture.planes.plane[p];
    if (held.copies() && may_copy_) plan_copy({staged_count_ - 1, p, to, &held, {}}, plane, staging.row_bytes);
    if (picture.pinned[p]) pool_frame.use_pinned(side, to, plane.data, static_cast<size_t>(plane.stride));
    else fill_plane(staging, plane);
  }
  (is_here ? imported_ : uploaded_)[index(side)]++;
}

void DeviceQueue::fill_plane(const hip::PoolFrame::Staging& staging, const SamplePlane& plane) {
  const size_t rows = rows_of_fill(staging.row_bytes);
  for (size_t y = 0; y < staging.rows; y += rows) {
    Fill& fill = fills_[fills_given_++];
    fill.queue = this;
    fill.to = staging;
    fill.from = plane;
    fill.first = y;
    fill.end = std::min(y + rows, staging.rows);
    {
      const MutexLock lock(mutex_);
      filling_++;
    }
    workers_->add_first(fill);
  }
}

void DeviceQueue::Fill::run(int) noexcept {
  const auto* const first_row = static_cast<const std::byte*>(from.data) + static_cast<ptrdiff_t>(first) * from.stride;
  copy_rows_past_caches(to.data + first * to.stride, to.stride, first_row, from.stride, to.row_bytes, end - first);
  const MutexLock lock(queue->mutex_);
  if (--queue->filling_ == 0) queue->wake_.notify_one();
}

/* Uses a picture on the device. It must stay until this frame is done, and later ones that look back on it: the
 * pipeline holds it. */
Status DeviceQueue::place(hip::PoolFrame& pool_frame, hip::Side side, const DevicePicture& picture, int first_plane) {
  imported_[index(side)]++;
  if (picture.ready) VMAFX_TRY(pool_->wait_for(*picture.ready));
  for (int p = 0; p < 3; p++) {
    const int to = first_plane + p;
    if (!pool_frame.staging(side, to).data || pool_frame.is_skipped(side, to)) continue;
    const UnpackPlane& plane = picture.plane[p];
    if (picture.as_is[p]) {
      pool_frame.use_device(side, to, {plane.from, plane.from_stride});
    } else {
      pool_frame.fill_on_device(side, to);
      unpacks_.push_back({staged_count_ - 1, side, to, plane});
    }
  }
  return {};
}

Status DeviceQueue::unpack(const hip::Batch& batch) {
  UnpackPlane work[2 * 3 * hip::kMostBatch];
  size_t n = 0;
  for (const Unpack& planned : unpacks_) {
    const hip::DevicePlane to = pool_->plane_of(planned.side, batch.first + planned.frame, planned.plane);
    work[n] = planned.work;
    work[n].to = hip::DevicePtr<uint8_t>::from_address(to.data.address());
    work[n++].to_stride = to.stride;
  }
  unpacks_.clear();
  return unpacker_.launch(*batch.stream, {work, n});
}

/* Makes what metrics read of the pictures that are converted, all of an input in one launch. */
Status DeviceQueue::recolor(const hip::Batch& batch) {
  for (size_t input = 0; input < recolorers_.size(); input++) {
    RecolorPicture work[hip::kMostBatch];
    size_t n = 0;
    for (const Recolored& planned : recolored_)
      if (planned.input == input) work[n++] = recolor_work(batch, planned);
    if (n) VMAFX_TRY(recolorers_[input]->launch(*batch.stream, {work, n}));
  }
  recolored_.clear();
  return {};
}

RecolorPicture DeviceQueue::recolor_work(const hip::Batch& batch, const Recolored& planned) const {
  const auto plane_of = [&](int plane) { return pool_->plane_of(planned.side, batch.first + planned.frame, plane); };
  RecolorPicture work;
  for (int p = 0; p < 3; p++) {
    work.from[p] = plane_of(hip::kSourcePlane + p);
    if (!(planned.planes >> p & 1)) continue;
    const hip::DevicePlane to = plane_of(p);
    work.to[p] = hip::DevicePtr<uint8_t>::from_address(to.data.address());
    work.to_stride[p] = to.stride;
  }
  return work;
}

/* Plans to leave a plane of the reference on the device; all pairs of a picture share its upload. */
void DeviceQueue::plan_copy(const Copy& planned, const SamplePlane& plane, size_t row_bytes) {
  Copy& copy = copies_.emplace_back(planned.frame, planned.plane, planned.pool_plane, planned.picture);
  copy.work.w = plane.w;
  copy.work.h = plane.h;
  copy.work.sample_bytes = static_cast<uint8_t>(row_bytes / static_cast<size_t>(plane.w));
}

/* Copies planes for later sessions. Without room for a copy the frames go on without it. */
Status DeviceQueue::copy(const hip::Batch& batch) {
  UnpackPlane work[3 * hip::kMostBatch];
  size_t n = 0;
  for (Copy& copy : copies_) {
    const size_t row_bytes = static_cast<size_t>(copy.work.w) * copy.work.sample_bytes;
    auto made =
        DeviceCopy::make(copy.picture->copies()->budget(), device_, row_bytes, static_cast<size_t>(copy.work.h));
    if (made.status().code() == ENOMEM) {
      may_copy_ = false;
      break;
    }
    VMAFX_TRY(made.status());
    copy.to = std::move(made.value());
    const hip::DevicePlane from = pool_->plane_of(hip::Side::kRef, batch.first + copy.frame, copy.pool_plane);
    copy.work.from = from.data;
    copy.work.from_stride = from.stride;
    copy.work.to = copy.to->data();
    copy.work.to_stride = copy.to->stride();
    work[n++] = copy.work;
  }
  return unpacker_.launch(*batch.stream, {work, n});
}

Status DeviceQueue::send() {
  VMAFX_ASSIGN(const hip::Batch batch, pool_->upload());
  VMAFX_TRY(unpack(batch));
  VMAFX_TRY(copy(batch));
  VMAFX_TRY(recolor(batch));
  for (Metric& metric : metrics_) {
    VMAFX_TRY(convert(batch, metric));
    VMAFX_TRY(launch(batch, metric));
  }
  VMAFX_TRY(pool_->read_back());
  Sent& sent = sent_.emplace_back();
  std::swap(sent.frames, staged_);
  std::swap(sent.copies, copies_);
  staged_count_ = 0;
  last_staged_ = nullptr;
  fills_given_ = 0;
  return {};
}

/* Arranges the frames that a metric sees side by side; their sums lie side by side, too. Frames on which the metric
 * does not run are left out (it reads no earlier frames then: see Reads). With several encodes, a metric that reads no
 * distorted picture takes one encode for all, and one that reads earlier pictures takes each encode alone. */
DeviceQueue::Arrangement DeviceQueue::arrange(const Metric& metric, const Frames& frames) const {
  Arrangement arranged;
  const QueuedFrame* before = nullptr;
  int i = 0;
  for (const QueuedFrame* frame = frames.first(); frame; before = frame, frame = frame->next, i++) {
    arranged.sums[i] = -1;
    if (!runs(metric, *frame)) continue;
    const bool same = takes_references(metric) && before && before->ref == frame->ref && runs(metric, *before);
    if (!same) arranged.order[arranged.count++] = i;
    arranged.sums[i] = arranged.count - 1;
  }
  if (!takes_each_encode(metric)) return arranged;
  const auto encode_of = [&](int index) {
    const QueuedFrame* frame = frames.first();
    while (index--) frame = frame->next;
    return frame->encode;
  };
  std::stable_sort(arranged.order, arranged.order + arranged.count,
                   [&](int a, int b) { return encode_of(a) < encode_of(b); });
  for (int place = 0; place < arranged.count; place++) arranged.sums[arranged.order[place]] = place;
  return arranged;
}

/* Converts the pictures of all frames, context included, in the order of the stream. */
Status DeviceQueue::convert(const hip::Batch& batch, Metric& metric) const {
  if (!metric.conversions) return {};
  DeviceConversions::Frame frames[hip::kMostBatch];
  size_t n = 0;
  for (const QueuedFrame* frame = staged_.first(); frame; frame = frame->next)
    frames[n++] = {frame->encode, frame->place == 0};
  return metric.conversions->convert(*metric.twin, device_batch(batch, metric.memory), {frames, n});
}

Status DeviceQueue::launch(const hip::Batch& batch, const Metric& metric) const {
  const Arrangement arranged = arrange(metric, staged_);
  const QueuedFrame* frames[hip::kMostBatch];
  int n = 0;
  for (const QueuedFrame* frame = staged_.first(); frame; frame = frame->next) frames[n++] = frame;
  for (int first = 0, end; first < arranged.count; first = end) {
    end = first + 1;
    while (end < arranged.count && go_on(metric, frames, arranged.order[end - 1], arranged.order[end])) end++;
    VMAFX_TRY(launch(batch, metric, std::span(arranged.order).subspan(first, end - first), first));
  }
  return {};
}

/* Whether a metric finds the pictures before the frame `next` of the batch at the frame `before`. */
bool DeviceQueue::go_on(const Metric& metric, const QueuedFrame* const frames[], int before, int next) const {
  if (takes_each_encode(metric) && frames[next]->encode != frames[before]->encode) return false;
  return (metric.reads.history == 0 && !metric.conversions) ||
         std::none_of(frames + before, frames + next, [](const QueuedFrame* frame) { return frame->leads > 0; });
}

Status DeviceQueue::launch(const hip::Batch& batch, const Metric& metric, std::span<const int> order,
                           int first_sums) const {
  DeviceBatch work = device_batch(batch, metric.memory);
  work.sums = work.sums + static_cast<ptrdiff_t>(first_sums * batch.sums_stride);
  work.count = static_cast<int>(order.size());
  for (int i = 0; i < work.count; i++) work.numbers[i] = before_[order[i]].number;
  for (int p = 0; p < 3; p++)
    for (int i = 0; i < work.count; i++) {
      work.planes[p].ref[hip::ref_index(i)] = batch.planes[p].ref[hip::ref_index(order[i])];
      work.planes[p].dist[i] = batch.planes[p].dist[order[i]];
    }
  if (metric.conversions) work.places = metric.conversions->seen_by(order);
  if (metric.reads.history && (encodes_ > 1 || order[0] > 0)) set_earlier(work, metric, before_[order[0]]);
  return metric.twin->launch(work);
}

/* Sets the frames before the first one of `work`, in place of those that came before it in the queue. */
void DeviceQueue::set_earlier(DeviceBatch& work, const Metric& metric, const Staged& first) const {
  const Before& before = metric.reads.dist ? first.in_encode : first.in_ref;
  for (int p = 0; p < 3; p++)
    for (int back = 1; back <= hip::kMostHistory; back++) {
      const int64_t number = before.number[back - 1];
      work.planes[p].ref[hip::ref_index(0, back)] = pool_->plane_of(hip::Side::kRef, number, p);
      work.planes[p].earlier_dist[hip::kMostHistory - back] = pool_->plane_of(hip::Side::kDist, number, p);
    }
}

Status DeviceQueue::collect() {
  VMAFX_ASSIGN(const auto collected, pool_->collect(true));
  const hip::CollectedBatch& batch = *collected;
  for (size_t m = 0; m < metrics_.size(); m++) {
    const Metric& metric = metrics_[m];
    const Arrangement arranged = arrange(metric, sent_.front().frames);
    int i = 0;
    for (const QueuedFrame* frame = sent_.front().frames.first(); frame; frame = frame->next, i++)
      if (arranged.sums[i] >= 0 && frame->sums[m])
        std::memcpy(frame->sums[m], batch.sums + metric.memory.sums + arranged.sums[i] * batch.sums_stride,
                    metric.sums_bytes);
  }
  pool_->release();
  for (Copy& copy : sent_.front().copies)
    if (copy.to) copy.picture->copies()->add(copy.plane, std::move(copy.to));
  Frames frames = sent_.front().frames;
  sent_.pop_front();
  give_back(frames, {});
  return {};
}

/* Says of all frames that they are done. */
void DeviceQueue::give_back(Frames& frames, const Status& status) {
  while (!frames.empty()) frames.pop_front().done(status);
}

/* Gives all frames back, the oldest first, with the reason. The workers may still read pictures and write the staging,
 * so they must end first. */
void DeviceQueue::give_up() {
  while (filling_ > 0) wake_.wait(mutex_);
  Frames queued = std::exchange(queue_, {});
  const Status* reason = &failure_;  // which stays as it is
  const MutexUnlock unlocked(mutex_);
  for (Sent& batch : sent_) give_back(batch.frames, *reason);
  sent_.clear();
  give_back(staged_, *reason);
  give_back(queued, *reason);
}

}  // namespace vmafx
