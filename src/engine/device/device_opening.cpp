#include "engine/device/device_opening.h"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/mutex.h"
#include "base/system/environment.h"

namespace vmafx {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

constexpr Clock::time_point kNever = Clock::time_point::max();

/* Loading a runtime takes some ten milliseconds. */
constexpr Milliseconds kMostSearch{20};

/* Passes a device's messages on while somebody listens. */
class Listener {
 public:
  explicit Listener(Log& log) : log_(&log) {}
  void say(void (Log::*level)(const std::string&), const std::string& message) {
    const MutexLock lock(mutex_);
    if (log_) (log_->*level)(message);
  }
  void leave() {
    const MutexLock lock(mutex_);
    log_ = nullptr;
  }

 private:
  Mutex mutex_;
  Log* log_ VMAFX_GUARDED_BY(mutex_);
};

/* Reads an environment variable. */
StatusOr<Milliseconds> milliseconds(const char* variable, Milliseconds fallback, int least) {
  const char* text = environment(variable);
  if (!text) return fallback;
  int number = 0;
  const char* end = text + std::strlen(text);
  if (const auto [rest, failure] = std::from_chars(text, end, number);
      failure != std::errc() || rest != end || number < least)
    return error(EINVAL, "%s=%s is not a number of milliseconds; use %d or more", variable, text, least);
  return Milliseconds(number);
}

}  // namespace

StatusOr<Milliseconds> device_deadline() {
  return milliseconds("VMAFX_HIP_DEADLINE", hip::ContextOptions().deadline, 1);
}

StatusOr<std::optional<Milliseconds>> opening_delay() {
  if (!environment("VMAFX_HIP_DELAY")) return std::optional<Milliseconds>();
  VMAFX_ASSIGN(const Milliseconds delay, milliseconds("VMAFX_HIP_DELAY", Milliseconds(0), 0));
  return std::optional(delay);
}

struct DeviceOpening::Shared {
  Shared(Request of, Log& log) : request(std::move(of)), listener(std::make_shared<Listener>(log)) {}

  Status read_environment();
  void run() noexcept;

  const std::shared_ptr<Interest> interest = std::make_shared<Interest>();
  Request request;  // the thread's, once there is one
  const std::shared_ptr<Listener> listener;
  hip::ContextOptions options;
  Milliseconds limit{};

  std::atomic<Clock::time_point> began = kNever;   // the stream
  std::atomic<Clock::time_point> due_by = kNever;  // when the thread's present step must have ended
  std::atomic<bool> found_runtime = false, done = false;
  Mutex mutex;
  Status status VMAFX_GUARDED_BY(mutex);
  std::optional<OpenedGpu> gpu VMAFX_GUARDED_BY(mutex);

 private:
  Status prepare();
  StatusOr<OpenedGpu> open();
  Status make_device_queue(OpenedGpu& opened);
  void finish(Status reached, std::optional<OpenedGpu> opened);
};

Status DeviceOpening::Shared::read_environment() {
  VMAFX_ASSIGN(options.deadline, device_deadline());
  options.note = [to = listener](const std::string& message) { to->say(&Log::debug, message); };
  options.tell = [to = listener](const std::string& message) { to->say(&Log::info, message); };
  options.left = [of = interest] { return of->left(); };
  options.place_wait = request.device.place_wait;
  limit = hip::kCallDeadlines * options.deadline + options.place_wait;
  due_by = Clock::now() + limit;
  return {};
}

/* -- The thread ---------------------------------------------------------------------------------------------------- */

void DeviceOpening::Shared::run() noexcept {
  std::optional<OpenedGpu> opened;
  Status reached = guarded([&]() -> Status {
    if (request.beside_stream) VMAFX_TRY(prepare());
    VMAFX_ASSIGN(opened, open());
    return {};
  });
  finish(std::move(reached), std::move(opened));
}

/* Looks for a runtime, then waits until opening the GPU may pay. */
Status DeviceOpening::Shared::prepare() {
  VMAFX_TRY(hip::find_runtime());
  found_runtime = true;
  Interest::changed();
  due_by = kNever;
  interest->wait([this] { return began.load() != kNever; }, kNever);
  if (!interest->left()) interest->wait([] { return false; }, began.load() + request.delay);
  due_by = Clock::now() + limit;
  listener->say(&Log::debug, "the GPU is being opened");
  return options.wanted();
}

StatusOr<OpenedGpu> DeviceOpening::Shared::open() {
  const auto& [choice, given, place_wait] = request.device;
  auto device = given.platform == VMAFX_PLATFORM_NONE
                    ? hip::open_device(choice, options)
                    : hip::open_device(choice, hip_platform(given.platform),
                                       static_cast<hip::NativeContext>(given.context), options);
  VMAFX_TRY(device.status());
  OpenedGpu opened{.device = std::move(device.value())};
  if (request.queue) VMAFX_TRY(make_device_queue(opened));
  return opened;
}

Status DeviceOpening::Shared::make_device_queue(OpenedGpu& opened) {
  DeviceQueueRequest& queue = *request.queue;
  std::vector<const Extractor*> with_kernels;
  for (const auto& extractor : queue.extractors)
    if (extractor) with_kernels.push_back(extractor.get());
  opened.extractors = std::move(queue.extractors);
  VMAFX_ASSIGN(opened.queue, DeviceQueue::create(opened.device, with_kernels, queue.format, queue.spare_pictures,
                                                 queue.encodes, queue.recolorers));
  return {};
}

/* Gives a GPU that nobody takes back here, since that takes long, too. */
void DeviceOpening::Shared::finish(Status reached, std::optional<OpenedGpu> opened) {
  const bool is_good = reached.ok();
  request.turn.reset();
  {
    const MutexLock lock(mutex);
    status = std::move(reached);
    gpu = std::move(opened);
  }
  done = true;
  Interest::changed();
  (void)guarded([&]() -> Status {
    listener->say(&Log::debug, is_good ? "the GPU is open" : "the GPU does not open");
    return {};
  });
  if (!is_good) return;
  interest->wait([this] { return interest->kept(); }, kNever);
  const MutexLock lock(mutex);
  if (gpu) (void)hip::still_wanted(gpu->device.context);
  gpu.reset();
}

/* -- The owner ----------------------------------------------------------------------------------------------------- */

StatusOr<std::unique_ptr<DeviceOpening>> DeviceOpening::start(Request request, Log& log) {
  auto shared = std::make_shared<Shared>(std::move(request), log);
  VMAFX_TRY(shared->read_environment());
  std::unique_ptr<DeviceOpening> opening(new DeviceOpening(shared));
  const Status started = run_in_background([shared] { shared->run(); });
  if (!started.ok()) return error(started.code(), "the GPU cannot be opened: %s", started.message().c_str());
  return opening;
}

DeviceOpening::~DeviceOpening() {
  if (!shared_->interest->kept()) shared_->listener->leave();
  shared_->interest->leave();
}

void DeviceOpening::stream_began() {
  if (shared_->began.load() != kNever) return;
  shared_->began = Clock::now();
  Interest::changed();
}

std::optional<Status> DeviceOpening::outcome() {
  if (shared_->done) {
    const MutexLock lock(shared_->mutex);
    return shared_->status;
  }
  if (Clock::now() < shared_->due_by.load()) return std::nullopt;
  return error(EIO, "the GPU has not opened within %lld ms: a call of its runtime does not come back",
               static_cast<long long>(shared_->limit.count()));
}

Status DeviceOpening::wait() {
  for (;;) {
    if (auto known = outcome()) return *known;
    if (shared_->interest->left()) return shared_->options.wanted();
    shared_->interest->wait([this] { return shared_->done.load(); }, shared_->due_by);
  }
}

void DeviceOpening::wait_for_search() {
  shared_->interest->wait([this] { return shared_->found_runtime || shared_->done; }, Clock::now() + kMostSearch);
}

StatusOr<OpenedGpu> DeviceOpening::take() {
  const MutexLock lock(shared_->mutex);
  if (!shared_->gpu) return shared_->options.wanted();
  shared_->interest->keep();
  OpenedGpu gpu = std::move(*std::exchange(shared_->gpu, std::nullopt));
  gpu.listening = std::shared_ptr<void>(nullptr, [to = shared_->listener](void*) { to->leave(); });
  return gpu;
}

}  // namespace vmafx
