#include "emulator/isa/decode.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <vector>

#include "emulator/isa/instructions/table.h"

namespace vmafx::emulator::isa {
namespace {

struct Unknown {
  std::string what;
};

[[noreturn]] void unknown(const char* what, const std::string& text) { throw Unknown{std::string(what) + " " + text}; }

bool begins_with_digit(const std::string& text, size_t at) {
  return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
}

/* -- Operands ------------------------------------------------------------------------------------------------------ */

/* "12" or "[4:7]", behind the letter. */
void parse_range(const std::string& text, size_t at, unsigned base, Operand& operand) {
  char* end = nullptr;
  const bool many = text[at] == '[';
  const unsigned long first = std::strtoul(&text[at + many], &end, 10);
  const unsigned long last = many && *end == ':' ? std::strtoul(end + 1, &end, 10) : first;
  if (std::strcmp(end, many ? "]" : "") != 0 || last < first) unknown("register", text);
  operand.reg = static_cast<uint16_t>(base + first);
  operand.words = static_cast<uint8_t>(last - first + 1);
}

struct NamedScalar {
  const char* name;
  uint16_t reg;
  uint8_t words;
};
constexpr NamedScalar kNamedScalars[] = {
    {"vcc", kVcc, 2},   {"vcc_lo", kVcc, 1},   {"vcc_hi", kVcc + 1, 1},   {"m0", kM0, 1},
    {"exec", kExec, 2}, {"exec_lo", kExec, 1}, {"exec_hi", kExec + 1, 1}, {"null", kNull, 1}};

bool parse_register(const std::string& text, Operand& operand) {
  operand.kind = Operand::Kind::kScalar;
  const auto is_range = [&](size_t at) { return at < text.size() && (text[at] == '[' || begins_with_digit(text, at)); };
  const auto named = std::ranges::find(kNamedScalars, text, &NamedScalar::name);
  if (named != std::end(kNamedScalars)) {
    operand.reg = named->reg;
    operand.words = named->words;
  } else if (text.starts_with("ttmp") && is_range(4)) {
    parse_range(text, 4, kTrap, operand);
  } else if (text[0] == 's' && is_range(1)) {
    parse_range(text, 1, 0, operand);
  } else if (text[0] == 'v' && is_range(1)) {
    operand.kind = Operand::Kind::kVector;
    parse_range(text, 1, 0, operand);
  } else if (text == "off") {
    operand.kind = Operand::Kind::kOff;
  } else if (text == "scc") {
    operand.kind = Operand::Kind::kScc;
  } else {
    return false;
  }
  return true;
}

void become_literal(uint32_t value, Operand& operand) {
  operand.is_literal = true;
  operand.wide_signed = static_cast<uint64_t>(static_cast<int32_t>(value));
  operand.wide_float = static_cast<uint64_t>(value) << 32;
}

/* "0.5" is a float or a double, "0x3f000000" a literal of 32 bits, "-1" an integer of any size. */
void parse_constant(const std::string& text, Operand& operand) {
  operand.kind = Operand::Kind::kConstant;
  char* end = nullptr;
  const bool is_hexadecimal = text.find("0x") != std::string::npos;
  if (!is_hexadecimal && text.find('.') != std::string::npos) {
    const double value = std::strtod(text.c_str(), &end);
    const float narrow = static_cast<float>(value);
    std::memcpy(&operand.value, &narrow, sizeof narrow);
    std::memcpy(&operand.wide, &value, sizeof value);
    operand.wide_signed = operand.wide_float = operand.wide;
  } else {
    const auto value = static_cast<uint64_t>(std::strtoll(text.c_str(), &end, 0));
    operand.value = static_cast<uint32_t>(value);
    operand.wide = operand.wide_signed = operand.wide_float = value;
    if (is_hexadecimal && value >> 32 == 0) become_literal(operand.value, operand);
  }
  if (end == text.c_str() || *end) unknown("operand", text);
}

Operand parse_operand(const std::string& text) {
  const auto inner = [&](size_t front, size_t back) {
    return parse_operand(text.substr(front, text.size() - front - back));
  };
  Operand operand;
  if (text.empty()) unknown("operand", text);
  if (text.starts_with("sext(")) {
    operand = inner(5, 1);
    operand.sign_extend = true;
  } else if (text.starts_with("lit(")) {  // LLVM 22: a literal, although its value needs none
    operand = inner(4, 1);
    become_literal(operand.value, operand);
  } else if (text[0] == '-' && !begins_with_digit(text, 1)) {
    operand = inner(1, 0);
    operand.negate = true;
  } else if (text[0] == '|') {
    operand = inner(1, 1);
    operand.absolute = true;
  } else if (!parse_register(text, operand)) {
    parse_constant(text, operand);
  }
  return operand;
}

/* -- Modifiers ----------------------------------------------------------------------------------------------------- */

Select parse_select(const std::string& value) {
  constexpr const char* kNames[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
  const auto found = std::ranges::find(kNames, value);
  if (found == std::end(kNames)) unknown("select", value);
  return static_cast<Select>(found - kNames);
}

/* "[0,1]": a bit for each source; one more is that of the result, bit 3. */
uint8_t parse_bits(const std::string& value, int sources) {
  constexpr int kResult = 3;
  uint8_t bits = 0;
  int n = 0;
  for (const char c : value)
    if (c == '0' || c == '1') bits |= static_cast<uint8_t>((c - '0') << (n == sources ? kResult : n)), n++;
  return bits;
}

bool is_memory(const std::string& name) {
  return name.starts_with("ds_") || name.starts_with("global") || name.starts_with("flat") ||
         name.starts_with("s_load");
}

/* The first source of an SDWA instruction; a carry's destination comes before it. */
int first_source(const Instruction& i) { return i.mnemonic.find("_co_") != std::string::npos ? 2 : 1; }

bool apply_vector_modifier(Instruction& i, const std::string& key, const std::string& value) {
  const int sources = i.count - 1;
  if (key == "clamp") i.clamp = true;
  else if (key == "mul") i.output_modifier = value == "2" ? 1 : 2;
  else if (key == "div") i.output_modifier = 3;
  else if (key == "dst_sel") i.result_select = parse_select(value);
  else if (key == "dst_unused") i.result_pads = value == "UNUSED_PAD";
  else if (key == "src0_sel") i.operands[first_source(i)].select = parse_select(value);
  else if (key == "src1_sel") i.operands[first_source(i) + 1].select = parse_select(value);
  else if (key == "op_sel") i.op_sel = parse_bits(value, sources);
  else if (key == "op_sel_hi") i.op_sel_hi = parse_bits(value, sources);
  else if (key == "neg_lo") i.neg_lo = parse_bits(value, sources);
  else if (key == "neg_hi") i.neg_hi = parse_bits(value, sources);
  else if (key == "bitop3") i.truth_table = static_cast<uint8_t>(std::strtol(value.c_str(), nullptr, 0));
  else return false;
  return true;
}

/* Words that name the caches of an access, which make no difference here. */
constexpr const char* kCaches[] = {"sc0", "sc1", "nt", "glc", "slc", "dlc", "scope", "th"};

void apply_modifier(Instruction& i, const std::string& text) {
  const size_t colon = text.find(':');
  const std::string key = text.substr(0, colon), value = colon == std::string::npos ? "" : text.substr(colon + 1);
  const auto integer = [&] { return static_cast<int32_t>(std::strtol(value.c_str(), nullptr, 0)); };
  if (!is_memory(i.mnemonic)) {
    if (!apply_vector_modifier(i, key, value)) unknown("modifier", text);
  } else if (key == "offset") {
    i.offset = integer();
  } else if (key == "offset0") {
    i.offset0 = integer();
  } else if (key == "offset1") {
    i.offset1 = integer();
  } else if (std::ranges::find(kCaches, key) == std::end(kCaches)) {
    unknown("modifier", text);
  }
}

/* -- Waits --------------------------------------------------------------------------------------------------------- */

/* "vmcnt(1) lgkmcnt(0)" up to gfx11. */
WaitCounts parse_counters(const std::string& text) {
  WaitCounts wait;
  const auto counter = [&](const char* name) {
    const size_t at = text.find(std::string(name) + "(");
    return at == std::string::npos ? -1 : std::atoi(&text[at + std::strlen(name) + 1]);
  };
  if (text.find("cnt(") == std::string::npos) unknown("wait", text);
  wait.vector = counter("vmcnt");
  wait.local = wait.scalar = counter("lgkmcnt");
  wait.store = counter("vscnt");
  return wait;
}

/* gfx12 has an instruction for each counter, and for two of them. */
WaitCounts parse_counter(const std::string& name, const std::string& text) {
  const size_t comma = text.find(',');  // "null, 0x0"
  const int n = static_cast<int>(std::strtol(&text[comma == std::string::npos ? 0 : comma + 1], nullptr, 0));
  const int upper = n >> 8 & 63, lower = n & 63;
  if (name == "s_wait_loadcnt") return {.vector = n};
  if (name == "s_wait_dscnt") return {.local = n};
  if (name == "s_wait_kmcnt") return {.scalar = n};
  if (name == "s_wait_loadcnt_dscnt") return {.vector = upper, .local = lower};
  if (name == "s_wait_storecnt_dscnt") return {.local = lower, .store = upper};
  return {.store = n};  // s_wait_storecnt; s_waitcnt_vscnt of gfx10 and gfx11
}

/* -- All of it ----------------------------------------------------------------------------------------------------- */

/* Without the encoding, which does not matter. */
std::string base_name(std::string name) {
  for (const char* suffix : {"_e32", "_e64", "_sdwa"})
    if (name.ends_with(suffix)) name.resize(name.size() - std::strlen(suffix));
  return name.starts_with("v_dual_") ? "v_" + name.substr(7) : name;
}

/* Pieces between commas outside of brackets, and the words of each: operands begin a piece, modifiers follow. */
void parse_operands(Instruction& i, const std::string& text) {
  std::vector<std::string> modifiers;
  std::string word;
  bool begins = true;
  int depth = 0;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (!begins) modifiers.push_back(word);
    else if (i.count == i.operands.size()) unknown("operand", word);
    else i.operands[i.count++] = parse_operand(word);
    begins = false;
    word.clear();
  };
  for (const char c : text) {
    depth += (c == '[' || c == '(') - (c == ']' || c == ')');
    if (depth > 0 || (c != ',' && c != ' ')) {
      word += c;
      continue;
    }
    end_word();
    if (c == ',') begins = true;
  }
  end_word();
  for (const std::string& modifier : modifiers) apply_modifier(i, modifier);
}

/* Only these know what to do with a modifier that cuts results off. */
bool may_clamp(const std::string& name) {
  const bool is_float = name.find("_f32") != std::string::npos || name.find("_f64") != std::string::npos;
  return is_float || name.starts_with("v_add_u32") || name.starts_with("v_add_nc_u32") ||
         name.starts_with("v_sub_u32") || name.starts_with("v_sub_nc_u32");
}

Unit unit_of(const std::string& name) {
  constexpr const char* kControls[] = {"s_branch", "s_cbranch", "s_wait", "s_barrier", "s_endpgm"};
  if (name.starts_with("v_")) return Unit::kVector;
  if (name.starts_with("ds_")) return Unit::kLocalMemory;
  if (name.starts_with("s_load")) return Unit::kScalarMemory;
  if (!name.starts_with("s_")) return Unit::kVectorMemory;
  return std::ranges::any_of(kControls, [&](const char* begin) { return name.starts_with(begin); }) ? Unit::kControl
                                                                                                    : Unit::kScalar;
}

Instruction decode_one(const std::string& text) {
  Instruction i;
  const size_t space = std::min(text.find(' '), text.size());
  const std::string name = base_name(text.substr(0, space)), rest = text.substr(std::min(space + 1, text.size()));
  i.mnemonic = text.substr(0, space);
  i.text = text;
  const Entry* entry = find_entry(name);
  if (!entry) unknown("instruction", name);
  i.run = entry->run;
  i.unit = unit_of(name);
  if (entry->form == Form::kHint) {
    if (i.unit != Unit::kVector) i.unit = Unit::kControl;
    return i;
  }
  if (entry->form == Form::kWait) {
    i.wait = name == "s_waitcnt" ? parse_counters(rest) : parse_counter(name, rest);
    return i;
  }
  if (entry->form == Form::kBranch) {
    i.target = static_cast<int16_t>(std::strtol(rest.c_str(), nullptr, 10));
    return i;
  }
  parse_operands(i, rest);
  if (i.clamp && !may_clamp(name)) unknown("clamp of", name);
  if (entry->form == Form::kAccumulates) i.operands[i.count++] = i.result();
  return i;
}

}  // namespace

std::string decode(const std::string& text, Instruction* instruction) {
  try {
    const size_t between = text.find(" :: ");
    if (between == std::string::npos) {
      *instruction = decode_one(text);
      return "";
    }
    auto pair = std::make_shared<std::pair<Instruction, Instruction>>(decode_one(text.substr(0, between)),
                                                                      decode_one(text.substr(between + 4)));
    *instruction = pair->first;  // its result, and how many operands
    instruction->run = find_entry("a pair")->run;
    instruction->text = text;
    pair->first.operands[0].reg = kPairResult;
    instruction->pair = std::move(pair);
    return "";
  } catch (const Unknown& what) {
    return what.what;
  }
}

}  // namespace vmafx::emulator::isa
