/* Memory: allocation, copies, fills, imports. */
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/runtime/imports.h"
#include "emulator/runtime/memory.h"
#include "emulator/runtime/queue.h"
#include "emulator/runtime/settings.h"
#include "emulator/runtime/system/descriptors.h"

using namespace vmafx::emulator;

namespace {

uintptr_t as_address(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/* Rows of bytes in the memory of the device or of the host. */
struct Rows {
  uint8_t* data;
  size_t stride;

  uint8_t* row(size_t y) const { return data + y * stride; }
};

struct Shape {
  size_t row_bytes, rows;

  size_t span(size_t stride) const { return row_bytes && rows ? (rows - 1) * stride + row_bytes : 0; }
};

/* The device's side of a copy lies in one allocation, on the stream's device. */
int check_device_side(const Call& call, const Stream& stream, const Rows& at, const Shape& shape, bool is_target) {
  if (shape.rows > 1 && at.stride < shape.row_bytes) return call.misuse(kInvalidValue, "rows overlap");
  const DeviceMemory& memory = DeviceMemory::get();
  const Allocation* allocation = memory.find(as_address(at.data), shape.span(at.stride));
  if (!allocation)
    return call.misuse(
        kInvalidValue,
        text("%zu bytes at %p are not all inside one device allocation: the first is %s, the last %s",
             shape.span(at.stride), static_cast<void*>(at.data), memory.describe(as_address(at.data)).c_str(),
             memory.describe(as_address(at.data) + shape.span(at.stride) - 1).c_str()));
  if (allocation->device != stream.device)
    return call.misuse(kInvalidValue,
                       text("the memory is of device %d, the stream of device %d", allocation->device, stream.device));
  if (is_target && allocation->imported) return call.misuse(kInvalidValue, "imported memory is read only");
  return kSuccess;
}

/* The host's side: it is not device memory, and if it begins in pinned memory it ends there. */
int check_host_side(const Call& call, const Rows& at, const Shape& shape, bool* is_pinned) {
  size_t rest = 0;
  if (as_address(at.data) - reserve.begin < reserve.size)
    return call.misuse(kInvalidValue, text("the host's side, %p, is device memory", static_cast<void*>(at.data)));
  *is_pinned = PinnedMemory::get().contains(as_address(at.data), &rest);
  if (*is_pinned && shape.span(at.stride) > rest)
    return call.misuse(kInvalidValue, text("%zu bytes at %p, but only %zu lie in the pinned allocation",
                                           shape.span(at.stride), static_cast<void*>(at.data), rest));
  return kSuccess;
}

/* Pinned memory is read when the copy runs; other memory is read before the call returns, as by real runtimes. */
int copy_to_device(const Call& call, Stream& stream, Rows to, Rows from, Shape shape) {
  bool is_pinned = false;
  if (const int code = check_device_side(call, stream, to, shape, true)) return code;
  if (const int code = check_host_side(call, from, shape, &is_pinned)) return code;
  std::shared_ptr<std::vector<uint8_t>> held;
  if (!is_pinned) {
    held = std::make_shared<std::vector<uint8_t>>(from.data, from.data + shape.span(from.stride));
    from.data = held->data();
  }
  enqueue(stream, {[to, from, shape, held] {
            for (size_t y = 0; y < shape.rows; y++) {
              std::memcpy(to.row(y), from.row(y), shape.row_bytes);
              DeviceMemory::get().mark_written(as_address(to.row(y)), shape.row_bytes);
            }
          }});
  return kSuccess;
}

void read_rows(const std::string& call, const Rows& to, const Rows& from, const Shape& shape) {
  DeviceMemory& memory = DeviceMemory::get();
  for (size_t y = 0; y < shape.rows; y++) {
    if (const uintptr_t unwritten = memory.first_unwritten(as_address(from.row(y)), shape.row_bytes))
      complain(0, call + ": reads what was never written, " + memory.describe(unwritten));
    std::memcpy(to.row(y), from.row(y), shape.row_bytes);
  }
}

/* Pinned memory holds garbage until the copy has run; into other memory the call itself waits for the copy. */
int copy_to_host(const Call& call, Stream& stream, Rows to, Rows from, Shape shape) {
  constexpr int kGarbage = 0xA5;
  bool is_pinned = false;
  if (const int code = check_device_side(call, stream, from, shape, false)) return code;
  if (const int code = check_host_side(call, to, shape, &is_pinned)) return code;
  for (size_t y = 0; y < shape.rows; y++) std::memset(to.row(y), kGarbage, shape.row_bytes);
  enqueue(stream, {[=, name = call.name()] { read_rows(name, to, from, shape); }});
  if (is_pinned || drain(stream)) return kSuccess;
  return call.misuse(kUnknown, "would never return: the device hangs, and the target is not pinned");
}

int copy_on_device(const Call& call, Stream& stream, Rows to, Rows from, Shape shape) {
  if (const int code = check_device_side(call, stream, to, shape, true)) return code;
  if (const int code = check_device_side(call, stream, from, shape, false)) return code;
  enqueue(stream, {[=] {
            for (size_t y = 0; y < shape.rows; y++) {
              std::memmove(to.row(y), from.row(y), shape.row_bytes);
              DeviceMemory::get().copy_states(as_address(to.row(y)), as_address(from.row(y)), shape.row_bytes);
            }
          }});
  return kSuccess;
}

int copy(const Call& call, void* handle, CopyKind kind, Rows to, Rows from, Shape shape) {
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, handle);
  if (!stream) return kInvalidHandle;
  if (!shape.row_bytes || !shape.rows) return kSuccess;
  if (kind == kHostToDevice) return copy_to_device(call, *stream, to, from, shape);
  if (kind == kDeviceToHost) return copy_to_host(call, *stream, to, from, shape);
  if (kind == kDeviceToDevice) return copy_on_device(call, *stream, to, from, shape);
  return call.misuse(kInvalidValue, text("copies of kind %d are not offered", kind));
}

Rows one_row(const void* data) { return {static_cast<uint8_t*>(const_cast<void*>(data)), 0}; }

template <class Unit>
int fill(const Call& call, void* handle, void* to, Unit value, size_t n) {
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, handle);
  if (!stream) return kInvalidHandle;
  if (as_address(to) % sizeof(Unit)) return call.misuse(kInvalidValue, "the address is not a multiple of the unit");
  if (n == 0) return kSuccess;
  const size_t bytes = n * sizeof(Unit);
  if (const int code = check_device_side(call, *stream, one_row(to), {bytes, 1}, true)) return code;
  enqueue(*stream, {[=] {
    std::fill_n(static_cast<Unit*>(to), n, value);
    DeviceMemory::get().mark_written(as_address(to), bytes);
  }});
  return kSuccess;
}

}  // namespace

/* -- Allocation ---------------------------------------------------------------------------------------------------- */

EMULATOR_API int hipMalloc(void** address, size_t bytes) {
  const Call call("hipMalloc");
  if (call.error()) return call.error();
  *address = nullptr;
  if (bytes == 0) return kSuccess;
  *address = reinterpret_cast<void*>(DeviceMemory::get().allocate(bytes, current_device()));
  return *address ? kSuccess : kOutOfMemory;
}

EMULATOR_API int hipFree(void* address) {
  const Call call("hipFree");
  if (!address) return call.error();
  const Allocation* allocation = DeviceMemory::get().find(as_address(address), 0);
  if (!allocation)
    return call.misuse(kInvalidValue,
                       text("%p: %s", address, DeviceMemory::get().describe(as_address(address)).c_str()));
  if (const int code = wait_for_device(call, allocation->device)) return code;
  if (!DeviceMemory::get().release(as_address(address)))
    return call.misuse(kInvalidValue, "not the beginning of an allocation");
  return call.error();
}

EMULATOR_API int hipHostMalloc(void** host, size_t bytes, unsigned) {
  const Call call("hipHostMalloc");
  if (call.error()) return call.error();
  *host = bytes ? PinnedMemory::get().allocate(bytes) : nullptr;
  return kSuccess;
}

EMULATOR_API int hipHostFree(void* host) {
  const Call call("hipHostFree");
  if (!host) return call.error();
  for (size_t device = 0; device < settings().devices.size(); device++)
    if (const int code = wait_for_device(call, static_cast<int>(device))) return code;
  if (!PinnedMemory::get().release(host))
    return call.misuse(kInvalidValue, text("%p is not a pinned allocation", host));
  return call.error();
}

/* -- Copies and fills ---------------------------------------------------------------------------------------------- */

EMULATOR_API int hipMemcpyHtoDAsync(void* to, const void* from, size_t bytes, void* stream) {
  const Call call("hipMemcpyHtoDAsync");
  return copy(call, stream, kHostToDevice, one_row(to), one_row(from), {bytes, 1});
}

EMULATOR_API int hipMemcpyDtoHAsync(void* to, const void* from, size_t bytes, void* stream) {
  const Call call("hipMemcpyDtoHAsync");
  return copy(call, stream, kDeviceToHost, one_row(to), one_row(from), {bytes, 1});
}

EMULATOR_API int hipMemcpyDtoDAsync(void* to, const void* from, size_t bytes, void* stream) {
  const Call call("hipMemcpyDtoDAsync");
  return copy(call, stream, kDeviceToDevice, one_row(to), one_row(from), {bytes, 1});
}

EMULATOR_API int hipMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  const Call call("hipMemcpyAsync");
  return copy(call, stream, static_cast<CopyKind>(kind), one_row(to), one_row(from), {bytes, 1});
}

EMULATOR_API int hipMemcpy2DAsync(void* to, size_t to_stride, const void* from, size_t from_stride, size_t row_bytes,
                                  size_t rows, int kind, void* stream) {
  const Call call("hipMemcpy2DAsync");
  return copy(call, stream, static_cast<CopyKind>(kind), {one_row(to).data, to_stride},
              {one_row(from).data, from_stride}, {row_bytes, rows});
}

EMULATOR_API int hipMemsetD8Async(void* to, unsigned char value, size_t n, void* stream) {
  const Call call("hipMemsetD8Async");
  return fill<uint8_t>(call, stream, to, value, n);
}

EMULATOR_API int hipMemsetD32Async(void* to, int value, size_t n, void* stream) {
  const Call call("hipMemsetD32Async");
  return fill<uint32_t>(call, stream, to, static_cast<uint32_t>(value), n);
}

/* -- Imports: of file descriptors, which stay the caller's --------------------------------------------------------- */

namespace vmafx::emulator {
Handles<Import>& imports() {
  static auto& all = *new Handles<Import>("import");
  return all;
}
}  // namespace vmafx::emulator

EMULATOR_API int hipImportExternalMemory(void** memory, const ExternalMemory* from) {
  const Call call("hipImportExternalMemory");
  if (call.error()) return call.error();
  if (from->type != kExternalOpaqueFd) return kNotSupported;
  size_t offset = 0;
  if (from->size == 0 || !find_memory(from->handle.fd, from->size, &offset)) return kInvalidValue;
  const uintptr_t address = DeviceMemory::get().map_file(from->handle.fd, from->size, offset);
  if (!address) return kInvalidValue;
  imports().add(memory, {address, from->size, current_device()});
  return kSuccess;
}

EMULATOR_API int hipExternalMemoryGetMappedBuffer(void** address, void* memory, const ExternalBuffer* part) {
  const Call call("hipExternalMemoryGetMappedBuffer");
  if (call.error()) return call.error();
  const Import* import = imports().find(call, memory);
  if (!import) return kInvalidHandle;
  if (part->size == 0 || part->offset > import->size || part->size > import->size - part->offset)
    return call.misuse(kInvalidValue, text("%llu bytes at %llu are not inside the import's %zu", part->size,
                                           part->offset, import->size));
  DeviceMemory::get().add_import(import->address + part->offset, part->size, import->device);
  *address = reinterpret_cast<void*>(import->address + part->offset);
  return kSuccess;
}

/* An import's buffers end with it, if they have not been freed before. */
EMULATOR_API int hipDestroyExternalMemory(void* memory) {
  const Call call("hipDestroyExternalMemory");
  const Import* import = imports().find(call, memory);
  if (!import) return kInvalidHandle;
  if (const int code = wait_for_device(call, import->device)) return code;
  DeviceMemory::get().unmap_file(import->address, import->size);
  imports().remove(memory);
  return call.error();
}

/* -- Semaphores: files whose first word is the value --------------------------------------------------------------- */

namespace vmafx::emulator {
Handles<Semaphore>& semaphores() {
  static auto& all = *new Handles<Semaphore>("semaphore");
  return all;
}
}  // namespace vmafx::emulator

EMULATOR_API int hipImportExternalSemaphore(void** semaphore, const ExternalSemaphore* from) {
  const Call call("hipImportExternalSemaphore");
  if (call.error()) return call.error();
  if (from->type != kExternalTimelineFd) return kNotSupported;
  Semaphore watched{watch_first_word(from->handle.fd)};
  if (!watched.value) return kInvalidValue;
  semaphores().add(semaphore, std::move(watched));
  return kSuccess;
}

EMULATOR_API int hipWaitExternalSemaphoresAsync(void* const* given, const ExternalWait* waits, unsigned count,
                                                void* stream_handle) {
  const Call call("hipWaitExternalSemaphoresAsync");
  if (call.error()) return call.error();
  Stream* stream = find_stream(call, stream_handle);
  const Semaphore* semaphore = count == 1 ? semaphores().find(call, *given) : nullptr;
  if (!stream || !semaphore) return kInvalidHandle;
  Work work;
  work.is_due = [value = semaphore->value, least = waits->value] { return value->load() >= least; };
  enqueue(*stream, std::move(work));
  return kSuccess;
}

EMULATOR_API int hipDestroyExternalSemaphore(void* semaphore) {
  const Call call("hipDestroyExternalSemaphore");
  const Semaphore* found = semaphores().find(call, semaphore);
  if (!found) return kInvalidHandle;
  if (found->value.use_count() > 1) return call.misuse(kInvalidValue, "work still waits for the semaphore");
  semaphores().remove(semaphore);
  return call.error();
}
