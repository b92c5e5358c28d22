/* The interface of the part that runs kernels. A library has one engine: the one of source/ runs the kernels' sources,
 * compiled for the host, the one of isa/ the machine code of AMD's GPUs. */
#ifndef VMAFX_EMULATOR_RUNTIME_ENGINE_H
#define VMAFX_EMULATOR_RUNTIME_ENGINE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vmafx::emulator {

struct Launch;

struct Parameter {
  size_t size;
  bool is_pointer;
};

/* A kernel as the runtime sees it; an engine's own have more. */
struct Kernel {
  std::string name;
  unsigned max_threads = 0;
  std::vector<Parameter> parameters;
};

/* The kernels of an image. */
class Code {
 public:
  virtual ~Code() = default;
  /* nullptr: there is none of that name. */
  virtual const Kernel* find(const std::string& name) const = 0;
};

/* Runs blocks on one thread of the host, one after the other. */
class BlockRunner {
 public:
  virtual ~BlockRunner() = default;
  virtual void run(Launch& launch, uint64_t block) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual const char* architecture() const = 0;
  virtual unsigned lanes() const = 0;
  virtual size_t shared_bytes() const = 0;  // the most that a block can have
  /* An image that this engine brings along, for programs that have none for its architecture; or nullptr. */
  virtual const void* own_image() const = 0;

  /* Loads an image, for good. nullptr: this engine cannot run it. */
  virtual const Code* load(const void* image) = 0;
  virtual std::unique_ptr<BlockRunner> make_runner() = 0;
};

/* The library's. */
Engine& engine();

}  // namespace vmafx::emulator

#endif
