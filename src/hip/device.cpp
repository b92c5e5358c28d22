#include "hip/device.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <thread>

#include "base/background.h"
#include "base/mutex.h"
#include "base/system/environment.h"
#include "base/system/library.h"
#include "hip/code_objects.h"

namespace vmafx::hip {
namespace {

bool has_code(const std::string& arch) { return find_code_object(embedded_code_objects(), arch) != nullptr; }

Status no_code(const Device& device) {
  const auto objects = embedded_code_objects();
  const std::string carried = objects.empty() ? "this build carries no HIP kernels"
                                              : "this build carries code for " + list_architectures(objects);
  return error(ENOTSUP, "no code object for %s (%s, %s): %s", device.name.c_str(), device.pci_address.c_str(),
               device.arch.empty() ? "unknown architecture" : device.arch.c_str(), carried.c_str());
}

/* The kernels as they are to be loaded on a device: an emulator may bring its own. */
StatusOr<CodeObject> find_code(const Device& device) {
  const auto emulator_image = device.runtime->functions().emulator_image;
  if (const void* image = emulator_image ? emulator_image() : nullptr)
    return CodeObject{"emulator", {static_cast<const std::byte*>(image), size_t{0}}};
  const CodeObject* object = find_code_object(embedded_code_objects(), device.arch);
  if (!object) return no_code(device);
  return *object;
}

/* The folder where the NVIDIA driver keeps compiled code; "" if the user disabled it. */
std::string compute_cache() {
  const char* disabled = environment("CUDA_CACHE_DISABLE");
  if (disabled && std::string(disabled) != "0") return "";
  if (const char* path = environment("CUDA_CACHE_PATH"); path && *path) return path;
  return "~/.nv/ComputeCache";
}

/* Adds to a failure what its message does not say: which ROCm loads code for a family of GPUs. */
Status explain_loading(const Status& failure, const CodeObject& code) {
  if (!code.is_generic()) return failure;
  return error(failure.code(), "%s; ROCm loads the code for %s since 6.4, and this build has none for the GPU alone",
               failure.message().c_str(), code.arch);
}

void tell_of_compiling(const Context& context) {
  const Device& device = context.device();
  const std::string cache = compute_cache();
  context.tell(format_text("the driver compiles the kernels for %s (%s, %s) from PTX, which takes seconds ",
                           device.name.c_str(), device.pci_address.c_str(), device.arch.c_str()) +
               (cache.empty() ? "each time, since CUDA_CACHE_DISABLE is set"
                              : "the first time; then they are in its cache, " + cache));
}

/* The further the search came, the more its failure says: a library but no driver, a driver but no device. */
int progress(const Status& status) {
  switch (status.code()) {
    case ENOENT: return 0;
    case system::kUnloadable: return 1;
    case ENXIO: return 2;
    case EACCES: return 3;
    case ENODEV: return 4;
    default: return 5;
  }
}

/* The failure of the platform that got further; both messages if they fail alike. */
Status more_telling(const Status& a, const Status& b) {
  if (a.ok() || progress(b) > progress(a)) return b;
  return a.code() == b.code() ? Status(a.code(), a.message() + "; " + b.message()) : a;
}

StatusOr<std::vector<Device>> devices_of(const Libraries& libraries) {
  VMAFX_ASSIGN(const Runtime* runtime, Runtime::load(libraries));
  return list_devices(*runtime);
}

/* The devices of the platforms, as far as it takes to answer `choice`: starting a platform costs some 0.1 s. */
StatusOr<std::vector<Device>> find_devices(const std::string& choice) {
  std::vector<Device> devices;
  Status failure;
  for (const Libraries& libraries : Runtime::candidates()) {
    auto found = devices_of(libraries);
    if (!found.ok()) {
      failure = more_telling(failure, found.status());
      continue;
    }
    devices.insert(devices.end(), found.value().begin(), found.value().end());
    const Device* device = choose_device(devices, choice, has_code);
    if (device && (!is_auto(choice) || (!device->integrated && has_code(device->arch)))) break;
  }
  if (devices.empty()) return failure;
  return devices;
}

/* One, or with "auto" all that are as good as the first. */
StatusOr<std::vector<Device>> find_candidates(const std::string& choice) {
  VMAFX_ASSIGN(std::vector<Device> devices, find_devices(choice));
  const Device* device = choose_device(devices, choice, has_code);
  if (!device)
    return error(ENODEV, "there is no device '%s'; there are: %s", choice.c_str(), describe_all(devices).c_str());
  if (!is_auto(choice)) return std::vector{*device};
  std::erase_if(devices, [first = *device](const Device& other) {
    return other.integrated != first.integrated || has_code(other.arch) != has_code(first.arch);
  });
  return devices;
}

struct TakenDevice {
  Device device;
  std::shared_ptr<const DevicePlace> place;
};

/* The places that this process has, by PCI address: its sessions on one device share one. */
class OwnPlaces {
 public:
  /* A place on one of the candidates, which are of one kind: they have as many. */
  StatusOr<TakenDevice> take(const std::vector<Device>& candidates) {
    const MutexLock lock(mutex_);
    std::vector<std::string> addresses;
    for (const Device& device : candidates) {
      if (auto place = places_[device.pci_address].lock()) return TakenDevice{device, place};
      addresses.push_back(device.pci_address);
    }
    VMAFX_ASSIGN(const int most, device_places_of(candidates.front().memory_bytes));
    auto place = take_device_place(device_place_folder(), addresses, most);
    if (!place.ok())
      return error(place.status().code(), "%s: %s", describe_all(candidates).c_str(), place.status().message().c_str());
    const Device& device = candidates[place.value()->device()];
    places_[device.pci_address] = place.value();
    return TakenDevice{device, place.value()};
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<const DevicePlace>> places_ VMAFX_GUARDED_BY(mutex_);
};

/* Waits for a place while other processes have all. */
StatusOr<TakenDevice> take_device(const std::vector<Device>& candidates, std::chrono::milliseconds wait) {
  constexpr std::chrono::milliseconds kPause{50};
  static auto& own = *new OwnPlaces;  // never destroyed: a device may be opened while the program ends
  const auto end = std::chrono::steady_clock::now() + wait;
  for (;;) {
    auto taken = own.take(candidates);
    if (taken.ok() || taken.status().code() != EBUSY || std::chrono::steady_clock::now() >= end) return taken;
    std::this_thread::sleep_for(std::min(kPause, wait));
  }
}

/* The runtime that a platform's contexts belong to. */
StatusOr<const Runtime*> runtime_of(Platform platform) {
  Status failure = error(ENODEV, "the runtime in use does not belong to the platform of the given context");
  for (const Libraries& libraries : Runtime::candidates()) {
    if (libraries.platform && libraries.platform != platform) continue;
    const auto runtime = Runtime::load(libraries);
    if (!runtime.ok()) failure = runtime.status();
    else if (runtime.value()->platform() == platform) return runtime.value();
  }
  return failure;
}

StatusOr<OpenedDevice> open_primary(const std::vector<Device>& candidates, ContextOptions options) {
  VMAFX_TRY(find_code(candidates.front()).status());  // before waiting for a place
  VMAFX_TRY(options.wanted());
  VMAFX_ASSIGN(TakenDevice taken, take_device(candidates, options.place_wait));
  VMAFX_ASSIGN(const CodeObject code, find_code(taken.device));
  VMAFX_ASSIGN(ContextPtr context, Context::open(taken.device, std::move(options)));
  VMAFX_ASSIGN(OpenedDevice opened, load_kernels(std::move(context), code));
  opened.place = std::move(taken.place);
  return opened;
}

StatusOr<OpenedDevice> open_adopted(const Runtime& runtime, NativeContext native, ContextOptions options) {
  const auto wait = options.place_wait;
  VMAFX_ASSIGN(ContextPtr context, Context::adopt(runtime, native, std::move(options)));
  VMAFX_ASSIGN(const CodeObject code, find_code(context->device()));
  VMAFX_ASSIGN(TakenDevice taken, take_device({context->device()}, wait));
  VMAFX_ASSIGN(OpenedDevice opened, load_kernels(std::move(context), code));
  opened.place = std::move(taken.place);
  return opened;
}

bool is_on(const Device& device, Platform platform, NativeContext native) {
  const auto theirs = device_of_context(platform, native);
  return theirs.ok() && theirs.value().runtime == device.runtime && theirs.value().ordinal == device.ordinal;
}

}  // namespace

StatusOr<OpenedDevice> open_device(const std::string& choice, ContextOptions options) {
  VMAFX_ASSIGN(const std::vector<Device> candidates, find_candidates(choice));
  return open_primary(candidates, std::move(options));
}

StatusOr<OpenedDevice> open_device(const Device& device, ContextOptions options) {
  return open_primary({device}, std::move(options));
}

StatusOr<OpenedDevice> open_device(const std::string& choice, Platform platform, NativeContext native,
                                   ContextOptions options) {
  if (!is_auto(choice)) {
    VMAFX_ASSIGN(const std::vector<Device> named, find_candidates(choice));
    if (!is_on(named.front(), platform, native)) return open_primary(named, std::move(options));
  }
  VMAFX_ASSIGN(const Runtime* runtime, runtime_of(platform));
  return open_adopted(*runtime, native, std::move(options));
}

Status find_runtime() {
  Status failure;
  for (const Libraries& libraries : Runtime::candidates()) {
    const Status loaded = Runtime::load(libraries).status();
    if (loaded.ok()) return {};
    failure = more_telling(failure, loaded);
  }
  return failure;
}

StatusOr<OpenedDevice> load_kernels(ContextPtr context, const CodeObject& code) {
  VMAFX_TRY(still_wanted(context));
  if (code.is_ptx()) tell_of_compiling(*context);
  auto module = Module::load(context, code.image.data());
  if (!module.ok()) return explain_loading(module.status(), code);
  OpenedDevice opened{context->device(), nullptr, context, std::make_shared<const Module>(std::move(module.value()))};
  VMAFX_TRY(still_wanted(context));
  VMAFX_TRY(self_test(opened.context, *opened.kernels));
  return opened;
}

Status still_wanted(const ContextPtr& context) {
  const Status wanted = context->wanted();
  if (!wanted.ok() && program_ends()) context->lose("the program ends");
  return wanted;
}

StatusOr<Device> device_of_context(Platform platform, NativeContext native) {
  VMAFX_ASSIGN(const Runtime* runtime, runtime_of(platform));
  const Functions& f = runtime->functions();
  int ordinal = 0;
  if (const Error code = f.device_of(f, native, &ordinal)) return runtime->failure(EINVAL, "CtxGetDevice", code);
  return describe_device(*runtime, ordinal);
}

}  // namespace vmafx::hip
