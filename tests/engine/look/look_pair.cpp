/* look_pair REFERENCE DISTORTED [FIRST [KEPT]]: prints what the look finds in two y4m files or pipes, one finding per
 * line with its evidence. It is a developer's tool (make tests/engine/look/look_pair). Both videos have the same size,
 * 8 to 16 bits; FIRST is the number of the first pair. Signatures are written to the file KEPT: "look_pair KEPT" looks
 * at them again, without the videos, in some milliseconds, and "look_pair --pieces COUNT KEPT [COUNT KEPT]..." at a
 * long stream of such files, COUNT pairs of each. */
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/look/look.h"
#include "kernels/signature/signature.h"

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
      planes_[p].resize(format_.row_bytes(p) * static_cast<size_t>(format_.plane_h(p)));
  }

  bool read() {
    if (line().compare(0, 5, "FRAME")) return false;
    for (int p = 0; p < format_.planes(); p++)
      if (fread(planes_[p].data(), 1, planes_[p].size(), file_) != planes_[p].size()) return false;
    return true;
  }

  const VideoFormat& format() const { return format_; }
  SamplePlane plane(int p) const {
    return {planes_[p].data(), static_cast<ptrdiff_t>(format_.row_bytes(p)), format_.plane_w(p), format_.plane_h(p)};
  }

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

  FILE* file_;
  VideoFormat format_;
  std::vector<uint8_t> planes_[3];
};

void sign(const Y4m& video, int64_t frame, PictureSignature* signature) {
  *signature = {};
  const int bpc = video.format().bpc;
  signature_luma_simd(video.plane(0), bpc, *signature);
  if (!has_detail(frame)) return;
  for (int p = 1; p < video.format().planes(); p++) {
    signature_chroma_simd(video.plane(p), bpc, signature->chroma[p - 1]);
    signature_chroma_profiles_simd(video.plane(p), bpc, signature->chroma_profiles[p - 1]);
  }
  std::vector<uint32_t> columns(static_cast<size_t>(video.format().w));
  signature_profiles_simd(video.plane(0), bpc, columns.data(), *signature);
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

/* Signatures in a file, for this machine and this build alone: the format, the first number, pairs. Frames without
 * detail are short. */
struct Kept {
  VideoFormat format;
  int64_t first = 0;
};

size_t kept_bytes(int64_t frame) {
  static_assert(offsetof(PictureSignature, luma) == 0);
  return has_detail(frame) ? sizeof(PictureSignature) : sizeof(PictureSignature::luma);
}

class KeptWriter {
 public:
  KeptWriter(const char* path, const VideoFormat& format, int64_t first) {
    if (!path) return;
    file_ = fopen(path, "wb");
    if (!file_) throw std::runtime_error(std::string("cannot write ") + path);
    const Kept kept{format, first};
    put(&kept, sizeof kept);
  }
  KeptWriter(const KeptWriter&) = delete;
  KeptWriter& operator=(const KeptWriter&) = delete;
  ~KeptWriter() {
    if (file_) fclose(file_);
  }

  void add(int64_t frame, const SignatureSums& sums) {
    if (!file_) return;
    put(&sums.ref, kept_bytes(frame));
    put(&sums.dist, kept_bytes(frame));
  }

 private:
  void put(const void* data, size_t size) {
    if (fwrite(data, 1, size, file_) != size) throw std::runtime_error("cannot write all signatures");
  }

  FILE* file_ = nullptr;
};

void tell(look::Look* look) {
  for (const look::Finding& finding : look->finish()) print(finding);
}

void look_at(const char* ref_path, const char* dist_path, int64_t frame, const char* kept) {
  Y4m ref(ref_path), dist(dist_path);
  if (ref.format().w != dist.format().w || ref.format().h != dist.format().h || ref.format().bpc != dist.format().bpc)
    throw std::runtime_error("the files differ in size or depth");
  look::Look look(ref.format());
  KeptWriter writer(kept, ref.format(), frame);
  SignatureSums sums;
  for (; ref.read() && dist.read(); frame++) {
    sign(ref, frame, &sums.ref);
    sign(dist, frame, &sums.dist);
    writer.add(frame, sums);
    look.add(frame, sums);
  }
  tell(&look);
}

/* Signatures of a file, as many whole groups of kDetailPeriod pairs as it has. */
class KeptFile {
 public:
  explicit KeptFile(const char* path) : path_(path) {
    FILE* const file = fopen(path, "rb");
    if (!file || fread(&kept_, 1, sizeof kept_, file) != sizeof kept_)
      throw std::runtime_error(std::string("cannot read ") + path);
    for (int64_t frame = kept_.first;; frame++) {
      std::vector<uint8_t> pair(2 * kept_bytes(frame));
      if (fread(pair.data(), 1, pair.size(), file) != pair.size()) break;
      pairs_.push_back(std::move(pair));
    }
    fclose(file);
  }

  const Kept& kept() const { return kept_; }
  int64_t pairs() const { return static_cast<int64_t>(pairs_.size()); }
  int64_t whole() const { return pairs() / kDetailPeriod * kDetailPeriod; }

  void read(int64_t frame, int64_t as, SignatureSums* sums) const {
    if (frame < kept_.first || frame >= kept_.first + pairs() || has_detail(frame) != has_detail(as))
      throw std::runtime_error(path_ + " does not have the pair");
    const std::vector<uint8_t>& pair = pairs_[static_cast<size_t>(frame - kept_.first)];
    const size_t size = pair.size() / 2;
    *sums = {};
    memcpy(&sums->ref, pair.data(), size);
    memcpy(&sums->dist, pair.data() + size, size);
  }

 private:
  std::string path_;
  Kept kept_;
  std::vector<std::vector<uint8_t>> pairs_;
};

void look_again(const char* path) {
  const KeptFile file(path);
  look::Look look(file.kept().format);
  const int64_t first = file.kept().first;
  const auto sums = std::make_unique<SignatureSums>();
  for (int64_t frame = first; frame < first + file.pairs(); frame++) {
    file.read(frame, frame, sums.get());
    look.add(frame, *sums);
  }
  tell(&look);
}

/* Pieces of a long stream: counts of pairs and files. A file begins anew after its last whole group of pairs, and goes
 * on with the place where the file before it was: files of one clip have the same reference. */
void look_at_pieces(int n, char** words) {
  std::map<std::string, KeptFile> files;
  std::unique_ptr<look::Look> look;
  const auto sums = std::make_unique<SignatureSums>();
  int64_t frame = 0;
  for (int k = 0; k + 1 < n; k += 2) {
    const KeptFile& file = files.try_emplace(words[k + 1], words[k + 1]).first->second;
    if (!look) look = std::make_unique<look::Look>(file.kept().format);
    if (file.kept().first || !file.whole()) throw std::runtime_error("a piece begins with pair 0 and has 48");
    for (const int64_t end = frame + atoll(words[k]); frame < end; frame++) {
      file.read(frame % file.whole(), frame, sums.get());
      look->add(frame, *sums);
    }
  }
  tell(look.get());
}

}  // namespace

int main(int argc, char** argv) {
  const bool pieces = argc > 3 && argc % 2 == 0 && !strcmp(argv[1], "--pieces");
  if (argc < 2 || (argc > 5 && !pieces)) {
    fprintf(stderr, "usage: look_pair REFERENCE DISTORTED [FIRST [KEPT]] | KEPT | --pieces COUNT KEPT ...\n");
    return 2;
  }
  try {
    if (pieces) return look_at_pieces(argc - 2, argv + 2), 0;
    if (argc == 2) look_again(argv[1]);
    else look_at(argv[1], argv[2], argc > 3 ? atoll(argv[3]) : 0, argc > 4 ? argv[4] : nullptr);
    return 0;
  } catch (const std::exception& error) {
    return fprintf(stderr, "look_pair: %s\n", error.what()), 1;
  }
}
