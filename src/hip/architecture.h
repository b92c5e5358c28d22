/* A device's instruction set, by the name that code objects have. */
#ifndef VMAFX_HIP_ARCHITECTURE_H
#define VMAFX_HIP_ARCHITECTURE_H

#include <optional>
#include <span>
#include <string>

namespace vmafx::hip {

/* A device's PCI address: domain:bus:device.function. */
struct PciAddress {
  unsigned domain = 0, bus = 0, device = 0, function = 0;

  /* "0000:03:00.0", "03:00.0"; hexadecimal, any case. */
  static std::optional<PciAddress> parse(const std::string& text);

  bool operator==(const PciAddress&) const = default;
};

/* "gfx90a" for 90010: two decimal digits each of major, minor and stepping, the latter two written in hexadecimal. */
std::string gfx_name(unsigned target_version);

/* The AMD device at `address`, from the kernel driver's topology, since neither attributes nor a layout that is the
 * same in all versions of HIP tell it. HSA_OVERRIDE_GFX_VERSION and HSA_OVERRIDE_GFX_VERSION_<ordinal> make the
 * runtime take a device for another one, so they are followed. "" when it is unknown. `nodes`: the topology's
 * folder. */
std::string amd_architecture(const PciAddress& address, int ordinal,
                             const std::string& nodes = "/sys/class/kfd/kfd/topology/nodes");

/* The AMD architecture in hipDeviceProp_t, for systems without that topology, such as Windows. The struct begins with
 * the device's name, of 256 bytes. Its layout depends on the version of HIP, but among all that follows only the member
 * gcnArchName is a text like "gfx90a:sramecc+:xnack-". What follows the colon is left out. "" when there is none. */
std::string architecture_in_properties(std::span<const char> properties);

}  // namespace vmafx::hip

#endif
