/* Instructions of AMD's GPUs one by one, against what the manuals of their instruction sets say ("RDNA3", "RDNA4" and
 * "MI300 Instruction Set Architecture"), at corner values; with waves of 32 and of 64 lanes, of which some are
 * inactive. */
#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "emulator/isa/decode.h"
#include "emulator/isa/hazards.h"
#include "emulator/isa/wave.h"
#include "tests/support/check_main.h"

using namespace vmafx::emulator::isa;
using namespace vmafx::test;

namespace {

constexpr uint64_t kOld = 0x5a5a5a5aa5a5a5a5;  // what results and inactive lanes hold before
constexpr uint64_t kAnything = 0x1122334455667788;
const float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

uint64_t f(float x) { return std::bit_cast<uint32_t>(x); }
uint64_t d(double x) { return std::bit_cast<uint64_t>(x); }
uint64_t i(int64_t x) { return static_cast<uint64_t>(x); }

/* A wave whose registers hold the sources a, b, c in each form, in every second lane:
 *   32 bits: v10, v11, v12 and s10, s11, s12; 64 bits: v[20:21], v[22:23], v[24:25] and s[20:21], s[22:23], s[24:25].
 * Results go to v0, v[0:1], s0, s[0:1] and masks to s[30:31], s30 or vcc. */
class TestWave {
 public:
  TestWave(const char* architecture, uint64_t a, uint64_t b, uint64_t c) : wave_(std::make_unique<Wave>()) {
    wave_->architecture = find_architecture(std::string(architecture));
    wave_->lanes = wave_->architecture->lanes();
    set_vector(0, kOld);
    set_scalar(0, kOld);
    set_scalar(30, kOld);
    const uint64_t sources[] = {a, b, c};
    for (unsigned n = 0; n < 3; n++) {
      set_vector(20 + 2 * n, sources[n]);
      set_scalar(20 + 2 * n, sources[n]);
      wave_->scalar[10 + n] = static_cast<uint32_t>(sources[n]);
      for (unsigned l = 0; l < wave_->lanes; l++) wave_->vector[10 + n].of[l] = static_cast<uint32_t>(sources[n]);
    }
    wave_->set_pair(kExec, active());
    wave_->set_pair(kVcc, 0);
  }

  Wave& operator*() { return *wave_; }
  Wave* operator->() { return wave_.get(); }

  uint64_t active() const { return 0x5555555555555555 & wave_->all_lanes(); }

  void run(const std::string& text) {
    Instruction instruction;
    const std::string unknown = decode(text, &instruction);
    ck_assert_msg(unknown.empty(), "%s: %s", text.c_str(), unknown.c_str());
    instruction.run(*wave_, instruction);
  }

  uint64_t vector(unsigned lane, bool is_wide) const {
    const uint64_t low = wave_->vector[0].of[lane];
    return is_wide ? uint64_t{wave_->vector[1].of[lane]} << 32 | low : low;
  }

 private:
  void set_vector(unsigned reg, uint64_t value) {
    for (unsigned l = 0; l < wave_->lanes; l++) {
      wave_->vector[reg].of[l] = static_cast<uint32_t>(value);
      wave_->vector[reg + 1].of[l] = static_cast<uint32_t>(value >> 32);
    }
  }
  void set_scalar(unsigned reg, uint64_t value) { wave_->set_pair(reg, value); }

  std::unique_ptr<Wave> wave_;
};

constexpr const char* kBoth[] = {"gfx1100", "gfx942"};

struct Case {
  const char* text;
  uint64_t a, b, c;
  uint64_t want;
};

bool is_wide(const std::string& text, const char* pair) { return text.find(pair) != std::string::npos; }

/* Each case on each architecture: active lanes have the result, the others what was there. */
void check_vectors(std::initializer_list<Case> cases,
                   std::initializer_list<const char*> architectures = {"gfx1100", "gfx942"}) {
  for (const char* architecture : architectures)
    for (const Case& given : cases) {
      TestWave wave(architecture, given.a, given.b, given.c);
      wave.run(given.text);
      const bool wide = is_wide(given.text, " v[0:1]");
      for (unsigned l = 0; l < wave->lanes; l++) {
        const uint64_t got = wave.vector(l, wide), old = wide ? kOld : static_cast<uint32_t>(kOld);
        const uint64_t want = wave.active() >> l & 1 ? given.want : old;
        ck_assert_msg(got == want, "%s: %s of %llx, %llx, %llx: lane %u has %llx, not %llx", architecture, given.text,
                      static_cast<unsigned long long>(given.a), static_cast<unsigned long long>(given.b),
                      static_cast<unsigned long long>(given.c), l, static_cast<unsigned long long>(got),
                      static_cast<unsigned long long>(want));
      }
    }
}

struct ScalarCase {
  const char* text;
  uint64_t a, b;
  bool scc;  // before
  uint64_t want;
  bool want_scc;
};

void check_scalars(std::initializer_list<ScalarCase> cases) {
  for (const char* architecture : kBoth)
    for (const ScalarCase& given : cases) {
      TestWave wave(architecture, given.a, given.b, 0);
      wave->scc = given.scc;
      wave.run(given.text);
      const uint64_t got = is_wide(given.text, " s[0:1]") ? wave->pair(0) : wave->scalar[0];
      ck_assert_msg(
          got == given.want && wave->scc == given.want_scc, "%s: %s of %llx, %llx: %llx and %d, not %llx and %d",
          architecture, given.text, static_cast<unsigned long long>(given.a), static_cast<unsigned long long>(given.b),
          static_cast<unsigned long long>(got), wave->scc, static_cast<unsigned long long>(given.want), given.want_scc);
    }
}

/* Checks comparisons: true in all active lanes, or in none; inactive lanes have 0. */
void check_compares(std::initializer_list<Case> cases) {
  for (const Case& given : cases) {
    TestWave wave("gfx1100", given.a, given.b, 0), wide("gfx942", given.a, given.b, 0);
    wave.run(std::string(given.text).replace(std::string(given.text).find("MASK"), 4, "s30"));
    wide.run(std::string(given.text).replace(std::string(given.text).find("MASK"), 4, "s[30:31]"));
    ck_assert_msg(wave->scalar[30] == (given.want ? wave.active() : 0), "%s, 32 lanes: %x", given.text,
                  wave->scalar[30]);
    ck_assert_msg(wide->pair(30) == (given.want ? wide.active() : 0), "%s, 64 lanes: %llx", given.text,
                  static_cast<unsigned long long>(wide->pair(30)));
  }
}

/* n / d by the steps that compilers write. */
double divided(double n, double d) {
  TestWave wave("gfx942", std::bit_cast<uint64_t>(n), std::bit_cast<uint64_t>(d), 0);
  wave->set_pair(kExec, wave->all_lanes());
  for (const char* text :
       {"v_div_scale_f64 v[30:31], s[0:1], v[22:23], v[22:23], v[20:21]", "v_rcp_f64_e32 v[32:33], v[30:31]",
        "v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0", "v_fma_f64 v[32:33], v[32:33], v[34:35], v[32:33]",
        "v_fma_f64 v[34:35], -v[30:31], v[32:33], 1.0", "v_fma_f64 v[32:33], v[32:33], v[34:35], v[32:33]",
        "v_div_scale_f64 v[34:35], vcc, v[20:21], v[22:23], v[20:21]", "v_mul_f64 v[36:37], v[34:35], v[32:33]",
        "v_fma_f64 v[30:31], -v[30:31], v[36:37], v[34:35]", "v_div_fmas_f64 v[30:31], v[30:31], v[32:33], v[36:37]",
        "v_div_fixup_f64 v[0:1], v[30:31], v[22:23], v[20:21]"})
    wave.run(text);
  return std::bit_cast<double>(wave.vector(0, true));
}

/* The hazard that the last instruction meets after the others; "": none. */
std::string hazard(const char* architecture, const std::vector<std::string>& texts) {
  const Architecture& of = *find_architecture(std::string(architecture));
  std::vector<Instruction> code(texts.size());
  Recent recent;
  recent.begin(of, true);
  for (size_t n = 0; n < texts.size(); n++) {
    const std::string unknown = decode(texts[n], &code[n]);
    ck_assert_msg(unknown.empty(), "%s: %s", texts[n].c_str(), unknown.c_str());
    find_hazards(of, code[n]);
    if (!recent.issue(code[n])) return n + 1 == texts.size() ? recent.problem() : "before: " + recent.problem();
  }
  return "";
}

}  // namespace

START_TEST(integers) {
  check_vectors({
      {"v_add_nc_u32_e32 v0, v10, v11", 0xffffffff, 2, 0, 1},
      {"v_add_nc_u32_e64 v0, v10, v11 clamp", 0xffffffff, 2, 0, 0xffffffff},
      {"v_sub_nc_u32_e64 v0, v10, v11 clamp", 1, 2, 0, 0},
      {"v_subrev_nc_u32_e32 v0, v10, v11", 1, 3, 0, 2},
      {"v_add3_u32 v0, v10, v11, v12", 0x80000000, 0x80000000, 5, 5},
      {"v_sad_u32 v0, v10, v11, v12", 3, 0xfffffffe, 9, 4},
      {"v_sad_u32 v0, v10, v11, v12", 7, 2, 0xffffffff, 4},
      {"v_lshl_add_u32 v0, v10, v11, v12", 3, 33, 1, 7},
      {"v_add_lshl_u32 v0, v10, v11, v12", 1, 2, 32, 3},
      {"v_lshl_add_u64 v[0:1], v[20:21], v11, v[24:25]", 0x80000001, 1, 1, 0x100000003},
      {"v_mul_lo_u32 v0, v10, v11", 0xffffffff, 0xffffffff, 0, 1},
      {"v_mul_hi_u32 v0, v10, v11", 0xffffffff, 0xffffffff, 0, 0xfffffffe},
      {"v_mul_hi_i32 v0, v10, v11", 0xffffffff, 2, 0, 0xffffffff},
      {"v_mul_u32_u24_e32 v0, v10, v11", 0xff000002, 0xab000003, 0, 6},
      {"v_mul_i32_i24_e32 v0, v10, v11", 0x00800000, 2, 0, 0xff000000},
      {"v_mul_hi_i32_i24_e32 v0, v10, v11", 0x00800000, 2, 0, 0xffffffff},
      {"v_mul_hi_u32_u24_e32 v0, v10, v11", 0x00ffffff, 0x00ffffff, 0, 0xffff},
      {"v_mad_i32_i24 v0, v10, v11, v12", 0xffffff, 3, 10, 7},
      {"v_mad_u32_u24 v0, v10, v11, v12", 0x1000001, 3, 0xffffffff, 2},
      {"v_med3_i32 v0, v10, v11, v12", i(-5), 7, i(-6), 0xfffffffb},
      {"v_med3_i32 v0, v10, v11, v12", 0x80000000, 0x7fffffff, 0, 0},
      {"v_min3_u32 v0, v10, v11, v12", 0xffffffff, 3, 4, 3},
      {"v_max_i32_e32 v0, v10, v11", 0x80000000, 0, 0, 0},
      {"v_max_u32_e32 v0, v10, v11", 0x80000000, 0, 0, 0x80000000},
      {"v_maxmin_i32 v0, v10, v11, v12", i(-5), i(-7), i(-6), i(-6) & 0xffffffff},
      {"v_maxmin_i32 v0, v10, v11, v12", 0x80000000, 3, 4, 3},
      {"v_pk_sub_i16 v0, v10, v11", 0x00058000, 0x00070001, 0, 0xfffe7fff},
      {"v_pk_sub_i16 v0, 0, v11", 0, 0x80000001, 0, 0x8000ffff},
      {"v_pk_sub_i16 v0, v10, v11 op_sel:[1,0] op_sel_hi:[0,1]", 0x00050009, 0x00070001, 0, 0x00020004},
      {"v_pk_max_i16 v0, v10, v11", 0x7fff8000, 0x8000ffff, 0, 0x7fffffff},
      {"v_sad_u8 v0, v10, v11, v12", 0x10ff0004, 0x20000105, 100, 100 + 0x10 + 0xff + 1 + 1},
      {"v_dot4_u32_u8 v0, v10, v11, v12", 0xff020304, 0xff010101, 1, 255 * 255 + 9 + 1},
      {"v_xad_u32 v0, v10, v11, v12", 0xff, 0x0f, 1, 0xf1},
  });
}
END_TEST

START_TEST(bits) {
  check_vectors({
      {"v_bitop3_b32 v0, v10, v11, v12 bitop3:0x80", 0xf0, 0xcc, 0xaa, 0x80},
      {"v_bitop3_b32 v0, v10, v11, v12 bitop3:0x13", 0xf0, 0xcc, 0xaa, 0xffffff13},
      {"v_bitop3_b32 v0, v10, v11, v12 bitop3:0xe1", 0xf0, 0xcc, 0xaa, 0xffffffe1},
      {"v_lshlrev_b32_e32 v0, v10, v11", 33, 3, 0, 6},
      {"v_lshrrev_b32_e32 v0, v10, v11", 63, 0x80000000, 0, 1},
      {"v_ashrrev_i32_e32 v0, v10, v11", 63, 0x80000000, 0, 0xffffffff},
      {"v_lshlrev_b64 v[0:1], v10, v[22:23]", 65, 0x8000000000000001, 0, 2},
      {"v_lshrrev_b64 v[0:1], v10, v[22:23]", 63, 0x8000000000000000, 0, 1},
      {"v_ashrrev_i64 v[0:1], v10, v[22:23]", 64 + 4, 0x8000000000000000, 0, 0xf800000000000000},
      {"v_bfe_u32 v0, v10, v11, v12", 0xabcd1234, 8, 8, 0x12},
      {"v_bfe_u32 v0, v10, v11, v12", 0xabcd1234, 8, 32, 0},
      {"v_bfe_u32 v0, v10, v11, v12", 0xabcd1234, 28, 31, 0xa},
      {"v_bfe_i32 v0, v10, v11, v12", 0x00000f00, 8, 4, 0xffffffff},
      {"v_bfe_i32 v0, v10, v11, v12", 0x80000000, 31, 1, 0xffffffff},
      {"v_bfi_b32 v0, v10, v11, v12", 0xffff0000, 0x12345678, 0x9abcdef0, 0x1234def0},
      {"v_perm_b32 v0, v10, v11, v12", 0x03020100, 0x13121110, 0x07040300, 0x03001310},
      {"v_perm_b32 v0, v10, v11, v12", 0x80000000, 0x00008000, 0x0d0c0b08, 0xff00ffff},
      {"v_alignbit_b32 v0, v10, v11, v12", 0x00000001, 0x80000000, 31, 3},
      {"v_alignbit_b32 v0, v10, v11, v12", 0x12345678, 0x9abcdef0, 32, 0x9abcdef0},
      {"v_alignbyte_b32 v0, v10, v11, v12", 0x12345678, 0x9abcdef0, 5, 0x789abcde},
      {"v_and_or_b32 v0, v10, v11, v12", 0xf0, 0x3c, 1, 0x31},
      {"v_lshl_or_b32 v0, v10, v11, v12", 1, 36, 1, 0x11},
      {"v_clz_i32_u32_e32 v0, v10", 0, 0, 0, 0xffffffff},
      {"v_clz_i32_u32_e32 v0, v10", 1, 0, 0, 31},
      {"v_cls_i32_e32 v0, v10", 0xffffffff, 0, 0, 0xffffffff},
      {"v_cls_i32_e32 v0, v10", 0xfffffff0, 0, 0, 28},
      {"v_ctz_i32_b32_e32 v0, v10", 0x80000000, 0, 0, 31},
      {"v_bcnt_u32_b32 v0, v10, v11", 0xf0f0f0f0, 3, 0, 19},
      {"v_bfrev_b32_e32 v0, v10", 0x00000003, 0, 0, 0xc0000000},
      {"v_mov_b32_e32 v0, 0xffffff00", 0, 0, 0, 0xffffff00},
      {"v_mov_b32_e32 v0, -16", 0, 0, 0, 0xfffffff0},
  });
}
END_TEST

START_TEST(halves_and_parts) {
  const std::initializer_list<Case> results_alone = {
      {"v_add_u16_e32 v0, v10, v11", 0x1ffff, 0x20002, 0, 1},
      {"v_max_i16_e32 v0, v10, v11", 0x18000, 0x27fff, 0, 0x7fff},
      {"v_lshrrev_b16_e32 v0, v10, v11", 17, 0xabcd8000, 0, 0x4000},
      {"v_sub_u32_sdwa v0, v10, v11 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1", 0x00120500,
       0x00020000, 0, 3},
      {"v_sub_u32_sdwa v0, sext(v10), v11 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:BYTE_3",
       0x000000ff, 0x01ffffff, 0, 0xfffffffe},
      {"v_or_b32_sdwa v0, v10, v11 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0x101, 0x20, 0,
       0x210000},
      {"v_mul_u32_u24_sdwa v0, v10, v11 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:BYTE_0",
       0x00050001, 3, 0, 0xf0000},
      {"v_mad_legacy_u16 v0, v10, v11, v12", 0x100, 0x100, 7, 7},
  };
  check_vectors(results_alone, {"gfx906", "gfx942"});
  check_vectors({{"v_add_nc_u16 v0, v10, v11", 0x1ffff, 0x20002, 0, 0xa5a50001},  // the upper half stays
                 {"v_add_nc_u16 v0, v10, v11 op_sel:[1,0,0]", 0x20003, 4, 0, 0xa5a50006},
                 {"v_lshlrev_b16 v0, v10, v11 op_sel:[0,1,1]", 1, 0x00030000, 0, 0x0006a5a5},
                 {"v_mad_u16 v0, v10, v11, v12", 0x100, 0x100, 7, 0xa5a50007}},
                {"gfx1030", "gfx1100", "gfx1201"});
}
END_TEST

START_TEST(floats) {
  const uint64_t least = 1, negative_zero = 0x80000000, quarter_ulp = f(0x1p-25f);
  check_vectors({
      {"v_add_f32_e32 v0, v10, v11", f(1), quarter_ulp, 0, f(1)},
      {"v_add_f32_e32 v0, v10, v11", least, least, 0, 2},  // denormals are kept
      {"v_mul_f32_e32 v0, v10, v11", f(0x1p-126f), f(0.5f), 0, 0x400000},
      {"v_mul_f32_e64 v0, -v10, |v11|", f(2), f(-3), 0, f(-6)},
      {"v_mul_f32_e64 v0, v10, v11 mul:2", f(2), f(3), 0, f(12)},
      {"v_mul_f32_e64 v0, v10, v11 div:2", f(2), f(3), 0, f(3)},
      {"v_add_f32_e64 v0, v10, v11 clamp", f(2), f(3), 0, f(1)},
      {"v_add_f32_e64 v0, v10, v11 clamp", f(kInfinity), f(-kInfinity), 0, 0},
      {"v_sub_f32_e32 v0, v10, v11", f(1), f(3), 0, f(-2)},
      {"v_subrev_f32_e32 v0, v10, v11", f(1), f(3), 0, f(2)},
      {"v_max_f32_e32 v0, v10, v11", f(kNan), f(-3), 0, f(-3)},
      {"v_max_f32_e32 v0, v10, v11", negative_zero, 0, 0, 0},
      {"v_min_f32_e32 v0, v10, v11", 0, negative_zero, 0, negative_zero},
      {"v_maxmin_f32 v0, v10, v11, v12", f(1), f(5), f(3), f(3)},
      {"v_minmax_f32 v0, v10, v11, v12", f(1), f(5), f(3), f(3)},
      {"v_med3_f32 v0, v10, v11, v12", f(-7), f(-1.5f), f(1.5f), f(-1.5f)},
      {"v_med3_f32 v0, v10, v11, v12", f(7), f(-1.5f), f(1.5f), f(1.5f)},
      {"v_med3_f32 v0, v10, v11, v12", f(0.5f), f(-1.5f), f(1.5f), f(0.5f)},
      {"v_med3_f32 v0, v10, v11, v12", f(kNan), f(2), f(1), f(1)},
      {"v_fma_f32 v0, v10, v11, v12", f(1 + 0x1p-12f), f(1 + 0x1p-12f), f(-1 - 0x1p-11f), f(0x1p-24f)},  // rounded once
      {"v_fma_f32 v0, v10, v11, v12", f(0x1p-75f), f(0x1p-74f), 0, least},
      {"v_rndne_f32_e32 v0, v10", f(2.5f), 0, 0, f(2)},
      {"v_rndne_f32_e32 v0, v10", f(-0.5f), 0, 0, negative_zero},
      {"v_floor_f32_e32 v0, v10", f(-0.5f), 0, 0, f(-1)},
      {"v_trunc_f32_e32 v0, v10", f(-1.5f), 0, 0, f(-1)},
      {"v_ldexp_f32 v0, v10, v11", f(1.5f), i(-149), 0, 2},
      {"v_rcp_f32_e32 v0, v10", 0, 0, 0, f(kInfinity)},
      {"v_rcp_f32_e32 v0, v10", negative_zero, 0, 0, f(-kInfinity)},
      {"v_rcp_f32_e32 v0, v10", f(-kInfinity), 0, 0, negative_zero},
      {"v_rcp_f32_e32 v0, v10", f(-4), 0, 0, f(-0.25f)},
      {"v_sqrt_f32_e32 v0, v10", negative_zero, 0, 0, negative_zero},
      {"v_sqrt_f32_e32 v0, v10", f(9), 0, 0, f(3)},
      {"v_cndmask_b32_e64 v0, -v10, v11, 0", f(2), f(3), 0, f(-2)},
  });
}
END_TEST

START_TEST(doubles) {
  check_vectors({
      {"v_add_f64 v[0:1], v[20:21], v[22:23]", d(1), d(0x1p-53), 0, d(1)},
      {"v_add_f64 v[0:1], v[20:21], -v[22:23]", d(1), d(0x1p-53), 0, d(1 - 0x1p-53)},
      {"v_mul_f64 v[0:1], v[20:21], 0.5", d(3), 0, 0, d(1.5)},
      {"v_mul_f64 v[0:1], v[20:21], 2", d(1), 0, 0, d(0x1p-1073)},  // an integer is its bits
      {"v_add_f64 v[0:1], v[20:21], 0x3ff80000", 0, 0, 0, d(1.5)},  // a literal is the upper half
      {"v_add_f64 v[0:1], v[20:21], lit(0x3ff80000)", 0, 0, 0, d(1.5)},
      {"v_fma_f64 v[0:1], v[20:21], v[22:23], v[24:25]", d(1 + 0x1p-30), d(1 + 0x1p-30), d(-1 - 0x1p-29), d(0x1p-60)},
      {"v_max_f64 v[0:1], v[20:21], v[22:23]", d(std::nan("")), d(4), 0, d(4)},
      {"v_rndne_f64_e32 v[0:1], v[20:21]", d(3.5), 0, 0, d(4)},
      {"v_floor_f64_e32 v[0:1], v[20:21]", d(-0.25), 0, 0, d(-1)},
      {"v_ldexp_f64 v[0:1], v[20:21], v11", d(3), i(-1075), 0, d(0x1p-1073)},
      {"v_rcp_f64_e32 v[0:1], v[20:21]", d(-8), 0, 0, d(-0.125)},
      {"v_div_fixup_f64 v[0:1], v[20:21], v[22:23], v[24:25]", kAnything, d(0), d(-3),
       d(-std::numeric_limits<double>::infinity())},
      {"v_div_fixup_f32 v0, v10, v11, v12", f(5), f(-2), f(10), f(-5)},
      {"v_div_fixup_f32 v0, v10, v11, v12", f(5), f(kInfinity), f(-10), 0x80000000},
      {"v_div_fmas_f32 v0, v10, v11, v12", f(2), f(3), f(4), f(10)},
  });
}
END_TEST

START_TEST(conversions) {
  check_vectors({
      {"v_cvt_f32_u32_e32 v0, v10", 0xffffffff, 0, 0, f(0x1p32f)},
      {"v_cvt_f32_i32_e32 v0, v10", 0x1000001, 0, 0, f(0x1p24f)},
      {"v_cvt_f32_i32_e32 v0, v10", 0x1000003, 0, 0, f(0x1000004)},
      {"v_cvt_u32_f32_e32 v0, v10", f(-0.99f), 0, 0, 0},
      {"v_cvt_u32_f32_e32 v0, v10", f(0x1p32f), 0, 0, 0xffffffff},
      {"v_cvt_i32_f32_e32 v0, v10", f(-1.99f), 0, 0, 0xffffffff},
      {"v_cvt_i32_f32_e32 v0, v10", f(kNan), 0, 0, 0},
      {"v_cvt_i32_f32_e32 v0, v10", f(-kInfinity), 0, 0, 0x80000000},
      {"v_cvt_i32_f64_e32 v0, v[20:21]", d(0x1p31), 0, 0, 0x7fffffff},
      {"v_cvt_u32_f64_e32 v0, v[20:21]", d(4294967295.5), 0, 0, 0xffffffff},
      {"v_cvt_f32_f64_e32 v0, v[20:21]", d(1 + 0x1p-24), 0, 0, f(1)},
      {"v_cvt_f32_f64_e32 v0, v[20:21]", d(1e300), 0, 0, f(kInfinity)},
      {"v_cvt_f32_f64_e32 v0, v[20:21]", d(0x1p-149), 0, 0, 1},
      {"v_cvt_f64_f32_e32 v[0:1], v10", 1, 0, 0, d(0x1p-149)},
      {"v_cvt_f64_u32_e32 v[0:1], v10", 0xffffffff, 0, 0, d(4294967295.0)},
      {"v_cvt_f64_i32_e32 v[0:1], v10", 0xffffffff, 0, 0, d(-1)},
      {"v_cvt_f32_ubyte3_e32 v0, v10", 0xfe000000, 0, 0, f(254)},
  });
}
END_TEST

START_TEST(packed_floats) {
  const uint64_t a = f(2) << 32 | f(1), b = f(20) << 32 | f(10), c = f(200) << 32 | f(100);
  check_vectors({{"v_pk_add_f32 v[0:1], v[20:21], v[22:23]", a, b, c, f(22) << 32 | f(11)},
                 {"v_pk_mul_f32 v[0:1], v[20:21], v[22:23] op_sel_hi:[0,1]", a, b, c, f(20) << 32 | f(10)},
                 {"v_pk_mul_f32 v[0:1], v[20:21], v[22:23] op_sel:[1,0] op_sel_hi:[0,1]", a, b, c, f(20) << 32 | f(20)},
                 {"v_pk_add_f32 v[0:1], v[20:21], v[22:23] neg_lo:[0,1] neg_hi:[0,1]", a, b, c, f(-18) << 32 | f(-9)},
                 {"v_pk_fma_f32 v[0:1], v[20:21], v[22:23], v[24:25]", a, b, c, f(240) << 32 | f(110)},
                 {"v_pk_mov_b32 v[0:1], v[20:21], v[22:23] op_sel:[1,0]", a, b, c, f(10) << 32 | f(2)}},
                {"gfx942"});
}
END_TEST

START_TEST(pairs) {
  TestWave wave("gfx1100", f(3), f(4), f(5));
  wave->vector[0].of[0] = static_cast<uint32_t>(f(7));
  wave.run("v_dual_mul_f32 v0, v10, v11 :: v_dual_add_f32 v1, v0, v12");  // both read before either writes
  ck_assert_uint_eq(wave->vector[0].of[0], f(12));
  ck_assert_uint_eq(wave->vector[1].of[0], f(12));
  ck_assert_uint_eq(wave->vector[0].of[1], static_cast<uint32_t>(kOld));
}
END_TEST

START_TEST(carries) {
  struct Carried {
    const char *narrow, *wide;
    uint64_t a, b, c;
    bool in;
    uint64_t want;
    bool out;
  };
  for (const Carried& given : std::initializer_list<Carried>{
           {"v_add_co_u32 v0, s30, v10, v11", "v_add_co_u32 v0, s[30:31], v10, v11", 0xffffffff, 1, 0, false, 0, true},
           {"v_add_co_u32 v0, s30, v10, v11", "v_add_co_u32 v0, s[30:31], v10, v11", 0xfffffffe, 1, 0, true, 0xffffffff,
            false},
           {"v_add_co_ci_u32_e64 v0, s30, v10, v11, vcc_lo", "v_addc_co_u32_e64 v0, s[30:31], v10, v11, vcc",
            0xffffffff, 0xffffffff, 0, true, 0xffffffff, true},
           {"v_sub_co_u32 v0, s30, v10, v11", "v_sub_co_u32 v0, s[30:31], v10, v11", 1, 2, 0, false, 0xffffffff, true},
           {"v_sub_co_ci_u32_e64 v0, s30, v10, v11, vcc_lo", "v_subb_co_u32_e64 v0, s[30:31], v10, v11, vcc", 2, 2, 0,
            true, 0xffffffff, true},
           {"v_subrev_co_ci_u32_e64 v0, s30, v10, v11, vcc_lo", "v_subbrev_co_u32_e64 v0, s[30:31], v10, v11, vcc", 2,
            3, 0, true, 0, false},
           {"v_mad_u64_u32 v[0:1], s30, v10, v11, v[24:25]", "v_mad_u64_u32 v[0:1], s[30:31], v10, v11, v[24:25]",
            0xffffffff, 0xffffffff, 0x1ffffffff, false, 0, true},
           {"v_mad_u64_u32 v[0:1], s30, v10, v11, v[24:25]", "v_mad_u64_u32 v[0:1], s[30:31], v10, v11, v[24:25]",
            0xffffffff, 0xffffffff, 0x1fffffffe, false, 0xffffffffffffffff, false},
       })
    for (const bool is_wide : {false, true}) {
      TestWave wave(kBoth[is_wide], given.a, given.b, given.c);
      wave->set_pair(kVcc, given.in ? wave->all_lanes() : 0);
      const char* text = is_wide ? given.wide : given.narrow;
      wave.run(text);
      const uint64_t mask = is_wide ? wave->pair(30) : wave->scalar[30];
      ck_assert_msg(wave.vector(0, ::is_wide(text, " v[0:1]")) == given.want, "%s: %llx", text,
                    static_cast<unsigned long long>(wave.vector(0, true)));
      ck_assert_msg(mask == (given.out ? wave.active() : 0), "%s: carries %llx", text,
                    static_cast<unsigned long long>(mask));
    }
}
END_TEST

START_TEST(comparisons) {
  check_compares({
      {"v_cmp_lt_i32_e64 MASK, v10, v11", 0xffffffff, 0, 0, 1},
      {"v_cmp_lt_u32_e64 MASK, v10, v11", 0xffffffff, 0, 0, 0},
      {"v_cmp_gt_i64_e64 MASK, v[20:21], v[22:23]", 0, i(-1), 0, 1},
      {"v_cmp_lt_u64_e64 MASK, v[20:21], v[22:23]", 0, i(-1), 0, 1},
      {"v_cmp_lt_u16_e64 MASK, v10, v11", 0x10001, 2, 0, 1},
      {"v_cmp_lt_i16_e64 MASK, v10, v11", 0xffff, 0, 0, 1},
      {"v_cmp_le_i32_sdwa MASK, v10, v11 src0_sel:WORD_0 src1_sel:DWORD", 0xffff0002, 2, 0, 1},
      {"v_cmp_eq_f32_e64 MASK, v10, v11", 0, 0x80000000, 0, 1},
      {"v_cmp_eq_f32_e64 MASK, v10, v11", f(kNan), f(kNan), 0, 0},
      {"v_cmp_neq_f32_e64 MASK, v10, v11", f(kNan), f(1), 0, 1},
      {"v_cmp_lg_f32_e64 MASK, v10, v11", f(kNan), f(1), 0, 0},
      {"v_cmp_nlt_f32_e64 MASK, v10, v11", f(kNan), f(1), 0, 1},
      {"v_cmp_nge_f32_e64 MASK, v10, v11", f(kNan), f(1), 0, 1},
      {"v_cmp_u_f32_e64 MASK, v10, v11", f(kNan), f(1), 0, 1},
      {"v_cmp_o_f32_e64 MASK, v10, v11", f(2), f(1), 0, 1},
      {"v_cmp_gt_f32_e64 MASK, |v10|, v11", f(-2), f(1), 0, 1},
      {"v_cmp_nle_f64_e64 MASK, v[20:21], v[22:23]", d(2), d(1), 0, 1},
  });
  TestWave wave("gfx1100", 1, 2, 0);
  wave.run("v_cmpx_gt_u32_e32 v10, v11");  // no lane stays active
  ck_assert_uint_eq(wave->exec(), 0);
}
END_TEST

START_TEST(scalars) {
  check_scalars({
      {"s_add_u32 s0, s10, s11", 0xffffffff, 1, false, 0, true},
      {"s_add_i32 s0, s10, s11", 0x7fffffff, 1, false, 0x80000000, true},
      {"s_add_i32 s0, s10, s11", 0xffffffff, 1, false, 0, false},
      {"s_addc_u32 s0, s10, s11", 0xffffffff, 0, true, 0, true},
      {"s_sub_u32 s0, s10, s11", 1, 2, false, 0xffffffff, true},
      {"s_sub_i32 s0, s10, s11", 0x80000000, 1, false, 0x7fffffff, true},
      {"s_subb_u32 s0, s10, s11", 2, 1, true, 0, false},
      {"s_add_nc_u64 s[0:1], s[20:21], s[22:23]", 0xffffffff, 1, true, 0x100000000, true},
      {"s_mul_i32 s0, s10, s11", 0xffffffff, 3, true, 0xfffffffd, true},
      {"s_mul_hi_i32 s0, s10, s11", 0xffffffff, 3, false, 0xffffffff, false},
      {"s_mul_hi_u32 s0, s10, s11", 0xffffffff, 3, false, 2, false},
      {"s_abs_i32 s0, s10", 0x80000000, 0, false, 0x80000000, true},
      {"s_max_i32 s0, s10, s11", i(-1), 1, true, 1, false},
      {"s_min_u32 s0, s10, s11", i(-1), 1, true, 1, false},
      {"s_lshl_b32 s0, s10, s11", 1, 33, false, 2, true},
      {"s_ashr_i32 s0, s10, s11", 0x80000000, 31, false, 0xffffffff, true},
      {"s_lshl_b64 s[0:1], s[20:21], s11", 1, 64 + 40, false, uint64_t{1} << 40, true},
      {"s_lshr_b64 s[0:1], s[20:21], s11", 1, 1, true, 0, false},
      {"s_bfe_u32 s0, s10, 0x80004", 0x12345678, 0, false, 0x67, true},
      {"s_bfe_u32 s0, s10, 0x200008", 0x12345678, 0, false, 0x123456, true},
      {"s_bfe_i32 s0, s10, 0x40004", 0x000000f0, 0, false, 0xffffffff, true},
      {"s_bfe_i32 s0, s10, 0x4", 0xffffffff, 0, true, 0, false},
      {"s_bfe_i64 s[0:1], s[20:21], 0x100000", 0x8000, 0, false, 0xffffffffffff8000, true},
      {"s_and_b32 s0, s10, s11", 1, 2, true, 0, false},
      {"s_andn2_b64 s[0:1], s[20:21], s[22:23]", i(-1), 1, false, 0xfffffffffffffffe, true},
      {"s_not_b32 s0, s10", 0xffffffff, 0, true, 0, false},
      {"s_cselect_b32 s0, s10, s11", 1, 2, true, 1, true},
      {"s_cselect_b64 s[0:1], s[20:21], -1", 1, 2, false, 0xffffffffffffffff, false},
      {"s_movk_i32 s0, 0x8000", 0, 0, true, 0xffff8000, true},
      {"s_ff1_i32_b32 s0, s10", 0, 0, true, 0xffffffff, true},
      {"s_bcnt1_i32_b64 s0, s[20:21]", 0x8000000000000001, 0, false, 2, true},
      {"s_brev_b32 s0, s10", 1, 0, false, 0x80000000, false},
      {"s_sext_i32_i16 s0, s10", 0x8000, 0, true, 0xffff8000, true},
      {"s_mov_b64 s[0:1], 0x80000000", 0, 0, true, 0x80000000, true},
  });
}
END_TEST

START_TEST(scalar_tests) {
  const uint64_t old = static_cast<uint32_t>(kOld);
  check_scalars({
      {"s_cmp_lt_i32 s10, s11", i(-1), 0, false, old, true},
      {"s_cmp_lt_u32 s10, s11", i(-1), 0, true, old, false},
      {"s_cmp_lg_u64 s[20:21], s[22:23]", 0x100000000, 0, false, old, true},
      {"s_cmpk_eq_i32 s10, 0xffff", i(-1), 0, false, old, true},
      {"s_cmpk_eq_u32 s10, 0xffff", 0xffff, 0, false, old, true},
      {"s_bitcmp1_b32 s10, s11", 0x80000000, 31 + 32, false, old, true},
      {"s_bitcmp0_b32 s10, s11", 0x80000000, 30, false, old, true},
      {"s_cmp_nge_f32 s10, s11", f(kNan), f(1), false, old, true},
  });
}
END_TEST

START_TEST(lanes) {
  for (const char* architecture : kBoth) {
    TestWave wave(architecture, 0xffffffff, 100, 0);
    wave->set_pair(kExec, wave->all_lanes());
    wave.run("v_mbcnt_lo_u32_b32 v0, v10, v11");
    ck_assert_uint_eq(wave->vector[0].of[5], 105);
    ck_assert_uint_eq(wave->vector[0].of[wave->lanes - 1], wave->lanes == 64 ? 132 : 131);
    wave.run("v_mbcnt_hi_u32_b32 v0, v10, v11");
    ck_assert_uint_eq(wave->vector[0].of[5], 100);
    ck_assert_uint_eq(wave->vector[0].of[wave->lanes - 1], wave->lanes == 64 ? 131 : 100);
    for (unsigned l = 0; l < wave->lanes; l++) {
      wave->vector[10].of[l] = 4 * (l ^ 3) + 4 * wave->lanes;  // bytes, modulo the wave
      wave->vector[11].of[l] = 1000 + l;
    }
    wave.run("ds_bpermute_b32 v0, v10, v11 offset:4");
    ck_assert_uint_eq(wave->vector[0].of[2], 1000 + 2);
    wave.run("v_readlane_b32 s0, v11, 7");
    ck_assert_uint_eq(wave->scalar[0], 1007);
    wave->set_pair(kExec, 0x18);
    wave.run("v_readfirstlane_b32 s0, v11");
    ck_assert_uint_eq(wave->scalar[0], 1003);
    wave.run("v_writelane_b32 v0, s0, 9");  // which need not be active
    ck_assert_uint_eq(wave->vector[0].of[9], 1003);
  }
}
END_TEST

START_TEST(saved_lanes) {
  TestWave narrow("gfx1100", 0xff, 0, 0), wide("gfx942", 0xff, 0, 0);
  narrow.run("s_and_saveexec_b32 s0, s10");
  ck_assert_uint_eq(narrow->exec(), 0x55);
  ck_assert_uint_eq(narrow->scalar[0], 0x55555555);
  ck_assert(narrow->scc);
  wide.run("s_andn2_saveexec_b64 s[0:1], s[20:21]");
  ck_assert_uint_eq(wide->exec(), 0xaa);
  ck_assert_uint_eq(wide->pair(0), 0x5555555555555555);
}
END_TEST

START_TEST(divisions) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [n, d] : std::initializer_list<std::pair<double, double>>{{1, 3},
                                                                             {-7, 1e-300},
                                                                             {1e200, 1e-100},
                                                                             {1e-300, 1e300},
                                                                             {5e-324, 3},
                                                                             {3, 5e-324},
                                                                             {1e-310, 1e-310},
                                                                             {1e308, 1.7e308},
                                                                             {0x1p-1022, 3},
                                                                             {0, 5},
                                                                             {5, 0},
                                                                             {infinity, 2},
                                                                             {2, -infinity},
                                                                             {0x1.fffffffffffffp1023, 0x1p-2},
                                                                             {2e-308, 7}})
    ck_assert_msg(divided(n, d) == n / d, "%a / %a is %a, not %a", n, d, divided(n, d), n / d);
  ck_assert(std::isnan(divided(0, 0)));
}
END_TEST

/* With as many wait states between as are needed nothing is wrong, with one fewer it is told. */
START_TEST(hazards) {
  struct Hazard {
    std::vector<const char*> architectures;
    const char *earlier, *later;
    int wait_states;
  };
  const std::vector<const char*> all_of_gfx9 = {"gfx906", "gfx908", "gfx90a", "gfx942"};
  for (const Hazard& given : std::initializer_list<Hazard>{
           {all_of_gfx9, "v_cmp_lt_i32_e64 s[4:5], v0, v1", "v_writelane_b32 v2, s8, s5", 4},
           {all_of_gfx9, "v_readfirstlane_b32 s4, v0", "v_readlane_b32 s6, v1, s4", 4},
           {all_of_gfx9, "v_cmp_lt_i32_e32 vcc, v0, v1", "v_div_fmas_f32 v0, v1, v2, v3", 4},
           {all_of_gfx9, "v_div_scale_f32 v0, vcc, v1, v2, v3", "v_div_fmas_f32 v4, v1, v2, v3", 4},
           {all_of_gfx9, "v_readfirstlane_b32 s5, v0", "global_load_dword v1, v2, s[4:5]", 5},
           {all_of_gfx9, "v_readfirstlane_b32 s4, v0", "global_store_dword v1, v2, s[4:5] offset:4", 5},
           {all_of_gfx9, "s_mov_b32 m0, s4", "s_sendmsg sendmsg(MSG_INTERRUPT)", 1},
           {{"gfx906", "gfx90a"}, "global_store_dwordx4 v[0:1], v[4:7], off", "v_mov_b32_e32 v6, 0", 1},
           {{"gfx942"}, "global_store_dwordx3 v[0:1], v[4:6], off", "v_mov_b32_e32 v6, 0", 2},
           {{"gfx942"}, "v_rcp_f32_e32 v0, v1", "v_add_f32_e32 v2, v0, v3", 1},
           {{"gfx942"}, "v_rcp_f64_e32 v[0:1], v[2:3]", "v_fma_f64 v[4:5], v[2:3], v[0:1], 1.0", 1},
           {{"gfx942"},
            "v_or_b32_sdwa v0, v1, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
            "v_add_u32_e32 v3, v0, v4",
            1},
           {{"gfx942"}, "v_cmp_lt_i32_e32 vcc, v0, v1", "v_cndmask_b32_e32 v0, v1, v2, vcc", 2},
           {{"gfx942"}, "v_add_co_u32_e32 v0, vcc, v1, v2", "v_addc_co_u32_e32 v3, vcc, v4, v5, vcc", 2},
           {{"gfx942"}, "v_readfirstlane_b32 s4, v0", "v_add_u32_e32 v1, s4, v2", 2},
           {{"gfx942"}, "v_add_u32_e32 v0, v1, v2", "v_readlane_b32 s0, v0, 3", 1},
           {{"gfx942"}, "v_add_u32_e32 v0, v1, v2", "v_readfirstlane_b32 s0, v0", 1},
           {{"gfx942"}, "v_cmpx_gt_u32_e32 vcc, v1, v2", "v_readfirstlane_b32 s0, v0", 4},
           {{"gfx90a", "gfx942"}, "v_dot4_u32_u8 v0, v1, v2, v3", "v_add_u32_e32 v4, v0, v5", 3},
           {{"gfx90a", "gfx942"}, "v_dot4_u32_u8 v0, v1, v2, v3", "v_dot4_u32_u8 v4, v0, v5, v6", 3},
           {{"gfx90a", "gfx942"}, "v_dot4_u32_u8 v0, v1, v2, v3", "global_store_dword v[2:3], v0, off", 3},
           {{"gfx90a", "gfx942"}, "v_dot4_u32_u8 v0, v1, v2, v3", "v_mov_b32_e32 v0, 0", 3},
           {{"gfx1100", "gfx1103"}, "v_rcp_f32_e32 v0, v1", "v_mul_f32_e32 v2, v0, v3", 6},
           {{"gfx1100"}, "v_sqrt_f32_e32 v0, v1", "v_dual_mul_f32 v4, v10, v11 :: v_dual_add_f32 v5, v0, v12", 6}})
    for (const char* architecture : given.architectures) {
      const bool counts_vectors = std::string(architecture).starts_with("gfx11");
      std::vector<std::string> texts = {given.earlier};
      for (int between = 0; between <= given.wait_states; between++) {
        const std::string what = hazard(architecture, [&] {
          std::vector<std::string> sequence = texts;
          sequence.push_back(given.later);
          return sequence;
        }());
        const bool is_told = what.find(given.earlier) != std::string::npos;
        ck_assert_msg(is_told == (between < given.wait_states) && (is_told || what.empty()), "%s: %s, %d, %s: '%s'",
                      architecture, given.earlier, between, given.later, what.c_str());
        texts.push_back(counts_vectors ? "v_mov_b32_e32 v20, 0" : between ? "s_mov_b32 s20, 0" : "s_nop 0");
      }
      const std::string skipped = "s_nop " + std::to_string(given.wait_states - 1);
      const bool is_told = !hazard(architecture, {given.earlier, skipped, given.later}).empty();
      ck_assert_msg(is_told == counts_vectors, "%s: %s, %s, %s", architecture, given.earlier, skipped.c_str(),
                    given.later);
    }
}
END_TEST

/* Other registers, what the hardware waits for itself, and what ends a hazard. */
START_TEST(no_hazards) {
  for (const auto& [architecture, texts] : std::initializer_list<std::pair<const char*, std::vector<std::string>>>{
           {"gfx906", {"v_cmp_lt_i32_e32 vcc, v0, v1", "v_cndmask_b32_e32 v0, v1, v2, vcc"}},
           {"gfx906", {"v_readfirstlane_b32 s6, v0", "global_load_dword v1, v2, s[4:5]"}},
           {"gfx906", {"s_mov_b32 s4, s0", "global_load_dword v1, v2, s[4:5]"}},
           {"gfx906", {"v_dot4_u32_u8 v0, v1, v2, v3", "v_add_u32_e32 v4, v0, v5"}},
           {"gfx906", {"global_store_dwordx2 v[0:1], v[4:5], off", "v_mov_b32_e32 v4, 0"}},
           {"gfx906", {"global_store_dwordx4 v[0:1], v[4:7], off", "v_mov_b32_e32 v0, 0"}},
           {"gfx942", {"v_rcp_f32_e32 v0, v1", "v_rcp_f32_e32 v2, v0"}},
           {"gfx942", {"v_dot4_u32_u8 v0, v1, v2, v3", "v_dot4_u32_u8 v0, v5, v6, v0"}},
           {"gfx942", {"v_cmp_lt_i32_e32 vcc, v0, v1", "s_and_b64 s[0:1], vcc, s[2:3]"}},
           {"gfx1030", {"v_rcp_f32_e32 v0, v1", "v_mul_f32_e32 v2, v0, v3"}},
           {"gfx1150", {"v_rcp_f32_e32 v0, v1", "v_mul_f32_e32 v2, v0, v3"}},
           {"gfx1201", {"v_rcp_f32_e32 v0, v1", "v_mul_f32_e32 v2, v0, v3"}},
           {"gfx1100", {"v_rcp_f32_e32 v0, v1", "s_waitcnt_depctr 0xfff", "v_mul_f32_e32 v2, v0, v3"}},
           {"gfx1100", {"v_rcp_f32_e32 v0, v1", "ds_load_b32 v5, v6", "v_mul_f32_e32 v2, v0, v3"}},
           {"gfx1100",
            {"v_rcp_f32_e32 v0, v1", "v_rcp_f32_e32 v4, v1", "v_rcp_f32_e32 v5, v1", "v_mul_f32_e32 v2, v0, v3"}}})
    ck_assert_msg(hazard(architecture, texts).empty(), "%s: %s", architecture, hazard(architecture, texts).c_str());
  ck_assert(
      !hazard("gfx1100", {"v_rcp_f32_e32 v0, v1", "s_waitcnt_depctr 0xfffe", "v_mul_f32_e32 v2, v0, v3"}).empty());
}
END_TEST

/* gfx12: a vector instruction has read s4; then s4 or s5 are written, and read. */
START_TEST(held_scalars) {
  const std::string hold = "v_add_nc_u32_e32 v0, s4, v1", salu = "s_mov_b32 s5, s0",
                    valu = "v_readfirstlane_b32 s4, v2";
  const std::string both = "v_add_co_u32 v0, s4, v1, v2", by_vector = "v_mov_b32_e32 v3, s5",
                    by_scalar = "s_add_co_i32 s8, s5, 1";
  const auto is_told = [](const std::vector<std::string>& texts) { return !hazard("gfx1201", texts).empty(); };
  ck_assert(is_told({hold, salu, by_vector}));
  ck_assert(is_told({hold, salu, by_scalar}));
  ck_assert(is_told({hold, valu, "v_mov_b32_e32 v3, s4"}));
  ck_assert(is_told({hold, both, "v_cndmask_b32_e64 v3, v4, v5, s4"}));
  ck_assert(is_told({"v_cndmask_b32_e32 v0, v1, v2, vcc_lo", "v_cmp_lt_i32_e32 vcc_lo, v0, v1",
                     "v_cndmask_b32_e32 v0, v1, v2, vcc_lo"}));
  ck_assert(is_told({hold, salu, "s_wait_alu 0xf1ff", by_vector}));
  ck_assert(!is_told({salu, by_vector}));
  ck_assert(!is_told({hold, "s_mov_b32 s6, s0", "v_mov_b32_e32 v3, s6"}));
  ck_assert(!is_told({hold, valu, "s_add_co_i32 s8, s4, 1"}));
  ck_assert(!is_told({hold, salu, "s_wait_alu 0xfffe", by_vector}));
  ck_assert(!is_told({hold, valu, "s_wait_alu 0xf1ff", "v_mov_b32_e32 v3, s4"}));
  ck_assert(!is_told({hold, salu, "s_load_b32 s8, s[10:11], 0x0", by_vector}));
  ck_assert(!is_told({hold, "s_load_b64 s[4:5], s[10:11], 0x0", by_vector}));
  ck_assert(!is_told({hold, salu, "global_load_b32 v3, v4, s[4:5]"}));
  ck_assert(is_told({hold, salu, "global_load_b32 v3, v4, s[4:5]", by_vector}));
  ck_assert(hazard("gfx1100", {hold, "s_mov_b32 s4, s0", "v_mov_b32_e32 v3, s4"}).empty());
}
END_TEST

START_TEST(unknown_ones_are_told) {
  Instruction instruction;
  for (const auto& [text, what] : std::initializer_list<std::pair<const char*, const char*>>{
           {"v_sin_f32_e32 v0, v1", "instruction v_sin_f32"},
           {"v_add_f32_dpp v0, v1, v2 row_shr:1", "instruction v_add_f32_dpp"},
           {"v_add_f32_e64 v0, v1, v2 wrap", "modifier wrap"},
           {"v_mul_lo_u32 v0, v1, a2", "operand a2"},
           {"v_mul_lo_u32 v0, v1, v2 clamp", "clamp of v_mul_lo_u32"},
           {"s_waitcnt 0x1234", "wait 0x1234"}}) {
    const std::string got = decode(text, &instruction);
    ck_assert_msg(got == what, "%s: '%s', not '%s'", text, got.c_str(), what);
  }
}
END_TEST

int main() {
  return run_suite("isa", {{"integers", integers},
                           {"bits", bits},
                           {"halves_and_parts", halves_and_parts},
                           {"floats", floats},
                           {"doubles", doubles},
                           {"conversions", conversions},
                           {"packed_floats", packed_floats},
                           {"pairs", pairs},
                           {"carries", carries},
                           {"comparisons", comparisons},
                           {"scalars", scalars},
                           {"scalar_tests", scalar_tests},
                           {"lanes", lanes},
                           {"saved_lanes", saved_lanes},
                           {"divisions", divisions},
                           {"hazards", hazards},
                           {"no_hazards", no_hazards},
                           {"held_scalars", held_scalars},
                           {"unknown_ones_are_told", unknown_ones_are_told}});
}
