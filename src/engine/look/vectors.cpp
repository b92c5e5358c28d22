#include "engine/look/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/look/vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace vmafx::look::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using DF64 = hn::CappedTag<double, kParts>;
using DF32 = hn::Rebind<float, DF64>;  // as many lanes
using VF64 = hn::Vec<DF64>;

constexpr DF64 df64;
constexpr DF32 df32;

/* The sum of kParts numbers. */
double total(const double* parts) {
  return ((parts[0] + parts[1]) + (parts[2] + parts[3])) + ((parts[4] + parts[5]) + (parts[6] + parts[7]));
}

PairSums pairs(const float* x, const float* y, int n) {
  const int lanes = static_cast<int>(hn::Lanes(df64));
  double sx[kParts], sy[kParts], sxx[kParts], syy[kParts], sxy[kParts];
  for (int part = 0; part < kParts; part += lanes) {
    VF64 vx = hn::Zero(df64), vy = vx, vxx = vx, vyy = vx, vxy = vx;
    for (int k = part; k < n; k += kParts) {
      const VF64 a = hn::PromoteTo(df64, hn::LoadU(df32, x + k)), b = hn::PromoteTo(df64, hn::LoadU(df32, y + k));
      vx = hn::Add(vx, a);
      vy = hn::Add(vy, b);
      vxx = hn::Add(vxx, hn::Mul(a, a));
      vyy = hn::Add(vyy, hn::Mul(b, b));
      vxy = hn::Add(vxy, hn::Mul(a, b));
    }
    hn::StoreU(vx, df64, sx + part);
    hn::StoreU(vy, df64, sy + part);
    hn::StoreU(vxx, df64, sxx + part);
    hn::StoreU(vyy, df64, syy + part);
    hn::StoreU(vxy, df64, sxy + part);
  }
  return {total(sx), total(sy), total(sxx), total(syy), total(sxy)};
}

FieldSums fields(const Fields& f, int columns, int n) {
  const int lanes = static_cast<int>(hn::Lanes(df64));
  double mm[kParts], gg[kParts], mg[kParts], dm[kParts], dg[kParts], dd[kParts];
  for (int part = 0; part < kParts; part += lanes) {
    VF64 vmm = hn::Zero(df64), vgg = vmm, vmg = vmm, vdm = vmm, vdg = vmm, vdd = vmm;
    for (int k = part; k < n; k += kParts) {
      const auto load = [&](const float* from) HWY_ATTR { return hn::LoadU(df32, from + k); };
      const auto m = hn::Mul(hn::Sub(load(f.after), load(f.before)), hn::Set(df32, 0.5F));
      const auto g = hn::Sub(load(f.before + columns), load(f.before - columns));
      const auto d = hn::Sub(load(f.even), load(f.odd));
      vmm = hn::Add(vmm, hn::PromoteTo(df64, hn::Mul(m, m)));
      vgg = hn::Add(vgg, hn::PromoteTo(df64, hn::Mul(g, g)));
      vmg = hn::Add(vmg, hn::PromoteTo(df64, hn::Mul(m, g)));
      vdm = hn::Add(vdm, hn::PromoteTo(df64, hn::Mul(d, m)));
      vdg = hn::Add(vdg, hn::PromoteTo(df64, hn::Mul(d, g)));
      vdd = hn::Add(vdd, hn::PromoteTo(df64, hn::Mul(d, d)));
    }
    hn::StoreU(vmm, df64, mm + part);
    hn::StoreU(vgg, df64, gg + part);
    hn::StoreU(vmg, df64, mg + part);
    hn::StoreU(vdm, df64, dm + part);
    hn::StoreU(vdg, df64, dg + part);
    hn::StoreU(vdd, df64, dd + part);
  }
  return {total(mm), total(gg), total(mg), total(dm), total(dg), total(dd)};
}

#if HWY_TARGET == HWY_SCALAR

void block_products(const Cells& a, const Cells& b, BlockValues* sums) {
  for (int block = 0; block < kBlocks; block++) {
    int32_t sum = 0;
    for (int k = 0; k < kBlockCells; k++) sum += a.value[block][k] * b.value[block][k];
    (*sums)[block] = static_cast<float>(sum);
  }
}

#else

void block_products(const Cells& a, const Cells& b, BlockValues* sums) {
  const hn::CappedTag<int16_t, kBlockWidth> d16;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  for (int block = 0; block < kBlocks; block++) {
    auto low = hn::Zero(d32), high = low;
    for (int k = 0; k < kBlockCells; k += lanes)
      low = hn::ReorderWidenMulAccumulate(d32, hn::LoadU(d16, a.value[block] + k), hn::LoadU(d16, b.value[block] + k),
                                          low, high);
    (*sums)[block] = static_cast<float>(hn::GetLane(hn::SumOfLanes(d32, hn::Add(low, high))));
  }
}

#endif

void convert(const uint32_t* even, const uint32_t* odd, const float* scale, Cells* cells) {
  const hn::CappedTag<int32_t, kBlockWidth> d32;
  const hn::Rebind<float, decltype(d32)> df;
  const hn::Rebind<int16_t, decltype(d32)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  for (int block = 0; block < kBlocks; block++) {
    const int first = block / kBlockColumns * kBlockHeight * kSignatureColumns + block % kBlockColumns * kBlockWidth;
    int16_t* const values = cells->value[block];
    auto sum = hn::Zero(d32);
    for (int j = 0; j < kBlockHeight; j++)
      for (int i = 0; i < kBlockWidth; i += lanes) {
        const int k = first + j * kSignatureColumns + i;
        const auto samples = hn::Add(hn::LoadU(d32, reinterpret_cast<const int32_t*>(even) + k),
                                     hn::LoadU(d32, reinterpret_cast<const int32_t*>(odd) + k));
        const auto scaled = hn::Mul(hn::ConvertTo(df, samples), hn::LoadU(df, scale + k));
        const auto value = hn::ConvertTo(d32, hn::Add(scaled, hn::Set(df, 0.5F)));
        sum = hn::Add(sum, value);
        hn::StoreU(hn::DemoteTo(d16, value), d16, values + j * kBlockWidth + i);
      }
    const int32_t all = hn::GetLane(hn::SumOfLanes(d32, sum));
    const auto mean = hn::Set(d16, static_cast<int16_t>((all + kBlockCells / 2) / kBlockCells));
    for (int k = 0; k < kBlockCells; k += lanes) hn::StoreU(hn::Sub(hn::LoadU(d16, values + k), mean), d16, values + k);
  }
}

void rounded(const float* means, int n, int32_t* levels) {
  const hn::CappedTag<int32_t, kParts> d32;
  const hn::Rebind<float, decltype(d32)> df;
  for (int k = 0; k < n; k += static_cast<int>(hn::Lanes(d32))) {
    const auto level = hn::ConvertTo(d32, hn::Add(hn::LoadU(df, means + k), hn::Set(df, 0.5F)));
    hn::StoreU(hn::Clamp(level, hn::Zero(d32), hn::Set(d32, 255)), d32, levels + k);
  }
}

}  // namespace
}  // namespace vmafx::look::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace vmafx::look {

HWY_EXPORT(pairs);
HWY_EXPORT(fields);
HWY_EXPORT(block_products);
HWY_EXPORT(convert);
HWY_EXPORT(rounded);

PairSums sum_pairs(const float* x, const float* y, int n) { return HWY_DYNAMIC_DISPATCH(pairs)(x, y, n); }

FieldSums sum_fields(const Fields& cells, int columns, int n) {
  return HWY_DYNAMIC_DISPATCH(fields)(cells, columns, n);
}

void products(const Cells& a, const Cells& b, BlockValues* sums) { HWY_DYNAMIC_DISPATCH(block_products)(a, b, sums); }

void convert_cells(const uint32_t* even, const uint32_t* odd, const float* scale, Cells* cells) {
  HWY_DYNAMIC_DISPATCH(convert)(even, odd, scale, cells);
}

void round_levels(const float* means, int n, int32_t* levels) { HWY_DYNAMIC_DISPATCH(rounded)(means, n, levels); }

}  // namespace vmafx::look
#endif
