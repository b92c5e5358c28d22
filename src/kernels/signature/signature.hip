/* The kernels of the signature. Grid: blocks of a picture, the two pictures of a pair, frames.
 *
 * A block has its sums to itself and writes them where they belong, for the reference into each pair that shares it;
 * only differences of rows are added by atomics. */
#include "kernels/gpu/gpu.h"
#include "kernels/signature/signature_work.h"

namespace vmafx::signature {

/* -- Samples, four bytes at once ----------------------------------------------------------------------------------- */

template <class T>
inline constexpr int kPerWord = 4 / sizeof(T);
template <class T>
inline constexpr int kBits = 8 * sizeof(T);

/* Samples from x on, a multiple of kPerWord; 0 from w on. */
template <class T>
VMAFX_DEVICE uint32_t word_at(const T* row, int x, int w) {
  if (x + kPerWord<T> <= w) return std::bit_cast<uint32_t>(gpu::load_pack<kPerWord<T>>(row + x));
  uint32_t word = 0;
  for (int k = 0; x + k < w; k++) word |= static_cast<uint32_t>(row[x + k]) << (k * kBits<T>);
  return word;
}

/* The samples at x in a word that are in `columns`; the word has one at least. */
template <class T>
VMAFX_DEVICE uint32_t cut_to(uint32_t word, int x, SignatureRange columns) {
  const int before = columns.begin > x ? columns.begin - x : 0;
  const int behind = x + kPerWord<T> > columns.end ? x + kPerWord<T> - columns.end : 0;
  return word & (~0u << (before * kBits<T>)) & (~0u >> (behind * kBits<T>));
}

template <class T>
VMAFX_DEVICE uint32_t sum_of_word(uint32_t word) {
  if constexpr (sizeof(T) == 1) return gpu::add_bytes(word, 0);
  else return (word & 0xffff) + (word >> 16);
}

/* With unsigned samples, as `a > b ? a - b : b - a`, clang 19 loses the magnitude on gfx942. */
template <class T>
VMAFX_DEVICE uint32_t difference_of_words(uint32_t a, uint32_t b) {
  constexpr uint32_t mask = (1u << kBits<T>)-1;
  uint32_t sum = 0;
  VMAFX_UNROLL
  for (int k = 0; k < kPerWord<T>; k++) {
    const int32_t difference =
        static_cast<int32_t>(a >> (k * kBits<T>)&mask) - static_cast<int32_t>(b >> (k * kBits<T>)&mask);
    sum += static_cast<uint32_t>(difference < 0 ? -difference : difference);
  }
  return sum;
}

/* Every `step`th word of some columns of a row of w, from the word number `first` on. */
template <class T>
VMAFX_DEVICE uint32_t sum_of_row(const T* row, SignatureRange columns, int w, int first = 0, int step = 1) {
  constexpr int n = kPerWord<T>;
  uint32_t sum = 0;
  for (int x = (columns.begin & ~(n - 1)) + first * n; x < columns.end; x += step * n)
    sum += sum_of_word<T>(cut_to<T>(word_at(row, x, w), x, columns));
  return sum;
}

/* -- The block's picture ------------------------------------------------------------------------------------------- */

struct BlockPicture {
  unsigned frame;
  bool is_dist, is_done;  // is_done: by the blocks of the frame with which it shares its reference
};

VMAFX_DEVICE BlockPicture picture_of_block(const SignatureWork& work) {
  const gpu::Dim3 block = gpu::block_id();
  const unsigned frame = work.frame[block.z];
  return {frame, block.y == 1, block.y == 0 && work.source[frame] != frame};
}

VMAFX_DEVICE const hip::DevicePlane& plane_of(const SignatureWork& work, const BlockPicture& picture, unsigned plane) {
  const hip::BatchPlanes& planes = work.planes[plane];
  return picture.is_dist ? planes.dist[picture.frame] : planes.ref[hip::ref_index(static_cast<int>(picture.frame))];
}

/* Calls put(signature) with those that the picture belongs to. */
template <class Put>
VMAFX_DEVICE void for_signatures(const SignatureWork& work, const BlockPicture& picture, Put put) {
  if (picture.is_dist) return put(work.sums[picture.frame].dist);
  for (int i = 0; i < work.count; i++)
    if (work.source[work.frame[i]] == picture.frame) put(work.sums[work.frame[i]].ref);
}

/* -- Cells --------------------------------------------------------------------------------------------------------- */

using CellParts = uint32_t[kSignatureThreadRows][kSignatureThreads];

/* Fills `parts`: of each of the sampled rows all parts. */
template <class T>
VMAFX_DEVICE void sum_cells(const hip::DevicePlane& plane, int w, SignatureRange rows, CellParts& parts) {
  const gpu::Dim3 thread = gpu::thread_id();
  const int y = rows.begin + static_cast<int>(thread.y);
  const SignatureRange columns = part_of(w, kSignatureThreads, static_cast<int>(thread.x));
  parts[thread.y][thread.x] = y < rows.end ? sum_of_row(row_of<T>(plane, y), columns, w) : 0;
  gpu::block_sync();
}

VMAFX_DEFINE_SAMPLE_KERNELS(signature, T, work) {
  VMAFX_SHARED(uint32_t, parts, [kSignatureThreadRows][kSignatureThreads]);
  const BlockPicture picture = picture_of_block(work);
  if (picture.is_done) return;
  const unsigned j = gpu::block_id().x;
  const SignatureRange rows = sampled_rows(work.h, kSignatureRows, static_cast<int>(j));
  sum_cells<T>(plane_of(work, picture, 0), work.w, rows, parts);
  const gpu::Dim3 thread = gpu::thread_id();
  if (thread.y >= 2) return;
  const unsigned first = (static_cast<unsigned>(rows.begin) + thread.y) % 2;  // the first row of the thread's parity
  uint32_t sum = 0;
  for (unsigned row = first; row < kSignatureThreadRows; row += 2) sum += parts[row][thread.x];
  for_signatures(work, picture, [&](PictureSignature& to) { to.luma[thread.y][j][thread.x] = sum; });
}

/* Each cell of chroma is several parts of a row that is divided as luma's are. */
template <class T>
VMAFX_DEVICE void sum_chroma(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  VMAFX_SHARED(uint32_t, parts, [kSignatureThreadRows][kSignatureThreads]);
  constexpr unsigned n = kSignatureThreads / kChromaColumns;
  const unsigned p = block / kChromaRows, j = block % kChromaRows;
  sum_cells<T>(plane_of(work, picture, 1 + p), work.chroma_w,
               sampled_rows(work.chroma_h, kChromaRows, static_cast<int>(j)), parts);
  const unsigned i = gpu::thread_rank();
  if (i >= kChromaColumns) return;
  uint32_t sum = 0;
  for (unsigned row = 0; row < kSignatureThreadRows; row++)
    for (unsigned k = 0; k < n; k++) sum += parts[row][i * n + k];
  for_signatures(work, picture, [&](PictureSignature& to) { to.chroma[p][j][i] = sum; });
}

/* -- Profiles ------------------------------------------------------------------------------------------------------ */

/* Threads of a bin take turns with the rows of the band. A block waits for its rows one after the other, and few blocks
 * run at once in a launch of one frame: so many threads share a bin. */
template <class T>
VMAFX_DEVICE void sum_columns(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  VMAFX_SHARED(uint64_t, parts, [kColumnTurns][kColumnBins]);
  constexpr unsigned blocks = kProfileBins / kColumnBins;
  const unsigned column = gpu::thread_rank() % kColumnBins, turn = gpu::thread_rank() / kColumnBins;
  const unsigned band = block / blocks, bin = block % blocks * kColumnBins + column;
  const SignatureRange columns = part_of(work.w, kProfileBins, static_cast<int>(bin));
  const SignatureRange rows = part_of(work.h, kProfileBands, static_cast<int>(band));
  const hip::DevicePlane& plane = plane_of(work, picture, 0);
  uint64_t sum = 0;
  for (int y = rows.begin + static_cast<int>(turn); y < rows.end; y += kColumnTurns)
    sum += sum_of_row(row_of<T>(plane, y), columns, work.w);
  parts[turn][column] = sum;
  gpu::block_sync();
  if (turn > 0) return;
  for (unsigned other = 1; other < kColumnTurns; other++) sum += parts[other][column];
  sum >>= work.profile_shift;
  for_signatures(work, picture, [&](PictureSignature& to) { to.columns[band][bin] = static_cast<uint32_t>(sum); });
}

/* The lane's part of the differences of a row and the one `distance` below. */
template <class T>
VMAFX_DEVICE uint32_t difference_of_rows(const hip::DevicePlane& plane, int y, int distance, int w) {
  const int lane = static_cast<int>(gpu::lane_id()), lanes = static_cast<int>(gpu::wave_size());
  const T *a = row_of<T>(plane, y), *b = row_of<T>(plane, y + distance);
  uint32_t sum = 0;
  for (int x = lane * kPerWord<T>; x < w; x += lanes * kPerWord<T>)
    sum += difference_of_words<T>(word_at(a, x, w), word_at(b, x, w));
  return sum;
}

/* The lane's part of the differences of a row's samples and those `distance` further right. */
template <class T>
VMAFX_DEVICE uint32_t difference_of_columns(const hip::DevicePlane& plane, int y, int distance, int w) {
  constexpr int n = kPerWord<T>;
  const int lane = static_cast<int>(gpu::lane_id()), lanes = static_cast<int>(gpu::wave_size());
  const T* row = row_of<T>(plane, y);
  const SignatureRange columns = {0, w - 2};
  uint32_t sum = 0;
  for (int x = lane * n; x < columns.end; x += lanes * n) {
    const uint32_t here = word_at(row, x, w), next = word_at(row, x + n, w);
    const uint64_t both = static_cast<uint64_t>(next) << 32 | here;
    const auto right = static_cast<uint32_t>(both >> (distance * kBits<T>));
    sum += difference_of_words<T>(cut_to<T>(here, x, columns), cut_to<T>(right, x, columns));
  }
  return sum;
}

/* A bin for each wave, then the next one. */
template <class T>
VMAFX_DEVICE void sum_rows(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  const int lane = static_cast<int>(gpu::lane_id()), lanes = static_cast<int>(gpu::wave_size());
  const unsigned waves = gpu::thread_count() / gpu::wave_size();
  const hip::DevicePlane& plane = plane_of(work, picture, 0);
  uint64_t difference[2] = {}, across[2] = {};
  for (unsigned i = gpu::thread_rank() / gpu::wave_size(); i < kBinsOfRows; i += waves) {
    const unsigned bin = block * kBinsOfRows + i;
    const SignatureRange rows = part_of(work.h, kProfileBins, static_cast<int>(bin));
    uint64_t sum[kProfileBands] = {};
    for (int y = rows.begin; y < rows.end; y++) {
      VMAFX_UNROLL
      for (int half = 0; half < kProfileBands; half++)
        sum[half] += sum_of_row(row_of<T>(plane, y), part_of(work.w, kProfileBands, half), work.w, lane, lanes);
      if (y % 4 != 0 || y + 3 >= work.h) continue;
      VMAFX_UNROLL
      for (int k = 0; k < 2; k++) {
        difference[k] += difference_of_rows<T>(plane, y, 1 + k, work.w);
        across[k] += difference_of_columns<T>(plane, y, 1 + k, work.w);
      }
    }
    VMAFX_UNROLL
    for (int half = 0; half < kProfileBands; half++) {
      const uint64_t total = gpu::wave_add(sum[half]) >> work.profile_shift;
      if (lane == 0)
        for_signatures(work, picture, [&](PictureSignature& to) { to.rows[half][bin] = static_cast<uint32_t>(total); });
    }
  }
  for_signatures(work, picture, [&](PictureSignature& to) {
    gpu::add_block(to.row_difference[0], difference[0]);
    gpu::add_block(to.row_difference[1], difference[1]);
    gpu::add_block(to.column_difference[0], across[0]);
    gpu::add_block(to.column_difference[1], across[1]);
  });
}

/* Threads of a column take turns with the window's rows, as those of a bin do. */
template <class T>
VMAFX_DEVICE void sum_chroma_columns(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  VMAFX_SHARED(uint32_t, parts, [kColumnTurns][kColumnBins]);
  constexpr unsigned blocks = kChromaWindow / kColumnBins;
  const unsigned column = gpu::thread_rank() % kColumnBins, turn = gpu::thread_rank() / kColumnBins;
  const unsigned p = block / blocks, bin = block % blocks * kColumnBins + column;
  const SignatureRange columns = chroma_window(work.chroma_w), rows = chroma_window(work.chroma_h);
  const hip::DevicePlane& plane = plane_of(work, picture, 1 + p);
  const int x = columns.begin + static_cast<int>(bin);
  uint32_t sum = 0;
  for (int y = rows.begin + static_cast<int>(turn); y < rows.end && x < columns.end; y += kColumnTurns)
    sum += row_of<T>(plane, y)[x];
  parts[turn][column] = sum;
  gpu::block_sync();
  if (turn > 0) return;
  for (unsigned other = 1; other < kColumnTurns; other++) sum += parts[other][column];
  for_signatures(work, picture, [&](PictureSignature& to) { to.chroma_profiles[p].columns[bin] = sum; });
}

/* A row of chroma for each wave, then the next one. */
template <class T>
VMAFX_DEVICE void sum_chroma_rows(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  constexpr unsigned blocks = kChromaWindow / kBinsOfRows;
  const int lane = static_cast<int>(gpu::lane_id()), lanes = static_cast<int>(gpu::wave_size());
  const unsigned waves = gpu::thread_count() / gpu::wave_size(), p = block / blocks;
  const SignatureRange columns = chroma_window(work.chroma_w), rows = chroma_window(work.chroma_h);
  const hip::DevicePlane& plane = plane_of(work, picture, 1 + p);
  for (unsigned i = gpu::thread_rank() / gpu::wave_size(); i < kBinsOfRows; i += waves) {
    const unsigned bin = block % blocks * kBinsOfRows + i;
    const int y = rows.begin + static_cast<int>(bin);
    const uint32_t sum = y < rows.end ? sum_of_row(row_of<T>(plane, y), columns, work.chroma_w, lane, lanes) : 0;
    const uint32_t total = gpu::wave_add(sum);
    if (lane == 0)
      for_signatures(work, picture, [&](PictureSignature& to) { to.chroma_profiles[p].rows[bin] = total; });
  }
}

/* The blocks that read chroma. */
template <class T>
VMAFX_DEVICE void sum_all_chroma(const SignatureWork& work, const BlockPicture& picture, unsigned block) {
  if (block < kChromaBlocks) return sum_chroma<T>(work, picture, block);
  block -= kChromaBlocks;
  if (block < kChromaColumnBlocks) return sum_chroma_columns<T>(work, picture, block);
  sum_chroma_rows<T>(work, picture, block - kChromaColumnBlocks);
}

VMAFX_DEFINE_SAMPLE_KERNELS(signature_detail, T, work) {
  const BlockPicture picture = picture_of_block(work);
  if (picture.is_done) return;
  unsigned block = gpu::block_id().x;
  constexpr unsigned chroma_blocks = kChromaBlocks + kChromaColumnBlocks + kChromaRowBlocks;
  if (block < chroma_blocks) {
    if (work.chroma_w > 0) sum_all_chroma<T>(work, picture, block);
    return;
  }
  block -= chroma_blocks;
  if (block < kColumnBlocks) return sum_columns<T>(work, picture, block);
  sum_rows<T>(work, picture, block - kColumnBlocks);
}

}  // namespace vmafx::signature
