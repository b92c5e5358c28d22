#include "emulator/isa/hazards.h"

#include <algorithm>
#include <cstdlib>

#include "emulator/runtime/report.h"

namespace vmafx::emulator::isa {
namespace {

using List = std::vector<Registers>;

/* -- What an instruction reads and writes -------------------------------------------------------------------------- */

bool has(const Instruction& i, const char* part) { return i.mnemonic.find(part) != std::string::npos; }
bool begins(const Instruction& i, const char* part) { return i.mnemonic.starts_with(part); }

bool is_vector(const Instruction& i) { return i.unit == Unit::kVector; }
bool is_memory(const Instruction& i) { return i.unit == Unit::kVectorMemory; }
bool is_local(const Instruction& i) { return i.unit == Unit::kLocalMemory; }

constexpr Registers kVccPair = {kVcc, 2}, kExecPair = {kExec, 2}, kM0Alone = {kM0, 1};

bool is_scalar(const Registers& r) { return r.first < kScalars; }

void add(const Operand& operand, List& list) {
  if (operand.is_vector()) list.push_back({static_cast<uint16_t>(kScalars + operand.reg), operand.words});
  if (operand.is_scalar() && operand.reg != kNull) list.push_back({operand.reg, operand.words});
}

/* How many operands are results; they come first. */
int results(const Instruction& i) {
  if (i.unit == Unit::kVectorMemory || i.unit == Unit::kScalarMemory || is_local(i))
    return has(i, "_load") || has(i, "_read") || has(i, "permute");
  if (begins(i, "v_cmpx")) return i.count == 3;
  if (begins(i, "s_cmp") || begins(i, "s_bitcmp")) return 0;
  const bool carries = has(i, "_co_") || has(i, "_div_scale") || has(i, "_mad_u64_u32") || has(i, "_mad_i64_i32");
  return is_vector(i) && carries ? 2 : 1;
}

List written(const Instruction& i) {
  List list;
  for (int n = 0; n < std::min<int>(results(i), i.count); n++) add(i.operands[n], list);
  if (i.pair) add(i.pair->second.result(), list);
  if (begins(i, "v_cmpx") || has(i, "saveexec")) list.push_back(kExecPair);
  return list;
}

List read(const Instruction& i) {
  List list;
  for (int n = results(i); n < i.count; n++) add(i.operands[n], list);
  if (i.pair)
    for (int n = 1; n < i.pair->second.count; n++) add(i.pair->second.operands[n], list);
  if (has(i, "_div_fmas") || has(i, "s_cbranch_vcc") || (has(i, "_cndmask_b32") && i.count == 3))
    list.push_back(kVccPair);
  return list;
}

List only(List list, bool scalars) {
  std::erase_if(list, [&](const Registers& r) { return is_scalar(r) != scalars; });
  return list;
}

/* -- Parts of hazards: the registers that matter if an instruction plays the part, else none ----------------------- */

struct Sides {
  const Instruction& i;
  const List written, read;
};

List if_only(bool condition, const List& list) { return condition ? list : List{}; }
List scalars_if(bool condition, const List& list) { return condition ? only(list, true) : List{}; }
List vectors_if(bool condition, const List& list) { return condition ? only(list, false) : List{}; }

List valu_writes_scalar(const Sides& of) { return scalars_if(is_vector(of.i), of.written); }
List valu_reads_scalar(const Sides& of) { return scalars_if(is_vector(of.i), of.read); }
List valu_writes_vector(const Sides& of) { return vectors_if(is_vector(of.i), of.written); }
List valu_reads_vector(const Sides& of) { return vectors_if(is_vector(of.i), of.read); }
List salu_writes_scalar(const Sides& of) { return if_only(of.i.unit == Unit::kScalar, of.written); }

bool is_transcendental(const Instruction& i) {
  constexpr const char* kNames[] = {"v_rcp_", "v_rsq_", "v_sqrt_", "v_exp_", "v_log_", "v_sin_", "v_cos_"};
  return std::ranges::any_of(kNames, [&](const char* name) { return begins(i, name); });
}
List transcendental(const Sides& of) { return if_only(is_transcendental(of.i), of.written); }
List not_transcendental(const Sides& of) { return vectors_if(is_vector(of.i) && !is_transcendental(of.i), of.read); }

/* The result of SDWA or op_sel lands in another place of its register than that of a plain instruction. */
List shifted_result(const Sides& of) {
  constexpr uint8_t kResult = 8;  // op_sel's bit for the result
  return vectors_if(is_vector(of.i) && (of.i.result_select != kDword || of.i.op_sel & kResult), of.written);
}

bool is_lane_access(const Instruction& i) {
  return begins(i, "v_readlane") || begins(i, "v_readfirstlane") || begins(i, "v_writelane");
}
List lane_number(const Sides& of) {
  List list;
  if (is_lane_access(of.i) && of.i.count == 3) add(of.i.operands[2], list);
  return list;
}
List lane_access(const Sides& of) { return if_only(is_lane_access(of.i), {kExecPair}); }
List lane_read(const Sides& of) { return vectors_if(begins(of.i, "v_read"), of.read); }

List division(const Sides& of) { return if_only(begins(of.i, "v_div_fmas"), {kVccPair}); }
List memory_address(const Sides& of) { return scalars_if(is_memory(of.i), of.read); }
List message(const Sides& of) { return if_only(begins(of.i, "s_sendmsg"), {kM0Alone}); }

List wide_store(const Sides& of) {
  List list;
  if (is_memory(of.i) && has(of.i, "_store_") && of.i.operands[1].words > 2) add(of.i.operands[1], list);
  return list;
}

bool is_dot(const Instruction& i) { return begins(i, "v_dot"); }
List dot_product(const Sides& of) { return if_only(is_dot(of.i), of.written); }
/* The third source, what is added, is passed on from one to the next of the same name. */
List dot_term(const Sides& of) {
  List list;
  if (is_dot(of.i)) add(of.i.operands[3], list);
  return list;
}
bool has_vectors(const Instruction& i) { return is_vector(i) || is_memory(i) || is_local(i); }
List reads_but_no_dot_term(const Sides& of) {
  if (!is_dot(of.i)) return vectors_if(has_vectors(of.i), of.read);
  List list;
  add(of.i.operands[1], list), add(of.i.operands[2], list);
  return list;
}
List writes_vector(const Sides& of) { return vectors_if(has_vectors(of.i), of.written); }

/* -- The hazards --------------------------------------------------------------------------------------------------- */

enum Family : unsigned { kGfx9 = 1, kGfx90a = 2, kGfx94x = 4, kGfx110x = 8 };

unsigned family(const Architecture& a) {
  unsigned families = 0;
  if (a.generation == 9) families |= kGfx9;
  if (a.has_name("gfx90a")) families |= kGfx90a;
  if (a.is_gfx94x()) families |= kGfx94x;
  if (a.has_name("gfx110") || a.has_name("gfx11-")) families |= kGfx110x;
  return families;
}

using Part = List (*)(const Sides&);
enum class Among { kAll, kOtherNames };  // instructions of another name only

struct Rule {
  unsigned families;
  unsigned wait_states;  // that have to be between
  Part earlier, later;   // with registers that overlap
  const char* what;
  Among among = Among::kAll;
};

/* The tables "Manually Inserted Wait States (NOPs)" of AMD's manuals for CDNA and, of dot products, "Required
 * Independent Instructions", as emulator/README.md has them; the last rule is what LLVM does for gfx110x. There wait
 * states are vector instructions, and only the last two results count. */
constexpr Rule kRules[] = {
    {kGfx9, 4, valu_writes_scalar, lane_number, "a lane number that a vector instruction wrote"},
    {kGfx9, 4, valu_writes_scalar, division, "a division step by VCC that a vector instruction wrote"},
    {kGfx9, 5, valu_writes_scalar, memory_address, "an address in scalars that a vector instruction wrote"},
    {kGfx9, 1, salu_writes_scalar, message, "a message with M0 that a scalar instruction wrote"},
    {kGfx9, 1, wide_store, valu_writes_vector, "a write to the data of a store of more than 64 bits"},
    {kGfx94x, 2, wide_store, valu_writes_vector, "a write to the data of a store of more than 64 bits"},
    {kGfx94x, 1, transcendental, not_transcendental, "a use of a transcendental result"},
    {kGfx94x, 1, shifted_result, valu_reads_vector, "a use of a result that SDWA or op_sel moved"},
    {kGfx94x, 2, valu_writes_scalar, valu_reads_scalar, "a vector instruction's use of a scalar that another wrote"},
    {kGfx94x, 1, valu_writes_vector, lane_read, "a lane read from a vector that was written"},
    {kGfx94x, 4, valu_writes_scalar, lane_access, "a lane access after a vector instruction wrote EXEC"},
    {kGfx90a | kGfx94x, 3, dot_product, reads_but_no_dot_term, "a use of a dot product"},
    {kGfx90a | kGfx94x, 3, dot_product, dot_term, "a use of a dot product by another kind of them", Among::kOtherNames},
    {kGfx90a | kGfx94x, 3, dot_product, writes_vector, "a write over a dot product", Among::kOtherNames},
    {kGfx110x, 6, transcendental, valu_reads_vector, "a use of a transcendental result"},
};

static_assert(std::size(kRules) <= 16);  // bits of RulesByDistance

/* -- Waits --------------------------------------------------------------------------------------------------------- */

unsigned number_in(const std::string& text) {
  return static_cast<unsigned>(std::strtoul(&text[std::min(text.find(' '), text.size())], nullptr, 0));
}

/* s_wait_alu and s_waitcnt_depctr: whether it waits until none is left in a counter, which has a name, or bits from
 * `shift` on. */
bool waits_for(const Instruction& i, const char* counter, unsigned shift, unsigned mask) {
  if (i.text.find('(') != std::string::npos) return i.text.find(std::string(counter) + "(0)") != std::string::npos;
  return (number_in(i.text) >> shift & mask) == 0;
}

/* s_waitcnt_depctr: whether it waits for all results in vector registers (bits 12 to 15 are how many may be left). */
bool waits_for_vectors(const Instruction& i) {
  if (!begins(i, "s_waitcnt_depctr")) return false;
  return waits_for(i, "va_vdst", 12, 15);
}

/* -- gfx12 --------------------------------------------------------------------------------------------------------- */

/* Without M0, EXEC and null. */
std::bitset<kScalars> scalars_among(const List& list) {
  std::bitset<kScalars> all;
  for (const Registers& r : list)
    for (unsigned n = r.first; n < r.first + r.count && n < kM0; n++) all.set(n);
  return all;
}

std::bitset<kScalars> whole_pairs(const std::bitset<kScalars>& scalars) {
  std::bitset<kScalars> pairs;
  for (unsigned n = 0; n < kScalars; n++) pairs[n] = scalars[n & ~1u] || scalars[n | 1u];
  return pairs;
}

}  // namespace

void find_hazards(const Architecture& architecture, Instruction& i) {
  const unsigned families = family(architecture);
  InstructionHazards& of = i.hazards;
  const Sides sides{i, written(i), read(i)};
  if (families == kGfx110x) {
    of.wait_states = is_vector(i);
    of.settles = is_memory(i) || is_local(i) || begins(i, "buffer_") || waits_for_vectors(i);
  } else if (i.mnemonic == "s_nop") {
    of.wait_states = static_cast<uint8_t>(number_in(i.text) + 1);
  }
  if (architecture.generation == 12) {
    of.scalars_read = scalars_among(sides.read);
    of.scalars_written = scalars_among(sides.written);
  }
  for (uint8_t n = 0; n < std::size(kRules); n++) {
    if (!(kRules[n].families & families)) continue;
    for (const Registers& r : kRules[n].earlier(sides)) of.earlier.push_back({n, r});
    for (const Registers& r : kRules[n].later(sides)) of.later.push_back({n, r});
  }
  for (const auto& side : of.earlier) of.earlier_rules |= static_cast<uint16_t>(1u << side.rule);
  for (const auto& side : of.later)
    for (unsigned between = 0; between < kRules[side.rule].wait_states; between++)
      of.later_rules |= RulesByDistance{1} << (16 * between + side.rule);
}

/* -- Held scalars -------------------------------------------------------------------------------------------------- */

bool HeldScalars::issue(const Instruction& i, std::string* problem) {
  if (is_memory(i) || is_local(i)) return true;  // addresses take another way
  const Scalars kVccs = scalars_among({kVccPair});
  if (i.unit == Unit::kScalarMemory) {  // what it loads is waited for by a counter
    from_scalar_.reset(), from_vector_.reset();
    return true;
  }
  if (begins(i, "s_wait_alu")) {
    if (waits_for(i, "sa_sdst", 0, 1)) from_scalar_.reset();
    if (waits_for(i, "va_sdst", 9, 7)) from_vector_ &= kVccs;
    if (waits_for(i, "va_vcc", 1, 1)) from_vector_ &= ~kVccs;
  }
  const Scalars &read = i.hazards.scalars_read, &written = i.hazards.scalars_written;
  Scalars late = read & from_scalar_;
  if (is_vector(i)) {
    late |= read & from_vector_;
    held_ |= whole_pairs(read);
  } else {  // the scalar unit itself waits for vector instructions
    if ((read & held_ & kVccs).any()) from_vector_ &= ~kVccs;
    if ((read & held_ & ~kVccs).any()) from_vector_ &= kVccs;
  }
  from_scalar_ &= ~written;
  from_vector_ &= ~written;
  (is_vector(i) ? from_vector_ : from_scalar_) |= written & held_;
  if (late.none()) return true;
  unsigned reg = 0;
  while (!late[reg]) reg++;
  *problem =
      text("reads scalar %u, which was written after a vector instruction had read it, without an s_wait_alu", reg);
  return false;
}

/* -- Recent instructions ------------------------------------------------------------------------------------------- */

void Recent::begin(const Architecture& architecture, bool checks_scalars) {
  checks_scalars_ = checks_scalars && architecture.generation == 12;
  held_scalars_ = {};
  count_ = 0;
  rules_ = 0;
  most_ = family(architecture) == kGfx110x ? 2 : ring_.size();
}

void Recent::add(const Instruction& earlier) {
  ring_[next_++ % ring_.size()] = {&earlier, now_ + earlier.hazards.wait_states};
  count_ = std::min(count_ + 1, most_);
}

bool Recent::is_late_enough(const Instruction& later) {
  for (unsigned n = 1; n <= count_; n++) {
    const auto& [earlier, end] = ring_[(next_ - n) % ring_.size()];
    const uint64_t between = now_ - end;
    if (between >= kLongest) break;
    if (!(later.hazards.later_rules >> 16 * between & earlier->hazards.earlier_rules)) continue;
    for (const auto& [earlier_rule, from] : earlier->hazards.earlier)
      for (const auto& [rule, to] : later.hazards.later) {
        const Rule& r = kRules[rule];
        if (rule != earlier_rule || between >= r.wait_states || !from.overlap(to)) continue;
        if (r.among == Among::kOtherNames && earlier->mnemonic == later.mnemonic) continue;
        problem_ = text("%s comes too soon: of %u wait states after [%06zx: %s] %zu are missing", r.what, r.wait_states,
                        static_cast<size_t>(earlier->address), earlier->text.c_str(),
                        static_cast<size_t>(r.wait_states - between));
        return false;
      }
  }
  return true;
}

}  // namespace vmafx::emulator::isa
