/* A program that uses libvmaf's interface, with the pictures of tests/support/stream.h. */
#ifndef VMAFX_TESTS_LIBVMAF_CLIENT_H
#define VMAFX_TESTS_LIBVMAF_CLIENT_H

#include <string>
#include <vector>

#include "compat/libvmaf/abi.h"
#include "tests/support/check_main.h"
#include "tests/support/stream.h"

namespace vmafx::test {

inline VmafPixelFormat pixel_format(const VmafxFormat& format) {
  switch (format.chroma) {
    case VMAFX_CHROMA_400: return VMAF_PIX_FMT_YUV400P;
    case VMAFX_CHROMA_420: return VMAF_PIX_FMT_YUV420P;
    case VMAFX_CHROMA_422: return VMAF_PIX_FMT_YUV422P;
    default: return VMAF_PIX_FMT_YUV444P;
  }
}

inline void fill(const VmafxFormat& format, int n, bool distorted, VmafPicture* picture) {
  const Samples samples = make_samples(format, n, distorted);
  const uint16_t* from = samples.data();
  for (int p = 0; p < (format.chroma == VMAFX_CHROMA_400 ? 1 : 3); p++) {
    const int row = p ? chroma_w(format) : format.width, rows = p ? chroma_h(format) : format.height;
    for (unsigned y = 0; y < picture->h[p]; y++)
      for (unsigned x = 0; x < picture->w[p]; x++) {
        uint8_t* const to = static_cast<uint8_t*>(picture->data[p]) + static_cast<ptrdiff_t>(y) * picture->stride[p];
        const uint16_t sample = from[static_cast<size_t>(y) * static_cast<size_t>(row) + x];
        if (format.bits == 8) to[x] = static_cast<uint8_t>(sample);
        else reinterpret_cast<uint16_t*>(to)[x] = sample;
      }
    from += static_cast<size_t>(row) * static_cast<size_t>(rows);
  }
}

inline VmafPicture make_vmaf_picture(const VmafxFormat& format, int n, bool distorted) {
  VmafPicture picture;
  ck_assert_int_eq(vmaf_picture_alloc(&picture, pixel_format(format), static_cast<unsigned>(format.bits),
                                      static_cast<unsigned>(format.width), static_cast<unsigned>(format.height)),
                   0);
  fill(format, n, distorted, &picture);
  return picture;
}

/* A context that is closed at the end. */
class Client {
 public:
  explicit Client(VmafConfiguration configuration = {VMAF_LOG_LEVEL_ERROR, 1, 1, 0, 0}) {
    ck_assert_int_eq(vmaf_init(&vmaf_, configuration), 0);
  }
  ~Client() { ck_assert_int_eq(vmaf_close(vmaf_), 0); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  operator VmafContext*() const { return vmaf_; }

  int use(const char* feature, std::initializer_list<std::pair<const char*, const char*>> options = {}) const {
    VmafFeatureDictionary* dictionary = nullptr;
    for (const auto& [key, value] : options) ck_assert_int_eq(vmaf_feature_dictionary_set(&dictionary, key, value), 0);
    const int ret = vmaf_use_feature(vmaf_, feature, dictionary);
    if (ret) ck_assert_int_eq(vmaf_feature_dictionary_free(&dictionary), 0);
    return ret;
  }

  int read(const VmafxFormat& format, int n, unsigned index) const {
    VmafPicture ref = make_vmaf_picture(format, n, false), dist = make_vmaf_picture(format, n, true);
    const int ret = vmaf_read_pictures(vmaf_, &ref, &dist, index);
    ck_assert_ptr_null(ref.ref);  // taken, success or failure
    ck_assert_ptr_null(dist.ref);
    return ret;
  }

  void read_all(const VmafxFormat& format, int frames, unsigned first_index = 0) const {
    for (int n = 0; n < frames; n++) ck_assert_int_eq(read(format, n, first_index + static_cast<unsigned>(n)), 0);
    ck_assert_int_eq(flush(), 0);
  }

  int flush() const { return vmaf_read_pictures(vmaf_, nullptr, nullptr, 0); }

  double feature(const std::string& name, unsigned index) const {
    double score = 0;
    const int ret = vmaf_feature_score_at_index(vmaf_, name.c_str(), &score, index);
    ck_assert_msg(ret == 0, "%s at %u: %d", name.c_str(), index, ret);
    return score;
  }

 private:
  VmafContext* vmaf_ = nullptr;
};

class Model {
 public:
  explicit Model(const char* version, const char* name = nullptr, uint64_t flags = 0) {
    VmafModelConfig configuration = {name, flags};
    ck_assert_int_eq(vmaf_model_load(&model_, &configuration, version), 0);
  }
  ~Model() { vmaf_model_destroy(model_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  operator VmafModel*() const { return model_; }

  double score(const Client& client, unsigned index) const {
    double score = 0;
    ck_assert_int_eq(vmaf_score_at_index(client, model_, &score, index), 0);
    return score;
  }

 private:
  VmafModel* model_ = nullptr;
};

/* libvmaf's name of the feature that reports call `key`, if it has another one. */
inline std::string vmaf_name(const std::string& key) {
  const std::string integer = "integer_";
  for (const char* feature : {"adm2", "adm3", "aim", "motion", "motion2", "motion3", "vif_scale0", "vif_scale1",
                              "vif_scale2", "vif_scale3", "adm_scale0", "adm_scale1", "adm_scale2", "adm_scale3"}) {
    if (key == feature) return "VMAF_feature_" + key + "_score";
    if (key == integer + feature && key.find("adm_scale") == key.npos)
      return "VMAF_integer_feature_" + (feature + std::string("_score"));
  }
  if (key == "cambi") return "Cambi_feature_cambi_score";
  if (key.starts_with("speed_chroma_") && key.size() <= 15) return "Speed_chroma_feature_" + key + "_score";
  if (key == "speed_temporal") return "Speed_temporal_feature_speed_temporal_score";
  return key;
}

}  // namespace vmafx::test

#endif
