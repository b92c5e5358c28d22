/* vmafx: full-reference video quality (VMAF and the metrics around it), on the CPU and on the GPU.
 *
 * The way of a stream:
 *
 *     VmafxParams params;
 *     vmafx_default_params(&params);
 *     params.model = "version=vmaf_v0.6.1";
 *     VmafxContext *ctx;
 *     int ret = vmafx_open(&ctx, &params);                  // models, features, device, log file
 *     ret = vmafx_configure(ctx, &ref_format, &dist_format); // once, before the first frame
 *     for each pair: ret = vmafx_submit(ctx, &ref, &dist);   // blocks while too many frames are in flight
 *                    while (vmafx_receive(ctx, &result) == 0) { … }   // scores so far, in frame order
 *     ret = vmafx_finish(ctx);                               // the last frames, pooling, the report
 *     ret = vmafx_model_score(ctx, 0, &name, &score);
 *     vmafx_close(&ctx);
 *
 * Several encodes of one reference are scored at once (vmafx_submit_encodes()) or one after the other (VmafxKeptReference).
 *
 * Every function returns 0 or a negative errno value (which is what AVERROR(errno) is). On failure the message is at
 * vmafx_last_error() and went to the log callback once, at VMAFX_LOG_ERROR. No failure is -EAGAIN: that is an answer of
 * vmafx_receive(), which can be asked again. A context is used by one thread at a time; different contexts are
 * independent. The library never prints, aborts or throws, and functions that it calls (VmafxParams.log,
 * VmafxPicture.release and
 * download) must not let a C++ exception or a longjmp() out: it would leave the library in the middle of its work, and
 * in a thread of its own
 * it ends the process. After a failure of vmafx_configure(), vmafx_submit() or
 * vmafx_receive() the stream cannot go on: later calls fail likewise, and what is left is vmafx_close().
 *
 * A process that has an open context must not fork() and use the context in the child, not even to close it: the workers are threads, which
 * the child has none of, and it would wait for them for ever. exec() after the fork() is fine.
 *
 * The binary interface has the number in the library's name, libvmafx.so.0, and in the version of its symbols, VMAFX_0. Under
 * one number no function goes away or changes its parameters, no field moves and no enumerator changes its value. What
 * is new are functions, enumerators after the last one, and fields in place of `reserved` words, whose zero means what was
 * before. So structs are filled with zeros first ({0}, or vmafx_default_params()), and a library refuses reserved words that are
 * not zero: they mean something to a later one. Whatever breaks this gets the next number. The promise begins with the release of
 * 0.1. */
#ifndef VMAFX_VMAFX_H
#define VMAFX_VMAFX_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VMAFX_API __attribute__((visibility("default")))
#else
#define VMAFX_API
#endif

typedef struct VmafxContext VmafxContext;
typedef struct VmafxKeptReference VmafxKeptReference;
typedef struct VmafxPredictor VmafxPredictor;

/* Of this header. */
#define VMAFX_VERSION_MAJOR 0
#define VMAFX_VERSION_MINOR 1
#define VMAFX_VERSION_PATCH 0

/* Of the library that runs, for logs and reports: "0.1.0", or "0.1.0-g80c0f90" when it was built from a git checkout. */
VMAFX_API const char *vmafx_version(void);

/* -- Opening ------------------------------------------------------------------------------------------------------- */

enum VmafxLogLevel { VMAFX_LOG_ERROR, VMAFX_LOG_WARNING, VMAFX_LOG_INFO, VMAFX_LOG_VERBOSE, VMAFX_LOG_DEBUG };

/* Whose calls a device context belongs to. */
enum VmafxPlatform { VMAFX_PLATFORM_NONE, VMAFX_PLATFORM_HIP, VMAFX_PLATFORM_CUDA };

/* Texts are copied by vmafx_open(); NULL means the default. */
typedef struct VmafxParams {
    /* `|`-separated models, each `key=value[:key=value…]` with the keys version, path, name, disable_clip,
     * enable_transform and `<extractor>.<option>` overloads; a first word without a key is the version. `:` and `\` inside a
     * value are written `\:` and `\\`.
     * Default "version=vmaf_v0.6.1"; "" means no model (then `feature` must name something). */
    const char *model;
    /* `|`-separated features, each `name=<extractor>[:option=value…]`. Two requests that write the same key with
     * different options are EINVAL, see `ignore_unknown`. Default none. */
    const char *feature;
    /* "auto" (default): the CPU until the GPU is open (docs/filter.md), or if there is no usable one, and a log line says why.
     * "cpu": the CPU twins. "hip": the GPU, or vmafx_open() fails with the cause (ENODEV, EACCES, ENOSYS, …). */
    const char *backend;
    const char *device;     /* "auto" (default), an index, or a PCI address "0000:03:00.0" */
    /* A context of the application (hipCtx_t, CUcontext) to run in, where `device` is "auto" or names the device that it belongs
     * to. It stays the application's and must outlive this context; nothing of it is changed. Default VMAFX_PLATFORM_NONE: none. */
    enum VmafxPlatform device_platform;
    void *device_context;
    /* What to do with pictures in a GPU's memory. "auto" (default): read them where they lie if that is possible, else download
     * them, and a log line says why. "device": fail where they would be downloaded. "host": download them always. */
    const char *import_frames;
    const char *log_path;   /* the report; default none. Written under another name in its folder, renamed when complete. "-": standard output;
                               "pipe:3": that descriptor, which must be open for writing */
    /* "xml", "json", "csv", "sub", "ndjson" (a line per frame as it finishes). Default: the one that `log_path` ends with, as in
     * "report.json", else "xml". */
    const char *log_fmt;
    const char *score_fmt;  /* printf format of one double in reports, e.g. "%.17g"; default "%.6f" as libvmaf prints */
    /* Pooling of vmafx_model_score(): "mean" (default), "min", "max", "harmonic_mean", "median", "stddev", or a
     * percentile "p5", "perc5", "p99.9". Anything else falls back to mean with a warning. */
    const char *pool;
    int n_threads;    /* worker threads; 0 (default): as many as the process may use (affinity, cgroup) */
    int n_subsample;  /* score every N-th frame; default 1 */
    int fallback;     /* a GPU that fails in mid-stream: 1 (default) hands over to the CPU at that frame, 0 makes it an error (EIO) */
    int verify;       /* run every N-th frame on the CPU too and report the largest difference to the GPU; default 0: never */
    /* 1 (default): the times of frames (see VmafxPicture) stand in all reports but "sub". 0: in "json" and "ndjson" only, for
     * programs that were written for libvmaf and take every attribute in "xml" and every column of "csv" for a score. */
    int report_times;
    /* 1: vmafx_finish() logs, at VMAFX_LOG_INFO, mean, minimum, maximum and the worst frames of each feature that `feature` names
     * and of each model, a line each. Default 0. */
    int summary;
    /* 1: as programs for libvmaf expect it, a key of a model that is not known is a warning and left out, and of two
     * requests that write the same key with different options the first one is reported, with a warning (a model is
     * scored from what it asks for even so). Default 0: both are errors. */
    int ignore_unknown;
    int encodes;      /* distorted pictures for each reference picture, see vmafx_submit_encodes(); default 1, at most VMAFX_MOST_ENCODES */
    /* Called from any of the library's threads, one call at a time. */
    void (*log)(void *log_cookie, enum VmafxLogLevel level, const char *message);
    void *log_cookie;
    int verify_fail;   /* 1: a difference that `verify` finds is an error (EBADMSG) of the frame. Default 0: it is only reported */
    /* A GPU has room for so many processes at once (docs/hip.md). Beyond them, "auto" runs on the CPU, and "hip" waits in vmafx_open() for
     * so many seconds before it fails with EBUSY; default 60. */
    int device_wait;
    /* Cuts the stream into windows, whose scores are pooled for themselves (by `pool`): "2" or "0.5", as many seconds, counted from the
     * first pair (all pictures must have a time); "keyframe", from one distorted picture with `keyframe` to the next. Windows stand in
     * VmafxFrameResult and in "json", "xml" and "ndjson", there as lines of their own once they are complete. Default none. */
    const char *window;
    /* `|`-separated least scores: "80" of every model, "psnr_y=35" of what reports call so. A window whose pooled score is lower, or the
     * stream if there are no windows, is a warning. Default none. */
    const char *warn_below;
    /* Such scores of the whole stream: vmafx_finish() fails with ERANGE where one is lower. The report is written all the same, and the
     * scores are there. Default none. */
    const char *fail_below;
    /* A file for the textfile collector of Prometheus' node exporter, in the OpenMetrics format. It is replaced in one step after each
     * window, and at the end: pooled scores of the models and of the features' main scores (vmafx_feature_score()). Default none. */
    const char *openmetrics;
    /* `|`-separated names of the encodes, for log and reports, where there are several; "main0", "main1", … of those that have none. Default
     * none. With several, `log_path` may have `%d`: each encode then has a report of its own, with its number there. Without, one report
     * has all of them, which must be "json", "ndjson" or "csv". */
    const char *encode_names;
    /* Scores a part of the stream, whose report can be merged with those of the other parts: "100-199", numbers of pairs counted from the first
     * that is submitted; or "12.5s-20s", from 12.5 s on and before 20 s, which all distorted pictures need a time for. Either end may be left
     * out, where the part holds the stream's beginning or its end. Pairs around it that temporal metrics need, and at least one, must be
     * submitted, and are read and not scored; those further outside are not looked at. See vmafx_range_done(). Default none. */
    const char *range;
    /* 1: keeps the scores of frames until they were received (vmafx_receive()) and written, and afterwards their sums alone, so that memory does
     * not grow with the stream: for streams without an end. `pool` must then be mean, min, max or harmonic_mean, a report "ndjson", whose last
     * line has these four and no windows; a summary has no worst frames. `range` and cvvdp need the scores of all frames and are refused.
     * Default 0. */
    int pooled_only;
    /* 1: outputs (log_path, openmetrics, heatmaps_path of features) replace whatever has their name. Default 0: they
     * replace only what their
     * kind has written before, judged by content (a report of vmafx or libvmaf in any format, a file of openmetrics,
     * heat maps of the same
     * size), and empty files; else vmafx_open() fails with EEXIST, of heat maps vmafx_configure(). An output that is
     * another output, or a
     * model file, is EINVAL in either case. */
    int overwrite;
    int reserved[6];  /* zero */
} VmafxParams;

#define VMAFX_MOST_ENCODES 16

VMAFX_API void vmafx_default_params(VmafxParams *params);

/* The options among these fields, each said once, for programs that offer them too:
 *
 *     TEXT(option, field, default, help), FLAG(option, field, default, help), INT(option, field, default, least, most, help)
 *
 * VMAFX_OPTIONS has those that FFmpeg's filter has as well, in its order; `option` is their name there. VMAFX_DEVICE_OPTIONS are those of them
 * that say where to compute. */
#define VMAFX_OPTIONS(TEXT, INT, FLAG) \
    TEXT(log_path, log_path, NULL, "write a report to this file, - is standard output") \
    TEXT(log_fmt, log_fmt, NULL, \
         "format of the report: xml, json, csv, sub or ndjson; if not given, xml or (vmafx only) what log_path ends with") \
    TEXT(pool, pool, "mean", "pool scores by mean, min, max, harmonic_mean, median, stddev or pN") \
    INT(n_threads, n_threads, 0, 0, INT_MAX, "number of threads, 0: as many as the process may use") \
    INT(n_subsample, n_subsample, 1, 1, INT_MAX, "score every n-th frame pair") \
    TEXT(model, model, "version=vmaf_v0.6.1", "models, |-separated: version=... or path=..., name=...") \
    TEXT(feature, feature, NULL, "more features, |-separated: name=psnr:enable_chroma=false") \
    VMAFX_DEVICE_OPTIONS(TEXT, INT, FLAG) \
    TEXT(score_fmt, score_fmt, NULL, "printf format of a score in report and metadata (default %f)") \
    TEXT(window, window, NULL, "pool the scores of windows, too: a number of seconds, or keyframe") \
    TEXT(warn_below, warn_below, NULL, "warn of windows with a lower score: NUMBER for models, KEY=NUMBER for others, |-separated") \
    TEXT(fail_below, fail_below, NULL, "end with an error if the pooled score is lower, as warn_below") \
    TEXT(openmetrics, openmetrics, NULL, "write pooled scores to this file, for Prometheus, after each window and at the end") \
    INT(encodes, encodes, 1, 1, VMAFX_MOST_ENCODES, "number of main inputs, each scored against the one reference") \
    TEXT(encode_names, encode_names, NULL, "names of several encodes, |-separated, for log and reports") \
    TEXT(range, range, NULL, "score a part of the stream: numbers of frame pairs, 100-199, or times, 12.5s-20s") \
    FLAG(pooled_only, pooled_only, 0, "keep no scores of frames, only what is pooled: for streams without an end") \
    FLAG(overwrite, overwrite, 0, "replace output files of any kind, not only reports by reports")
#define VMAFX_DEVICE_OPTIONS(TEXT, INT, FLAG) \
    TEXT(backend, backend, "auto", "where to compute: auto, cpu or hip") \
    TEXT(device, device, "auto", "GPU: auto, an index or a PCI address") \
    TEXT(import, import_frames, "auto", "frames in a GPU's memory: auto (read there if possible), device or host") \
    FLAG(fallback, fallback, 1, "go on with the CPU when the GPU fails in mid-stream") \
    INT(verify, verify, 0, 0, INT_MAX, "score every n-th frame on the CPU too, and report the difference") \
    FLAG(verify_fail, verify_fail, 0, "end with an error when verify finds a difference") \
    INT(device_wait, device_wait, 60, 0, INT_MAX, "seconds that backend=hip waits for a GPU that other processes fill")
#define VMAFX_OTHER_OPTIONS(TEXT, INT, FLAG) \
    FLAG(report_times, report_times, 1, "put the times of frames in all reports but sub") \
    FLAG(summary, summary, 0, "log mean, minimum, maximum and worst frames at the end") \
    FLAG(ignore_unknown, ignore_unknown, 0, \
         "leave out unknown keys of a model, and requests for keys that others have, with a warning")

/* Parses and checks everything that does not need a frame: options, models, features, device, report file (created
 * here, so that a bad path fails at once). On failure *out is NULL, nothing is left behind, and the message went to
 * params->log. ENOENT/EACCES/EEXIST/…: files; EINVAL: options and models; ENODEV and others: the device. */
VMAFX_API int vmafx_open(VmafxContext **out, const VmafxParams *params);

/* Frees everything and sets *ctx to NULL (NULL and *ctx == NULL are fine). Pictures still held are released. If frames were scored
 * and vmafx_finish() did not succeed, what is known is written to the report, marked partial. */
VMAFX_API void vmafx_close(VmafxContext **ctx);

/* The text of the last failure in this context; "" if there was none. Valid until the next call. */
VMAFX_API const char *vmafx_last_error(const VmafxContext *ctx);

/* -- Format -------------------------------------------------------------------------------------------------------- */

enum VmafxChroma { VMAFX_CHROMA_400, VMAFX_CHROMA_420, VMAFX_CHROMA_422, VMAFX_CHROMA_444 };
enum VmafxLayout {
    VMAFX_LAYOUT_PLANAR,     /* Y, U, V (or Y alone) */
    VMAFX_LAYOUT_SEMIPLANAR, /* Y, interleaved UV: nv12, nv16, nv24, p010, p016 */
};
enum VmafxMemory {
    VMAFX_MEMORY_HOST,
    VMAFX_MEMORY_PINNED, /* host memory that the GPU's runtime has page-locked: uploaded from where it is, without a copy */
    VMAFX_MEMORY_DEVICE, /* addresses in device memory (HIP, CUDA) */
    VMAFX_MEMORY_DMABUF, /* DRM PRIME objects of any driver (VAAPI, Vulkan, V4L2, …) */
};

/* What colors the samples mean: code points of ITU-T H.273, the same numbers as FFmpeg's AVCOL_SPC_…, AVCOL_TRC_… and
 * AVCOL_PRI_…; 0, or 2 as in H.273, where it is not known. (Matrix 0 of H.273 is RGB, which is not scored.) Few metrics
 * look at it. */
typedef struct VmafxColor {
    int matrix;
    int range;           /* 1 limited, 2 full, 0 not known; as AVCOL_RANGE_… */
    int transfer;
    int primaries;
    int chroma_location; /* 1 left, 2 center, 3 top left, 4 top, 5 bottom left, 6 bottom, 0 not known: AVCHROMA_LOC_… */
} VmafxColor;

typedef struct VmafxFormat {
    int width, height;        /* luma samples, >= 1 */
    enum VmafxChroma chroma;
    int bits;                 /* 8..16 significant bits per sample */
    enum VmafxLayout layout;
    int shift;                /* left shift of the sample in its 16-bit word: 6 for p010; 0 else. Samples of more than 8 bits are
                                 native-endian 16-bit words. */
    enum VmafxMemory memory;
    void *device_context;     /* DEVICE: the context that the addresses and VmafxPicture.stream belong to, which must outlive the
                                 VmafxContext; NULL: VmafxParams.device_context */
    int drm_fd;               /* DMABUF: a descriptor of the DRM device that the objects are of, used by vmafx_configure() only; any
                                 other, such as -1: unknown */
    VmafxColor color;       /* zeros: not known. Metrics that need it take the matrix of BT.709 for pictures of more
                                 than 576 rows, that of BT.601 for others, and limited range */
    const char *name;         /* what messages that compare the inputs call this one; copied. NULL: "reference", "distorted" */
    double fps;               /* frames per second, which few metrics look at (xpsnr); 0: not known. That of the reference counts, or
                                 where it has none that of the first encode that has one */
    uint64_t spare_pictures;  /* DEVICE, DMABUF: so many pictures can be here before one must be released. 0: few, as a decoder's surfaces
                                 are; launches are then small. From 40 on (for each encode) they are as large as they are useful */
    uint64_t whole_chroma;    /* not 0: planes of chroma have half the size of luma rounded up, in 4:2:0 and 4:2:2, as
                                 FFmpeg stores them; 0: rounded down, so that a last odd column or row of luma has no chroma
                                 of its own. libvmaf's metrics score them rounded down in either case. Inputs of odd size
                                 must have the same value */
    void *reserved[1];        /* zero */
} VmafxFormat;

/* Whether the two can be scored against each other, before there is a context or a frame: EINVAL, with a message to `log` for each
 * reason. vmafx_configure() checks it too. `color` and `memory` do not matter. */
VMAFX_API int vmafx_check_formats(const VmafxFormat *ref, const VmafxFormat *dist,
                                  void (*log)(void *log_cookie, enum VmafxLogLevel level, const char *message), void *log_cookie);

/* Fixes the format of both inputs, makes the plan, starts the workers. Width, height, chroma and bits must be equal, layout
 * and shift may differ. Warns where the colors differ, and of HDR with models that know SDR only. Once per context. EINVAL: the formats differ or a metric does not take them (too small, bits). */
VMAFX_API int vmafx_configure(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist);

/* The same with a format for each encode, which vmafx_configure() gives to all of them; `n` is VmafxParams.encodes. The name of a format is
 * by default that of the encode. */
VMAFX_API int vmafx_configure_encodes(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist, int n);

/* Bit p is set when any metric reads plane p (0 Y, 1 U, 2 V) of either input. After vmafx_configure(). */
VMAFX_API unsigned vmafx_planes_read(const VmafxContext *ctx);

/* Which inputs are read where they lie in a GPU's memory, as far as is known now: bit 0 the reference, bit 1 + i encode i. The
 * pictures of other inputs in such memory need nothing but `download`. After vmafx_configure(). */
VMAFX_API unsigned vmafx_imports(const VmafxContext *ctx);

/* -- Frames -------------------------------------------------------------------------------------------------------- */

/* A DRM PRIME object. */
typedef struct VmafxObject {
    int fd;            /* of the dma-buf; stays the application's */
    uint64_t size;     /* bytes; 0: as the descriptor says */
    uint64_t modifier; /* DRM_FORMAT_MOD_…; only linear ones (0) are read where they lie */
} VmafxObject;

/* One picture, not copied. The samples must stay valid and unchanged until release() is called, which happens exactly
 * once for each picture that is passed to vmafx_submit() or any other function, success or failure, from any thread; release may be NULL.
 * release() and download() must not call vmafx_close() or any other function with this context or reference: a worker that calls them would
 * wait for itself for ever, or go on with what was freed. */
typedef struct VmafxPicture {
    const uint8_t *data[3]; /* plane starts; semi-planar: data[1] is UV. Planes nobody reads may be NULL. DEVICE: device addresses.
                               DMABUF: not used */
    ptrdiff_t stride[3];    /* bytes between rows, may be negative */
    int has_time;           /* not 0: `time` is known, if it is a finite number */
    double time;            /* where in the stream the picture stands, in seconds. That of the distorted one is the time of the pair
                               in reports and in the summary */
    void (*release)(void *opaque);
    void *opaque;

    /* -- Pictures in a GPU's memory only -- */

    /* Fills *copy with the same picture in host memory, layout and shift as the format says; copy->release gives that back. 0 or a
     * negative errno value. Called at most once at a time for a picture, from any thread, before release(). NULL: a picture that
     * cannot be read where it lies is an error. */
    int (*download)(void *opaque, struct VmafxPicture *copy);
    void *stream;           /* DEVICE: the samples are there once all that is in this stream now is done (hipStream_t, CUstream;
                               NULL: the default stream) */
    int n_objects;          /* DMABUF: how many follow; 0: they are not to be had */
    VmafxObject object[4];
    int plane_object[3];    /* which one each plane is in, semi-planar: two planes */
    ptrdiff_t plane_offset[3]; /* bytes from its beginning */

    int keyframe;           /* distorted pictures: not 0 where VmafxParams.window="keyframe" begins a window */
    void *reserved[3];      /* zero */
} VmafxPicture;

/* Queues the next frame pair (frame numbers count from 0). Blocks while the in-flight limit is reached, so memory stays
 * bounded. Fails with the first error that any earlier frame met. */
VMAFX_API int vmafx_submit(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *dist);

/* The same for several encodes of one reference: dist[i] is the picture of encode i; NULL: it has none for this reference picture, so that
 * the encode has no pair here. What belongs to the reference alone is uploaded and computed once. An encode's scores are those that it
 * would have alone, whatever the others do: its pairs are counted from 0, and earlier pictures are those of its earlier pairs. EINVAL: `n`
 * is not VmafxParams.encodes, or all are NULL. */
VMAFX_API int vmafx_submit_encodes(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *const *dist, int n);

/* -1, 0, 1: a pair with this number (counted in its encode from the first one that is submitted) and this time, if it has one, lies before
 * VmafxParams.range, in it, or after it. -EINVAL (below -1): the range goes by times, and it has none. */
VMAFX_API int vmafx_range_place(const VmafxContext *ctx, int64_t pair, int has_time, double time);

/* 1 once VmafxParams.range, and what it needs after it, was submitted of all encodes: what comes then is not looked at. */
VMAFX_API int vmafx_range_done(const VmafxContext *ctx);

typedef struct VmafxScore {
    const char *key; /* "integer_adm2", "vmaf" */
    double value;
} VmafxScore;

/* Frames that follow one another, see VmafxParams.window. */
typedef struct VmafxPoolWindow {
    int64_t number;           /* from 0 */
    int64_t first_frame;
    int64_t last_frame;
    int has_time;             /* not 0: `time` is known */
    double time;              /* of the first frame, in seconds */
    size_t n_scores;
    const VmafxScore *scores; /* pooled */
} VmafxPoolWindow;

typedef struct VmafxFrameResult {
    int64_t frame;            /* 0-based number of the pair, in its encode */
    size_t n_scores;          /* 0 for a frame that n_subsample skips */
    const VmafxScore *scores; /* features in report order, then models; valid until the next call with this context */
    int encode;               /* whose scores these are: 0 to VmafxParams.encodes - 1 */
    const VmafxPoolWindow *window; /* the one that ends with this frame, or NULL; valid as long as `scores` */
    void *reserved[1];        /* set to zero by the library */
} VmafxFrameResult;

/* The next finished frame, in frame order within an encode, each exactly once. -EAGAIN: none is ready now (after vmafx_finish(): none is left). */
VMAFX_API int vmafx_receive(VmafxContext *ctx, VmafxFrameResult *result);

/* Writes a score as it stands in reports (see VmafxParams.score_fmt; "nan", "inf" or "-inf" if it is not finite), with a point in every
 * locale. ERANGE: `size` bytes, one of them the zero at the end, are too few; 512 are always enough. */
VMAFX_API int vmafx_format_score(const VmafxContext *ctx, double score, char *text, size_t size);

/* Like vmafx_receive(), but when no result is ready and frames are in flight, waits for them. It still returns -EAGAIN when
 * the next result needs a later frame than was submitted (motion looks one frame ahead). */
VMAFX_API int vmafx_receive_wait(VmafxContext *ctx, VmafxFrameResult *result);

/* -- A reference that stays ---------------------------------------------------------------------------------------- */

/* Keeps the frames of a reference in memory, so that any number of contexts score encodes against them, one after the other (as a search for a
 * CRF does) or at once in several threads. The reference is decoded once, and converted once where its samples are interleaved or shifted:
 *
 *     VmafxKeptReference *ref;
 *     int ret = vmafx_kept_reference_open(&ref, &ref_format, NULL);
 *     for each frame: ret = vmafx_kept_reference_add(ref, &picture);
 *     for each encode: vmafx_open(&ctx, &params);
 *                      vmafx_configure_against(ctx, ref, &dist_format, 1);
 *                      for each frame i: vmafx_submit_against(ctx, i, &dist, 1);
 *                      vmafx_finish(ctx); …; vmafx_close(&ctx);
 *     vmafx_kept_reference_close(&ref);
 *
 * All scores are those that vmafx_submit() gives for the same pictures. Of what metrics compute, the reference keeps the CPU's sums of those
 * that do not look at the encode (motion, float_motion): a later context that scores the same frames in the same order takes them from there. The
 * frames are in host memory; each context uploads them to its GPU again, those of VMAFX_MEMORY_PINNED that are not copied from where they are. With a
 * `device_budget`, the first context leaves them on the GPU for later ones.
 *
 * Frames are added by one thread at a time. Meanwhile, other threads may open contexts against the reference, and submit against the frames
 * that are there already. Close it when no other call has it. */
typedef struct VmafxKeptReferenceParams {
    /* How many bytes of samples the reference may keep: of a picture that is kept as it is, stride by rows of all its planes; of a copy, the
     * rows of its planes, each rounded up to 64 bytes. Default 0: 2 GiB, which are 690 frames of 1920x1080 in 4:2:0 and 8 bits. */
    uint64_t budget;
    /* Bit p is set when plane p (0 Y, 1 U, 2 V) is kept; 0 (default): all. The VMAF models v0.6 read luma alone: 1. A context whose metrics
     * read other planes cannot be configured against the reference; vmafx_planes_read() of one that has the same metrics tells which they are. */
    unsigned planes;
    /* 0 (default): a picture whose planes metrics can read where they lie is kept as it is, and released when the reference goes. Samples
     * that are interleaved or shifted, and pictures in a GPU's memory, are copied. 1: all are copied, so that every picture is released
     * before vmafx_kept_reference_add() returns, as decoders with few pictures need it. */
    int copy;
    /* As in VmafxParams. */
    void (*log)(void *log_cookie, enum VmafxLogLevel level, const char *message);
    void *log_cookie;
    /* How many bytes of each GPU's memory the frames may take besides, with rows rounded up to 128 bytes. Not 0: a context on a GPU leaves copies there
     * of the planes that it uploads, and later contexts on that GPU read these instead of uploading the frames again. Frames that the budget or the
     * GPU have no room for are uploaded each time. Until the reference goes, the GPU stays open, which makes the next vmafx_open() fast, and
     * the process keeps its place on it. Not where a context runs in VmafxParams.device_context. Default 0: none. */
    uint64_t device_budget;
    void *reserved[3]; /* zero */
} VmafxKeptReferenceParams;

/* `format` is that of all its frames, as vmafx_configure() takes it; NULL for `params` means the defaults. On failure *out is NULL, and the
 * message went to params->log. EINVAL: the format or the params are wrong. */
VMAFX_API int vmafx_kept_reference_open(VmafxKeptReference **out, const VmafxFormat *format, const VmafxKeptReferenceParams *params);

/* Adds the next frame; they are counted from 0. The picture becomes the reference's, as in vmafx_submit(): release() is called exactly once,
 * success or failure. After a failure the reference is as it was, and all frames that it has can be scored against. EINVAL: a plane is
 * missing. ENOMEM: the budget does not allow the frame, and the message says how many frames fit and what to do; or there is no memory. */
VMAFX_API int vmafx_kept_reference_add(VmafxKeptReference *ref, const VmafxPicture *picture);

/* How many frames it has, and how many bytes of the budget they take. Any thread. */
VMAFX_API int64_t vmafx_kept_reference_frames(const VmafxKeptReference *ref);
VMAFX_API uint64_t vmafx_kept_reference_bytes(const VmafxKeptReference *ref);

/* How many bytes of GPUs' memory they take. Any thread. */
VMAFX_API uint64_t vmafx_kept_reference_device_bytes(const VmafxKeptReference *ref);

/* The text of the last failure of vmafx_kept_reference_add(); "" if there was none. Valid until its next call. */
VMAFX_API const char *vmafx_kept_reference_last_error(const VmafxKeptReference *ref);

/* Sets *ref to NULL (NULL and *ref == NULL are fine). Contexts that were configured against it keep its frames: these go, and their pictures
 * are released, when the last of them is closed. */
VMAFX_API void vmafx_kept_reference_close(VmafxKeptReference **ref);

/* Instead of vmafx_configure(): this context takes its reference from there. `dist` has a format for each encode, `n` is VmafxParams.encodes.
 * EINVAL: as there; or a metric reads a plane that the reference does not keep. */
VMAFX_API int vmafx_configure_against(VmafxContext *ctx, const VmafxKeptReference *ref, const VmafxFormat *dist, int n);

/* Instead of vmafx_submit_encodes(): scores pictures of the encodes against frame `frame` of the reference. Frames may be left out, repeated
 * and taken in any order: the pairs are counted from 0 as they come, and earlier pictures are those of earlier pairs. EINVAL: the
 * reference does not have this frame (yet); the pictures are released, and the stream goes on as if the call had not been made. Other
 * failures as vmafx_submit_encodes(). */
VMAFX_API int vmafx_submit_against(VmafxContext *ctx, int64_t frame, const VmafxPicture *const *dist, int n);

/* -- End of stream ------------------------------------------------------------------------------------------------- */

/* What makes scores doubtful. */
enum VmafxDoubtKind {
    VMAFX_DOUBT_UNMATCHED_DISTORTED, /* VmafxPairing.unmatched_distorted is not 0, and likewise the next three */
    VMAFX_DOUBT_UNMATCHED_REFERENCE,
    VMAFX_DOUBT_REPEATED_REFERENCE,
    VMAFX_DOUBT_REPEATED_DISTORTED,
    VMAFX_DOUBT_TIME_DIFFERENCE,     /* the times of a pair lie too far apart for frames of one time */
    VMAFX_DOUBT_CORRUPT_DISTORTED,   /* VmafxPairing.corrupt_distorted is not 0, and likewise the next one */
    VMAFX_DOUBT_CORRUPT_REFERENCE,
};

/* A doubt of one kind. The count is in VmafxPairing. */
typedef struct VmafxDoubt {
    enum VmafxDoubtKind kind;
    /* The pairs that are concerned have numbers from `from` to `end` - 1; a frame without a pair counts for the pair
     * that follows. `end` 0: not known. */
    int64_t from, end;
    double frame_duration;       /* how long a frame lasts on average, in seconds; of VMAFX_DOUBT_TIME_DIFFERENCE */
    const char *const *remedies; /* what the user can do, each as a sentence without its period; NULL: nothing */
    size_t n_remedies;
    void *reserved[4];           /* zero */
} VmafxDoubt;

/* How the frames were paired, for the report. All counts are of frames. */
typedef struct VmafxPairing {
    int64_t paired;             /* pairs scored */
    int64_t unmatched_distorted;     /* distorted frames that met no reference frame */
    int64_t unmatched_reference;      /* reference frames that were never used */
    int64_t repeated_reference;       /* pairs whose reference frame had been used before */
    int64_t repeated_distorted;      /* pairs whose distorted frame had been used before */
    double max_time_difference; /* largest |pts(dist) - pts(ref)| of a pair, in seconds */
    int cut_short;              /* not 0: the inputs were not read to their end; the report is marked partial */
    int encode;                 /* which one these are of: 0 to VmafxParams.encodes - 1 */
    int64_t corrupt_distorted;       /* pairs whose distorted frame is damaged, as its decoder says */
    int64_t corrupt_reference;        /* pairs whose reference frame is */
    /* Where the doubtful pairs are and what helps, each kind at most once. Counts that are not 0 are doubts without
     * this, too. */
    const VmafxDoubt *doubts;
    size_t n_doubts;
    void *reserved[2];          /* zero */
} VmafxPairing;

/* Before vmafx_finish(), or at any time before vmafx_close() for a partial report. Everything is copied. vmafx_finish()
 * logs the doubts at VMAFX_LOG_WARNING, and reports have them as data. EINVAL: no such encode, no such kind
 * of doubt. */
VMAFX_API int vmafx_set_pairing(VmafxContext *ctx, const VmafxPairing *pairing);

/* Waits for all frames, pools, writes and renames the report. EINVAL when no frame was scored, or none of an encode; ERANGE when a score is
 * lower than VmafxParams.fail_below: the scores, and of several encodes those of the others, are there all the same. Results that were not
 * received yet can still be received. */
VMAFX_API int vmafx_finish(VmafxContext *ctx);

/* 1 once vmafx_finish() has scored all frames: from then on there are model scores, even if it failed to write the report; else 0. */
VMAFX_API int vmafx_finished(const VmafxContext *ctx);

/* Models in the order of VmafxParams.model. */
VMAFX_API int vmafx_model_count(const VmafxContext *ctx);

/* The pooled score of model i, of encode 0; *name is its report key ("vmaf" unless `name=` says otherwise), valid as long as the
 * context. -EINVAL before vmafx_finished(). */
VMAFX_API int vmafx_model_score(VmafxContext *ctx, int i, const char **name, double *score);

/* The main scores of the features that VmafxParams.feature names, in the order of reports, pooled likewise; *name is the key in
 * reports: "psnr_y", "ssimulacra2". It is infinite or NaN where no frame's score is finite. -EINVAL before vmafx_finished(). */
VMAFX_API int vmafx_feature_count(const VmafxContext *ctx);
VMAFX_API int vmafx_feature_score(VmafxContext *ctx, int i, const char **name, double *score);

/* The same of any encode; EDOM for a model of one that has no finite score. */
VMAFX_API int vmafx_encode_model_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);
VMAFX_API int vmafx_encode_feature_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);

/* What log and reports call an encode: VmafxParams.encode_names. NULL: there is none of that number. Valid as long as the context. */
VMAFX_API const char *vmafx_encode_name(const VmafxContext *ctx, int encode);

/* Scores of the whole stream ("apsnr_y"): the i-th, in the order of reports. -EINVAL: there is no such one, or not yet (vmafx_finished()).
 * *name is valid as long as the context. */
VMAFX_API int vmafx_aggregate(const VmafxContext *ctx, int i, const char **name, double *value);

/* -- Pooling ------------------------------------------------------------------------------------------------------- */

/* Pools `n` scores of frames, in the order of the frames, as reports, windows and vmafx_model_score() pool them, to the
 * last bit. `method` is a text as VmafxParams.pool. Scores that are not finite are left out; the others are
 * s[0] … s[n-1] in the order of frames, and o[0] … o[n-1] in ascending order:
 *
 *     mean            sum(s[i]) / n
 *     harmonic_mean   n / sum(1 / (s[i] + 1)) - 1
 *     min, max        o[0], o[n-1]
 *     stddev          sqrt(sum((s[i] - mean)^2) / n)
 *     pN, percN       (1 - f) o[k] + f o[k+1], where N / 100 (n - 1) = k + f with a whole k and 0 <= f < 1
 *     median          p50
 *
 * Sums begin with the first frame and are of doubles. The stddev of scores that are all equal is 0, and each percentile
 * of them is that score. Where no score is finite, *pooled is what all of them are (inf, -inf), and NaN if they differ,
 * or for stddev.
 *
 * `key` is what reports call the score, or NULL: the mean of some metrics is not the arithmetic one. The mean of
 * cvvdp's JODs is the JOD of the norm of the differences that they stand for (docs/metrics.md).
 *
 * EINVAL: no such method. EDOM: there are no scores. */
VMAFX_API int vmafx_pool(const char *method, const double *values, size_t n, double *pooled);
VMAFX_API int vmafx_pool_key(const char *key, const char *method, const double *values, size_t n, double *pooled);

/* -- What scores are ----------------------------------------------------------------------------------------------- */

/* Which scores of a feature tell of the worse pictures. */
enum VmafxWorse { VMAFX_WORSE_LOW, VMAFX_WORSE_HIGH, VMAFX_WORSE_NEITHER };

typedef struct VmafxScoreFacts {
    const char *key;       /* what reports call it */
    const char *metric;    /* the extractor that it belongs to; NULL: it is a model's */
    enum VmafxWorse worse;
    int main;              /* 1: a score to read first: of a model, or the one that stands for its metric */
    int alone;             /* 1: people read it without a model, as psnr_y; 0: models do, or nobody */
    const char *unit;      /* "dB", "JOD"; NULL: none */
    void *reserved[4];     /* zero */
} VmafxScoreFacts;

/* Fills in the facts of the i-th score that metrics provide, in report order. Options may add to the end of its key,
 * "psnr_y_…". Static memory. -EINVAL: there are not so many. */
VMAFX_API int vmafx_known_score(int i, VmafxScoreFacts *facts);

/* -- Models and reports without a stream --------------------------------------------------------------------------- */

/* A model by itself: predicts from scores of features, wherever these come from. `model` is one entry of VmafxParams.model. On failure *out
 * is NULL, and the message went to `log`, which may be NULL. EINVAL, ENOENT, …: as vmafx_open(). */
VMAFX_API int vmafx_predictor_open(VmafxPredictor **out, const char *model,
                                   void (*log)(void *log_cookie, enum VmafxLogLevel level, const char *message), void *log_cookie);

/* Sets *predictor to NULL (NULL and *predictor == NULL are fine). */
VMAFX_API void vmafx_predictor_close(VmafxPredictor **predictor);

/* What VmafxParams.feature has to name, so that a context computes all that the model needs. Texts of a predictor are valid as long as it. */
VMAFX_API const char *vmafx_predictor_feature(const VmafxPredictor *predictor);

/* What reports call the i-th score that the model needs, "integer_adm2", and the i-th that it gives: "vmaf", or of a bootstrap collection
 * "vmaf", "vmaf_0001", …, "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi". NULL past the last. */
VMAFX_API const char *vmafx_predictor_input(const VmafxPredictor *predictor, int i);
VMAFX_API const char *vmafx_predictor_output(const VmafxPredictor *predictor, int i);

/* Fills `outputs` from `inputs`, all of them in these orders. Any number of threads at once. */
VMAFX_API int vmafx_predict(const VmafxPredictor *predictor, const double *inputs, double *outputs);

/* What a report says of a stream besides its scores. */
typedef struct VmafxReportStream {
    const VmafxPicture *pictures; /* one for each of VmafxReport.frames, of which `has_time`, `time` and `keyframe` count; NULL: nothing is known */
    const VmafxPairing *pairing;  /* NULL: not known. `cut_short`: the report is marked partial */
    const char *window;           /* as VmafxParams.window; then no frame may be left out */
    const char *pool;             /* as VmafxParams.pool, for the windows */
    /* What the scores are, where other reports of them have said it, above all which ones were asked for (`main`). A
     * score that is not listed is what metrics say of its key, else a model's. */
    const VmafxScoreFacts *facts;
    size_t n_facts;
    void *reserved[2];            /* zero */
} VmafxReportStream;

/* A report of scores that the application has. */
typedef struct VmafxReport {
    const char *path;             /* these three as VmafxParams.log_path, log_fmt and score_fmt; not "ndjson" */
    const char *format;
    const char *score_fmt;
    int width, height;            /* of the pictures, for "xml" */
    int n_subsample;              /* frames whose number it does not divide are left out; 0 is 1 */
    double fps;                   /* frames scored per second */
    size_t n_frames;
    const VmafxFrameResult *frames; /* of these, `frame`, `n_scores` and `scores` count. Columns come in the order in which they appear */
    size_t n_aggregates;
    const VmafxScore *aggregates; /* of the whole stream */
    void (*log)(void *log_cookie, enum VmafxLogLevel level, const char *message);
    void *log_cookie;
    const VmafxReportStream *stream; /* NULL: none */
    int overwrite;                /* as VmafxParams.overwrite */
    int reserved[3];              /* zero */
} VmafxReport;

/* EINVAL: no path, no such format or window, a frame number below 0. EEXIST: a file that is not a report has the path.
 * EIO, ENOSPC, …: it
 * could not be written. The message goes to report->log. */
VMAFX_API int vmafx_write_report(const VmafxReport *report);

/* -- Discovery ----------------------------------------------------------------------------------------------------- */

/* Names of the built-in models and of the extractors: the i-th, or NULL past the last. Static memory. */
VMAFX_API const char *vmafx_builtin_model(int i);
VMAFX_API const char *vmafx_extractor(int i);

#ifdef __cplusplus
}
#endif

#endif
