/* Importing: what is decided, what is imported once, what a failure leaves behind. Memory files stand for dma-bufs, the
 * emulator for the device. */
#include "hip/import.h"

#include <check.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "hip/memory.h"
#include "hip/stream.h"
#include "tests/hip/fake.h"
#include "tests/support/check_main.h"
#include "tests/support/paths.h"

using namespace vmafx;
using namespace vmafx::hip;

namespace {

constexpr size_t kBytes = 8192;
constexpr uint64_t kTiled = 0x0200000000000001;  // of some AMD GPU

template <class T>
T take(StatusOr<T> made) {
  ck_assert_msg(made.ok(), "%s", made.status().message().c_str());
  return std::move(made.value());
}

ContextPtr open_context() { return take(Context::open(take(list_devices(*take(Runtime::load({{HIP_EMULATOR}}))))[0])); }

int open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<int>(std::distance(begin(all), end(all)));
}

/* A memory file of kBytes, filled with numbers from `seed` on. */
class Memory {
 public:
  explicit Memory(uint8_t seed) : fd_(memfd_create("surface", MFD_CLOEXEC)) {
    std::vector<uint8_t> bytes(kBytes);
    std::iota(bytes.begin(), bytes.end(), seed);
    ck_assert_int_eq(write(fd_, bytes.data(), kBytes), kBytes);
  }
  Memory(Memory&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Memory() {
    if (fd_ >= 0) close(fd_);
  }
  ForeignObject object() const { return {fd_, kBytes, kModifierLinear}; }

 private:
  int fd_;
};

/* The byte that the device reads at `offset`. */
int device_byte(const ContextPtr& context, const Import& import, int offset) {
  const auto out = take(PinnedBuffer<uint8_t>::create(context, 1));
  Stream stream = take(Stream::create(context));
  ck_assert(stream.download(out.data(), import.data() + offset, 1).ok());
  ck_assert(stream.drain().ok());
  return out.data()[0];
}

}  // namespace

START_TEST(an_object_is_read_where_it_lies) {
  const int before = open_descriptors();
  {
    const ContextPtr context = open_context();
    Importer importer(context);
    std::shared_ptr<const Import> import;
    {
      const Memory memory(3);
      ck_assert(wait_for_producer(memory.object().fd, std::chrono::milliseconds(1000)).ok());
      import = take(importer.import(memory.object()));
    }
    ck_assert_uint_eq(import->size(), kBytes);
    ck_assert_int_eq(device_byte(context, *import, 0), 3);
    ck_assert_int_eq(device_byte(context, *import, 4100), (4100 + 3) % 256);
  }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(an_object_is_imported_once) {
  const ContextPtr context = open_context();
  Importer importer(context);
  const Memory a(1), b(2);
  const auto first = take(importer.import(a.object())), other = take(importer.import(b.object()));
  ForeignObject again = a.object();
  again.fd = dup(again.fd);
  again.size = 0;  // as some drivers say it
  ck_assert_ptr_eq(take(importer.import(again)).get(), first.get());
  close(again.fd);
  ck_assert_ptr_ne(other.get(), first.get());
}
END_TEST

/* Opaque descriptors are told apart by their numbers alone. */
START_TEST(opaque_memory_is_known_by_its_number) {
  const int before = open_descriptors();
  {
    const ContextPtr context = open_context();
    Importer importer(context);
    const Memory memory(5);
    ForeignObject object = memory.object();
    object.modifier = kTiled;
    object.id = 1;
    const auto first = take(importer.import(object));
    ck_assert_int_eq(device_byte(context, *first, 2), 7);
    ck_assert_ptr_eq(take(importer.import(object)).get(), first.get());
    object.fd = -1;  // not looked at again
    ck_assert_ptr_eq(take(importer.import(object)).get(), first.get());
    object = memory.object();
    object.id = 2;
    ck_assert_ptr_ne(take(importer.import(object)).get(), first.get());
    object = {.fd = object.fd, .size = 0, .id = 3};
    ck_assert_int_eq(importer.import(object).status().code(), EINVAL);
  }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(a_stream_waits_for_a_semaphore) {
  const int before = open_descriptors(), file = memfd_create("semaphore", MFD_CLOEXEC);
  {
    const ContextPtr context = open_context();
    uint64_t value = 4;
    ck_assert_int_eq(pwrite(file, &value, sizeof value, 0), sizeof value);
    const auto semaphore = take(Semaphore::open(context, file));
    Stream stream = take(Stream::create(context));
    ck_assert(semaphore->hold(stream, 5).ok());
    Event event = take(Event::create(context));
    ck_assert(event.record(stream).ok());
    ck_assert(!take(event.done()));
    ck_assert_int_eq(pwrite(file, &++value, sizeof value, 0), sizeof value);
    ck_assert(take(event.done()));
  }
  close(file);
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(few_objects_are_remembered) {
  const int before = open_descriptors();
  {
    const ContextPtr context = open_context();
    Importer importer(context);
    const auto first = take(importer.import(Memory(9).object()));
    for (size_t i = 0; i < 2 * Importer::kMostObjects; i++) (void)take(importer.import(Memory(1).object()));
    ck_assert_int_le(open_descriptors(), before + static_cast<int>(Importer::kMostObjects));
    ck_assert_int_eq(device_byte(context, *first, 1), 10);  // forgotten, but held
  }
  ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

START_TEST(what_cannot_be_imported_is_told_why) {
  Device device = open_context()->device();
  const Memory memory(0);
  const ForeignObject linear = memory.object();
  ForeignObject tiled = linear;
  tiled.modifier = kTiled;
  ck_assert(can_import(device, {""}, {&linear, 1}).ok());
  ck_assert(can_import(device, {"0000:03:00.0"}, {&linear, 1}).ok());
  ck_assert(can_import(device, {"03:00.0"}, {&linear, 1}).ok());

  const Status foreign = can_import(device, {"0000:0a:00.0"}, {&linear, 1});
  ck_assert_int_eq(foreign.code(), ENOTSUP);
  assert_text_eq(foreign.message(), "they are on another device (0000:0a:00.0, the metrics run on 0000:03:00.0)");
  const ForeignObject mixed[] = {linear, tiled};
  assert_text_eq(can_import(device, {""}, mixed).message(), "they are not linear (format modifier 0x200000000000001)");
  assert_contains(can_import(device, {""}, {}).message(), "cannot be had");

  const Uuid one = {1, 2, 3, 4, 5, 6}, other = {9};
  const ForeignDevice theirs{.pci_address = "", .uuid = one};
  ck_assert(can_import(device, theirs, {&linear, 1}).ok());  // nothing to compare it with
  device.uuid = one;
  ck_assert(can_import(device, theirs, {&linear, 1}).ok());
  device.uuid = other;
  assert_text_eq(can_import(device, theirs, {&linear, 1}).message(),
                 "they are on another device (UUID 01020304-0506-0000-0000-000000000000, the metrics run on "
                 "09000000-0000-0000-0000-000000000000)");
  device = vmafx::test::fake_device();
  ck_assert_int_eq(Semaphore::open(take(Context::open(device)), 0).status().code(), ENOTSUP);
  assert_contains(can_import(device, {""}, {&linear, 1}).message(), "cannot import memory");
}
END_TEST

START_TEST(a_wrong_object_is_refused) {
  Importer importer(open_context());
  const Memory memory(0);
  ForeignObject object = memory.object();
  object.size = kBytes + 1;
  ck_assert_int_eq(importer.import(object).status().code(), ENOTSUP);
  ck_assert_int_eq(importer.import({-1, kBytes, kModifierLinear}).status().code(), EINVAL);
  ck_assert_int_eq(wait_for_producer(-2, std::chrono::milliseconds(1)).code(), ETIMEDOUT);  // poll() skips it
  int ends[2];
  ck_assert_int_eq(pipe(ends), 0);
  ck_assert_int_eq(wait_for_producer(ends[0], std::chrono::milliseconds(20)).code(), ETIMEDOUT);
  close(ends[0]);
  close(ends[1]);
}
END_TEST

START_TEST(the_device_of_a_drm_node_is_found) {
  char folder[] = "/tmp/vmafx_numbers_XXXXXX";
  ck_assert_ptr_nonnull(mkdtemp(folder));
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  struct stat file;
  ck_assert_int_eq(fstat(null, &file), 0);
  const std::string numbers = folder, place = numbers + format_text("/%u:%u", major(file.st_rdev), minor(file.st_rdev));
  assert_text_eq(drm_pci_address(null, numbers), "");
  std::filesystem::create_directory(place);
  std::filesystem::create_symlink("../../../0000:0a:00.1", place + "/device");
  assert_text_eq(drm_pci_address(null, numbers), "0000:0a:00.1");
  std::filesystem::remove(place + "/device");
  std::filesystem::create_symlink("../../../virtual", place + "/device");
  assert_text_eq(drm_pci_address(null, numbers), "");
  assert_text_eq(drm_pci_address(-1, numbers), "");
  assert_text_eq(drm_pci_address(Memory(0).object().fd, numbers), "");
  std::filesystem::remove_all(numbers);
  close(null);
}
END_TEST

/* The emulator is set up once per process: each failure in a child, and before any other test. */
START_TEST(a_failure_leaves_nothing_behind) {
  for (const char* call : {"hipImportExternalMemory", "hipExternalMemoryGetMappedBuffer"}) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("VMAFX_HIP_EMULATOR_FAIL", (std::string(call) + ":memory").c_str(), 1);
      {
        const ContextPtr context = open_context();
        Importer importer(context);
        const Memory memory(0);
        const int before = open_descriptors();
        const auto import = importer.import(memory.object());
        if (import.status().code() != ENOMEM || open_descriptors() != before) _exit(1);
      }
      std::exit(0);  // where the emulator looks for leaks
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status 0x%x", call, status);
  }
}
END_TEST

int main() {
  return vmafx::test::run_suite("import", {{"failure", a_failure_leaves_nothing_behind},
                                           {"read", an_object_is_read_where_it_lies},
                                           {"once", an_object_is_imported_once},
                                           {"few", few_objects_are_remembered},
                                           {"opaque", opaque_memory_is_known_by_its_number},
                                           {"semaphore", a_stream_waits_for_a_semaphore},
                                           {"decision", what_cannot_be_imported_is_told_why},
                                           {"wrong", a_wrong_object_is_refused},
                                           {"device", the_device_of_a_drm_node_is_found}});
}
