/* libvmaf's public interface as of Netflix/vmaf f85a853: the names, values, layouts and calls of its libvmaf.h,
 * feature.h, model.h and picture.h, and of libvmaf_cuda.h, which its builds with CUDA have.
 *
 * Programs are compiled with libvmaf's own headers; this one is for the sources of this library and for tests.
 * tests/libvmaf/abi.txt has the same facts as they were recorded from those headers, and abi_test compares the two.
 *
 * Functions return 0 or a negative errno value, unless they say otherwise. */
#ifndef COMPAT_LIBVMAF_ABI_H
#define COMPAT_LIBVMAF_ABI_H

#include <cstddef>
#include <cstdint>

/* Enumerations have a type, so that a program may pass any number and is told that it is not one of these. */
enum VmafLogLevel : unsigned {
  VMAF_LOG_LEVEL_NONE = 0,
  VMAF_LOG_LEVEL_ERROR = 1,
  VMAF_LOG_LEVEL_WARNING = 2,
  VMAF_LOG_LEVEL_INFO = 3,
  VMAF_LOG_LEVEL_DEBUG = 4,
};

enum VmafOutputFormat : unsigned {
  VMAF_OUTPUT_FORMAT_NONE = 0,
  VMAF_OUTPUT_FORMAT_XML = 1,
  VMAF_OUTPUT_FORMAT_JSON = 2,
  VMAF_OUTPUT_FORMAT_CSV = 3,
  VMAF_OUTPUT_FORMAT_SUB = 4,
};

enum VmafPoolingMethod : unsigned {
  VMAF_POOL_METHOD_UNKNOWN = 0,
  VMAF_POOL_METHOD_MIN = 1,
  VMAF_POOL_METHOD_MAX = 2,
  VMAF_POOL_METHOD_MEAN = 3,
  VMAF_POOL_METHOD_HARMONIC_MEAN = 4,
  VMAF_POOL_METHOD_NB = 5,
};

enum VmafPixelFormat : unsigned {
  VMAF_PIX_FMT_UNKNOWN = 0,
  VMAF_PIX_FMT_YUV420P = 1,
  VMAF_PIX_FMT_YUV422P = 2,
  VMAF_PIX_FMT_YUV444P = 3,
  VMAF_PIX_FMT_YUV400P = 4,
};

enum VmafModelFlags : unsigned {
  VMAF_MODEL_FLAGS_DEFAULT = 0,
  VMAF_MODEL_FLAG_DISABLE_CLIP = 1,
  VMAF_MODEL_FLAG_ENABLE_TRANSFORM = 2,
  VMAF_MODEL_FLAG_DISABLE_TRANSFORM = 4,
};

enum VmafModelCollectionScoreType : unsigned {
  VMAF_MODEL_COLLECTION_SCORE_UNKNOWN = 0,
  VMAF_MODEL_COLLECTION_SCORE_BOOTSTRAP = 1,
};

enum VmafCudaPicturePreallocationMethod : unsigned {
  VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_NONE = 0,
  VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_DEVICE = 1,
  VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST = 2,
  VMAF_CUDA_PICTURE_PREALLOCATION_METHOD_HOST_PINNED = 3,
};

struct VmafContext;
struct VmafModel;
struct VmafModelCollection;
struct VmafFeatureDictionary;
struct VmafRef;
struct VmafCudaState;

struct VmafConfiguration {
  VmafLogLevel log_level;
  unsigned n_threads;
  unsigned n_subsample;
  uint64_t cpumask;
  uint64_t gpumask;
};

/* Planes Y, U, V of samples in bytes, or in 16-bit words where bpc is more than 8. */
struct VmafPicture {
  VmafPixelFormat pix_fmt;
  unsigned bpc;
  unsigned w[3], h[3];
  ptrdiff_t stride[3];
  void* data[3];
  VmafRef* ref;
  void* priv;
};

/* -- Of libvmaf's master since September 2026, after release 3.2.1: what its picture.h adds. */
enum VmafColorRange : unsigned {
  VMAF_COLOR_RANGE_UNKNOWN = 0,
  VMAF_COLOR_RANGE_LIMITED = 1,
  VMAF_COLOR_RANGE_FULL = 2,
};

enum VmafColorPrimaries : unsigned {
  VMAF_COLOR_PRIMARIES_UNKNOWN = 0,
  VMAF_COLOR_PRIMARIES_BT709 = 1,
  VMAF_COLOR_PRIMARIES_BT2020 = 2,
  VMAF_COLOR_PRIMARIES_SMPTE432 = 3,
};

enum VmafColorTransferCharacteristic : unsigned {
  VMAF_COLOR_TRC_UNKNOWN = 0,
  VMAF_COLOR_TRC_BT709 = 1,
  VMAF_COLOR_TRC_SMPTE2084 = 2,
};

enum VmafColorMatrixCoefficients : unsigned {
  VMAF_COLOR_MATRIX_UNKNOWN = 0,
  VMAF_COLOR_MATRIX_BT709 = 1,
  VMAF_COLOR_MATRIX_BT2020_NCL = 2,
  VMAF_COLOR_MATRIX_ICTCP = 3,
};

struct VmafColor {
  VmafColorRange range;
  VmafColorPrimaries primaries;
  VmafColorTransferCharacteristic trc;
  VmafColorMatrixCoefficients matrix;
};

/* VmafPicture there: a color lies where release 3.2.1 has `ref` and `priv`. */
struct VmafLaterPicture {
  VmafPixelFormat pix_fmt;
  unsigned bpc;
  unsigned w[3], h[3];
  ptrdiff_t stride[3];
  void* data[3];
  VmafColor color;
  VmafRef* ref;
  void* priv;
};

/* VmafPictureWrapped there. The last two are `cookie` and `release_picture`, whose order is not known. */
struct VmafLaterPictureWrapped {
  VmafPixelFormat pix_fmt;
  unsigned bpc;
  unsigned w, h;
  void* data[3];
  ptrdiff_t stride[3];
  void* release[2];
};

struct VmafPictureConvertContext;
struct VmafPictureConvertTarget;

struct VmafPictureParameters {  // has no name in C
  unsigned w, h;
  unsigned bpc;
  VmafPixelFormat pix_fmt;
};

struct VmafPictureConfiguration {
  VmafPictureParameters pic_params;
  unsigned pic_cnt;
};

struct VmafModelConfig {
  const char* name;
  uint64_t flags;  // VmafModelFlags
};

struct VmafModelCollectionScore {
  VmafModelCollectionScoreType type;
  struct {
    double bagging_score;
    double stddev;
    struct {
      struct {
        double lo, hi;
      } p95;
    } ci;
  } bootstrap;
};

struct VmafCudaConfiguration {
  void* cu_ctx;  // CUcontext
};

struct VmafCudaPictureConfiguration {
  VmafPictureParameters pic_params;
  VmafCudaPicturePreallocationMethod pic_prealloc_method;
};

#define LIBVMAF_API extern "C" __attribute__((visibility("default")))

/* -- feature.h: options of a feature. set() makes the dictionary that *dict is to be. */
LIBVMAF_API int vmaf_feature_dictionary_set(VmafFeatureDictionary** dict, const char* key, const char* val);
LIBVMAF_API int vmaf_feature_dictionary_free(VmafFeatureDictionary** dict);

/* -- picture.h: a picture of zeros, which goes when it is not referred to any more. */
LIBVMAF_API int vmaf_picture_alloc(VmafPicture* pic, VmafPixelFormat pix_fmt, unsigned bpc, unsigned w, unsigned h);
LIBVMAF_API int vmaf_picture_unref(VmafPicture* pic);

/* The same, of libvmaf's master: a picture whose planes the program keeps; conversions. */
LIBVMAF_API int vmaf_picture_wrap(VmafLaterPicture* pic, VmafLaterPictureWrapped pic_wrapped);
LIBVMAF_API int vmaf_picture_convert_context_init(VmafPictureConvertContext** ctx, const VmafLaterPicture* src,
                                                  const VmafPictureConvertTarget* target);
LIBVMAF_API int vmaf_picture_convert(VmafPictureConvertContext* ctx, VmafLaterPicture* dst,
                                     const VmafLaterPicture* src);
LIBVMAF_API int vmaf_picture_convert_context_close(VmafPictureConvertContext* ctx);

/* -- model.h: models, and collections of models. overload() takes the dictionary. */
LIBVMAF_API int vmaf_model_load(VmafModel** model, VmafModelConfig* cfg, const char* version);
LIBVMAF_API int vmaf_model_load_from_path(VmafModel** model, VmafModelConfig* cfg, const char* path);
LIBVMAF_API int vmaf_model_feature_overload(VmafModel* model, const char* feature_name,
                                            VmafFeatureDictionary* opts_dict);
LIBVMAF_API void vmaf_model_destroy(VmafModel* model);
LIBVMAF_API int vmaf_model_collection_load(VmafModel** model, VmafModelCollection** collection, VmafModelConfig* cfg,
                                           const char* version);
LIBVMAF_API int vmaf_model_collection_load_from_path(VmafModel** model, VmafModelCollection** collection,
                                                     VmafModelConfig* cfg, const char* path);
LIBVMAF_API int vmaf_model_collection_feature_overload(VmafModel* model, VmafModelCollection** collection,
                                                       const char* feature_name, VmafFeatureDictionary* opts_dict);
LIBVMAF_API void vmaf_model_collection_destroy(VmafModelCollection* collection);

/* -- libvmaf.h. vmaf_use_feature() takes the dictionary if it succeeds; vmaf_read_pictures() takes the pictures, and
 * without any ends the stream. */
LIBVMAF_API int vmaf_init(VmafContext** vmaf, VmafConfiguration cfg);
LIBVMAF_API int vmaf_use_features_from_model(VmafContext* vmaf, VmafModel* model);
LIBVMAF_API int vmaf_use_features_from_model_collection(VmafContext* vmaf, VmafModelCollection* collection);
LIBVMAF_API int vmaf_use_feature(VmafContext* vmaf, const char* feature_name, VmafFeatureDictionary* opts_dict);
LIBVMAF_API int vmaf_import_feature_score(VmafContext* vmaf, const char* feature_name, double value, unsigned index);
LIBVMAF_API int vmaf_read_pictures(VmafContext* vmaf, VmafPicture* ref, VmafPicture* dist, unsigned index);
LIBVMAF_API int vmaf_score_at_index(VmafContext* vmaf, VmafModel* model, double* score, unsigned index);
LIBVMAF_API int vmaf_score_at_index_model_collection(VmafContext* vmaf, VmafModelCollection* collection,
                                                     VmafModelCollectionScore* score, unsigned index);
LIBVMAF_API int vmaf_feature_score_at_index(VmafContext* vmaf, const char* feature_name, double* score, unsigned index);
LIBVMAF_API int vmaf_score_pooled(VmafContext* vmaf, VmafModel* model, VmafPoolingMethod pool_method, double* score,
                                  unsigned index_low, unsigned index_high);
LIBVMAF_API int vmaf_score_pooled_model_collection(VmafContext* vmaf, VmafModelCollection* collection,
                                                   VmafPoolingMethod pool_method, VmafModelCollectionScore* score,
                                                   unsigned index_low, unsigned index_high);
LIBVMAF_API int vmaf_feature_score_pooled(VmafContext* vmaf, const char* feature_name, VmafPoolingMethod pool_method,
                                          double* score, unsigned index_low, unsigned index_high);
LIBVMAF_API int vmaf_preallocate_pictures(VmafContext* vmaf, VmafPictureConfiguration cfg);
LIBVMAF_API int vmaf_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic);
LIBVMAF_API int vmaf_close(VmafContext* vmaf);
LIBVMAF_API int vmaf_write_output(VmafContext* vmaf, const char* output_path, VmafOutputFormat fmt);
LIBVMAF_API const char* vmaf_version(void);

/* -- libvmaf_cuda.h */
LIBVMAF_API int vmaf_cuda_state_init(VmafCudaState** cu_state, VmafCudaConfiguration cfg);
LIBVMAF_API int vmaf_cuda_import_state(VmafContext* vmaf, VmafCudaState* cu_state);
LIBVMAF_API int vmaf_cuda_preallocate_pictures(VmafContext* vmaf, VmafCudaPictureConfiguration cfg);
LIBVMAF_API int vmaf_cuda_fetch_preallocated_picture(VmafContext* vmaf, VmafPicture* pic);

static_assert(sizeof(VmafConfiguration) == 32 && offsetof(VmafConfiguration, gpumask) == 24);
static_assert(sizeof(VmafPicture) == 96 && offsetof(VmafPicture, data) == 56 && offsetof(VmafPicture, priv) == 88);
static_assert(sizeof(VmafLaterPicture) == 112 && offsetof(VmafLaterPicture, color) == offsetof(VmafPicture, ref));
static_assert(sizeof(VmafLaterPictureWrapped) == 80);
static_assert(sizeof(VmafPictureConfiguration) == 20 && offsetof(VmafPictureConfiguration, pic_cnt) == 16);
static_assert(sizeof(VmafModelConfig) == 16 && offsetof(VmafModelConfig, flags) == 8);
static_assert(sizeof(VmafModelCollectionScore) == 40 && offsetof(VmafModelCollectionScore, bootstrap) == 8);
static_assert(sizeof(VmafCudaPictureConfiguration) == 20 && sizeof(VmafCudaConfiguration) == 8);

#endif
