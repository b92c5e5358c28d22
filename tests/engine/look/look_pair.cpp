/* look_pair REFERENCE DISTORTED [FIRST]: prints what the look finds in two y4m files or pipes, one finding per line
 * with its evidence. It is a developer's tool (make tests/engine/look/look_pair). Both videos have the same size, 8 to
 * 16 bits; FIRST is the number of the first pair. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/look/look.h"

using namespace vmafx;

namespace {

class Y4m {
 public:
  explicit Y4m(const char* path) : file_(strcmp(path, "-") ? fopen(path, "rb") : stdin) {
    if (!file_) throw std::runtime_error(std::string("cannot open ") + path);
    const std::string header = line();
    if (header.compare(0, 9, "YUV4MPEG2")) throw std::runtime_error(std::string(path) + " is not y4m");
    format_.whole_chroma = true;
    for (size_t at = header.find(' '); at != std::string::npos; at = header.find(' ', at + 1))
      take(header[at + 1], header.c_str() + at + 2);
    for (int p = 0; p < format_.planes(); p++)
      planes_[p].resize(static_cast<size_t>(format_.plane_w(p)) * format_.plane_h(p));
  }

  bool read() {
    if (line().compare(0, 5, "FRAME")) return false;
    for (int p = 0; p < format_.planes(); p++)
      if (!read(planes_[p])) return false;
    return true;
  }

  const VideoFormat& format() const { return format_; }
  uint16_t at(int p, int x, int y) const { return planes_[p][static_cast<size_t>(y) * format_.plane_w(p) + x]; }

 private:
  void take(char tag, const char* value) {
    if (tag == 'W') format_.w = atoi(value);
    if (tag == 'H') format_.h = atoi(value);
    if (tag != 'C') return;
    if (!strncmp(value, "422", 3)) format_.chroma = Chroma::k422;
    if (!strncmp(value, "444", 3)) format_.chroma = Chroma::k444;
    if (!strncmp(value, "mono", 4)) format_.chroma = Chroma::k400;
    const char* depth = strchr(value, 'p');
    if (!strncmp(value, "mono", 4)) depth = value + 3;
    if (depth && atoi(depth + 1) >= 9) format_.bpc = atoi(depth + 1);
  }

  std::string line() {
    std::string text;
    for (int c; (c = getc(file_)) != EOF && c != '\n';) text += static_cast<char>(c);
    return text;
  }

  bool read(std::vector<uint16_t>& plane) {
    bytes_.resize(plane.size() * (format_.bpc > 8 ? 2 : 1));
    if (fread(bytes_.data(), 1, bytes_.size(), file_) != bytes_.size()) return false;
    for (size_t i = 0; i < plane.size(); i++)
      plane[i] = format_.bpc > 8 ? static_cast<uint16_t>(bytes_[2 * i] | bytes_[2 * i + 1] << 8) : bytes_[i];
    return true;
  }

  FILE* file_;
  VideoFormat format_;
  std::vector<uint16_t> planes_[3];
  std::vector<uint8_t> bytes_;
};

int edge(int i, int size, int parts) { return static_cast<int>(static_cast<int64_t>(i) * size / parts); }

/* Adds the sampled rows of all cells of a plane to cells: those of even rows to [0], of odd ones to [field]. */
template <int kRows, int kColumns>
void add_cells(const Y4m& video, int p, int field, uint32_t (*cells)[kRows][kColumns]) {
  const int w = video.format().plane_w(p), h = video.format().plane_h(p);
  for (int j = 0; j < kRows; j++) {
    const int top = edge(j, h, kRows), n = edge(j + 1, h, kRows) - top;
    const int rows = n < kSignatureSampledRows ? n : kSignatureSampledRows, first = top + (n - rows) / 2;
    for (int y = first; y < first + rows; y++)
      for (int i = 0; i < kColumns; i++)
        for (int x = edge(i, w, kColumns); x < edge(i + 1, w, kColumns); x++)
          cells[y % 2 ? field : 0][j][i] += video.at(p, x, y);
  }
}

/* Adds all samples of luma to the bins of their column and row. */
void add_profiles(const Y4m& video, PictureSignature* signature) {
  const int w = video.format().w, h = video.format().h;
  for (int i = 0; i < kProfileBins; i++)
    for (int x = edge(i, w, kProfileBins); x < edge(i + 1, w, kProfileBins); x++)
      for (int y = 0; y < h; y++) signature->columns[y >= h / 2][i] += video.at(0, x, y);
  for (int j = 0; j < kProfileBins; j++)
    for (int y = edge(j, h, kProfileBins); y < edge(j + 1, h, kProfileBins); y++)
      for (int x = 0; x < w; x++) signature->rows[x >= w / 2][j] += video.at(0, x, y);
}

void add_row_differences(const Y4m& video, PictureSignature* signature) {
  for (int y = 0; y + 3 < video.format().h; y += 4)
    for (int x = 0; x < video.format().w; x++)
      for (int d = 1; d <= 2; d++)
        signature->row_difference[d - 1] += std::abs(video.at(0, x, y) - video.at(0, x, y + d));
}

void sign(const Y4m& video, int64_t frame, PictureSignature* signature) {
  *signature = {};
  add_cells(video, 0, 1, signature->luma);
  if (frame % kDetailPeriod) return;
  for (int p = 1; p < video.format().planes(); p++) add_cells(video, p, 0, &signature->chroma[p - 1]);
  add_profiles(video, signature);
  add_row_differences(video, signature);
}

const char* name_of(look::Kind kind) {
  static constexpr const char* kNames[] = {
      "offset",         "dropped",        "doubled", "frozen",  "cadence",          "blended",     "swapped",
      "other pictures", "mirrored",       "flipped", "rotated", "cropped",          "padded",      "scaled",
      "shifted",        "bars",           "range",   "matrix",  "primaries",        "transfer",    "brightness",
      "chroma swapped", "chroma shifted", "gray",    "combed",  "reference combed", "field order", "fields dropped"};
  return kNames[static_cast<int>(kind)];
}

void print(const look::Finding& finding) {
  static constexpr const char* kCertainties[] = {"possible", "likely", "sure"};
  printf("%s: %s %lld..%lld", name_of(finding.kind), kCertainties[static_cast<int>(finding.certainty)],
         static_cast<long long>(finding.from), static_cast<long long>(finding.end));
  for (const auto& [name, value] : finding.evidence) printf(" %s=%.6g", name.c_str(), value);
  printf("\n");
}

int look_at(const char* ref_path, const char* dist_path, int64_t frame) {
  Y4m ref(ref_path), dist(dist_path);
  if (ref.format().w != dist.format().w || ref.format().h != dist.format().h || ref.format().bpc != dist.format().bpc)
    throw std::runtime_error("the files differ in size or depth");
  look::Look look(ref.format());
  SignatureSums sums;
  for (; ref.read() && dist.read(); frame++) {
    sign(ref, frame, &sums.ref);
    sign(dist, frame, &sums.dist);
    look.add(frame, sums);
  }
  for (const look::Finding& finding : look.finish()) print(finding);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) return fprintf(stderr, "usage: look_pair REFERENCE DISTORTED [FIRST]\n"), 2;
  try {
    return look_at(argv[1], argv[2], argc > 3 ? atoll(argv[3]) : 0);
  } catch (const std::exception& error) {
    return fprintf(stderr, "look_pair: %s\n", error.what()), 1;
  }
}
