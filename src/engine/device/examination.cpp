#include "engine/device/examination.h"

#include <concepts>
#include <vector>

#include "base/cpu.h"
#include "base/device_place.h"
#include "base/json.h"
#include "engine/device/device_opening.h"
#include "hip/code_objects.h"
#include "hip/device.h"
#include "hip/device_list.h"
#include "hip/runtime.h"

namespace vmafx {
namespace {

/* A fact on its way to JSON. */
class Fact {
 public:
  explicit Fact(const char* kind) { text("kind", kind); }

  Fact& text(const char* name, const std::string& value) { return add(name, json_string(value)); }
  template <std::integral Integer>
  Fact& number(const char* name, Integer value) {
    return add(name, std::to_string(value));
  }
  Fact& flag(const char* name, bool value) { return add(name, value ? "true" : "false"); }
  Fact& texts(const char* name, const std::vector<std::string>& values) {
    std::string list;
    for (const std::string& value : values) list += (list.empty() ? "" : ", ") + json_string(value);
    return add(name, "[" + list + "]");
  }

  /* 0, or an errno and why. */
  Fact& outcome(const Status& status) {
    number("error", status.code());
    return status.ok() ? *this : text("reason", status.message());
  }
  std::string json() const { return "{" + members_ + "}"; }

 private:
  Fact& add(const char* name, const std::string& value) {
    members_ += (members_.empty() ? "" : ", ") + json_string(name) + ": " + value;
    return *this;
  }

  std::string members_;
};

const char* name_of(hip::Platform platform) { return platform == hip::Platform::kCuda ? "cuda" : "hip"; }

class Examination {
 public:
  Examination(const char* version, const std::function<void(const std::string&)>& tell)
      : version_(version), tell_(tell) {}

  Status run() {
    examine_build();
    for (const hip::Libraries& libraries : hip::Runtime::candidates()) list(libraries);
    for (size_t i = 0; i < devices_.size(); i++) VMAFX_TRY(try_device(i));
    return {};
  }

 private:
  void tell(const Fact& fact) { tell_(fact.json()); }

  void examine_build() {
    tell(Fact("library").text("version", version_));
    const Status cpu = select_cpu();
    Fact fact("cpu");
    if (cpu.ok()) fact.text("level", cpu_level());
    tell(fact.texts("levels", runnable_cpu_levels()).number("threads", usable_threads()).outcome(cpu));
    std::vector<std::string> architectures;
    for (const hip::CodeObject& object : hip::embedded_code_objects()) architectures.emplace_back(object.arch);
    tell(Fact("code").texts("architectures", architectures));
  }

  void list(const hip::Libraries& libraries) {
    tell(Fact("step").text("doing", std::string("load the ") + libraries.kind));
    const auto loaded = hip::Runtime::load(libraries);
    Fact fact("runtime");
    if (!loaded.ok()) return tell(fact.text("library", libraries.names.front()).outcome(loaded.status()));
    const hip::Runtime& runtime = *loaded.value();
    fact.text("platform", name_of(runtime.platform())).text("library", runtime.library());
    fact.flag("emulator", runtime.is_emulator());
    tell(Fact("step").text("doing", "list the GPUs of " + runtime.library()));
    const auto found = list_devices(runtime);
    int version = 0;
    if (found.ok() && runtime.functions().RuntimeGetVersion(&version) == hip::kSuccess) fact.number("version", version);
    tell(fact.outcome(found.status()));
    if (!found.ok()) return;
    for (const hip::Device& device : found.value()) describe(device);
  }

  void describe(const hip::Device& device) {
    Fact fact("device");
    fact.number("index", devices_.size()).text("platform", name_of(device.runtime->platform()));
    fact.text("name", device.name).text("pci_address", device.pci_address).text("architecture", device.arch);
    const hip::CodeObject* code = hip::find_code_object(hip::embedded_code_objects(), device.arch);
    if (code) fact.text("code", code->arch);
    fact.flag("integrated", device.integrated).number("memory_bytes", device.memory_bytes);
    if (const auto places = device_places_of(device.memory_bytes); places.ok())
      fact.number("places", places.value())
          .number("places_taken", count_taken_places(device_place_folder(), device.pci_address, places.value()));
    tell(fact);
    devices_.push_back(device);
  }

  /* Takes a place and opens the device as a session does. */
  Status try_device(size_t i) {
    const hip::Device& device = devices_[i];
    tell(Fact("step").text("doing", "open " + device.name + " (" + device.pci_address + ") and have it compute"));
    hip::ContextOptions options;
    VMAFX_ASSIGN(options.deadline, device_deadline());
    options.tell = [this, i](const std::string& text) { tell(Fact("note").number("index", i).text("text", text)); };
    const auto opened = hip::open_device(device, options);
    tell(Fact("trial").number("index", i).outcome(opened.status()));
    return {};
  }

  const char* const version_;
  const std::function<void(const std::string&)>& tell_;
  std::vector<hip::Device> devices_;
};

}  // namespace

Status examine(const char* version, const std::function<void(const std::string&)>& tell) {
  return Examination(version, tell).run();
}

}  // namespace vmafx
