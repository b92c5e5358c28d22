#include "hip/device_list.h"

#include <cerrno>
#include <cstdlib>

#include "base/background.h"
#include "base/system/device_node.h"
#include "hip/architecture.h"

namespace vmafx::hip {
namespace {

constexpr DriverNode kAmdNode = {"/dev/kfd", "AMD GPU driver (is amdgpu loaded?)",
                                 "add the user to the group that owns it (render or video)"};
constexpr const char* kWindowsNode = "/dev/dxg";  // an AMD GPU's, too, if Linux runs on Windows (WSL)
constexpr DriverNode kNvidiaNode = {"/dev/nvidiactl", "NVIDIA driver (is nvidia loaded?)",
                                    "let the user read and write it"};

bool is_missing(const char* node) { return system::try_device_node(node) == ENOENT; }

/* ROCm's runtime keeps 400 bytes each time that it is started without a driver. A runtime that a test or a user names
 * is started nevertheless. */
bool is_started_in_vain(const Runtime& runtime) {
  return runtime.platform() == Platform::kHip && !runtime.is_emulator() && !Runtime::is_named() &&
         is_missing(kAmdNode.path) && is_missing(kWindowsNode);
}

Status no_device(const Runtime& runtime) {
  if (runtime.is_emulator()) return error(ENODEV, "the emulator has no device");
  return explain_no_device(runtime.platform() == Platform::kCuda ? kNvidiaNode : kAmdNode);
}

StatusOr<int> attribute(const Runtime& runtime, Attribute which, int device) {
  int value = 0;
  if (const Error code = runtime.functions().DeviceGetAttribute(&value, which, device))
    return runtime.failure(EIO, "DeviceGetAttribute", code);
  return value;
}

std::string architecture_by_properties(const Runtime& runtime, int ordinal) {
  alignas(8) char properties[8192] = {};  // the struct has 1,472 bytes in ROCm 6 and 7
  const auto ask = runtime.functions().GetDeviceProperties;
  return ask && ask(properties, ordinal) == kSuccess ? architecture_in_properties(properties) : "";
}

StatusOr<std::string> architecture(const Runtime& runtime, const Device& device) {
  if (runtime.is_emulator()) return std::string(runtime.functions().emulator_arch());
  if (runtime.platform() == Platform::kHip) {
    const auto address = PciAddress::parse(device.pci_address);
    const std::string known = address ? amd_architecture(*address, device.ordinal) : "";
    return known.empty() ? architecture_by_properties(runtime, device.ordinal) : known;
  }
  VMAFX_ASSIGN(const int major, attribute(runtime, Attribute::kCapabilityMajor, device.handle));
  VMAFX_ASSIGN(const int minor, attribute(runtime, Attribute::kCapabilityMinor, device.handle));
  return format_text("sm_%d%d", major, minor);
}

Status read_limits(const Runtime& runtime, Device& device) {
  VMAFX_ASSIGN(device.integrated, attribute(runtime, Attribute::kIntegrated, device.handle));
  VMAFX_ASSIGN(device.multiprocessors, attribute(runtime, Attribute::kMultiprocessors, device.handle));
  VMAFX_ASSIGN(device.wave_size, attribute(runtime, Attribute::kWaveSize, device.handle));
  VMAFX_ASSIGN(device.max_threads, attribute(runtime, Attribute::kMaxThreadsPerBlock, device.handle));
  VMAFX_ASSIGN(device.max_shared_bytes, attribute(runtime, Attribute::kMaxSharedPerBlock, device.handle));
  return {};
}

const Device* best_of(const std::vector<Device>& devices, bool integrated, bool (*runs)(const std::string& arch)) {
  const Device* first = nullptr;
  for (const Device& device : devices) {
    if (device.integrated != integrated) continue;
    if (runs(device.arch)) return &device;
    if (!first) first = &device;
  }
  return first;
}

}  // namespace

bool is_auto(const std::string& choice) { return choice.empty() || choice == "auto"; }

Status explain_no_device(const DriverNode& node) {
  const int cause = system::try_device_node(node.path);
  if (cause == ENOENT) return error(ENXIO, "no %s: %s is missing", node.driver, node.path);
  if (cause) return error(EACCES, "no permission to open %s; %s", node.path, node.hint);
  return error(ENODEV, "the driver is there, but it has no device");
}

StatusOr<Device> describe_device(const Runtime& runtime, int ordinal) {
  const Functions& f = runtime.functions();
  Device device;
  device.runtime = &runtime;
  device.ordinal = ordinal;
  if (const Error code = f.DeviceGet(&device.handle, ordinal)) return runtime.failure(EIO, "DeviceGet", code);
  char name[256] = "", address[64] = "";
  if (const Error code = f.DeviceGetName(name, sizeof name, device.handle))
    return runtime.failure(EIO, "DeviceGetName", code);
  if (const Error code = f.DeviceGetPCIBusId(address, sizeof address, device.handle))
    return runtime.failure(EIO, "DeviceGetPCIBusId", code);
  if (const Error code = f.DeviceTotalMem(&device.memory_bytes, device.handle))
    return runtime.failure(EIO, "DeviceTotalMem", code);
  device.name = name;
  device.pci_address = address;
  if (Uuid uuid{}; f.DeviceGetUuid && !f.DeviceGetUuid(&uuid, device.handle)) device.uuid = uuid;
  VMAFX_TRY(read_limits(runtime, device));
  VMAFX_ASSIGN(device.arch, architecture(runtime, device));
  return device;
}

StatusOr<std::vector<Device>> list_devices(const Runtime& runtime) {
  if (is_started_in_vain(runtime)) return no_device(runtime);
  const Functions& f = runtime.functions();
  if (const Error code = f.Init(0)) {
    /* A driver that is not there or may not be opened is told in many codes; the device node knows better. */
    const Status reason = no_device(runtime);
    return code == kErrorNoDevice || reason.code() != ENODEV ? reason : runtime.failure(EIO, "Init", code);
  }
  [[maybe_unused]] static const bool once = (wait_at_exit(), true);
  int count = 0;
  if (const Error code = f.GetDeviceCount(&count); code && code != kErrorNoDevice)
    return runtime.failure(EIO, "GetDeviceCount", code);
  if (count == 0) return no_device(runtime);
  std::vector<Device> devices;
  for (int ordinal = 0; ordinal < count; ordinal++) {
    VMAFX_ASSIGN(Device device, describe_device(runtime, ordinal));
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string describe_all(const std::vector<Device>& devices) {
  std::string text;
  for (const Device& device : devices)
    text += format_text("%s%d = %s (%s, %s)", text.empty() ? "" : ", ", static_cast<int>(&device - devices.data()),
                        device.name.c_str(), device.pci_address.c_str(),
                        device.arch.empty() ? "unknown architecture" : device.arch.c_str());
  return text;
}

const Device* choose_device(const std::vector<Device>& devices, const std::string& choice,
                            bool (*runs)(const std::string& arch)) {
  if (is_auto(choice)) {
    const Device* discrete = best_of(devices, false, runs);
    return discrete ? discrete : best_of(devices, true, runs);
  }
  char* end = nullptr;
  const unsigned long index = std::strtoul(choice.c_str(), &end, 10);
  if (!*end) return index < devices.size() ? &devices[index] : nullptr;
  const auto wanted = PciAddress::parse(choice);
  for (const Device& device : devices)
    if (wanted && PciAddress::parse(device.pci_address) == wanted) return &device;
  return nullptr;
}

}  // namespace vmafx::hip
