/* Pictures in a GPU's memory, through the C API: the scores of the same pictures in host memory, however they come to
 * the kernels. Memory files stand for the dma-bufs of a decoder, the emulator for the GPU. Surfaces are used again as
 * soon as they are released, so that one let go too early shows in the scores. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <mutex>
#include <thread>

#include "hip/memory.h"
#include "hip/stream.h"
#include "tests/support/check_main.h"
#include "tests/support/device.h"
#include "tests/support/emulator.h"
#include "tests/support/paths.h"
#include "tests/support/stream.h"

using namespace vmafx;
using namespace vmafx::test;

namespace {

constexpr uint64_t kTiled = 0x0200000000000001;
constexpr int kFrames = 11;

int open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

/* For what must go well also in a process that runs no test. */
void must(bool good) {
  if (!good) std::abort();
}

/* -- Pictures on the GPU ------------------------------------------------------------------------------------------- */

/* The properties that all pictures of one input share. */
struct Decoder {
  size_t pitch_alignment = 64;
  uint64_t modifier = 0;
  int right_downloads = INT_MAX;  // later ones differ from what lies on the surface
  bool cannot_download = false;
  int downloads = 0;
  std::mutex mutex;

  virtual ~Decoder() = default;
  virtual void give_back(int surface) = 0;
  virtual void finish() {}  // what is still being written
};

/* A picture in use: its surface, and the same in host memory for downloads. */
struct Loan {
  Decoder* decoder;
  int surface;
  VmafxFormat format;
  Samples samples;

  static void release(void* opaque) {
    Loan* loan = static_cast<Loan*>(opaque);
    loan->decoder->give_back(loan->surface);
    delete loan;
    --TestPicture::alive;
  }

  static int download(void* opaque, VmafxPicture* copy) {
    const Loan& loan = *static_cast<Loan*>(opaque);
    Samples samples = loan.samples;
    bool right;
    {
      const std::lock_guard lock(loan.decoder->mutex);
      right = loan.decoder->downloads++ < loan.decoder->right_downloads;
      loan.decoder->finish();
    }
    if (loan.decoder->cannot_download) return -EIO;
    if (!right) samples[luma_size(loan.format) - 1] ^= 1;
    *copy = TestPicture::make(loan.format, samples);
    return 0;
  }
};

int raw_planes(const VmafxFormat& f) {
  return f.chroma == VMAFX_CHROMA_400 ? 1 : f.layout == VMAFX_LAYOUT_PLANAR ? 3 : 2;
}
size_t raw_row_bytes(const VmafxFormat& f, int p) {
  return static_cast<size_t>(p ? chroma_w(f) * (f.layout == VMAFX_LAYOUT_PLANAR ? 1 : 2) : f.width) *
         (f.bits > 8 ? 2 : 1);
}
int raw_rows(const VmafxFormat& f, int p) { return p ? chroma_h(f) : f.height; }

/* The planes one after the other, as they lie on a surface. */
struct Layout {
  size_t offset[3] = {}, pitch[3] = {}, size = 0;

  Layout(const VmafxFormat& f, size_t alignment) {
    for (int p = 0; p < raw_planes(f); p++) {
      offset[p] = size;
      pitch[p] = (raw_row_bytes(f, p) + alignment - 1) / alignment * alignment;
      size += pitch[p] * raw_rows(f, p);
    }
  }
};

std::vector<uint8_t> lay_out(const VmafxFormat& f, const Samples& samples, const Layout& layout) {
  std::vector<uint8_t> bytes(layout.size, 0xEE);
  const VmafxPicture host = TestPicture::make(f, samples);
  for (int p = 0; p < raw_planes(f); p++)
    for (int y = 0; y < raw_rows(f, p); y++)
      std::memcpy(&bytes[layout.offset[p] + y * layout.pitch[p]], host.data[p] + y * host.stride[p],
                  raw_row_bytes(f, p));
  host.release(host.opaque);
  return bytes;
}

VmafxPicture loan_out(Decoder& decoder, int surface, const VmafxFormat& f, const Samples& samples,
                      const Layout& layout) {
  ++TestPicture::alive;
  VmafxPicture picture{};
  picture.opaque = new Loan{&decoder, surface, f, samples};
  picture.release = Loan::release;
  picture.download = Loan::download;
  for (int p = 0; p < raw_planes(f); p++) picture.stride[p] = static_cast<ptrdiff_t>(layout.pitch[p]);
  return picture;
}

/* Surfaces that are memory files: each picture comes with a new descriptor of one of them. */
class DmabufDecoder : public Decoder {
 public:
  ~DmabufDecoder() override {
    for (const int fd : surfaces_) close(fd);
    for (const auto& [surface, fd] : lent_) close(fd);
  }

  VmafxPicture make(const VmafxFormat& f, const Samples& samples) {
    const Layout layout(f, pitch_alignment);
    const std::lock_guard lock(mutex);
    const int surface = take_surface(layout.size);
    const std::vector<uint8_t> bytes = lay_out(f, samples, layout);
    must(pwrite(surfaces_[surface], bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    VmafxPicture picture = loan_out(*this, surface, f, samples, layout);
    picture.n_objects = 1;
    lent_[surface] = dup(surfaces_[surface]);
    picture.object[0] = {lent_[surface], layout.size, modifier};
    for (int p = 0; p < raw_planes(f); p++) picture.plane_offset[p] = static_cast<ptrdiff_t>(layout.offset[p]);
    return picture;
  }

  int surfaces() const { return static_cast<int>(surfaces_.size()); }

 protected:
  int file(int surface) const { return surfaces_[static_cast<size_t>(surface)]; }

 private:
  int take_surface(size_t size) {
    if (free_.empty()) {
      surfaces_.push_back(memfd_create("surface", MFD_CLOEXEC));
      must(ftruncate(surfaces_.back(), static_cast<off_t>(size)) == 0);
      return surfaces() - 1;
    }
    const int surface = free_.back();
    free_.pop_back();
    return surface;
  }
  void give_back(int surface) override {
    const std::lock_guard lock(mutex);
    close(lent_[surface]);
    lent_.erase(surface);
    free_.push_back(surface);
  }

  std::vector<int> surfaces_, free_;
  std::map<int, int> lent_;
};

enum class Producer { kWaitedFor, kSignals, kFails };

/* Surfaces that are opaque memory, as Vulkan exports it, written late: when they are waited for, or by a thread that
 * counts them in a semaphore. */
class OpaqueDecoder : public DmabufDecoder {
 public:
  explicit OpaqueDecoder(Producer producer) : producer_(producer) {
    modifier = kTiled;  // does not matter
    must(ftruncate(semaphore_, sizeof(uint64_t)) == 0);
    if (producer == Producer::kSignals) writer_ = std::thread([this] { write_all(); });
  }
  ~OpaqueDecoder() override {
    if (writer_.joinable()) {
      {
        const std::lock_guard lock(mutex);
        ended_ = true;
      }
      writer_.join();
    }
    close(semaphore_);
  }

  VmafxPicture make(const VmafxFormat& f, const Samples& samples) {
    VmafxPicture picture = DmabufDecoder::make(f, samples);
    const int surface = static_cast<const Loan*>(picture.opaque)->surface;
    const std::lock_guard lock(mutex);
    std::vector<uint8_t> bytes(picture.object[0].size), garbage(bytes.size(), 0xAA);
    must(pread(file(surface), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    must(pwrite(file(surface), garbage.data(), garbage.size(), 0) == static_cast<ssize_t>(garbage.size()));
    pending_.push_back({surface, std::move(bytes)});
    picture.object[0].id = static_cast<uint64_t>(surface) + 1;
    picture.wait = wait;
    signals_.push_back({.fd = semaphore_, .id = 7, .value = ++made_});
    if (producer_ == Producer::kSignals) picture.semaphore = &signals_.back();
    return picture;
  }

  int waits = 0;  // calls of wait()

 private:
  struct Pending {
    int surface;
    std::vector<uint8_t> bytes;
  };

  static int wait(void* opaque, int timeout_ms) {
    auto& decoder = static_cast<OpaqueDecoder&>(*static_cast<const Loan*>(opaque)->decoder);
    ck_assert_int_gt(timeout_ms, 0);
    const std::lock_guard lock(decoder.mutex);
    decoder.waits++;
    if (decoder.producer_ == Producer::kFails) return -ETIMEDOUT;
    while (!decoder.pending_.empty()) decoder.write_first();
    return 0;
  }

  void write_first() {
    const Pending& first = pending_.front();
    must(pwrite(file(first.surface), first.bytes.data(), first.bytes.size(), 0) ==
         static_cast<ssize_t>(first.bytes.size()));
    pending_.pop_front();
    written_++;
    must(pwrite(semaphore_, &written_, sizeof written_, 0) == sizeof written_);
  }

  void write_all() {
    for (bool ended = false; !ended;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      if (!pending_.empty()) write_first();
      ended = ended_ && pending_.empty();
    }
  }

  const Producer producer_;
  const int semaphore_ = memfd_create("semaphore", MFD_CLOEXEC);
  uint64_t made_ = 0, written_ = 0;
  bool ended_ = false;
  std::deque<Pending> pending_;
  std::deque<VmafxSemaphore> signals_;
  std::thread writer_;
};

/* Surfaces in device memory of the application, filled by work in its stream that nobody waits for. */
class DeviceDecoder : public Decoder {
 public:
  explicit DeviceDecoder(const hip::OpenedDevice& device)
      : context_(device.context),
        stream_(std::make_unique<hip::Stream>(std::move(hip::Stream::create(context_).value()))) {}

  VmafxPicture make(const VmafxFormat& f, const Samples& samples) {
    const Layout layout(f, pitch_alignment);
    const std::lock_guard lock(mutex);
    const int surface = take_surface(layout.size);
    const std::vector<uint8_t> bytes = lay_out(f, samples, layout);
    std::ranges::copy(bytes, surfaces_[surface].host.data());
    must(stream_
             ->upload(surfaces_[surface].device.ptr(), static_cast<const uint8_t*>(surfaces_[surface].host.data()),
                      bytes.size())
             .ok());
    VmafxPicture picture = loan_out(*this, surface, f, samples, layout);
    picture.stream = stream_->native();
    for (int p = 0; p < raw_planes(f); p++)
      picture.data[p] = reinterpret_cast<const uint8_t*>(surfaces_[surface].device.ptr().address() + layout.offset[p]);
    return picture;
  }

 private:
  struct Surface {
    hip::PinnedBuffer<uint8_t> host;
    hip::DeviceBuffer<uint8_t> device;
  };

  int take_surface(size_t size) {
    if (free_.empty()) {
      surfaces_.push_back({std::move(hip::PinnedBuffer<uint8_t>::create(context_, size).value()),
                           std::move(hip::DeviceBuffer<uint8_t>::create(context_, size).value())});
      return static_cast<int>(surfaces_.size()) - 1;
    }
    const int surface = free_.back();
    free_.pop_back();
    return surface;
  }
  void give_back(int surface) override {
    const std::lock_guard lock(mutex);
    free_.push_back(surface);
  }

  void finish() override { must(stream_->drain().ok()); }

  hip::ContextPtr context_;
  std::vector<Surface> surfaces_;
  std::vector<int> free_;
  std::unique_ptr<hip::Stream> stream_;
};

void* application_context(int of_device = 0) {
  void* library = dlopen(HIP_EMULATOR, RTLD_NOW | RTLD_LOCAL);
  void* context = nullptr;
  reinterpret_cast<int (*)(void**, int)>(dlsym(library, "hipDevicePrimaryCtxRetain"))(&context, of_device);
  dlclose(library);
  return context;
}

/* -- Streams ------------------------------------------------------------------------------------------------------- */

VmafxFormat format(VmafxChroma chroma, int bits, VmafxLayout layout, int shift) {
  return {98, 64, chroma, bits, layout, shift, VMAFX_MEMORY_HOST};
}
const VmafxFormat kPlanar = format(VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_PLANAR, 0);
const VmafxFormat kNv12 = format(VMAFX_CHROMA_420, 8, VMAFX_LAYOUT_SEMIPLANAR, 0);
const VmafxFormat kP010 = format(VMAFX_CHROMA_420, 10, VMAFX_LAYOUT_SEMIPLANAR, 6);
const VmafxFormat kP216 = format(VMAFX_CHROMA_422, 16, VMAFX_LAYOUT_SEMIPLANAR, 0);

enum Inputs { kRefOnly = 1, kDistOnly = 2, kBoth = 3 };

Params params_on(const char* backend) {
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
  Params params = cpu_params(nullptr, "name=psnr|name=motion:motion_five_frame_window=true");
  params.backend = backend;
  params.n_threads = 2;
  return params;
}

StreamOptions host_stream(const VmafxFormat& f) {
  StreamOptions options;
  options.ref = options.dist = f;
  options.frames = kFrames;
  return options;
}

void put_on_gpu(StreamOptions& options, Inputs inputs, VmafxMemory memory, const PictureMaker& make) {
  if (inputs & kRefOnly) options.ref.memory = memory, options.make_ref = make;
  if (inputs & kDistOnly) options.dist.memory = memory, options.make_dist = make;
}

void assert_scores(const Outcome& got, const VmafxFormat& f) {
  const Outcome want = run_stream(params_on("cpu"), host_stream(f));
  ck_assert_int_eq(want.error, 0);
  ck_assert_msg(got.error == 0, "%s", got.log.c_str());
  ck_assert_int_eq(got.frames.size(), kFrames);
  ck_assert(got.frames == want.frames);
  ck_assert(got.models == want.models);
  ck_assert_int_eq(TestPicture::alive, 0);
}

/* A stream of DRM PRIME pictures. */
Outcome run_dmabuf(DmabufDecoder& decoder, const VmafxFormat& f, const Params& params, Inputs inputs = kDistOnly) {
  StreamOptions options = host_stream(f);
  options.ref.drm_fd = options.dist.drm_fd = -1;
  put_on_gpu(options, inputs, VMAFX_MEMORY_DMABUF,
             [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
  return run_stream(params, options);
}

/* A stream of pictures in opaque memory. */
Outcome run_opaque(OpaqueDecoder& decoder, const VmafxFormat& f, const Params& params,
                   const char* pci_address = nullptr) {
  StreamOptions options = host_stream(f);
  options.dist.pci_address = pci_address;
  put_on_gpu(options, kDistOnly, VMAFX_MEMORY_OPAQUE,
             [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
  return run_stream(params, options);
}

std::string counts(const char* role, int imported, int uploaded, int downloaded) {
  return format_text("%s: %d imported, %d uploaded, %d downloaded", role, imported, uploaded, downloaded);
}

/* All came by way of a download, for `reason`; the scores are right. */
void assert_downloaded(DmabufDecoder& decoder, Params params, const std::string& reason, bool device = true) {
  const Outcome outcome = run_dmabuf(decoder, kNv12, params);
  assert_scores(outcome, kNv12);
  assert_contains(outcome.log, "the distorted frames are downloaded from the GPU: " + reason);
  assert_contains(outcome.log, counts("distorted", 0, device ? kFrames : 0, kFrames));
}

}  // namespace

START_TEST(linear_objects_are_read_where_they_lie) {
  const int before = open_descriptors();
  size_t turn = 0;
  for (const VmafxFormat& f : {kPlanar, kNv12, kP010, kP216})
    for (const Inputs inputs : {kRefOnly, kDistOnly, kBoth})
      for (const size_t alignment : {64, 2}) {
        if (!takes_combination(turn++ / 2, alignment == 2)) continue;
        DmabufDecoder decoder;
        decoder.pitch_alignment = alignment;
        const Outcome outcome = run_dmabuf(decoder, f, params_on("hip"), inputs);
        assert_scores(outcome, f);
        const auto side = [&](const char* role, bool on_gpu) {
          assert_contains(outcome.log, on_gpu ? counts(role, kFrames, 0, 0) : counts(role, 0, kFrames, 0));
        };
        side("reference", inputs & kRefOnly);
        side("distorted", inputs & kDistOnly);
        ck_assert_int_eq(decoder.downloads, inputs == kBoth ? 2 : 1);  // the first picture's check
      }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* Few pictures of a producer that has few, and as many as vmafx.h says of one that has enough. */
START_TEST(no_more_pictures_are_held_than_are_to_spare) {
  const int frames = test_all() ? 120 : 60;  // more than are held
  const auto most_held = [&](uint64_t spare) {
    DmabufDecoder decoder;
    StreamOptions options = host_stream(kNv12);
    options.frames = frames;
    options.dist.drm_fd = -1;
    options.dist.spare_pictures = spare;
    put_on_gpu(options, kDistOnly, VMAFX_MEMORY_DMABUF,
               [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
    const Outcome outcome = run_stream(params_on("hip"), options);
    ck_assert_msg(outcome.error == 0, "%s", outcome.log.c_str());
    assert_contains(outcome.log, counts("distorted", frames, 0, 0));
    return decoder.surfaces();
  };
  const int few = most_held(0), some = most_held(24), many = most_held(40), any = most_held(UINT64_MAX);
  ck_assert_msg(few <= 16 && few < some && some <= 24 && some < many && many <= 40 && any <= 40,
                "%d, %d, %d and %d pictures are held", few, some, many, any);
}
END_TEST

START_TEST(what_cannot_be_imported_is_downloaded) {
  const int before = open_descriptors();
  {
    DmabufDecoder tiled, wrong;
    tiled.modifier = kTiled;
    assert_downloaded(tiled, params_on("hip"), "they are not linear (format modifier 0x200000000000001)");
    wrong.right_downloads = 0;  // in the last sample of the luma: the download is what is scored
    const Outcome outcome = run_dmabuf(wrong, kNv12, params_on("hip"));
    ck_assert_int_eq(outcome.error, 0);
    assert_contains(outcome.log, "the GPU reads other samples in them than a download gives (plane 0, row 63)");
    assert_contains(outcome.log, counts("distorted", 0, kFrames, kFrames));
  }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(opaque_memory_is_read_once_it_is_written) {
  const int before = open_descriptors();
  for (const VmafxFormat& f : {kPlanar, kNv12, kP010, kP216})
    for (const Producer producer : {Producer::kWaitedFor, Producer::kSignals}) {
      OpaqueDecoder decoder(producer);
      const Outcome outcome = run_opaque(decoder, f, params_on("hip"), "0000:03:00.0");
      assert_scores(outcome, f);
      assert_contains(outcome.log, counts("distorted", kFrames, 0, 0));
      ck_assert_int_eq(decoder.waits, producer == Producer::kSignals ? 0 : kFrames);
    }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(opaque_memory_that_cannot_be_read_is_downloaded) {
  const int before = open_descriptors();
  {
    OpaqueDecoder foreign(Producer::kWaitedFor), failing(Producer::kFails);
    const Outcome elsewhere = run_opaque(foreign, kNv12, params_on("hip"), "0000:0a:00.0");
    assert_scores(elsewhere, kNv12);
    assert_contains(elsewhere.log, "they are on another device (0000:0a:00.0, the metrics run on 0000:03:00.0)");
    const Outcome late = run_opaque(failing, kNv12, params_on("hip"));
    assert_scores(late, kNv12);
    assert_contains(late.log, "waiting for their producer failed: Connection timed out");
    assert_contains(late.log, counts("distorted", 0, kFrames, kFrames));
    ck_assert_int_eq(failing.waits, 1);
  }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(import_is_obeyed) {
  DmabufDecoder decoder;
  Params params = params_on("hip");
  params.import = "host";
  assert_downloaded(decoder, params, "import=host");

  params.import = "device";
  assert_scores(run_dmabuf(decoder, kNv12, params), kNv12);
  decoder.modifier = kTiled;
  const Outcome refused = run_dmabuf(decoder, kNv12, params);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log,
                  "import=device, but the distorted frames cannot be read where they lie: they are not linear");
  ck_assert_int_eq(TestPicture::alive, 0);

  params.import = "perhaps";
  ck_assert_int_eq(run_stream(params).error, -EINVAL);
}
END_TEST

/* A decoder has not the memory for what it would keep. */
START_TEST(metrics_that_look_back_far_get_downloads) {
  DmabufDecoder decoder;
  Params params = params_on("hip");
  params.feature = "name=cvvdp:fps=24";
  params.import = "device";
  const Outcome refused = run_dmabuf(decoder, kNv12, params);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "cvvdp_fps_24 reads 6 earlier frames, more than a decoder has memory for");
}
END_TEST

START_TEST(the_cpu_gets_downloads) {
  DmabufDecoder decoder;
  assert_downloaded(decoder, params_on("cpu"), "adm runs on the CPU", false);
  Params params = params_on("cpu");
  params.import = "device";
  const Outcome refused = run_dmabuf(decoder, kNv12, params);
  ck_assert_int_eq(refused.error, -EINVAL);
  assert_contains(refused.log, "cannot be read where they lie: adm runs on the CPU");
}
END_TEST

START_TEST(verification_downloads) {
  DmabufDecoder decoder;
  Params params = params_on("hip");
  params.verify = 4;
  const Outcome outcome = run_dmabuf(decoder, kP010, params, kBoth);
  assert_scores(outcome, kP010);
  assert_contains(outcome.log, "verify=4: the largest difference between GPU and CPU in 3 frames is 0");
  assert_contains(outcome.log, counts("distorted", kFrames, 0, 3));
}
END_TEST

START_TEST(verification_ends_with_an_error_if_asked) {
  for (const int verify_fail : {0, 1}) {
    DmabufDecoder decoder;
    decoder.right_downloads = 1;  // that against which the first picture is checked
    Params params = params_on("hip");
    params.verify = 1;
    params.verify_fail = verify_fail;
    const Outcome outcome = run_dmabuf(decoder, kNv12, params, kDistOnly);
    ck_assert_int_eq(outcome.error, verify_fail ? -EBADMSG : 0);
    assert_contains(outcome.log, verify_fail ? "verify_fail: the raw sums of frame 0 differ between GPU and CPU by "
                                             : "verify=1: the largest difference between GPU and CPU in 11 frames is ");
  }
}
END_TEST

START_TEST(device_addresses_wait_for_their_stream) {
  const hip::OpenedDevice device = open_test_device();
  for (const VmafxFormat& f : {kPlanar, kNv12, kP010})
    for (const Inputs inputs : {kRefOnly, kDistOnly, kBoth}) {
      DeviceDecoder decoder(device);
      StreamOptions options = host_stream(f);
      put_on_gpu(options, inputs, VMAFX_MEMORY_DEVICE,
                 [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
      Params params = params_on("hip");
      params.device_platform = VMAFX_PLATFORM_HIP;
      params.device_context = application_context();
      const Outcome outcome = run_stream(params, options);
      assert_scores(outcome, f);
      assert_contains(outcome.log,
                      counts("distorted", inputs & kDistOnly ? kFrames : 0, inputs & kDistOnly ? 0 : kFrames, 0));
    }
}
END_TEST

/* Kernels convert their colors there, too. */
START_TEST(pictures_to_convert_are_read_where_they_lie) {
  for (VmafxFormat f : {kPlanar, kNv12, kP010}) {
    f.color = {.matrix = 9, .range = 1, .transfer = 16, .primaries = 9};
    Params params = params_on("cpu");
    params.convert = "bt709";
    const Outcome want = run_stream(params, host_stream(f));
    DmabufDecoder decoder;
    decoder.pitch_alignment = f.bits == 8 ? 64 : 2;
    params.backend = "hip";
    params.verify = 4;
    const Outcome got = run_dmabuf(decoder, f, params, kBoth);
    ck_assert_msg(!want.error && !got.error, "%s%s", want.log.c_str(), got.log.c_str());
    ck_assert(got.frames == want.frames && got.frames.size() == kFrames);
    assert_contains(got.log, "verify=4: the largest difference between GPU and CPU in 3 frames is 0");
    /* Frames 0, 4 and 8 are verified, and motion looks back on two pictures of the reference. */
    assert_contains(got.log, counts("reference", kFrames, 0, 7));
    assert_contains(got.log, counts("distorted", kFrames, 0, 3));
    ck_assert_int_eq(TestPicture::alive, 0);
  }
}
END_TEST

START_TEST(device_addresses_need_their_context) {
  const hip::OpenedDevice device = open_test_device();
  DeviceDecoder decoder(device);
  StreamOptions options = host_stream(kPlanar);
  put_on_gpu(options, kDistOnly, VMAFX_MEMORY_DEVICE,
             [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
  Params params = params_on("hip");
  const Outcome outcome = run_stream(params, options);
  assert_scores(outcome, kPlanar);
  assert_contains(outcome.log, "downloaded from the GPU: no device context was handed in");

  params.device_platform = VMAFX_PLATFORM_HIP;
  ck_assert_int_eq(run_stream(params, options).error, -EINVAL);
  params.device_context = application_context();
  params.device_platform = VMAFX_PLATFORM_CUDA;
  ck_assert_int_eq(run_stream(params, options).error, -ENODEV);
}
END_TEST

START_TEST(pinned_pictures_are_uploaded_from_where_they_are) {
  const hip::OpenedDevice device = open_test_device();
  std::vector<hip::PinnedBuffer<uint8_t>> planes;
  StreamOptions options = host_stream(kNv12);
  options.dist.memory = VMAFX_MEMORY_PINNED;
  options.make_dist = [&](const VmafxFormat& f, const Samples& samples) {
    const Layout layout(f, 32);
    planes.push_back(take(hip::PinnedBuffer<uint8_t>::create(device.context, layout.size)));
    std::ranges::copy(lay_out(f, samples, layout), planes.back().data());
    VmafxPicture picture{};
    for (int p = 0; p < raw_planes(f); p++) {
      picture.data[p] = planes.back().data() + layout.offset[p];
      picture.stride[p] = static_cast<ptrdiff_t>(layout.pitch[p]);
    }
    return picture;
  };
  assert_scores(run_stream(params_on("hip"), options), kNv12);
}
END_TEST

/* -- With a device that fails: in processes of their own ----------------------------------------------------------- */

namespace {

/* With two GPUs and the pictures on the second one: what the session says whose given context is of `given`, and whose
 * device and import are those. */
int print_log_of_two_devices(int given, const char* choice, const char* import) {
  setenv("VMAFX_HIP_RUNTIME", HIP_EMULATOR, 0);
  const hip::OpenedDevice second = hip::open_device("1").value();
  DeviceDecoder decoder(second);
  StreamOptions options = host_stream(kPlanar);
  put_on_gpu(options, kDistOnly, VMAFX_MEMORY_DEVICE,
             [&](const VmafxFormat& of, const Samples& samples) { return decoder.make(of, samples); });
  options.dist.device_context = application_context(1);
  Params params = params_on("hip");
  params.device_platform = VMAFX_PLATFORM_HIP;
  params.device_context = application_context(given);
  params.device = choice;
  params.import = import;
  const Outcome outcome = run_stream(params, options);
  std::printf("%s", outcome.log.c_str());
  return outcome.error || outcome.frames != run_stream(params_on("cpu"), host_stream(kPlanar)).frames;
}

int print_scores(const char* backend, const char* import) {
  int status = 0;
  const int before = open_descriptors();
  {
    DmabufDecoder decoder;
    Params params = params_on(backend);
    params.import = import;
    const Outcome outcome = run_dmabuf(decoder, kP010, params, kBoth);
    for (const FrameScores& scores : outcome.frames)
      for (const auto& [key, value] : scores) std::printf("%s %a\n", key.c_str(), value);
    if (outcome.error) std::printf("error %d: %s", -outcome.error, outcome.log.c_str());
    status = outcome.error || TestPicture::alive;
  }
  if (*backend == 'c' && open_descriptors() != before)
    std::printf("%d descriptors leaked\n", open_descriptors() - before);
  return status != 0;
}

}  // namespace

START_TEST(a_failing_import_is_a_download) {
  const std::string want = run_again("", "cpu auto").text;
  for (const char* call : {"hipImportExternalMemory", "hipExternalMemoryGetMappedBuffer"})
    for (const char* how : {"memory", "801"})
      assert_text_eq(run_again(emulator("FAIL", std::string(call) + ":" + how), "hip auto").text, want);
  const Rerun refused = run_again(emulator("FAIL", "hipImportExternalMemory:801"), "hip device");
  ck_assert(!refused.succeeded);
  assert_contains(refused.text,
                  "import=device, but the reference frames cannot be read where they lie: hipImportExternalMemory");
}
END_TEST

/* The log of pictures on the second of two GPUs. */
std::string log_of_two(const std::string& given_choice_import) {
  const Rerun rerun =
      run_again(emulator("DEVICES", "discrete@0000:03:00.0,discrete@0000:0a:00.0"), "two " + given_choice_import);
  ck_assert_msg(rerun.succeeded, "%s", rerun.text.c_str());
  return rerun.text;
}

START_TEST(addresses_of_another_device_are_downloaded) {
  const std::string reason = "they are on another device (0000:0a:00.0, the metrics run on 0000:03:00.0)";
  assert_contains(log_of_two("0 auto auto"), reason);
  for (const char* first : {"1 0 auto", "1 0000:03:00.0 auto", "0 0 auto"}) assert_contains(log_of_two(first), reason);
}
END_TEST

/* `device` names it, in whatever words: that is no other device than the one of the context handed in. */
START_TEST(addresses_of_the_device_that_is_named_are_imported) {
  for (const char* second : {"1 auto auto", "1 1 auto", "1 0000:0a:00.0 auto", "1 0A:00.0 auto", "0 1 auto"}) {
    const std::string log = log_of_two(second);
    assert_contains(log, counts("distorted", kFrames, 0, 0));
    assert_contains(log, "(0000:0a:00.0, emulator)");
  }
}
END_TEST

/* Also when they are not read there, the metrics run on the GPU that the frames are on, unless another is named. */
START_TEST(downloads_that_were_asked_for_are_told_so) {
  for (const auto& [how, where] : {std::pair("1 auto host", "0000:0a:00.0"), std::pair("1 0 host", "0000:03:00.0")}) {
    const std::string log = log_of_two(how);
    assert_contains(log, "the distorted frames are downloaded from the GPU: import=host");
    assert_contains(log, std::string("(") + where);
  }
}
END_TEST

/* Some calls: the sessions' own test fails each of them. */
START_TEST(a_device_that_fails_hands_over) {
  const std::string want = run_again("", "cpu auto").text;
  const int calls = count_calls("hip auto");
  ck_assert_int_ge(calls, 300);
  const auto assert_survives = [&](const std::string& variables) {
    ck_assert_msg(run_again(variables, "auto auto").text == want, "%s", variables.c_str());
  };
  for (int k = 1; k <= calls; k += every_if_not_all(8) * 7 * every_under_sanitizers(3))
    assert_survives(emulator("FAIL", std::to_string(k) + (k % 2 ? ":launch" : ":lost")));
  for (int k = 1; k <= calls; k += every_if_not_all(5) * 29 * every_under_sanitizers(3))
    assert_survives(emulator("HANG", std::to_string(k)) + " VMAFX_HIP_DEADLINE=300");
}
END_TEST

int main(int argc, char** argv) {
  if (argc > 4) return print_log_of_two_devices(std::atoi(argv[2]), argv[3], argv[4]);
  if (argc > 2) return print_scores(argv[1], argv[2]);
  const int failed =
      run_host_suite_on_device("pictures on a GPU", {{"linear", linear_objects_are_read_where_they_lie},
                                                     {"verify", verification_downloads},
                                                     {"verify_fail", verification_ends_with_an_error_if_asked},
                                                     {"addresses", device_addresses_wait_for_their_stream},
                                                     {"pinned", pinned_pictures_are_uploaded_from_where_they_are}});
  return failed | run_suite_on_emulator("pictures on a GPU that cannot be read there",
                                        {{"spare", no_more_pictures_are_held_than_are_to_spare},
                                         {"downloads", what_cannot_be_imported_is_downloaded},
                                         {"opaque", opaque_memory_is_read_once_it_is_written},
                                         {"opaque_refused", opaque_memory_that_cannot_be_read_is_downloaded},
                                         {"options", import_is_obeyed},
                                         {"looks_back", metrics_that_look_back_far_get_downloads},
                                         {"cpu", the_cpu_gets_downloads},
                                         {"context", device_addresses_need_their_context},
                                         {"two_devices", addresses_of_another_device_are_downloaded},
                                         {"converted", pictures_to_convert_are_read_where_they_lie},
                                         {"named_device", addresses_of_the_device_that_is_named_are_imported},
                                         {"import_host", downloads_that_were_asked_for_are_told_so},
                                         {"failing", a_failing_import_is_a_download},
                                         {"handover", a_device_that_fails_hands_over}});
}
