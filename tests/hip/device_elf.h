/* Reading code objects: ELF files of 64 bits, little endian, AMD's and NVIDIA's. */
#ifndef VMAFX_TESTS_HIP_DEVICE_ELF_H
#define VMAFX_TESTS_HIP_DEVICE_ELF_H

#include <check.h>
#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vmafx::test {

using Bytes = std::span<const std::byte>;

/* The T at `offset`, at any alignment. */
template <class T>
T read_at(Bytes bytes, size_t offset) {
  ck_assert_uint_le(offset + sizeof(T), bytes.size());
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

struct Section {
  std::string name;
  size_t size = 0;  // in memory
  Bytes bytes;      // in the file
};

class DeviceElf {
 public:
  explicit DeviceElf(Bytes file) : file_(file), header_(read_at<Elf64_Ehdr>(file, 0)) {
    ck_assert_msg(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0, "no ELF file");
    const Bytes names = contents(section_header(header_.e_shstrndx));
    for (int i = 0; i < header_.e_shnum; i++) {
      const Elf64_Shdr section = section_header(i);
      sections_.push_back({text_at(names, section.sh_name), section.sh_size, contents(section)});
      if (section.sh_type == SHT_SYMTAB) symbols_ = sections_.back().bytes, symbol_names_ = section.sh_link;
    }
  }

  uint8_t os_abi() const { return header_.e_ident[EI_OSABI]; }
  uint8_t abi_version() const { return header_.e_ident[EI_ABIVERSION]; }
  const std::vector<Section>& sections() const { return sections_; }

  /* nullptr if there is none. */
  const Section* find(std::string_view name) const {
    for (const Section& section : sections_)
      if (section.name == name) return &section;
    return nullptr;
  }

  std::string symbol(unsigned index) const {
    const auto symbol = read_at<Elf64_Sym>(symbols_, index * sizeof(Elf64_Sym));
    return text_at(sections_.at(symbol_names_).bytes, symbol.st_name);
  }

 private:
  Elf64_Shdr section_header(int i) const {
    return read_at<Elf64_Shdr>(file_, header_.e_shoff + static_cast<size_t>(i) * header_.e_shentsize);
  }

  Bytes contents(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
    ck_assert_uint_le(section.sh_offset + section.sh_size, file_.size());
    return file_.subspan(section.sh_offset, section.sh_size);
  }

  static std::string text_at(Bytes texts, size_t offset) {
    ck_assert_uint_lt(offset, texts.size());
    const auto* text = reinterpret_cast<const char*>(texts.data()) + offset;
    return {text, strnlen(text, texts.size() - offset)};
  }

  Bytes file_;
  Elf64_Ehdr header_;
  std::vector<Section> sections_;
  Bytes symbols_;
  unsigned symbol_names_ = 0;
};

}  // namespace vmafx::test

#endif
