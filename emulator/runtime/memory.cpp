#include "emulator/runtime/memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "emulator/runtime/report.h"
#include "emulator/runtime/settings.h"
#include "emulator/runtime/system/pages.h"

namespace vmafx::emulator {
namespace {

constexpr size_t kReserve = size_t{32} << 30;  // addresses
constexpr size_t kRemembered = 4096;           // freed allocations, so that a use after free can name one

size_t round_up(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

}  // namespace

Reserve reserve;

DeviceMemory& DeviceMemory::get() {
  static DeviceMemory& memory = *new DeviceMemory;
  return memory;
}

DeviceMemory::DeviceMemory() {
  reserve.states = static_cast<uint8_t*>(take_zeros(kReserve));
  reserve.writers = static_cast<uint64_t*>(take_zeros(kReserve / 4 * sizeof(uint64_t)));
  reserve.begin = next_ = reinterpret_cast<uintptr_t>(reserve_pages(kReserve));
  reserve.size = kReserve;
}

/* After each allocation a page stays unused. */
uintptr_t DeviceMemory::find_room(size_t pages_size) {
  const uintptr_t end = reserve.begin + reserve.size;
  if (end - next_ >= pages_size) {
    const uintptr_t address = next_;
    next_ += pages_size;
    return address;
  }
  /* The addresses have been used up: forget what was freed, and take the first gap. */
  std::erase_if(allocations_, [](const auto& entry) { return !entry.second.live; });
  freed_.clear();
  uintptr_t gap = reserve.begin;
  for (const auto& [address, allocation] : allocations_) {
    if (address - gap >= pages_size) return gap;
    gap = address + round_up(allocation.size, kPage) + kPage;
  }
  return end - gap >= pages_size ? gap : 0;
}

uintptr_t DeviceMemory::allocate(size_t size, int device) {
  if (size == 0 || size > settings().memory - used(device)) return 0;
  const uintptr_t address = find_room(round_up(size, kPage) + kPage);
  if (!address) return 0;
  add(address, {size, ++count_, device, false, true});
  std::memset(reserve.states + (address - reserve.begin), kAllocated, size);
  if (is_open_) set_reach(reinterpret_cast<void*>(address), round_up(size, kPage), Reach::kWrite);
  return address;
}

void DeviceMemory::add(uintptr_t address, const Allocation& allocation) {
  allocations_[address] = allocation;
  live_.insert(address);
}

void DeviceMemory::forget(uintptr_t address, Allocation& allocation) {
  allocation.live = false;
  live_.erase(address);
  const size_t at = address - reserve.begin, size = round_up(allocation.size, kPage);
  clear_zeros(reserve.states + at, size);
  clear_zeros(reserve.writers + at / 4, size / 4 * sizeof *reserve.writers);
  freed_.push_back(address);
  if (freed_.size() <= kRemembered) return;
  const auto oldest = allocations_.find(freed_.front());
  if (oldest != allocations_.end() && !oldest->second.live)
    allocations_.erase(oldest);  // its address may be an import's again
  freed_.pop_front();
}

void DeviceMemory::forget_tags() {
  for (const uintptr_t address : live_) {
    const Allocation& allocation = allocations_.at(address);
    uint8_t* const states = reserve.states + (address - reserve.begin);
    for (size_t i = 0; i < allocation.size; i++) states[i] &= kReady;
  }
}

bool DeviceMemory::release(uintptr_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end() || !found->second.live) return false;
  forget(address, found->second);
  if (!found->second.imported) drop_pages(reinterpret_cast<void*>(address), round_up(found->second.size, kPage));
  return true;
}

size_t DeviceMemory::used(int device) const {
  size_t sum = 0;
  for (const uintptr_t address : live_)
    if (const Allocation& a = allocations_.at(address); !a.imported && a.device == device) sum += a.size;
  return sum;
}

uintptr_t DeviceMemory::map_file(int fd, size_t size, size_t offset) {
  const uintptr_t address = find_room(round_up(size, kPage) + kPage);
  return address && put_file(reinterpret_cast<void*>(address), size, fd, offset) ? address : 0;
}

void DeviceMemory::add_import(uintptr_t address, size_t size, int device) {
  add(address, {size, ++count_, device, true, true});
  std::memset(reserve.states + (address - reserve.begin), kWritten, size);
}

/* The imports in it end with it. */
void DeviceMemory::unmap_file(uintptr_t address, size_t size) {
  for (auto i = allocations_.lower_bound(address); i != allocations_.end() && i->first < address + size; ++i)
    if (i->second.live) forget(i->first, i->second);
  take_file_away(reinterpret_cast<void*>(address), size);
}

void DeviceMemory::let_reach(Reach reach) {
  for (const uintptr_t address : live_) {
    const Allocation& allocation = allocations_.at(address);
    const uintptr_t page = address / kPage * kPage;  // an import may begin inside a page
    const Reach allowed = allocation.imported ? std::min(reach, Reach::kRead) : reach;
    set_reach(reinterpret_cast<void*>(page), round_up(address + allocation.size, kPage) - page, allowed);
  }
}

void DeviceMemory::open() {
  if (!is_open_) let_reach(Reach::kWrite);
  is_open_ = true;
}

void DeviceMemory::close() {
  if (is_open_) let_reach(Reach::kNone);
  is_open_ = false;
}

const Allocation* DeviceMemory::find(uintptr_t address, size_t size) const {
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return nullptr;
  const auto& [begin, a] = *--found;
  return a.live && address - begin <= a.size && size <= a.size - (address - begin) ? &a : nullptr;
}

std::string DeviceMemory::describe(uintptr_t address) const {
  if (address - reserve.begin >= reserve.size) return PinnedMemory::get().describe(address);
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return "in no allocation";
  const auto& [begin, a] = *std::prev(found);
  const std::string name = text("%s #%d (%zu bytes%s)", a.imported ? "read-only import" : "allocation", a.number,
                                a.size, a.live ? "" : ", freed");
  if (address >= begin + a.size) return text("%zu bytes past the end of %s", address - begin - a.size, name.c_str());
  return text("at byte %zu of %s", address - begin, name.c_str());
}

std::vector<std::string> DeviceMemory::leaks() const {
  std::vector<std::string> all;
  for (const auto& [address, a] : allocations_)
    if (a.live && !a.imported) all.push_back(text("device allocation #%d of %zu bytes", a.number, a.size));
  return all;
}

void DeviceMemory::mark_written(uintptr_t address, size_t size) {
  std::memset(reserve.states + (address - reserve.begin), kReady, size);
}

void DeviceMemory::copy_states(uintptr_t to, uintptr_t from, size_t size) {
  for (size_t i = 0; i < size; i++)
    reserve.states[to - reserve.begin + i] = reserve.states[from - reserve.begin + i] & kReady;
}

uintptr_t DeviceMemory::first_unwritten(uintptr_t address, size_t size) const {
  for (size_t i = 0; i < size; i++)
    if (!(reserve.states[address - reserve.begin + i] & kWritten)) return address + i;
  return 0;
}

PinnedMemory& PinnedMemory::get() {
  static PinnedMemory& memory = *new PinnedMemory;
  return memory;
}

/* At the end of its pages, a forbidden page behind it; filled with what no one should rely on. */
void* PinnedMemory::allocate(size_t size) {
  constexpr size_t kAlignment = 256;
  const size_t pages_size = round_up(size, kPage) + kPage;
  char* pages = static_cast<char*>(take_pages(pages_size));
  set_reach(pages + pages_size - kPage, kPage, Reach::kNone);
  char* address = pages + pages_size - kPage - round_up(size, kAlignment);
  std::memset(address, 0xA5, size);
  blocks_[reinterpret_cast<uintptr_t>(address)] = {size, pages, pages_size, ++count_};
  return address;
}

bool PinnedMemory::release(void* address) {
  const auto found = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (found == blocks_.end()) return false;
  give_back_pages(found->second.pages, found->second.pages_size);
  blocks_.erase(found);
  return true;
}

bool PinnedMemory::contains(uintptr_t address, size_t* rest) const {
  auto found = blocks_.upper_bound(address);
  if (found == blocks_.begin()) return false;
  --found;
  if (address - found->first >= found->second.size) return false;
  *rest = found->second.size - (address - found->first);
  return true;
}

std::string PinnedMemory::describe(uintptr_t address) const {
  size_t rest = 0;
  return contains(address, &rest) ? "in pinned memory of the host"
         : address < kPage        ? "near null"
                                  : "in memory of the host";
}

std::vector<std::string> PinnedMemory::leaks() const {
  std::vector<std::string> all;
  for (const auto& [address, block] : blocks_)
    all.push_back(text("pinned allocation #%d of %zu bytes", block.number, block.size));
  return all;
}

}  // namespace vmafx::emulator
