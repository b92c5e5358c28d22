/* libvmaf's API (compat/libvmaf) as a state machine: calls in any order, with any numbers and texts. A call returns 0
 * or a negative errno value, takes what it says that it takes, and answers the same when it is asked again.
 *
 * An input is a script. IN N … vmaf_init with a number of threads and of n_subsample; Z close. Pictures: PN … the
 * format of those to come, RN … read a pair, E end the stream, V take one from the pool, YN pool of N. Dictionaries: d
 * KEY=VALUE. Models: mN load one of a table, oTEXT overload a feature of it with the dictionary, U use its features,
 * jTEXT a model of a file; u TEXT use a feature with the dictionary, fN one of a table. Scores: iREAL … TEXT import
 * one, G… of an index, S… pooled, W… write a report.
 *
 * For one input in four (see Choice) reports are read, and for one in four collections are loaded, not their base model
 * alone. */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include "base/json.h"
#include "compat/libvmaf/abi.h"
#include "fuzz/target.h"

using namespace vmafx;
using namespace vmafx::fuzz;

namespace {

constexpr const char* kModels[] = {"vmaf_v0.6.1", "vmaf_v0.6.1neg", "vmaf_float_v0.6.1", "vmaf_b_v0.6.3", "none"};
constexpr int kCollection = 3;  // its index in kModels
constexpr const char* kFeatures[] = {"psnr",         "vif",   "adm",   "motion", "float_ssim",
                                     "float_moment", "cambi", "ciede", "none"};
constexpr const char* kNames[] = {"psnr_y", "vmaf", "b", "VMAF_integer_feature_motion2_score", "float_ssim", "none"};

/* A script has an end. */
constexpr int kLargestSide = 160, kMostPairs = 8, kMostLines = 80, kMostPool = 8;
constexpr unsigned kMostSamples = 2 * kLargestSide * kLargestSide;  // in all pairs' pictures together, in luma
constexpr int kMostLoads = 6, kMostUses = 6, kMostStreams = 2, kMostReports = 4;

class Run {
 public:
  explicit Run(Choice choice) : reads_reports_(choice.one_in(4)), loads_collections_(choice.one_in(4)) {}

  ~Run() {
    close();
    clear_dictionary();
    unload();
  }

  void take_line(Script& script) {
    switch (script.what()) {
      case 'I': return init(script);
      case 'Z': return close();
      case 'P': return set_format(script);
      case 'd': return set_option(script.text());
      case 'm': {
        const int number = script.number(0, std::size(kModels) - 1);
        return load(kModels[number == kCollection && !loads_collections_ ? 0 : number], script.number(0, 7));
      }
      case 'j': return load_file(script.text());
      case 'o': return overload(script.text());
      default: break;
    }
    if (vmaf_) call_on_context(script);
    else
      REQUIRE(vmaf_close(vmaf_) == -EINVAL && vmaf_read_pictures(vmaf_, nullptr, nullptr, 0) == -EINVAL, "no context");
  }

 private:
  void call_on_context(Script& script) {
    switch (script.what()) {
      case 'U': return use_model();
      case 'u': return use(script.text());
      case 'f': return use(kFeatures[script.number(0, std::size(kFeatures) - 1)]);
      case 'R': return read(script);
      case 'E': return end();
      case 'Y': return preallocate(script);
      case 'V': return fetch();
      case 'i': return import(script);
      case 'G': return ask(script);
      case 'S': return pool(script);
      case 'W': return write(script);
      default: break;
    }
  }

  static unsigned index_of(Script& script) { return static_cast<unsigned>(script.number(0, 1 << 30)); }

  static int require(int ret) {
    REQUIRE(ret <= 0 && ret > -4096, "returned %d", ret);
    return ret;
  }

  void init(Script& script) {
    if (vmaf_ || ++streams_ > kMostStreams) return;
    VmafConfiguration configuration{};
    configuration.log_level = std::getenv("FUZZ_SHOW") ? VMAF_LOG_LEVEL_DEBUG : VMAF_LOG_LEVEL_NONE;
    configuration.n_threads = static_cast<unsigned>(script.number(0, 3));
    configuration.n_subsample = static_cast<unsigned>(script.number(0, 5));
    const int ret = require(vmaf_init(&vmaf_, configuration));
    REQUIRE((ret == 0) == (vmaf_ != nullptr), "returned %d", ret);
    ended_ = false;
  }

  void close() {
    if (vmaf_) REQUIRE(vmaf_close(std::exchange(vmaf_, nullptr)) == 0, "closing failed");
  }

  // -- Dictionaries and models --

  void set_option(const std::string& text) {
    const size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    (void)require(vmaf_feature_dictionary_set(&dictionary_, key.c_str(),
                                              equals == text.npos ? nullptr : text.c_str() + equals + 1));
  }

  void clear_dictionary() {
    if (dictionary_) REQUIRE(vmaf_feature_dictionary_free(&dictionary_) == 0 && !dictionary_, "freeing failed");
  }

  void unload() {
    vmaf_model_destroy(std::exchange(model_, nullptr));
    vmaf_model_collection_destroy(std::exchange(collection_, nullptr));
  }

  void load(const char* version, int flags) {
    if (++loads_ > kMostLoads) return;
    unload();
    VmafModelConfig config{flags & 1 ? "b" : nullptr, static_cast<uint64_t>(flags)};
    if (std::strstr(version, "_b_")) {
      const int ret = require(vmaf_model_collection_load(&model_, &collection_, &config, version));
      REQUIRE((ret == 0) == (model_ && collection_), "returned %d", ret);
    } else {
      const int ret = require(vmaf_model_load(&model_, &config, version));
      REQUIRE((ret == 0) == (model_ != nullptr), "returned %d", ret);
    }
  }

  /* A model's JSON: that target model_file knows more of. */
  void load_file(const std::string& json) {
    if (++loads_ > kMostLoads) return;
    unload();
    const MemoryFile file;
    file.set(json);
    VmafModelConfig config{};
    const int ret = require(vmaf_model_load_from_path(&model_, &config, file.path().c_str()));
    REQUIRE((ret == 0) == (model_ != nullptr), "returned %d", ret);
  }

  /* Takes the dictionary in any case. */
  void overload(const std::string& feature) {
    if (!model_ || ++loads_ > kMostLoads) return;
    VmafFeatureDictionary* const given = std::exchange(dictionary_, nullptr);
    if (collection_)
      (void)require(vmaf_model_collection_feature_overload(model_, &collection_, feature.c_str(), given));
    else (void)require(vmaf_model_feature_overload(model_, feature.c_str(), given));
  }

  void use_model() {
    if (model_) (void)require(vmaf_use_features_from_model(vmaf_, model_));
    if (collection_) (void)require(vmaf_use_features_from_model_collection(vmaf_, collection_));
  }

  /* Takes it if it succeeds. */
  void use(const std::string& feature) {
    if (++uses_ > kMostUses) return;
    if (require(vmaf_use_feature(vmaf_, feature.c_str(), dictionary_)) == 0) dictionary_ = nullptr;
  }

  // -- Pictures --

  void set_format(Script& script) {
    format_ = {static_cast<unsigned>(script.number(0, kLargestSide)),
               static_cast<unsigned>(script.number(0, kLargestSide)), static_cast<unsigned>(script.number(7, 17)),
               static_cast<VmafPixelFormat>(script.number(0, 5))};
  }

  /* Zeros where no picture has that format. */
  VmafPicture make(int pattern) const {
    VmafPicture picture{};
    if (require(vmaf_picture_alloc(&picture, format_.pix_fmt, format_.bpc, format_.w, format_.h)) != 0) return {};
    fill(picture, pattern);
    return picture;
  }

  UNOBSERVED static void fill(const VmafPicture& picture, int pattern) {
    const unsigned most = (1u << picture.bpc) - 1;
    for (int p = 0; p < 3 && picture.data[p]; p++)
      for (unsigned y = 0; y < picture.h[p]; y++)
        for (unsigned x = 0; x < picture.w[p]; x++) {
          const unsigned sample =
              pattern % 4 == 0 ? 0 : (x * 7 + y * 5 + static_cast<unsigned>(pattern * 31 + p)) * 2654435761u >> 8;
          auto* const row = static_cast<uint8_t*>(picture.data[p]) + static_cast<ptrdiff_t>(y) * picture.stride[p];
          const uint16_t value = static_cast<uint16_t>(sample & most);
          if (picture.bpc > 8) std::memcpy(row + 2 * x, &value, sizeof value);
          else row[x] = static_cast<uint8_t>(value);
        }
  }

  /* Reads a pair. The library takes the pictures, whatever it returns. */
  void read(Script& script) {
    samples_ += 2 * format_.w * format_.h;
    if (++pairs_ > kMostPairs || samples_ > kMostSamples) return;
    const unsigned index = index_of(script);
    const int pattern = script.number(0, 63);
    VmafPicture ref = make(pattern), dist = make(script.number(0, 63));
    (void)require(vmaf_read_pictures(vmaf_, &ref, &dist, index));
    REQUIRE(!ref.ref && !dist.ref, "pictures that were not taken");
  }

  void end() { ended_ |= require(vmaf_read_pictures(vmaf_, nullptr, nullptr, 0)) == 0; }

  void preallocate(Script& script) {
    const VmafPictureConfiguration configuration{format_, static_cast<unsigned>(script.number(0, kMostPool))};
    (void)require(vmaf_preallocate_pictures(vmaf_, configuration));
  }

  /* Given back at once: who keeps all of them waits for ever for another one. */
  void fetch() {
    VmafPicture picture{};
    if (require(vmaf_fetch_preallocated_picture(vmaf_, &picture)) != 0) return;
    fill(picture, 3);
    REQUIRE(vmaf_picture_unref(&picture) == 0 && !picture.ref, "a picture of the pool is not given back");
  }

  // -- Scores --

  void import(Script& script) {
    const double score = script.real();
    const unsigned index = index_of(script);
    const std::string name = script.text();
    if (require(vmaf_import_feature_score(vmaf_, name.c_str(), score, index)) != 0) return;
    double got = 0;
    REQUIRE(vmaf_feature_score_at_index(vmaf_, name.c_str(), &got, index) == 0 && same(got, score), "%g became %g",
            score, got);
  }

  /* Asks twice. While there may be frames that are scored, what there was none of may be there the second time. */
  template <class Ask>
  void ask_again(Ask ask) {
    double first = 0, second = 0;
    const int ret = require(ask(&first)), again = require(ask(&second));
    REQUIRE(again == ret || (!ended_ && ret != 0), "%d and then %d", ret, again);
    REQUIRE(ret != 0 || same(first, second), "%g and then %g", first, second);
  }

  void ask(Script& script) {
    const char* const name = kNames[script.number(0, std::size(kNames) - 1)];
    const unsigned index = index_of(script);
    ask_again([&](double* score) { return vmaf_feature_score_at_index(vmaf_, name, score, index); });
    if (model_) ask_again([&](double* score) { return vmaf_score_at_index(vmaf_, model_, score, index); });
    if (!collection_) return;
    VmafModelCollectionScore score{};
    if (require(vmaf_score_at_index_model_collection(vmaf_, collection_, &score, index)) == 0)
      REQUIRE(score.bootstrap.stddev >= 0, "a standard deviation of %g", score.bootstrap.stddev);
  }

  void pool(Script& script) {
    const auto method = static_cast<VmafPoolingMethod>(script.number(0, 6));
    const char* const name = kNames[script.number(0, std::size(kNames) - 1)];
    const unsigned low = index_of(script), high = script.number(0, 1) ? UINT32_MAX : index_of(script);
    ask_again([&](double* score) { return vmaf_feature_score_pooled(vmaf_, name, method, score, low, high); });
    if (model_) ask_again([&](double* score) { return vmaf_score_pooled(vmaf_, model_, method, score, low, high); });
    VmafModelCollectionScore score{};
    if (collection_) (void)require(vmaf_score_pooled_model_collection(vmaf_, collection_, method, &score, low, high));
  }

  void write(Script& script) {
    if (++reports_ > kMostReports) return;
    const MemoryFile file;
    const auto format = static_cast<VmafOutputFormat>(script.number(0, 5));
    if (require(vmaf_write_output(vmaf_, file.path().c_str(), format)) != 0) return;
    if (format == VMAF_OUTPUT_FORMAT_JSON && reads_reports_)
      REQUIRE(Json::parse(file.text()), "no JSON: %s", file.text().c_str());
  }

  const bool reads_reports_, loads_collections_;
  VmafContext* vmaf_ = nullptr;
  VmafFeatureDictionary* dictionary_ = nullptr;
  VmafModel* model_ = nullptr;
  VmafModelCollection* collection_ = nullptr;
  VmafPictureParameters format_{64, 48, 8, VMAF_PIX_FMT_YUV420P};
  unsigned samples_ = 0;
  int pairs_ = 0, loads_ = 0, uses_ = 0, streams_ = 0, reports_ = 0;
  bool ended_ = false;
};

const bool kPrepared = [] {
  setenv("VMAFX_BACKEND", "cpu", 1);
  return true;
}();

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Run run(Choice(data, size));
  int lines = 0;
  for (Script script(data, size); script.next() && ++lines <= kMostLines;) run.take_line(script);
  return 0;
}
