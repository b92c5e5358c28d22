"""The declarations in vmafx.h, as cffi reads them, and its version. Made by tools/make_header.py."""

version = "0.1.0"

declarations = """
typedef struct VmafxOptions VmafxOptions;
typedef struct VmafxContext VmafxContext;
typedef struct VmafxKeptReference VmafxKeptReference;
typedef struct VmafxPredictor VmafxPredictor;
const char *vmafx_version(void);
enum VmafxLogLevel { VMAFX_LOG_ERROR, VMAFX_LOG_WARNING, VMAFX_LOG_INFO, VMAFX_LOG_VERBOSE, VMAFX_LOG_DEBUG };
typedef void (*VmafxLogCallback)(void *log_cookie, enum VmafxLogLevel level, const char *message);
enum VmafxOptionType {
VMAFX_OPTION_TEXT,
VMAFX_OPTION_INT,
VMAFX_OPTION_FLAG,
};
typedef struct VmafxOption {
const char *name;
enum VmafxOptionType type;
const char *default_text;
int default_number;
int least, most;
const char *help;
int in_filter;
void *reserved[16];
} VmafxOption;
const VmafxOption *vmafx_option(int i);
VmafxOptions *vmafx_options_new(void);
void vmafx_options_free(VmafxOptions **options);
int vmafx_options_set(VmafxOptions *options, const char *name, const char *value);
int vmafx_options_set_int(VmafxOptions *options, const char *name, int value);
const char *vmafx_options_last_error(const VmafxOptions *options);
void vmafx_options_set_log(VmafxOptions *options, VmafxLogCallback log, void *log_cookie);
enum VmafxPlatform { VMAFX_PLATFORM_NONE, VMAFX_PLATFORM_HIP, VMAFX_PLATFORM_CUDA };
void vmafx_options_set_device_context(VmafxOptions *options, enum VmafxPlatform platform,
void *device_context);
int vmafx_open(VmafxContext **out, const VmafxOptions *options);
void vmafx_close(VmafxContext **ctx);
const char *vmafx_last_error(const VmafxContext *ctx);
enum VmafxChroma { VMAFX_CHROMA_400, VMAFX_CHROMA_420, VMAFX_CHROMA_422, VMAFX_CHROMA_444 };
enum VmafxLayout {
VMAFX_LAYOUT_PLANAR,
VMAFX_LAYOUT_SEMIPLANAR,
};
enum VmafxMemory {
VMAFX_MEMORY_HOST,
VMAFX_MEMORY_PINNED,
VMAFX_MEMORY_DEVICE,
VMAFX_MEMORY_DMABUF,
VMAFX_MEMORY_OPAQUE,
};
typedef struct VmafxColor {
int matrix;
int range;
int transfer;
int primaries;
int chroma_location;
void *reserved[16];
} VmafxColor;
typedef struct VmafxFormat {
int width, height;
enum VmafxChroma chroma;
int bits;
enum VmafxLayout layout;
int shift;
enum VmafxMemory memory;
void *device_context;
int drm_fd;
VmafxColor color;
const char *name;
double fps;
uint64_t spare_pictures;
int whole_chroma;
const char *pci_address;
const uint8_t *device_uuid;
void *reserved[14];
} VmafxFormat;
int vmafx_check_formats(const VmafxFormat *ref, const VmafxFormat *dist, VmafxLogCallback log,
void *log_cookie);
int vmafx_configure(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist);
int vmafx_configure_encodes(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist, int n);
unsigned vmafx_planes_read(const VmafxContext *ctx);
int vmafx_pairs_around(const VmafxContext *ctx, int *before, int *after);
unsigned vmafx_imports(const VmafxContext *ctx);
typedef struct VmafxObject {
int fd;
uint64_t size;
uint64_t modifier;
uint64_t id;
void *reserved[15];
} VmafxObject;
typedef struct VmafxSemaphore {
int fd;
uint64_t id;
uint64_t value;
void *reserved[16];
} VmafxSemaphore;
typedef struct VmafxPicture {
const uint8_t *data[3];
ptrdiff_t stride[3];
int has_time;
double time;
int keyframe;
void (*release)(void *opaque);
void *opaque;
int (*download)(void *opaque, struct VmafxPicture *copy);
void *stream;
int n_objects;
VmafxObject object[4];
int plane_object[3];
ptrdiff_t plane_offset[3];
int (*wait)(void *opaque, int timeout_ms);
const VmafxSemaphore *semaphore;
void *reserved[14];
} VmafxPicture;
int vmafx_submit(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *dist);
int vmafx_submit_encodes(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *const *dist, int n);
int vmafx_range_place(const VmafxContext *ctx, int64_t pair, int has_time, double time);
int vmafx_range_done(const VmafxContext *ctx);
typedef struct VmafxScore {
const char *key;
double value;
void *reserved[16];
} VmafxScore;
typedef struct VmafxPoolWindow {
int64_t number;
int64_t first_frame;
int64_t last_frame;
int has_time;
double time;
size_t n_scores;
const VmafxScore *scores;
void *reserved[16];
} VmafxPoolWindow;
typedef struct VmafxMap {
const char *name;
const char *unit;
int width, height;
int block_width, block_height;
const double *values;
void *reserved[16];
} VmafxMap;
typedef struct VmafxFrameResult {
int64_t frame;
size_t n_scores;
const VmafxScore *scores;
int encode;
const VmafxPoolWindow *window;
size_t n_sure;
const char *const *sure;
size_t n_maps;
const VmafxMap *maps;
void *reserved[12];
} VmafxFrameResult;
int vmafx_receive(VmafxContext *ctx, VmafxFrameResult *result);
int vmafx_receive_wait(VmafxContext *ctx, VmafxFrameResult *result);
int vmafx_format_score(const VmafxContext *ctx, double score, char *text, size_t size);
typedef struct VmafxKeptReferenceParams {
uint64_t budget;
unsigned planes;
int copy;
VmafxLogCallback log;
void *log_cookie;
uint64_t device_budget;
void *reserved[16];
} VmafxKeptReferenceParams;
int vmafx_kept_reference_open(VmafxKeptReference **out, const VmafxFormat *format,
const VmafxKeptReferenceParams *params);
int vmafx_kept_reference_add(VmafxKeptReference *ref, const VmafxPicture *picture);
int64_t vmafx_kept_reference_frames(const VmafxKeptReference *ref);
uint64_t vmafx_kept_reference_bytes(const VmafxKeptReference *ref);
uint64_t vmafx_kept_reference_device_bytes(const VmafxKeptReference *ref);
const char *vmafx_kept_reference_last_error(const VmafxKeptReference *ref);
void vmafx_kept_reference_close(VmafxKeptReference **ref);
int vmafx_configure_against(VmafxContext *ctx, const VmafxKeptReference *ref, const VmafxFormat *dist, int n);
int vmafx_submit_against(VmafxContext *ctx, int64_t frame, const VmafxPicture *const *dist, int n);
enum VmafxDoubtKind {
VMAFX_DOUBT_UNMATCHED_DISTORTED,
VMAFX_DOUBT_UNMATCHED_REFERENCE,
VMAFX_DOUBT_REPEATED_REFERENCE,
VMAFX_DOUBT_REPEATED_DISTORTED,
VMAFX_DOUBT_TIME_DIFFERENCE,
VMAFX_DOUBT_CORRUPT_DISTORTED,
VMAFX_DOUBT_CORRUPT_REFERENCE,
};
typedef struct VmafxDoubt {
enum VmafxDoubtKind kind;
int64_t from, end;
double frame_duration;
const char *const *remedies;
size_t n_remedies;
void *reserved[16];
} VmafxDoubt;
typedef struct VmafxPairing {
int64_t paired;
int64_t unmatched_distorted;
int64_t unmatched_reference;
int64_t repeated_reference;
int64_t repeated_distorted;
double max_time_difference;
int cut_short;
int encode;
int64_t corrupt_distorted;
int64_t corrupt_reference;
const VmafxDoubt *doubts;
size_t n_doubts;
void *reserved[16];
} VmafxPairing;
int vmafx_set_pairing(VmafxContext *ctx, const VmafxPairing *pairing);
int vmafx_finish(VmafxContext *ctx);
int vmafx_finished(const VmafxContext *ctx);
int vmafx_model_count(const VmafxContext *ctx);
const char *vmafx_model_sha256(const VmafxContext *ctx, int i, const char **name);
int vmafx_model_score(VmafxContext *ctx, int i, const char **name, double *score);
int vmafx_feature_count(const VmafxContext *ctx);
int vmafx_feature_score(VmafxContext *ctx, int i, const char **name, double *score);
int vmafx_encode_model_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);
int vmafx_encode_feature_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);
const char *vmafx_encode_name(const VmafxContext *ctx, int encode);
int vmafx_aggregate(const VmafxContext *ctx, int i, const char **name, double *value);
enum VmafxFindingKind {
VMAFX_FINDING_OFFSET,
VMAFX_FINDING_DROPPED,
VMAFX_FINDING_DOUBLED,
VMAFX_FINDING_FROZEN,
VMAFX_FINDING_CADENCE,
VMAFX_FINDING_BLENDED,
VMAFX_FINDING_SWAPPED,
VMAFX_FINDING_OTHER_PICTURES,
VMAFX_FINDING_MIRRORED,
VMAFX_FINDING_FLIPPED,
VMAFX_FINDING_ROTATED,
VMAFX_FINDING_CROPPED,
VMAFX_FINDING_PADDED,
VMAFX_FINDING_SCALED,
VMAFX_FINDING_SHIFTED,
VMAFX_FINDING_BARS,
VMAFX_FINDING_RANGE,
VMAFX_FINDING_MATRIX,
VMAFX_FINDING_PRIMARIES,
VMAFX_FINDING_TRANSFER,
VMAFX_FINDING_BRIGHTNESS,
VMAFX_FINDING_CHROMA_SWAPPED,
VMAFX_FINDING_CHROMA_SHIFTED,
VMAFX_FINDING_GRAY,
VMAFX_FINDING_COMBED,
VMAFX_FINDING_REFERENCE_COMBED,
VMAFX_FINDING_FIELD_ORDER,
VMAFX_FINDING_FIELDS_DROPPED,
};
enum VmafxCertainty { VMAFX_CERTAINTY_POSSIBLE, VMAFX_CERTAINTY_LIKELY, VMAFX_CERTAINTY_SURE };
typedef struct VmafxEvidence {
const char *name;
double value;
void *reserved[16];
} VmafxEvidence;
typedef struct VmafxFinding {
enum VmafxFindingKind kind;
const char *name;
enum VmafxCertainty certainty;
int64_t from, end;
const VmafxEvidence *evidence;
size_t n_evidence;
const char *text;
const char *const *remedies;
size_t n_remedies;
void *reserved[16];
} VmafxFinding;
int vmafx_finding(const VmafxContext *ctx, int encode, int i, VmafxFinding *finding);
int vmafx_pool(const char *method, const double *values, size_t n, double *pooled);
int vmafx_pool_key(const char *key, const char *method, const double *values, size_t n, double *pooled);
typedef struct VmafxStreamSums {
const char *metric;
int plane;
uint64_t frames;
uint64_t samples;
uint64_t peak;
uint64_t whole;
uint64_t fraction;
void *reserved[16];
} VmafxStreamSums;
int vmafx_stream_value(const VmafxStreamSums *sums, size_t n, double *value);
enum VmafxWorse { VMAFX_WORSE_LOW, VMAFX_WORSE_HIGH, VMAFX_WORSE_NEITHER };
typedef struct VmafxScoreFacts {
const char *key;
const char *metric;
enum VmafxWorse worse;
int main;
int alone;
const char *unit;
void *reserved[16];
} VmafxScoreFacts;
int vmafx_known_score(int i, VmafxScoreFacts *facts);
int vmafx_predictor_open(VmafxPredictor **out, const char *model, VmafxLogCallback log, void *log_cookie);
void vmafx_predictor_close(VmafxPredictor **predictor);
const char *vmafx_predictor_feature(const VmafxPredictor *predictor);
const char *vmafx_predictor_input(const VmafxPredictor *predictor, int i);
const char *vmafx_predictor_output(const VmafxPredictor *predictor, int i);
int vmafx_predict(const VmafxPredictor *predictor, const double *inputs, double *outputs);
typedef struct VmafxBreak {
int64_t pair;
double size;
void *reserved[4];
} VmafxBreak;
typedef struct VmafxPairFit {
int64_t pair;
double gain;
double offset;
double left;
void *reserved[4];
} VmafxPairFit;
typedef struct VmafxReportStream {
const VmafxPicture *pictures;
const VmafxPairing *pairing;
const char *window;
const char *pool;
const VmafxScoreFacts *facts;
size_t n_facts;
const VmafxFinding *findings;
size_t n_findings;
const int64_t *parts;
size_t n_parts;
const VmafxBreak *breaks;
size_t n_breaks;
const VmafxPairFit *ends;
size_t n_ends;
const VmafxFinding *brief;
size_t n_brief;
void *reserved[8];
} VmafxReportStream;
typedef struct VmafxReport {
const char *path;
const char *format;
const char *score_fmt;
int width, height;
int n_subsample;
double fps;
size_t n_frames;
const VmafxFrameResult *frames;
size_t n_aggregates;
const VmafxScore *aggregates;
VmafxLogCallback log;
void *log_cookie;
const VmafxReportStream *stream;
int overwrite;
void *reserved[16];
} VmafxReport;
int vmafx_write_report(const VmafxReport *report);
const char *vmafx_builtin_model(int i);
const char *vmafx_extractor(int i);
int vmafx_examine(VmafxLogCallback tell, void *cookie);
"""
