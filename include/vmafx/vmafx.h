/* vmafx: full-reference video quality (VMAF and the metrics around it), on the CPU and on the GPU.
 *
 * The life of a stream:
 *
 *     VmafxOptions *options = vmafx_options_new();
 *     int ret = vmafx_options_set(options, "model", "version=vmaf_v0.6.1");
 *     VmafxContext *ctx;
 *     ret = vmafx_open(&ctx, options);                       // models, features, device, report
 *     vmafx_options_free(&options);
 *     ret = vmafx_configure(ctx, &ref_format, &dist_format); // once, before the first frame
 *     for each pair: ret = vmafx_submit(ctx, &ref, &dist);   // blocks while too many frames are in flight
 *                    while (vmafx_receive(ctx, &result) == 0) { … }   // scores that are ready, in frame order
 *     ret = vmafx_finish(ctx);                               // scores the last frames, pools, writes the report
 *     ret = vmafx_model_score(ctx, 0, &name, &score);
 *     vmafx_close(&ctx);
 *
 * Several encodes of one reference can be scored together (vmafx_submit_encodes()) or one after the other
 * (VmafxKeptReference).
 *
 * Errors. A function that can fail returns 0 or a negative errno value, as AVERROR(errno) is. The message of a failure
 * goes once to the log callback, at VMAFX_LOG_ERROR, and stays at vmafx_last_error(). No failure is -EAGAIN: only
 * vmafx_receive() returns that, for "not yet". After a failure of vmafx_configure(), vmafx_submit() or vmafx_receive()
 * the stream cannot continue: later calls return the same error, and the application closes the context.
 *
 * Threads. One thread at a time uses a context; different contexts are independent. The library never prints, aborts or
 * throws. Callbacks (VmafxLogCallback, VmafxPicture.release and VmafxPicture.download) must not leave by a C++
 * exception or longjmp(): the library would be interrupted in the middle of its work, and one of its own threads would
 * end the process.
 *
 * Processes. A child of fork() must not use or close a context that its parent opened: the child has none of the
 * library's threads and would wait for them for ever. Calling exec() after fork() is safe.
 *
 * Compatibility. The binary interface is numbered in the library's name, libvmafx.so.0, and in the version of its
 * symbols, VMAFX_0. It may break for the last time before the release of 0.1.0; from that release on, under one number,
 *  - no function is removed or changes its parameters;
 *  - no struct changes its size, and no field moves or changes its type;
 *  - no enumerator changes its value;
 *  - no option is removed or changes its type.
 * New are functions, enumerators after the last one, options, and fields that take the place of words of `reserved`.
 * Every struct ends with 16 such words. An application fills a struct with zeros ({0}) before it sets fields; zero
 * means what the library did before it knew the field. The library fills the structs that it hands out, and refuses
 * with EINVAL a struct with a word that it does not know. tests/engine/abi.txt records the interface. */
#ifndef VMAFX_VMAFX_H
#define VMAFX_VMAFX_H

/* VMAFX_DECLARATIONS_ONLY leaves out all that is not plain C declarations, for programs that read the header after a
 * preprocessor (tools/make_declarations.py). */
#ifdef VMAFX_DECLARATIONS_ONLY
#define VMAFX_API
#else
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __GNUC__
#define VMAFX_API __attribute__((visibility("default")))
#else
#define VMAFX_API
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct VmafxOptions VmafxOptions;
typedef struct VmafxContext VmafxContext;
typedef struct VmafxKeptReference VmafxKeptReference;
typedef struct VmafxPredictor VmafxPredictor;

/* The version of this header. */
#define VMAFX_VERSION_MAJOR 0
#define VMAFX_VERSION_MINOR 1
#define VMAFX_VERSION_PATCH 0

/* The version of the library that runs, for logs and reports: "0.1.0", or "0.1.0-g80c0f90" when the library was built
 * from a git checkout. Static memory. */
VMAFX_API const char *vmafx_version(void);

/* The largest value of the option `encodes`. */
#define VMAFX_MOST_ENCODES 16

/* -- The log ------------------------------------------------------------------------------------------------------- */

enum VmafxLogLevel { VMAFX_LOG_ERROR, VMAFX_LOG_WARNING, VMAFX_LOG_INFO, VMAFX_LOG_VERBOSE, VMAFX_LOG_DEBUG };

/* Receives a message: one line without a line break, valid during the call. Any of the library's threads may call it,
 * one call at a time for each context. */
typedef void (*VmafxLogCallback)(void *log_cookie, enum VmafxLogLevel level, const char *message);

/* -- Options ------------------------------------------------------------------------------------------------------- */

enum VmafxOptionType {
    VMAFX_OPTION_TEXT,
    VMAFX_OPTION_INT,
    VMAFX_OPTION_FLAG, /* 0 or 1 */
};

/* One option of a session, as data. */
typedef struct VmafxOption {
    const char *name;
    enum VmafxOptionType type;
    const char *default_text; /* TEXT: the default, or NULL for none */
    int default_number;       /* INT, FLAG: the default */
    int least, most;          /* INT, FLAG: the range of values */
    const char *help;         /* one line */
    int in_filter;            /* 1: FFmpeg's filter vmafx has an option of this name, type, default and range; 0: it has
                                 not */
    void *reserved[16];       /* zero */
} VmafxOption;

/* The i-th option, or NULL past the last. Static memory. VMAFX_OPTIONS describes them all. */
VMAFX_API const VmafxOption *vmafx_option(int i);

/* New options, all with their defaults, and no log; NULL when memory is exhausted. The application owns them, and may
 * open any number of contexts with them. */
VMAFX_API VmafxOptions *vmafx_options_new(void);

/* Frees the options and sets *options to NULL (NULL and *options == NULL are allowed). Open contexts do not need
 * them. */
VMAFX_API void vmafx_options_free(VmafxOptions **options);

/* Sets the option `name` of any type from a text, which is copied: an INT is written in decimal, a FLAG as 0, 1, false
 * or true. NULL sets the default. ENOENT: the library has no option of this name, and the message suggests a similar
 * one; EINVAL: the text is not a number, or the number is out of range. After a failure the option has the value that
 * it had. Texts themselves (models, windows, …) are checked by vmafx_open(). */
VMAFX_API int vmafx_options_set(VmafxOptions *options, const char *name, const char *value);

/* Sets an INT or a FLAG. Errors: as vmafx_options_set(); EINVAL also when the option is a TEXT. */
VMAFX_API int vmafx_options_set_int(VmafxOptions *options, const char *name, int value);

/* The message of the last failure of vmafx_options_set() or vmafx_options_set_int(); "" if there was none. Valid until
 * the next call with these options. */
VMAFX_API const char *vmafx_options_last_error(const VmafxOptions *options);

/* Sends the messages of these options, and of contexts that are opened with them, to `log`; NULL (the default) drops
 * them. The application keeps `log_cookie` valid until the last of these contexts is closed. */
VMAFX_API void vmafx_options_set_log(VmafxOptions *options, VmafxLogCallback log, void *log_cookie);

/* The interface that a device context belongs to. */
enum VmafxPlatform { VMAFX_PLATFORM_NONE, VMAFX_PLATFORM_HIP, VMAFX_PLATFORM_CUDA };

/* Runs on the GPU inside a context of the application (hipCtx_t, CUcontext), where the option `device` is "auto" or
 * names the device of that context. The application keeps owning the context, which must outlive every VmafxContext
 * that is opened with it; nothing in it is changed. VMAFX_PLATFORM_NONE (the default) takes it away. */
VMAFX_API void vmafx_options_set_device_context(VmafxOptions *options, enum VmafxPlatform platform,
                                                void *device_context);

/* All options, each said once, for programs that declare them at compile time. Other programs walk vmafx_option().
 *
 *     TEXT(name, default, help), FLAG(name, default, help), INT(name, default, least, most, help)
 *
 * VMAFX_FILTER_OPTIONS are those that FFmpeg's filter vmafx has, in its order; VMAFX_DEVICE_OPTIONS are the part of
 * them that says where to compute; VMAFX_OTHER_OPTIONS are those that the filter sets by its own rules. */
#define VMAFX_OPTIONS(TEXT, INT, FLAG) \
    VMAFX_FILTER_OPTIONS(TEXT, INT, FLAG) \
    VMAFX_OTHER_OPTIONS(TEXT, INT, FLAG)

#define VMAFX_FILTER_OPTIONS(TEXT, INT, FLAG) \
    /* The report. It is written under another name in the same folder and renamed when it is complete. "-": standard
     * output; "pipe:3": that file descriptor, open for writing. With several encodes, "%d" in the path stands for the
     * number of the encode, and each encode has its own report; without it, one report ("json", "ndjson" or "csv") has
     * them all. */ \
    TEXT(log_path, NULL, "write a report to this file, - is standard output") \
    /* "xml", "json", "csv", "sub", or "ndjson": a line for each frame as soon as it is scored. Without it, the ending
     * of `log_path` decides ("report.json"); any other ending is "xml". */ \
    TEXT(log_fmt, NULL, \
         "format of the report: xml, json, csv, sub or ndjson; if not given, xml or (vmafx only) what log_path " \
         "ends with") \
    /* How scores of frames become one: "mean", "min", "max", "harmonic_mean", "median", "stddev", or a percentile:
     * "p5", "perc5", "p99.9". Anything else is taken as mean, with a warning. */ \
    TEXT(pool, "mean", "pool scores by mean, min, max, harmonic_mean, median, stddev or pN") \
    /* Worker threads. 0: as many as the process may use, by its CPU affinity and cgroup. */ \
    INT(n_threads, 0, 0, INT_MAX, "number of threads, 0: as many as the process may use") \
    /* Scores the pairs whose number is a multiple of this. */ \
    INT(n_subsample, 1, 1, INT_MAX, "score every n-th frame pair") \
    /* `|`-separated models, each `key=value[:key=value…]` with the keys version, path, name, disable_clip,
     * enable_transform and `<extractor>.<option>`; a first word without a key is the version. Inside a value, `:` and
     * `\` are written `\:` and `\\`. "": no model (`feature` must then name something). */ \
    TEXT(model, "version=vmaf_v0.6.1", "models, |-separated: version=... or path=..., name=...") \
    /* `|`-separated features, each `name=<extractor>[:option=value…]`. Two requests that write the same key with
     * different options are an error; see `ignore_unknown`. */ \
    TEXT(feature, NULL, "more features, |-separated: name=psnr:enable_chroma=false") \
    VMAFX_DEVICE_OPTIONS(TEXT, INT, FLAG) \
    /* The printf format of one double in reports and in vmafx_format_score(), such as "%.17g". Without it, "%.6f". */ \
    TEXT(score_fmt, NULL, "printf format of a score in report and metadata (default %f)") \
    /* Cuts the stream into windows, each pooled by `pool`. "2" or "0.5": a window has that many seconds, counted from
     * the first pair; all pictures must have a time. "keyframe": a window begins with each distorted picture that has
     * `keyframe` set. Windows appear in VmafxFrameResult and, as they end, in "json", "xml" and "ndjson" reports. */ \
    TEXT(window, NULL, "pool the scores of windows, too: a number of seconds, or keyframe") \
    /* `|`-separated lower bounds: "80" for every model, "psnr_y=35" for the score with that key in reports. A window
     * with a lower pooled score (without windows, the stream) logs a warning. */ \
    TEXT(warn_below, NULL, \
         "warn of windows with a lower score: NUMBER for models, KEY=NUMBER for others, |-separated") \
    /* Lower bounds of the whole stream, written as in `warn_below`. vmafx_finish() returns ERANGE when a score is
     * lower; the report is written and the scores can be read even then. */ \
    TEXT(fail_below, NULL, "end with an error if the pooled score is lower, as warn_below") \
    /* A file in the OpenMetrics format, for the textfile collector of Prometheus' node exporter. It is replaced in one
     * step after each window and at the end. It has the pooled scores of the models and the main scores of the
     * features. */ \
    TEXT(openmetrics, NULL, "write pooled scores to this file, for Prometheus, after each window and at the end") \
    /* How many distorted pictures belong to each reference picture: see vmafx_submit_encodes(). */ \
    INT(encodes, 1, 1, VMAFX_MOST_ENCODES, "number of main inputs, each scored against the one reference") \
    /* `|`-separated names of the encodes in log and reports, when there are several. An encode without a name is called
     * "main0", "main1", … */ \
    TEXT(encode_names, NULL, "names of several encodes, |-separated, for log and reports") \
    /* Scores a part of the stream, whose report can be merged with those of the other parts. "100-199": numbers of
     * pairs, counted from the first that is submitted. "12.5s-20s": pairs from 12.5 s on and before 20 s; all distorted
     * pictures must have a time. An end that is left out is that of the stream. Temporal metrics read pairs around the
     * part, at least one on each side, which must be submitted too; they are not scored. Pairs further away are
     * ignored: see vmafx_range_done(). */ \
    TEXT(range, NULL, "score a part of the stream: numbers of frame pairs, 100-199, or times, 12.5s-20s") \
    /* For streams without an end: memory does not grow with the stream. Scores of a frame are dropped once they were
     * received and written, and only their sums stay. `pool` must be mean, min, max or harmonic_mean; a report must be
     * "ndjson", and its last line has these four and no windows; a summary does not list the worst frames. Excludes
     * `range` and cvvdp. */ \
    FLAG(pooled_only, 0, "keep no scores of frames, only what is pooled: for streams without an end") \
    /* Outputs (`log_path`, `openmetrics`, `maps`, heatmaps_path of features) replace any file. Without it, they replace
     * empty files and those that have the content of such an output: a report of vmafx or libvmaf in any format, an
     * OpenMetrics file, maps and heat maps of the same size. Other files are EEXIST, from vmafx_open(), for both kinds
     * of maps from vmafx_configure(). In both cases an output that is another output, a model file, or a mask of `roi`,
     * is EINVAL. */ \
    FLAG(overwrite, 0, "replace output files of any kind, not only reports by reports") \
    /* Looks at the pictures beside the scores, which it never changes, and finds where tags and times say one thing and
     * the pictures another: see vmafx_finding(). "warn": vmafx_finish() logs a warning for each kind of finding, and
     * reports have findings among their `doubts`. "fail": in addition, vmafx_finish() returns EILSEQ when a finding is
     * at least likely; the report is written and the scores can be read even then. "log": warnings alone, for programs
     * made for libvmaf. "off": pictures are not looked at. They are not either if no metric reads the luma of both
     * pictures of a pair. Chroma is looked at where it has data in host memory, or metrics read it. */ \
    TEXT(check, "warn", "look whether the pictures of a pair belong together: off, log, warn or fail") \
    /* A folder, made if need be, for maps: where in each frame the scores of local metrics come from (VmafxMap). The
     * file NAME_WxH_f32.gray has a map's values of all scored frames from the first on, as native floats of 32 bits,
     * rounded, W in a row, H rows for each frame; with several encodes NAME_encode0_WxH_f32.gray. With `range`, they
     * lie in a folder of the range's name there: range_100-199. Metrics with maps run on the CPU, unless kernels make
     * them. EINVAL: no metric has maps. */ \
    TEXT(maps, NULL, "write maps of where frames lose their scores to files in this folder") \
    /* Converts both pictures of a pair to one color space before they are scored, so that HDR can be compared with SDR:
     * "bt709", "bt2020", "bt2020-pq", "bt2020-hlg", "p3-pq", "ictcp-pq" or "ictcp-hlg", and then settings, each
     * `:key=value`: bits (8 to 16; default: the most that an input has), chroma (420, 422 or 444; default: the finest),
     * range (limited or full; default: limited), tones (bt2390 or clip; default: bt2390). White of SDR is 203 cd/m2
     * (BT.2408); from HDR to SDR, tones=bt2390 maps 1000 cd/m2 to white by the EETF of BT.2390, and tones=clip cuts off
     * above white. The inputs may differ in bits, chroma and color, and must tell their matrix, transfer and primaries:
     * EINVAL from vmafx_configure() if they do not. Reports say so under `vmafx`. Models with a target of their own
     * exclude it. The pictures are converted on the CPU; those in a GPU's memory are downloaded. */ \
    TEXT(convert, NULL, \
         "convert both inputs to a color space first: bt709, bt2020, bt2020-pq, bt2020-hlg, p3-pq, ictcp-pq or " \
         "ictcp-hlg") \
    /* `|`-separated regions of the pictures, each with `NAME=` before it or without, that have scores of their own,
     * whose keys end with a point and the region's name: "psnr_y.face", "vmaf.center". "face=640x360+100+50": width,
     * height, first column and first row in samples of luma; "logo=FILE.pgm": a gray picture of the pictures' size,
     * whose samples say how much those of luma count; "active": what black bars leave of each frame; "center": samples
     * in the middle count most. Whole pictures keep their scores. docs/maps.md defines all of this. The metrics run on
     * the CPU, as with `maps`. EINVAL: it is no region, or lies outside the picture, or nothing that is scored has
     * scores of regions. */ \
    TEXT(roi, NULL, \
         "score regions of the picture, too, |-separated: NAME=WxH+X+Y, NAME=FILE.pgm (a mask), active or center")

#define VMAFX_DEVICE_OPTIONS(TEXT, INT, FLAG) \
    /* "auto": the GPU as soon as it is open, until then, or without a usable GPU, the CPU; a log line says why. "cpu":
     * the CPU. "hip": the GPU; vmafx_open() fails with the cause (ENODEV, EACCES, ENOSYS, …) if it cannot be used. */ \
    TEXT(backend, "auto", "where to compute: auto, cpu or hip") \
    /* "auto", an index from 0, or a PCI address: "0000:03:00.0". */ \
    TEXT(device, "auto", "GPU: auto, an index or a PCI address") \
    /* Pictures in a GPU's memory. "auto": they are read where they lie if that is possible, else
     * downloaded, and a log line says why. "device": pictures that would be downloaded are an error. "host": all are
     * downloaded. */ \
    TEXT(import, "auto", "frames in a GPU's memory: auto (read there if possible), device or host") \
    /* 1: the CPU continues with the frame at which the GPU fails. 0: a failing GPU is EIO. */ \
    FLAG(fallback, 1, "go on with the CPU when the GPU fails in mid-stream") \
    /* Scores every n-th frame on the CPU too, and reports the largest difference to the GPU; 0: no frame. */ \
    INT(verify, 0, 0, INT_MAX, "score every n-th frame on the CPU too, and report the difference") \
    /* A difference that `verify` finds is EBADMSG for that frame; without it, the difference is only reported. */ \
    FLAG(verify_fail, 0, "end with an error when verify finds a difference") \
    /* Each GPU admits a limited number of processes (docs/hip.md). A process beyond them runs on the CPU with "auto";
     * with "hip", vmafx_open() waits up to this many seconds for a place, then fails with EBUSY. */ \
    INT(device_wait, 60, 0, INT_MAX, "seconds that backend=hip waits for a GPU that other processes fill") \
    /* About how many frame pairs the stream has; 0: nobody knows. With backend "auto" it helps to decide whether a GPU
     * is opened, and when. It changes no score, and the stream may be shorter or longer. */ \
    INT(expected_frames, 0, 0, INT_MAX, "about how many frame pairs come, for backend=auto; 0: unknown")

#define VMAFX_OTHER_OPTIONS(TEXT, INT, FLAG) \
    /* 1: all reports but "sub" have the times of frames (VmafxPicture.time). 0: only "json" and "ndjson" do, for
     * programs made for libvmaf, which take every attribute of "xml" and every column of "csv" for a score. */ \
    FLAG(report_times, 1, "put the times of frames in all reports but sub") \
    /* vmafx_finish() logs a line for each model and each feature of `feature`, at VMAFX_LOG_INFO: mean, minimum,
     * maximum and the worst frames. */ \
    FLAG(summary, 0, "log mean, minimum, maximum and worst frames at the end") \
    /* For programs made for libvmaf: a warning takes the place of two errors. A model's unknown keys are left out; of
     * two requests that write the same key with different options, the first is reported (models still read the one
     * that they ask for). */ \
    FLAG(ignore_unknown, 0, \
         "leave out unknown keys of a model, and requests for keys that others have, with a warning") \
    /* With `check` "warn" or "fail": results name the findings that are sure by the pairs before them (`sure` of
     * VmafxFrameResult), and the log warns once of each kind as soon as it is sure. Each time that this is
     * computed costs what the end of the look costs otherwise: after each 48 pairs at first, then after each eighth of
     * the stream, and at most 768 pairs. Always on with a report in NDJSON and with `pooled_only`. */ \
    FLAG(early_doubts, 0, "tell of what the pictures are sure while the stream runs, not only at its end") \
    /* Results have maps (`maps` of VmafxFrameResult). They take memory from the time that a frame is scored until it is
     * received: receive after each pair that is submitted. EINVAL: no metric has maps. */ \
    FLAG(result_maps, 0, "have results of frames hold maps of where the frames lose their scores")

/* -- Opening ------------------------------------------------------------------------------------------------------- */

/* Checks everything that does not need a frame: options, models, features, the device, and the report, which is created
 * here so that a bad path fails at once. NULL for `options` means the defaults. The options are copied. On failure *out
 * is NULL, nothing is left behind, and the message went to the options' log. EINVAL: options and models; ENOENT,
 * EACCES, EEXIST, …: files; ENODEV and others: the device. */
VMAFX_API int vmafx_open(VmafxContext **out, const VmafxOptions *options);

/* Frees the context and sets *ctx to NULL (NULL and *ctx == NULL are allowed). Pictures that are still held are
 * released. If frames were scored and vmafx_finish() did not succeed, the scores are written to the report, which is
 * marked partial. */
VMAFX_API void vmafx_close(VmafxContext **ctx);

/* The message of the last failure in this context; "" if there was none. Valid until the next call. */
VMAFX_API const char *vmafx_last_error(const VmafxContext *ctx);

/* -- Formats ------------------------------------------------------------------------------------------------------- */

enum VmafxChroma { VMAFX_CHROMA_400, VMAFX_CHROMA_420, VMAFX_CHROMA_422, VMAFX_CHROMA_444 };
enum VmafxLayout {
    VMAFX_LAYOUT_PLANAR,     /* Y, U, V (or Y alone) */
    VMAFX_LAYOUT_SEMIPLANAR, /* Y, interleaved UV: nv12, nv16, nv24, p010, p016 */
};
enum VmafxMemory {
    VMAFX_MEMORY_HOST,
    VMAFX_MEMORY_PINNED, /* host memory that the GPU's runtime has page-locked: uploaded from there, without a copy */
    VMAFX_MEMORY_DEVICE, /* addresses in device memory (HIP, CUDA) */
    VMAFX_MEMORY_DMABUF, /* DRM PRIME objects of any driver (VAAPI, Vulkan, V4L2, …) */
    VMAFX_MEMORY_OPAQUE, /* memory of Vulkan on the same GPU, exported as opaque descriptors; planes lie in it row by
                            row, as in a buffer */
};

/* The colors that the samples mean, as code points of ITU-T H.273, with the numbers of FFmpeg's AVCOL_SPC_…,
 * AVCOL_TRC_… and AVCOL_PRI_…. 0, or 2 as in H.273, is unknown. (Matrix 0 of H.273 is RGB, which is not scored.) Few
 * metrics read it. */
typedef struct VmafxColor {
    int matrix;
    int range;           /* 1 limited, 2 full, 0 unknown: AVCOL_RANGE_… */
    int transfer;
    int primaries;
    int chroma_location; /* 1 left, 2 center, 3 top left, 4 top, 5 bottom left, 6 bottom, 0 unknown: AVCHROMA_LOC_… */
    void *reserved[16];  /* zero */
} VmafxColor;

typedef struct VmafxFormat {
    int width, height;       /* luma samples, 1 or more */
    enum VmafxChroma chroma;
    int bits;                /* significant bits of a sample, 8 to 16. Samples of more than 8 bits are native-endian
                                16-bit words */
    enum VmafxLayout layout;
    int shift;               /* left shift of the sample in its 16-bit word: 6 for p010, else 0 */
    enum VmafxMemory memory;
    void *device_context;    /* DEVICE: the context of the addresses and of VmafxPicture.stream, which must outlive the
                                VmafxContext; NULL: that of vmafx_options_set_device_context() */
    int drm_fd;              /* DMABUF: a descriptor of the objects' DRM device, used by vmafx_configure() only; any
                                other value, such as -1: unknown */
    VmafxColor color;        /* zeros: unknown. Metrics that need a color then take limited range and the matrix of
                                BT.709, for pictures of up to 576 rows that of BT.601 */
    const char *name;        /* of the input in messages; copied. NULL: "reference", "distorted" */
    double fps;              /* frames per second, read by few metrics (xpsnr, cvvdp); 0: unknown. That of the reference
                                counts; if it is unknown, that of the first encode that has one */
    uint64_t spare_pictures; /* DEVICE, DMABUF, OPAQUE: how many pictures the library may hold before it must release
                                one, for each input. 0: few, as a decoder's surfaces are; launches are then small. 40
                                and more: launches are as large as is useful */
    int whole_chroma;        /* 1: in 4:2:0 and 4:2:2, chroma planes have half the size of luma rounded up, as FFmpeg
                                stores them; 0: rounded down, so that a last odd column or row of luma has no chroma.
                                libvmaf's metrics score them rounded down in both cases. Inputs of odd size must
                                agree */
    const char *pci_address; /* OPAQUE: of the device that has the memory, "0000:03:00.0"; copied. NULL: unknown */
    const uint8_t *device_uuid; /* OPAQUE: its VkPhysicalDeviceIDProperties.deviceUUID, 16 bytes; copied. NULL: unknown.
                                   If neither says that it is another device, the import is tried */
    void *reserved[14];      /* zero */
} VmafxFormat;

/* Checks whether two inputs can be scored against each other, before there is a context or a frame. EINVAL, with a
 * message to `log` (NULL is allowed) for each reason. `color` and `memory` are not compared. vmafx_configure() runs the
 * same check. */
VMAFX_API int vmafx_check_formats(const VmafxFormat *ref, const VmafxFormat *dist, VmafxLogCallback log,
                                  void *log_cookie);

/* Fixes the format of both inputs, plans the work and starts the workers; once for each context. Width, height, chroma
 * and bits must be equal; layout and shift may differ. Warns when the colors differ, and when HDR is scored by models
 * that know SDR only. EINVAL: the formats differ, or a metric does not support them (size, bits). */
VMAFX_API int vmafx_configure(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist);

/* Does what vmafx_configure() does, with a format for each of the `n` encodes; `n` is the option `encodes`. A format
 * without a name takes that of its encode. vmafx_configure() gives one format to all encodes. */
VMAFX_API int vmafx_configure_encodes(VmafxContext *ctx, const VmafxFormat *ref, const VmafxFormat *dist, int n);

/* A bit mask of planes that metrics read, of either input: bit 0 Y, bit 1 U, bit 2 V. After vmafx_configure(). */
VMAFX_API unsigned vmafx_planes_read(const VmafxContext *ctx);

/* How many pairs around a pair its scores depend on. A pair is scored once `after` more have come, or the stream has
 * ended. Any part of the stream, scored after the `before` pairs ahead of it, whose own scores do not count, has the
 * scores of the whole stream. One context may score several parts, one after the other; the part with which the stream
 * begins takes a context of its own. Values of the whole stream (vmafx_aggregate()) and heat maps are no scores of a
 * pair. EINVAL before vmafx_configure(). */
VMAFX_API int vmafx_pairs_around(const VmafxContext *ctx, int *before, int *after);

/* A bit mask of inputs that are read where they lie in a GPU's memory, as far as is known by now: bit 0 the reference,
 * bit 1 + i encode i. Pictures of other inputs in such memory need nothing but `download`. After vmafx_configure(). */
VMAFX_API unsigned vmafx_imports(const VmafxContext *ctx);

/* -- Frames -------------------------------------------------------------------------------------------------------- */

/* A DRM PRIME object, or OPAQUE: an allocation of Vulkan. */
typedef struct VmafxObject {
    int fd;             /* of the dma-buf, of the exported memory; the application keeps owning it */
    uint64_t size;      /* bytes; 0: the size that the descriptor has. OPAQUE: that of the allocation */
    uint64_t modifier;  /* DRM_FORMAT_MOD_…; only linear objects (0) are read where they lie. OPAQUE: ignored */
    uint64_t id;        /* OPAQUE: a number for the allocation, not 0, that no other one of the input ever has: their
                           descriptors do not tell them apart. It is imported once */
    void *reserved[15]; /* zero */
} VmafxObject;

/* A point on a timeline semaphore of Vulkan. */
typedef struct VmafxSemaphore {
    int fd;             /* of the semaphore, exported as an opaque descriptor; the application keeps owning it */
    uint64_t id;        /* a number for the semaphore, not 0, that no other one of the input ever has */
    uint64_t value;     /* the samples are there once the semaphore has this value */
    void *reserved[16]; /* zero */
} VmafxSemaphore;

/* A picture, which is not copied. Every function that takes pictures calls release() exactly once for each, after
 * success or failure, from any thread; until then the samples must stay valid and unchanged. release(), download()
 * and wait() must not call the library with the context or the reference that has the picture, not even to close it: a
 * worker that calls them would wait for itself for ever, or continue with freed memory. */
typedef struct VmafxPicture {
    const uint8_t *data[3];    /* the first sample of each plane; semi-planar: data[1] is UV. A plane that no metric
                                  reads may be NULL. DEVICE: device addresses. DMABUF, OPAQUE: ignored */
    ptrdiff_t stride[3];       /* bytes from one row to the next, may be negative */
    int has_time;              /* 1: `time` is known, if it is finite; 0: unknown */
    double time;               /* position in the stream, in seconds. That of the distorted picture is the time of the
                                  pair in reports and in the summary */
    int keyframe;              /* distorted pictures: 1 begins a window of window=keyframe */
    void (*release)(void *opaque); /* NULL: nothing to release */
    void *opaque;

    /* -- Pictures in a GPU's memory only -- */

    /* Fills *copy with the same picture in host memory, with the layout and shift of the format; copy->release gives
     * that back. Returns 0 or a negative errno value. Called from any thread, at most once at a time for a picture, and
     * before release(). NULL: a picture that cannot be read where it lies is an error. */
    int (*download)(void *opaque, struct VmafxPicture *copy);
    void *stream;              /* DEVICE: the stream (hipStream_t, CUstream) whose work so far writes the samples; NULL:
                                  the default stream */
    int n_objects;             /* DMABUF, OPAQUE: how many of `object` are set; 0: not available */
    VmafxObject object[4];
    int plane_object[3];       /* the index in `object` of each plane; semi-planar: two planes */
    ptrdiff_t plane_offset[3]; /* bytes from the beginning of its object to each plane */

    /* OPAQUE: returns 0 once the samples are there, or a negative errno value, -ETIMEDOUT after `timeout_ms`. Called
     * from any thread, before release(). NULL: they are there. */
    int (*wait)(void *opaque, int timeout_ms);
    const VmafxSemaphore *semaphore; /* OPAQUE: waited for on the device instead, where the runtime can; valid as long
                                        as the samples. NULL: none */
    void *reserved[14];        /* zero */
} VmafxPicture;

/* Queues the next frame pair; pairs are counted from 0. Blocks while the limit of frames in flight is reached, so that
 * memory stays bounded. Fails with the first error that any earlier frame met. */
VMAFX_API int vmafx_submit(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *dist);

/* Queues a picture of the reference with those of several encodes: dist[i] is the picture of encode i, or NULL if it
 * has none for this picture of the reference, so that the encode has no pair here. Work on the reference is done once
 * for all. An encode has the scores that it would have alone: its pairs are counted from 0, and earlier pictures are
 * those of its own earlier pairs. EINVAL: `n` is not the option `encodes`, or all are NULL. */
VMAFX_API int vmafx_submit_encodes(VmafxContext *ctx, const VmafxPicture *ref, const VmafxPicture *const *dist, int n);

/* The place of a pair by the option `range`: -1 before it, 0 inside, 1 after it. `pair` is its number, counted in its
 * encode from the first that is submitted; `time` counts if `has_time` is not 0. -EINVAL (below -1): the range is one
 * of times, and the pair has none. */
VMAFX_API int vmafx_range_place(const VmafxContext *ctx, int64_t pair, int has_time, double time);

/* 1 once every encode has submitted its pairs of the option `range` and those that metrics read after it; later pairs
 * are ignored. Else 0. */
VMAFX_API int vmafx_range_done(const VmafxContext *ctx);

typedef struct VmafxScore {
    const char *key;    /* "integer_adm2", "vmaf" */
    double value;
    void *reserved[16]; /* zero */
} VmafxScore;

/* Successive frames whose scores are pooled: see the option `window`. */
typedef struct VmafxPoolWindow {
    int64_t number;           /* from 0 */
    int64_t first_frame;
    int64_t last_frame;
    int has_time;             /* 1: `time` is known */
    double time;              /* of the first frame, in seconds */
    size_t n_scores;
    const VmafxScore *scores; /* pooled */
    void *reserved[16];       /* zero */
} VmafxPoolWindow;

/* A map of a frame. Of a metric: what each block adds to a raw sum, of "butteraugli" its greatest distance. Of a model:
 * points, whose mean is what the score lacks to the highest one. docs/maps.md lists the maps, their units and how exact
 * they are. Scale and unit of a map are the same in all frames, encodes and streams. */
typedef struct VmafxMap {
    const char *name;             /* "psnr_y", with what options add to a score's key */
    const char *unit;             /* of the values, for people to read; static */
    int width, height;            /* in blocks */
    int block_width, block_height; /* samples of luma that a block covers; the last ones may be smaller */
    const double *values;         /* width * height, row by row */
    void *reserved[16];           /* zero */
} VmafxMap;

typedef struct VmafxFrameResult {
    int64_t frame;            /* number of the pair in its encode, from 0 */
    size_t n_scores;          /* 0 for a frame that n_subsample skips */
    const VmafxScore *scores; /* features in the order of reports, then models; valid until the next call with this
                                 context */
    int encode;               /* the encode that the scores belong to, from 0 */
    const VmafxPoolWindow *window; /* the window that ends with this frame, or NULL; valid as long as `scores` */
    /* The kinds of findings ("mirrored") that are sure by the pairs before this one, and lasted until there: those of a
     * stream that ends with a multiple of 48 pairs: the last one at first, from 768 pairs on one that at most an eighth
     * of the pairs, and 768 of them, have followed. Later pairs may take them back, as an encode may turn later on;
     * vmafx_finding() tells at the end what holds for the whole stream. Only with the option `early_doubts`; valid
     * as long as the context. */
    size_t n_sure;
    const char *const *sure;
    size_t n_maps;            /* 0 without the option `result_maps`, and for a frame that n_subsample skips */
    const VmafxMap *maps;     /* with all that they point to, valid as long as `scores` */
    void *reserved[12];       /* zero */
} VmafxFrameResult;

/* Fills *result with the next finished frame: each frame once, in order within an encode. -EAGAIN: no result is ready
 * now; after vmafx_finish(): all were received. */
VMAFX_API int vmafx_receive(VmafxContext *ctx, VmafxFrameResult *result);

/* Does what vmafx_receive() does, and waits for frames in flight when no result is ready. -EAGAIN: the next result
 * needs a later frame than was submitted (motion looks one frame ahead). */
VMAFX_API int vmafx_receive_wait(VmafxContext *ctx, VmafxFrameResult *result);

/* Writes a score to `text` as reports print it (option `score_fmt`), with a decimal point in every locale; "nan", "inf"
 * or "-inf" if it is not finite. ERANGE: `size` bytes, including the terminating zero, are too few; 512 always
 * suffice. */
VMAFX_API int vmafx_format_score(const VmafxContext *ctx, double score, char *text, size_t size);

/* -- A reference that stays ---------------------------------------------------------------------------------------- */

/* VmafxKeptReference keeps the frames of a reference in memory. Any number of contexts score encodes against them, one
 * after the other (as a search for a CRF does) or at once in several threads. The reference is decoded once, and
 * converted once where its samples are interleaved or shifted:
 *
 *     VmafxKeptReference *ref;
 *     int ret = vmafx_kept_reference_open(&ref, &ref_format, NULL);
 *     for each frame: ret = vmafx_kept_reference_add(ref, &picture);
 *     for each encode: vmafx_open(&ctx, options);
 *                      vmafx_configure_against(ctx, ref, &dist_format, 1);
 *                      for each frame i: vmafx_submit_against(ctx, i, &dist, 1);
 *                      vmafx_finish(ctx); …; vmafx_close(&ctx);
 *     vmafx_kept_reference_close(&ref);
 *
 * Scores equal those of vmafx_submit() for the same pictures. Results of metrics that read the reference alone (motion
 * and float_motion on the CPU) stay too: a later context that scores the same frames in the same order reuses them. The
 * frames are in host memory, and each context uploads them to its GPU again; with a `device_budget`, the first context
 * leaves them on the GPU for later ones.
 *
 * One thread at a time adds frames. Meanwhile, other threads may open contexts against the reference and score against
 * the frames that are there. The application closes the reference when no other call uses it. */
typedef struct VmafxKeptReferenceParams {
    /* Bytes of samples that the reference may keep. A picture that is kept as it is counts stride times rows of its
     * planes; a copy counts the rows of its planes, each rounded up to 64 bytes. 0: 2 GiB, which hold 690 frames of
     * 1920x1080 in 4:2:0 and 8 bits. */
    uint64_t budget;
    /* A bit mask of planes that are kept: bit 0 Y, bit 1 U, bit 2 V; 0: all. The VMAF models v0.6 read luma alone: 1. A
     * context whose metrics read other planes cannot be configured against the reference; vmafx_planes_read() of a
     * context with the same metrics tells which they are. */
    unsigned planes;
    /* 0: a picture whose planes metrics can read where they lie is kept, and released when the reference goes; other
     * pictures (interleaved or shifted samples, a GPU's memory) are copied. 1: all are copied and released before
     * vmafx_kept_reference_add() returns, as decoders with few pictures need it. */
    int copy;
    /* Receives messages; NULL drops them. */
    VmafxLogCallback log;
    void *log_cookie;
    /* Bytes of each GPU's memory that the frames may take in addition, with rows rounded up to 128 bytes; 0: none. A
     * context on a GPU leaves copies there of the planes that it uploads, and later contexts on that GPU read them.
     * Frames without room in the budget or on the GPU are uploaded each time. Until the reference goes, the GPU stays
     * open, which makes the next vmafx_open() fast, and the process keeps its place on it. Contexts that run in a
     * device context of the application do not use it. */
    uint64_t device_budget;
    void *reserved[16]; /* zero */
} VmafxKeptReferenceParams;

/* Opens a reference without frames. All its frames have `format`, with the meaning that it has for vmafx_configure().
 * NULL for `params` means zeros. On failure *out is NULL, and the message went to params->log. EINVAL: the format or
 * the params are wrong. */
VMAFX_API int vmafx_kept_reference_open(VmafxKeptReference **out, const VmafxFormat *format,
                                        const VmafxKeptReferenceParams *params);

/* Adds the next frame; frames are counted from 0. The reference takes the picture, and calls release() exactly once,
 * after success or failure. After a failure the reference has the frames that it had. EINVAL: a plane is missing.
 * ENOMEM: the budget does not allow the frame, and the message says how many frames fit and what to do; or memory is
 * exhausted. */
VMAFX_API int vmafx_kept_reference_add(VmafxKeptReference *ref, const VmafxPicture *picture);

/* How many frames the reference has, and how many bytes of the budget they take. Any thread. */
VMAFX_API int64_t vmafx_kept_reference_frames(const VmafxKeptReference *ref);
VMAFX_API uint64_t vmafx_kept_reference_bytes(const VmafxKeptReference *ref);

/* How many bytes the frames take in the memory of GPUs. Any thread. */
VMAFX_API uint64_t vmafx_kept_reference_device_bytes(const VmafxKeptReference *ref);

/* The message of the last failure of vmafx_kept_reference_add(); "" if there was none. Valid until its next call. */
VMAFX_API const char *vmafx_kept_reference_last_error(const VmafxKeptReference *ref);

/* Closes the reference and sets *ref to NULL (NULL and *ref == NULL are allowed). Contexts that were configured against
 * it keep its frames: these go, and their pictures are released, when the last of these contexts is closed. */
VMAFX_API void vmafx_kept_reference_close(VmafxKeptReference **ref);

/* Takes the place of vmafx_configure(): the context scores against `ref`. `dist` has a format for each of the `n`
 * encodes; `n` is the option `encodes`. EINVAL: as vmafx_configure(), or a metric reads a plane that the reference does
 * not keep. */
VMAFX_API int vmafx_configure_against(VmafxContext *ctx, const VmafxKeptReference *ref, const VmafxFormat *dist, int n);

/* Takes the place of vmafx_submit_encodes(): scores pictures of the encodes against frame `frame` of the reference.
 * Frames may be left out, repeated and taken in any order: pairs are counted from 0 as they come, and earlier pictures
 * are those of earlier pairs. EINVAL: the reference does not have this frame (yet); the pictures are released, and the
 * stream continues as if the call had not been made. Other failures are those of vmafx_submit_encodes(). */
VMAFX_API int vmafx_submit_against(VmafxContext *ctx, int64_t frame, const VmafxPicture *const *dist, int n);

/* -- End of stream ------------------------------------------------------------------------------------------------- */

/* The kinds of doubt about scores. All but one have a count in VmafxPairing. */
enum VmafxDoubtKind {
    VMAFX_DOUBT_UNMATCHED_DISTORTED,
    VMAFX_DOUBT_UNMATCHED_REFERENCE,
    VMAFX_DOUBT_REPEATED_REFERENCE,
    VMAFX_DOUBT_REPEATED_DISTORTED,
    VMAFX_DOUBT_TIME_DIFFERENCE, /* the frames of a pair differ too much in time to belong together */
    VMAFX_DOUBT_CORRUPT_DISTORTED,
    VMAFX_DOUBT_CORRUPT_REFERENCE,
};

/* The place of a doubt in the stream, and what removes it. */
typedef struct VmafxDoubt {
    enum VmafxDoubtKind kind;
    /* The doubtful pairs have numbers from `from` to `end` - 1. A frame without a pair counts for the pair that
     * follows. `end` 0: unknown. */
    int64_t from, end;
    double frame_duration;       /* the mean duration of a frame in seconds; only VMAFX_DOUBT_TIME_DIFFERENCE has it */
    const char *const *remedies; /* what the user can do, each as a sentence without its period; NULL: nothing */
    size_t n_remedies;
    void *reserved[16];          /* zero */
} VmafxDoubt;

/* How the application paired the frames of one encode, for the report. All counts are numbers of frames. */
typedef struct VmafxPairing {
    int64_t paired;              /* pairs that were scored */
    int64_t unmatched_distorted; /* distorted frames that met no reference frame */
    int64_t unmatched_reference; /* reference frames that were never used */
    int64_t repeated_reference;  /* pairs whose reference frame an earlier pair had used */
    int64_t repeated_distorted;  /* pairs whose distorted frame an earlier pair had used */
    double max_time_difference;  /* the largest |pts(dist) - pts(ref)| of a pair, in seconds */
    int cut_short;               /* 1: the inputs were not read to their end; the report is marked partial */
    int encode;                  /* the encode that the counts belong to, from 0 */
    int64_t corrupt_distorted;   /* pairs whose distorted frame its decoder marks as damaged */
    int64_t corrupt_reference;   /* pairs whose reference frame its decoder marks as damaged */
    const VmafxDoubt *doubts;    /* one for each kind at most; a count that is not 0 is a doubt without it, too */
    size_t n_doubts;
    void *reserved[16];          /* zero */
} VmafxPairing;

/* Tells the report how frames were paired. Before vmafx_finish(); before vmafx_close() for a partial report. Everything
 * is copied. vmafx_finish() logs the doubts at VMAFX_LOG_WARNING; reports have them as data. EINVAL: there is no such
 * encode, or no such kind of doubt. */
VMAFX_API int vmafx_set_pairing(VmafxContext *ctx, const VmafxPairing *pairing);

/* Scores all frames, pools, writes the report and gives it its name. EINVAL: no frame was scored, or none of an encode;
 * ERANGE: a score is lower than the option `fail_below`; EILSEQ: the option `check` is "fail", and pictures raise a
 * doubt. In all three cases the scores that exist can be read. Results that were not received can still be received. */
VMAFX_API int vmafx_finish(VmafxContext *ctx);

/* 1 once vmafx_finish() has scored all frames: pooled scores can be read from then on, even if the report could not be
 * written. Else 0. */
VMAFX_API int vmafx_finished(const VmafxContext *ctx);

/* How many models the option `model` names. They are numbered in its order. */
VMAFX_API int vmafx_model_count(const VmafxContext *ctx);

/* The SHA-256 of the file of model `i`, as 64 hexadecimal digits; of a built-in model, of the file that its numbers
 * come from, so that both tell the same of equal models. *name becomes its key in reports; NULL is allowed. NULL: there
 * is no such model. Both are valid as long as the context. From vmafx_open() on. */
VMAFX_API const char *vmafx_model_sha256(const VmafxContext *ctx, int i, const char **name);

/* The pooled score of model `i`, of encode 0. *name becomes its key in reports ("vmaf", unless `name=` says otherwise),
 * valid as long as the context. NULL is allowed for `name` and `score`. -EINVAL before vmafx_finished(). */
VMAFX_API int vmafx_model_score(VmafxContext *ctx, int i, const char **name, double *score);

/* How many main scores the features of the option `feature` have, and behind them regions of these and of models (the
 * option `roi`), and the i-th of all, pooled, of encode 0, in the order of reports. *name becomes its key in reports
 * ("psnr_y", "ssimulacra2", "psnr_y.face"), valid as long as the context. The score is infinite or NaN if no frame has
 * a finite one. -EINVAL before vmafx_finished(). */
VMAFX_API int vmafx_feature_count(const VmafxContext *ctx);
VMAFX_API int vmafx_feature_score(VmafxContext *ctx, int i, const char **name, double *score);

/* vmafx_model_score() and vmafx_feature_score() of any encode. EDOM: the model has no finite score of this encode. */
VMAFX_API int vmafx_encode_model_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);
VMAFX_API int vmafx_encode_feature_score(VmafxContext *ctx, int encode, int i, const char **name, double *score);

/* The name of an encode in log and reports, from the option `encode_names`; NULL: there is no encode of this number.
 * Valid as long as the context. */
VMAFX_API const char *vmafx_encode_name(const VmafxContext *ctx, int encode);

/* The i-th score of the whole stream ("apsnr_y"), in the order of reports. *name is valid as long as the context.
 * -EINVAL past the last, and before vmafx_finished(). */
VMAFX_API int vmafx_aggregate(const VmafxContext *ctx, int i, const char **name, double *value);

/* The kinds of findings: how the distorted pictures differ from the reference, which is right by definition, in what
 * tags and times should have told. */
enum VmafxFindingKind {
    /* Time: how frames of the encode belong to frames of the reference. */
    VMAFX_FINDING_OFFSET,         /* all frames belong to others, `frames` later in the reference (negative: earlier) */
    VMAFX_FINDING_DROPPED,        /* frames of the reference are missing: `frames` */
    VMAFX_FINDING_DOUBLED,        /* frames are shown twice, or added: `frames` */
    VMAFX_FINDING_FROZEN,         /* the encode stands still while the reference moves */
    VMAFX_FINDING_CADENCE,        /* frames are repeated or left out in a pattern: `repeated` or `dropped` `of` */
    VMAFX_FINDING_BLENDED,        /* frames are mixtures of two neighbors */
    VMAFX_FINDING_SWAPPED,        /* neighbors are in the other order */
    VMAFX_FINDING_OTHER_PICTURES, /* the streams show something else */
    /* Geometry. */
    VMAFX_FINDING_MIRRORED,       /* left and right are exchanged */
    VMAFX_FINDING_FLIPPED,        /* top and bottom are exchanged */
    VMAFX_FINDING_ROTATED,        /* by `degrees`, clockwise */
    VMAFX_FINDING_CROPPED,        /* the encode lacks `left`, `top`, `right`, `bottom` samples of the reference */
    VMAFX_FINDING_PADDED,         /* the encode has borders of `left`, `top`, `right`, `bottom` samples */
    VMAFX_FINDING_SCALED,         /* the encode is `x` times as wide and `y` times as high as the reference's picture */
    VMAFX_FINDING_SHIFTED,        /* the encode lies `x` samples further right, `y` further down */
    VMAFX_FINDING_BARS,           /* both have black bars of `left`, `top`, `right`, `bottom` samples: not a doubt */
    /* Levels. */
    VMAFX_FINDING_RANGE,          /* limited and full range are mistaken: `gain` */
    VMAFX_FINDING_MATRIX,         /* colors went through another matrix: `from`, `to`, code points of H.273 */
    VMAFX_FINDING_PRIMARIES,
    VMAFX_FINDING_TRANSFER,       /* luma follows another curve: PQ, HLG, gamma */
    VMAFX_FINDING_BRIGHTNESS,     /* luma is `gain` times that of the reference, and `offset` more */
    VMAFX_FINDING_CHROMA_SWAPPED, /* Cb and Cr are exchanged */
    VMAFX_FINDING_CHROMA_SHIFTED, /* the place of chroma samples differs */
    VMAFX_FINDING_GRAY,           /* `plane` has no detail, and that of the reference has */
    /* Structure. */
    VMAFX_FINDING_COMBED,         /* the encode is combed, and the reference is not */
    VMAFX_FINDING_REFERENCE_COMBED,
    VMAFX_FINDING_FIELD_ORDER,    /* the fields come in the other order */
    VMAFX_FINDING_FIELDS_DROPPED, /* the encode has one of the two fields */
};

/* How sure a finding is. One that is SURE is never wrong. */
enum VmafxCertainty { VMAFX_CERTAINTY_POSSIBLE, VMAFX_CERTAINTY_LIKELY, VMAFX_CERTAINTY_SURE };

/* A number that a finding rests on, as VmafxFindingKind names it, or another one. */
typedef struct VmafxEvidence {
    const char *name;
    double value;
    void *reserved[16]; /* zero */
} VmafxEvidence;

/* A finding tells of an encode what its pictures and the reference show, and tags and times do not. */
typedef struct VmafxFinding {
    enum VmafxFindingKind kind;
    const char *name;              /* the kind in reports: "mirrored" */
    enum VmafxCertainty certainty;
    int64_t from, end;             /* the pairs that are concerned have numbers from `from` to `end` - 1 */
    const VmafxEvidence *evidence;
    size_t n_evidence;
    const char *text;              /* what is seen, as a sentence without its period */
    const char *const *remedies;   /* what the user can do, each as a sentence without its period */
    size_t n_remedies;
    void *reserved[16];            /* zero */
} VmafxFinding;

/* Fills in the i-th finding about an encode, by kinds and places. The texts are valid as long as the context. -EINVAL
 * past the last, and before vmafx_finished(). */
VMAFX_API int vmafx_finding(const VmafxContext *ctx, int encode, int i, VmafxFinding *finding);

/* -- Pooling ------------------------------------------------------------------------------------------------------- */

/* Pools `n` scores of frames, in the order of the frames, as reports, windows and vmafx_model_score() pool them, to the
 * last bit. `method` is a value of the option `pool`. Scores that are not finite are left out; the others are
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
 * `key` is the key of the score in reports, or NULL. Some metrics have a mean of their own: the mean of cvvdp's JODs is
 * the JOD of the norm of the differences that they stand for (docs/metrics.md).
 *
 * EINVAL: there is no such method; EDOM: there are no scores. */
VMAFX_API int vmafx_pool(const char *method, const double *values, size_t n, double *pooled);
VMAFX_API int vmafx_pool_key(const char *key, const char *method, const double *values, size_t n, double *pooled);

/* -- Values of a whole stream -------------------------------------------------------------------------------------- */

/* The errors of one plane in some frames, added up exactly. Values of a whole stream (vmafx_aggregate()) are made of
 * such sums, which the JSON report of a range has (`sums` in `range`). */
typedef struct VmafxStreamSums {
    const char *metric; /* the extractor that made them: "psnr", "xpsnr" */
    int plane;          /* 0, 1 or 2 */
    uint64_t frames;    /* how many they are of */
    uint64_t samples;   /* of the plane, in one frame */
    uint64_t peak;      /* the largest sample */
    uint64_t whole;     /* the errors, psnr's of samples, squared; xpsnr's of frames, roots of weighted squares */
    uint64_t fraction;  /* what they are more than `whole`, in units of 2^-52; below 2^52 */
    void *reserved[16]; /* zero */
} VmafxStreamSums;

/* Makes the value of a stream of the sums of its parts, of one plane or of several, in any order: sums of a plane are
 * added up, and of planes the least value counts. It is, to the last bit, that of one run over all of the parts.
 * EINVAL: there are no sums, or they do not belong together: other metrics, samples or peaks; ERANGE: they are too
 * large together. */
VMAFX_API int vmafx_stream_value(const VmafxStreamSums *sums, size_t n, double *value);

/* -- What scores are ----------------------------------------------------------------------------------------------- */

/* The scores that stand for the worse pictures: low ones, high ones, or neither. */
enum VmafxWorse { VMAFX_WORSE_LOW, VMAFX_WORSE_HIGH, VMAFX_WORSE_NEITHER };

/* The facts of a score that do not depend on pictures. */
typedef struct VmafxScoreFacts {
    const char *key;    /* its key in reports */
    const char *metric; /* the extractor that makes it; NULL: a model does */
    enum VmafxWorse worse;
    int main;           /* 1: a score to read first: a model's, or the one that stands for its metric */
    int alone;          /* 1: people read it without a model, as psnr_y; 0: models read it, or nobody */
    const char *unit;   /* "dB", "JOD"; NULL: none */
    void *reserved[16]; /* zero */
} VmafxScoreFacts;

/* Fills in the facts of the i-th score that metrics provide, in the order of reports. Options may add to the end of its
 * key: "psnr_y_…". The texts are static. -EINVAL past the last. */
VMAFX_API int vmafx_known_score(int i, VmafxScoreFacts *facts);

/* -- Models and reports without a stream --------------------------------------------------------------------------- */

/* Opens a model by itself, which predicts from scores of features, whatever computed them. `model` is one entry of the
 * option `model`. On failure *out is NULL, and the message went to `log`, which may be NULL. EINVAL, ENOENT, …: as
 * vmafx_open(); EINVAL also for a model that has pictures converted (`conversion_target`). */
VMAFX_API int vmafx_predictor_open(VmafxPredictor **out, const char *model, VmafxLogCallback log, void *log_cookie);

/* Closes the predictor and sets *predictor to NULL (NULL and *predictor == NULL are allowed). */
VMAFX_API void vmafx_predictor_close(VmafxPredictor **predictor);

/* The value of the option `feature` with which a context computes all that the model needs. Valid as long as the
 * predictor. */
VMAFX_API const char *vmafx_predictor_feature(const VmafxPredictor *predictor);

/* The key in reports of the i-th score that the model needs ("integer_adm2"), and of the i-th that it gives: "vmaf", or
 * for a bootstrap collection "vmaf", "vmaf_0001", …, "vmaf_bagging", "vmaf_stddev", "vmaf_ci_p95_lo", "vmaf_ci_p95_hi".
 * NULL past the last. Valid as long as the predictor. */
VMAFX_API const char *vmafx_predictor_input(const VmafxPredictor *predictor, int i);
VMAFX_API const char *vmafx_predictor_output(const VmafxPredictor *predictor, int i);

/* Fills `outputs` from `inputs`, both in the order of the two functions above. Any number of threads may call it at
 * once. */
VMAFX_API int vmafx_predict(const VmafxPredictor *predictor, const double *inputs, double *outputs);

/* A pair from which on an encode follows its reference in another way, in the brightness of its pictures. */
typedef struct VmafxBreak {
    int64_t pair;
    double size;
    void *reserved[4];            /* zero */
} VmafxBreak;

/* How the brightness of an encode's areas follows that of the reference's in a pair: by a line. */
typedef struct VmafxPairFit {
    int64_t pair;
    double gain;
    double offset;                /* the difference of means, in levels of 8 bits */
    double left;                  /* what the line leaves, as a part of the encode's deviation, from 0 to 1 */
    void *reserved[4];            /* zero */
} VmafxPairFit;

/* The facts about a stream that a report has besides scores. */
typedef struct VmafxReportStream {
    const VmafxPicture *pictures; /* one for each of VmafxReport.frames; `has_time`, `time` and `keyframe` are read.
                                     NULL: unknown */
    const VmafxPairing *pairing;  /* NULL: unknown. With `cut_short`, the report is marked partial */
    const char *window;           /* the option `window`, which allows no gap between frames; NULL: none */
    const char *pool;             /* the option `pool`, for the windows; NULL: its default */
    /* The facts of the scores, as earlier reports had them, above all which ones were asked for (`main`). For a score
     * that is not listed, the metric of its key tells them; without one it is a model's. */
    const VmafxScoreFacts *facts;
    size_t n_facts;
    /* The findings about its pictures; `kind`, `certainty`, `from`, `end` and `evidence` are read. Findings of one kind
     * and the same evidence whose pairs adjoin become one: parts of a stream have them. An offset from the beginning of
     * a part on is left out where frames that were dropped or doubled before explain it. */
    const VmafxFinding *findings;
    size_t n_findings;
    /* The numbers of the first pairs of the parts that the findings are of; NULL: of one run. */
    const int64_t *parts;
    size_t n_parts;
    /* By them, a finding that begins or ends where parts meet goes on to where the pictures show it: the breaks of all
     * parts, and the fits of the first and last pairs of each, in the order of pairs, as reports of ranges have them
     * (the key `look`). NULL: unknown. */
    const VmafxBreak *breaks;
    size_t n_breaks;
    const VmafxPairFit *ends;
    size_t n_ends;
    /* Findings at the ends of parts that have too few pairs to be told, unless a neighboring part goes on with them. */
    const VmafxFinding *brief;
    size_t n_brief;
    void *reserved[8];            /* zero */
} VmafxReportStream;

/* A report of scores that the application has. */
typedef struct VmafxReport {
    const char *path;               /* these three are the options `log_path`, `log_fmt` (not "ndjson") and
                                       `score_fmt` */
    const char *format;
    const char *score_fmt;
    int width, height;              /* of the pictures, for "xml" */
    int n_subsample;                /* frames whose number is not a multiple of it are left out; 0 means 1 */
    double fps;                     /* frames scored per second */
    size_t n_frames;
    const VmafxFrameResult *frames; /* `frame`, `n_scores` and `scores` are read. Columns have the order of first
                                       appearance */
    size_t n_aggregates;
    const VmafxScore *aggregates;   /* of the whole stream */
    VmafxLogCallback log;           /* receives messages; NULL drops them */
    void *log_cookie;
    const VmafxReportStream *stream; /* NULL: unknown */
    int overwrite;                  /* the option `overwrite` */
    void *reserved[16];             /* zero */
} VmafxReport;

/* Writes a report. EINVAL: the path is missing, the format or window is unknown, or a frame number is negative; EEXIST:
 * the path names a file that is not a report; EIO, ENOSPC, …: it could not be written. The message goes to
 * report->log. */
VMAFX_API int vmafx_write_report(const VmafxReport *report);

/* -- Discovery ----------------------------------------------------------------------------------------------------- */

/* The name of the i-th built-in model, and of the i-th feature extractor; NULL past the last. Static memory. */
VMAFX_API const char *vmafx_builtin_model(int i);
VMAFX_API const char *vmafx_extractor(int i);

/* Examines what this machine can compute scores with: loads the GPU runtimes, opens each GPU, and has it compute.
 * `tell` gets each fact as soon as it is known, at VMAFX_LOG_INFO, as a JSON object whose `kind` is
 *
 *     library  version
 *     cpu      level (the instruction set in use), levels (that could be), threads (that the process may use)
 *     code     architectures (GPUs for which this build has code)
 *     step     doing (what begins, and may hang in a broken driver)
 *     runtime  library, platform ("hip", "cuda"), emulator, version
 *     device   index (the option `device`), platform, name, pci_address, architecture, code (of `architectures`, the
 *              one that it runs; left out: none), integrated, memory_bytes, places (processes that may use it),
 *              places_taken
 *     note     index, text (a step of this GPU takes long)
 *     trial    index (of a GPU that was opened and has computed)
 *
 * cpu, runtime and trial also have `error`, 0 or the errno that vmafx_open() fails with, and then `reason`. Call this
 * in a process of its own, with a time limit: calls of a broken driver do not come back. EINVAL: `tell` is NULL, or a
 * variable of the environment has no valid value. */
VMAFX_API int vmafx_examine(VmafxLogCallback tell, void *cookie);

#ifdef __cplusplus
}
#endif

#endif
