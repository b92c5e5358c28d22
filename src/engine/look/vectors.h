/* Vectors: the loops over all cells that the look spends its time in, one source for every instruction set. Sums of
 * floating-point numbers are made in eight parts whatever the width of vectors, so that they are the same on each. */
#ifndef VMAFX_ENGINE_LOOK_VECTORS_H
#define VMAFX_ENGINE_LOOK_VECTORS_H

#include <cstdint>

#include "engine/look/cells.h"

namespace vmafx::look {

/* The parts of sums. Numbers n of cells are a multiple. */
inline constexpr int kParts = 8;

/* Σ x, Σ y and so on of n pairs. */
struct PairSums {
  double x, y, xx, yy, xy;
};
PairSums sum_pairs(const float* x, const float* y, int n);

/* Sums of products of a cell's motion, its slope from the cell above to the one below, and the difference of its even
 * and odd rows; rows of the slope are `columns` apart. */
struct FieldSums {
  double mm, gg, mg, dm, dg, dd;
};
struct Fields {
  const float *before, *after, *even, *odd;
};
FieldSums sum_fields(const Fields& fields, int columns, int n);

/* Σ a b of each block. The sums are exact before they are rounded to float. */
void products(const Cells& a, const Cells& b, BlockValues* sums);

/* Sums of a picture's even and odd rows, scaled and rounded, less the mean of their block. */
void convert_cells(const uint32_t* even, const uint32_t* odd, const float* scale, Cells* cells);

/* Means of n cells, rounded to 0 .. 255. */
void round_levels(const float* means, int n, int32_t* levels);

}  // namespace vmafx::look

#endif
