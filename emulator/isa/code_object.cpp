#include "emulator/isa/code_object.h"

#include <elf.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "emulator/isa/decode.h"
#include "emulator/isa/group.h"
#include "emulator/isa/hazards.h"
#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

constexpr unsigned kMachine = 224;      // EM_AMDGPU
constexpr unsigned kMetadataNote = 32;  // NT_AMDGPU_METADATA
constexpr unsigned kFloatMode = 0xf0;   // rounds to nearest, keeps denormals

const Elf64_Ehdr& header(const uint8_t* file) { return *reinterpret_cast<const Elf64_Ehdr*>(file); }

std::span<const Elf64_Phdr> segments(const uint8_t* file) {
  return {reinterpret_cast<const Elf64_Phdr*>(file + header(file).e_phoff), header(file).e_phnum};
}

std::span<const Elf64_Shdr> sections(const uint8_t* file) {
  return {reinterpret_cast<const Elf64_Shdr*>(file + header(file).e_shoff), header(file).e_shnum};
}

void run_past_the_end(Wave& wave, const Instruction&) { wave.group->fault("runs past its end"); }

}  // namespace

bool CodeObject::fits(const uint8_t* file, const Architecture& architecture) {
  const bool is_elf = std::memcmp(file, ELFMAG, SELFMAG) == 0;
  return is_elf && header(file).e_machine == kMachine && architecture.runs(header(file).e_flags & 0xff);
}

/* The headers of sections are the end of what linkers write. */
size_t CodeObject::file_size(const uint8_t* file) {
  return header(file).e_shoff + size_t{header(file).e_shnum} * header(file).e_shentsize;
}

CodeObject::CodeObject(std::span<const uint8_t> file, const Architecture& architecture)
    : architecture_(architecture), file_(file.begin(), file.end()), listing_(file_) {
  load_segments();
  read_symbols();
}

CodeObject::~CodeObject() { munmap(image_.data(), image_.size()); }

void CodeObject::load_segments() {
  const uint8_t* file = file_.data();
  size_t size = 0;
  for (const Elf64_Phdr& segment : segments(file))
    if (segment.p_type == PT_LOAD) size = std::max<size_t>(size, segment.p_vaddr + segment.p_memsz);
  void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) die("no room for a code object of %zu bytes", size);
  image_ = {static_cast<uint8_t*>(pages), size};
  for (const Elf64_Phdr& segment : segments(file)) {
    if (segment.p_type == PT_LOAD) std::memcpy(&image_[segment.p_vaddr], file + segment.p_offset, segment.p_filesz);
    if (segment.p_type == PT_NOTE) read_notes(file + segment.p_offset, file + segment.p_offset + segment.p_filesz);
  }
}

void CodeObject::read_notes(const uint8_t* note, const uint8_t* end) {
  const auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (note < end) {
    const auto& head = *reinterpret_cast<const Elf64_Nhdr*>(note);
    const uint8_t* content = note + sizeof head + padded(head.n_namesz);
    if (head.n_type == kMetadataNote)
      for (const KernelMetadata& metadata : read_metadata(content, head.n_descsz)) add_kernel(metadata);
    note = content + padded(head.n_descsz);
  }
}

void CodeObject::add_kernel(const KernelMetadata& metadata) {
  MachineKernel& kernel = kernels_[metadata.name];
  kernel.name = metadata.name;
  kernel.max_threads = metadata.max_threads;
  for (const Argument& argument : metadata.arguments)
    if (!argument.is_hidden()) kernel.parameters.push_back({argument.size, argument.kind == "global_buffer"});
  kernel.object = this;
  kernel.metadata = metadata;
}

/* A kernel's descriptor is the symbol "<name>.kd". */
void CodeObject::read_symbols() {
  const uint8_t* file = file_.data();
  for (const Elf64_Shdr& section : sections(file)) {
    if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL) die("a code object with relocations");
    if (section.sh_type != SHT_DYNSYM) continue;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(file + section.sh_offset);
    const auto* names = reinterpret_cast<const char*>(file + sections(file)[section.sh_link].sh_offset);
    for (size_t i = 0; i < section.sh_size / sizeof *symbols; i++) {
      const std::string name = names + symbols[i].st_name;
      if (!name.ends_with(".kd")) continue;
      const auto kernel = kernels_.find(name.substr(0, name.size() - 3));
      if (kernel == kernels_.end()) die("a code object without metadata of kernel %s", name.c_str());
      kernel->second.descriptor_address = symbols[i].st_value;
      std::memcpy(&kernel->second.descriptor, &image_[symbols[i].st_value], sizeof(Descriptor));
    }
  }
}

const Kernel* CodeObject::find(const std::string& name) const {
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) return nullptr;
  MachineKernel& kernel = found->second;
  if (kernel.code.empty()) {
    check_descriptor(kernel);
    decode(kernel);
    link(kernel);
  }
  return &kernel;
}

std::vector<std::string> CodeObject::kernel_names() const {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernels_) names.push_back(name);
  return names;
}

void CodeObject::check_descriptor(const MachineKernel& kernel) const {
  const Descriptor& d = kernel.descriptor;
  const auto refuse = [&](const std::string& what) {
    die("kernel %s of %s: %s", kernel.name.c_str(), architecture_.name, what.c_str());
  };
  if (!kernel.descriptor_address) refuse("it has no descriptor");
  if (d.lanes() != architecture_.lanes()) refuse(text("it is for waves of %u lanes", d.lanes()));
  if (d.scratch_bytes) refuse(text("it uses %u bytes of scratch memory", d.scratch_bytes));
  if (d.preloads) refuse("it has arguments loaded ahead");
  if (d.float_mode() != kFloatMode) refuse(text("its float mode is 0x%x", d.float_mode()));
  if (d.local_bytes > 64 << 10) refuse(text("it needs %u bytes of shared memory", d.local_bytes));
}

/* Every instruction of it, and that they name no register beyond those that the hardware gives it. */
void CodeObject::decode(MachineKernel& kernel) const {
  const Descriptor& d = kernel.descriptor;
  kernel.vector_registers = architecture_.vector_registers(d.granulated_registers(), d.accumulator_offset());
  const auto check = [&](const Instruction& i) {
    for (const Operand& operand : i.operands)
      if (operand.is_vector() && operand.reg != kPairResult && operand.reg + operand.words > kernel.vector_registers)
        die("kernel %s of %s: a register beyond the %u that it has: %s", kernel.name.c_str(), architecture_.name,
            kernel.vector_registers, i.text.c_str());
  };
  for (const Line& line : listing_.lines(kernel.name)) {
    Instruction i;
    if (const std::string what = isa::decode(line.text, &i); !what.empty())
      die("kernel %s of %s: no %s is known: %s", kernel.name.c_str(), architecture_.name, what.c_str(),
          line.text.c_str());
    check(i);
    if (i.pair) check(i.pair->first), check(i.pair->second);
    find_hazards(architecture_, i);
    i.address = line.address;
    i.next_address = reinterpret_cast<uint64_t>(image_.data()) + line.address + line.size;
    kernel.code.push_back(std::move(i));
  }
}

/* Branches go to an instruction's number. */
void CodeObject::link(MachineKernel& kernel) const {
  std::map<uint64_t, int32_t> numbers;
  for (const Instruction& i : kernel.code) numbers.emplace(i.address, static_cast<int32_t>(numbers.size()));
  const uint64_t entry = kernel.descriptor_address + static_cast<uint64_t>(kernel.descriptor.entry);
  if (kernel.code.empty() || kernel.code[0].address != entry)
    die("kernel %s of %s: its entry is not its first instruction", kernel.name.c_str(), architecture_.name);
  for (Instruction& i : kernel.code) {
    if (!i.is_branch()) continue;
    const auto target = numbers.find(i.address + 4 + 4 * static_cast<uint64_t>(static_cast<int64_t>(i.target)));
    if (target == numbers.end())
      die("kernel %s of %s: a branch to no instruction: %s", kernel.name.c_str(), architecture_.name, i.text.c_str());
    i.target = target->second;
  }
  Instruction end;
  end.run = run_past_the_end;
  end.text = "the end of the code";
  kernel.code.push_back(end);
}

}  // namespace vmafx::emulator::isa
