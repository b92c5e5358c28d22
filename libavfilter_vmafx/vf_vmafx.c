/*
 * This file is part of FFmpeg.
 *
 * FFmpeg is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * FFmpeg is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with FFmpeg; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */


/**
 * @file
 * Score a video against its reference with libvmafx: VMAF and the metrics around it.
 *
 * Frame pairs go to the library as references, nothing is copied; frames in a GPU's memory, too. Everything that can
 * fail at the end of the stream happens in activate(), so that a failure is the exit status of the program and no score
 * is printed after one.
 */

#include <limits.h>
#include <math.h>
#include <string.h>

#include "config.h"

#if HAVE_UNISTD_H
#include <unistd.h>
#endif
#if HAVE_IO_H
#include <io.h>
#endif

#include <vmafx/vmafx.h>

#include "vmafx_compat.h"
#include "vmafx_graph.h"
#include "vmafx_hw.h"
#include "vmafx_sync.h"
#include "vmafx_xpsnr.h"

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/buffer.h"
#include "libavutil/fifo.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include "buffersrc.h"

/** What belongs to a main input: an encode. Its input and its output have its number; the reference is the last input. */
typedef struct VMAFXEncode {
    VMAFXSync sync;
    VmafxPairing pairing;
    const AVFrame *last[2];     ///< frames of main and of the reference at the last event, for comparison only
    int64_t last_pts[2];
    int64_t first_main_pts;
    int64_t nb_main;            ///< distinct main frames
    int64_t pairs;              ///< those of the range, and others
    int64_t nb_ref_used;        ///< distinct reference frames that were paired
    int64_t ref_skipped;        ///< reference frames before the last pair that were not
    int64_t before_first;       ///< frames of either input before the first pair
    double first_difference;    ///< of the times of the first pair, in seconds
    int64_t after_end;          ///< frames of main that met the end of the reference, or the other way around
    int64_t arrived;            ///< frames that have come to the input
    int told_interlaced;        ///< that one input is interlaced and the other is not
    int ended;                  ///< nothing comes of it any more: it met the end of the reference, or broke
    int error;                  ///< what it broke with
    AVFifo *held;               ///< metadata=1: HeldFrame, in output order
} VMAFXEncode;

/** Pairs with one frame of the reference, which go to the library together. */
typedef struct VMAFXGroup {
    AVFrame *ref;               ///< NULL: there are none
    int nb;
    VmafxPicture main[VMAFX_MOST_ENCODES];
    int has[VMAFX_MOST_ENCODES];
} VMAFXGroup;

typedef struct VMAFXContext {
    const AVClass *class;
    FFFrameSync fs;

    /* Those of the library. */
#define FIELD_TEXT(option, field, ...) char *field;
#define FIELD_NUMBER(option, field, ...) int field;
    VMAFX_OPTIONS(FIELD_TEXT, FIELD_NUMBER, FIELD_NUMBER)
    int metadata;
    VMAFXSync sync;
    VMAFXXpsnr xpsnr;

    /* Options of FFmpeg's libvmaf up to 6.1, under that name only. */
    char *model_path;
    int enable_transform;
    int phone_model;
    int enable_conf_interval;
    int psnr;
    int ssim;
    int ms_ssim;

    VmafxContext *vmafx;
    AVBufferRef *hw_device[VMAFX_MOST_INPUTS];  ///< of the inputs, while the library is open
    VMAFXEncode *encode;
    VMAFXGroup group;
    int configured;             ///< the library knows the formats
    int error;                  ///< first failure; every later activate() repeats it
    int finished;               ///< the end of the stream was dealt with

    VMAFXGraph graph;
    int64_t arrived_ref;        ///< frames of the reference that have come
    enum AVPixelFormat converted_from; ///< format of the reference before it was made like main, or AV_PIX_FMT_NONE
    int held_back;              ///< the last activate() had an event and gave no frame for it
    int64_t frames_at_end;      ///< frames that had arrived when the first input ended, -1: none has
    int unwanted;               ///< after that, there was a time when no frame was wanted
    int going_on;               ///< after that, the program went on feeding or asking
    int wanted;                 ///< a frame was wanted when the last activate() ended
} VMAFXContext;

#if VMAFX_MOST_INPUTS != VMAFX_MOST_ENCODES + 1
#error "there is an input for each encode, and one for the reference"
#endif

/** An output frame that waits for its scores. */
typedef struct HeldFrame {
    AVFrame *frame;
    int64_t pair;               ///< number of its frame pair, -1: has none
} HeldFrame;

#define OFFSET(x) offsetof(VMAFXContext, x)
#define FLAGS AV_OPT_FLAG_FILTERING_PARAM|AV_OPT_FLAG_VIDEO_PARAM
#define DEPRECATED FLAGS|AV_OPT_FLAG_DEPRECATED

/** Those of the library, which says what they are. */
#define OPTION_TEXT(option, field, value, help) \
    { #option, help, OFFSET(field), AV_OPT_TYPE_STRING, { .str = value }, 0, 0, FLAGS },
#define OPTION_INT(option, field, value, least, most, help) \
    { #option, help, OFFSET(field), AV_OPT_TYPE_INT, { .i64 = value }, least, most, FLAGS },
#define OPTION_FLAG(option, field, value, help) \
    { #option, help, OFFSET(field), AV_OPT_TYPE_BOOL, { .i64 = value }, 0, 1, FLAGS },

/** Options of the names vmafx and libvmaf. */
#define OPTIONS(default_sync_mode) \
    VMAFX_OPTIONS(OPTION_TEXT, OPTION_INT, OPTION_FLAG) \
    { "threads",     "same as n_threads",                                                   OFFSET(n_threads),   AV_OPT_TYPE_INT,    { .i64 = 0 }, 0, INT_MAX, FLAGS }, \
    { "subsample",   "same as n_subsample",                                                 OFFSET(n_subsample), AV_OPT_TYPE_INT,    { .i64 = 1 }, 1, INT_MAX, FLAGS }, \
    { "metadata",    "put the scores on the output frames as lavfi.vmafx.*",                OFFSET(metadata),    AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, FLAGS }, \
    SYNC_OPTIONS(default_sync_mode)

/** Those of pairing are framesync's, said here because the default of one differs. */
#define SYNC_OPTIONS(default_sync_mode) \
    { "eof_action",  "what to do when the reference ends before main",                      OFFSET(sync.eof_action), AV_OPT_TYPE_INT, { .i64 = EOF_ACTION_REPEAT }, EOF_ACTION_REPEAT, EOF_ACTION_PASS, FLAGS, .unit = "eof_action" }, \
        { "repeat", "repeat its last frame",                                                0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_REPEAT }, .flags = FLAGS, .unit = "eof_action" }, \
        { "endall", "end",                                                                  0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_ENDALL }, .flags = FLAGS, .unit = "eof_action" }, \
        { "pass",   "pass main on without scores",                                          0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_PASS },   .flags = FLAGS, .unit = "eof_action" }, \
    { "shortest",    "end when the shorter input ends",                                     OFFSET(sync.shortest),   AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS }, \
    { "repeatlast",  "repeat the last frame of the reference after its end",                OFFSET(sync.repeatlast), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS }, \
    { "ts_sync_mode", "which reference frame belongs to a main frame",                      OFFSET(sync.mode), AV_OPT_TYPE_INT, { .i64 = default_sync_mode }, VMAFX_SYNC_DEFAULT, VMAFX_SYNC_NEAREST, FLAGS, .unit = "ts_sync_mode" }, \
        { "default", "the last one that is not later, but for the rounding of containers",  0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_SYNC_DEFAULT }, .flags = FLAGS, .unit = "ts_sync_mode" }, \
        { "nearest", "the nearest in time",                                                 0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_SYNC_NEAREST }, .flags = FLAGS, .unit = "ts_sync_mode" },

#if CONFIG_VMAFX_FILTER
static const AVOption vmafx_options[] = {
    OPTIONS(VMAFX_SYNC_NEAREST)
    { NULL }
};

AVFILTER_DEFINE_CLASS(vmafx);
#endif

#if CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF
static const AVOption libvmaf_options[] = {
    OPTIONS(VMAFX_SYNC_DEFAULT)
    { "model_path",  "use model='path=...'",                                                OFFSET(model_path),  AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, DEPRECATED },
    { "enable_transform", "use model='enable_transform=true'",                              OFFSET(enable_transform), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "phone_model", "use model='enable_transform=true'",                                   OFFSET(phone_model), AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, DEPRECATED },
    { "enable_conf_interval", "use a model that has one: model='version=vmaf_b_v0.6.3'",    OFFSET(enable_conf_interval), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "psnr",        "use feature='name=psnr'",                                             OFFSET(psnr),        AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, DEPRECATED },
    { "ssim",        "use feature='name=float_ssim'",                                       OFFSET(ssim),        AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, DEPRECATED },
    { "ms_ssim",     "use feature='name=float_ms_ssim'",                                    OFFSET(ms_ssim),     AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, DEPRECATED },
    { NULL }
};

AVFILTER_DEFINE_CLASS(libvmaf);
#endif

#if VMAFX_XPSNR
static const AVOption xpsnr_options[] = {
    { "stats_file",  "write the XPSNR of each frame to this file, - is standard output",    OFFSET(xpsnr.stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "f",           "same as stats_file",                                                  OFFSET(xpsnr.stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    SYNC_OPTIONS(VMAFX_SYNC_DEFAULT)
    OPTION_INT(n_threads, n_threads, 0, 0, INT_MAX, "number of threads, 0: as many as the process may use")
    VMAFX_DEVICE_OPTIONS(OPTION_TEXT, OPTION_INT, OPTION_FLAG)
    { NULL }
};

AVFILTER_DEFINE_CLASS(xpsnr);
#endif

static const char *input_name(const AVFilterContext *ctx, int input)
{
    return ctx->input_pads[input].name;
}

static int reference_of(const AVFilterContext *ctx)
{
    return ctx->nb_inputs - 1;
}

/** "low: " if there are several encodes, else nothing: log lines of one encode begin with it. */
static const char *prefix_of(const AVFilterContext *ctx, const VMAFXEncode *encode, char buf[64])
{
    const VMAFXContext *s = ctx->priv;

    buf[0] = 0;
    if (s->encodes > 1)
        snprintf(buf, 64, "%.60s: ", vmafx_encode_name(s->vmafx, encode - s->encode));
    return buf;
}

/** Whether the filter goes by the name that programs know which were written for libvmaf. */
static int is_libvmaf(const AVFilterContext *ctx)
{
    return !strcmp(ctx->filter->name, "libvmaf");
}

/** Whether it goes by the name of FFmpeg's own filter, in releases that do not have that one. A macro: where it is 0, compilers leave out, without
 *  optimization, too, what would need vmafx_xpsnr.o. */
#define IS_XPSNR(ctx) (VMAFX_XPSNR && !strcmp((ctx)->filter->name, "xpsnr"))

/** The input that the library is given as the reference. Under the name xpsnr, it is the first one that is the original. */
static int original_of(const AVFilterContext *ctx)
{
    return IS_XPSNR(ctx) ? 0 : reference_of(ctx);
}

static void log_message(void *cookie, enum VmafxLogLevel level, const char *message)
{
    static const int levels[] = {
        [VMAFX_LOG_ERROR]   = AV_LOG_ERROR,
        [VMAFX_LOG_WARNING] = AV_LOG_WARNING,
        [VMAFX_LOG_INFO]    = AV_LOG_INFO,
        [VMAFX_LOG_VERBOSE] = AV_LOG_VERBOSE,
        [VMAFX_LOG_DEBUG]   = AV_LOG_DEBUG,
    };

    av_log(cookie, levels[level], "%s\n", message);
}

/* -- Pixel formats ------------------------------------------------------------------------------------------------- */

#define YUV_PIX_FMTS \
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_GRAY8, \
    AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,  AV_PIX_FMT_GRAY9, \
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_GRAY10, \
    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_GRAY12, \
    AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14, AV_PIX_FMT_YUV444P14, AV_PIX_FMT_GRAY14, \
    AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16, \
    AV_PIX_FMT_YUVJ420P,  AV_PIX_FMT_YUVJ422P,  AV_PIX_FMT_YUVJ444P, \
    AV_PIX_FMT_NV12,      AV_PIX_FMT_NV16,      AV_PIX_FMT_NV24, \
    AV_PIX_FMT_P010,      AV_PIX_FMT_P210,      AV_PIX_FMT_P410, \
    VMAFX_PIX_FMTS_P012   VMAFX_PIX_FMTS_P212 \
    AV_PIX_FMT_P016,      AV_PIX_FMT_P216,      AV_PIX_FMT_P416,

static const enum AVPixelFormat pix_fmts[] = { YUV_PIX_FMTS AV_PIX_FMT_NONE };

#if VMAFX_XPSNR
/** RGB is scored plane by plane. */
static const enum AVPixelFormat xpsnr_pix_fmts[] = {
    YUV_PIX_FMTS
    AV_PIX_FMT_GBRP,      AV_PIX_FMT_GBRP9,     AV_PIX_FMT_GBRP10,    AV_PIX_FMT_GBRP12,
    AV_PIX_FMT_GBRP14,    AV_PIX_FMT_GBRP16,
    AV_PIX_FMT_NONE
};
#endif

/** Those that can be scored. */
static const enum AVPixelFormat *scored_pix_fmts(const AVFilterContext *ctx)
{
#if VMAFX_XPSNR
    if (IS_XPSNR(ctx))
        return xpsnr_pix_fmts;
#endif
    return pix_fmts;
}

/** Whether the samples of two formats mean the same, however they lie in memory: nv12 and yuv420p. */
static int same_samples(enum AVPixelFormat a, enum AVPixelFormat b)
{
    const AVPixFmtDescriptor *da = av_pix_fmt_desc_get(a), *db = av_pix_fmt_desc_get(b);

    return da->nb_components  == db->nb_components  &&
           da->log2_chroma_w  == db->log2_chroma_w  &&
           da->log2_chroma_h  == db->log2_chroma_h  &&
           !((da->flags ^ db->flags) & AV_PIX_FMT_FLAG_RGB) &&
           da->comp[0].depth  == db->comp[0].depth;
}

static int is_yuvj(enum AVPixelFormat fmt)
{
    return fmt == AV_PIX_FMT_YUVJ420P || fmt == AV_PIX_FMT_YUVJ422P || fmt == AV_PIX_FMT_YUVJ444P;
}

/** The format of a list that loses least of fmt: fmt itself if it is there. */
static enum AVPixelFormat nearest_format(const enum AVPixelFormat *list, enum AVPixelFormat fmt)
{
    const int alpha = !!(av_pix_fmt_desc_get(fmt)->flags & AV_PIX_FMT_FLAG_ALPHA);
    enum AVPixelFormat best = list[0];

    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        if (list[i] == fmt)
            return fmt;
    for (int i = 1; list[i] != AV_PIX_FMT_NONE; i++)
        best = av_find_best_pix_fmt_of_2(best, list[i], fmt, alpha, NULL);
    return best;
}

/**
 * The format that a link will carry unless somebody asks for another: that of the first filter upstream which has no
 * choice.
 *
 * @return  AVERROR(EAGAIN) if a filter upstream was not asked yet
 */
static int natural_format(const AVFilterLink *link, enum AVPixelFormat *fmt)
{
    *fmt = AV_PIX_FMT_NONE;
    while (link && link->type == AVMEDIA_TYPE_VIDEO) {
        const AVFilterFormats *formats = link->incfg.formats;

        if (!formats)
            return AVERROR(EAGAIN);
        if (formats->nb_formats == 1) {
            *fmt = formats->formats[0];
            return 0;
        }
        link = link->src->nb_inputs == 1 ? link->src->inputs[0] : NULL;
    }
    return 0;
}

/** All formats, those of frames in a GPU's memory included. NULL: out of memory. */
static AVFilterFormats *all_formats(const AVFilterContext *ctx)
{
    AVFilterFormats *formats = ff_make_format_list(scored_pix_fmts(ctx));

    for (int i = 0; formats && ff_vmafx_hw_formats[i] != AV_PIX_FMT_NONE; i++)
        if (ff_add_format(&formats, ff_vmafx_hw_formats[i]) < 0)
            return NULL;
    return formats;
}

/** vmafx: each input has the format it has; an output has that of its main. Formats not in the list are converted. */
static int query_formats(AVFilterContext *ctx)
{
    int ret;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        AVFilterFormats *formats = all_formats(ctx);

        if ((ret = ff_formats_ref(formats, &ctx->inputs[i]->outcfg.formats)) < 0 ||
            (i < ctx->nb_outputs && (ret = ff_formats_ref(formats, &ctx->outputs[i]->incfg.formats)) < 0))
            return ret;
    }
    return vmafx_keep_input_colors(ctx);
}

#if (CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF) || VMAFX_XPSNR
/**
 * libvmaf, xpsnr: command lines count on it that the reference is converted to the format of main where the two differ. Only
 * a difference of memory layout needs no conversion. Of several main inputs the first decides.
 */
static int query_formats_dropin(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat natural[VMAFX_MOST_INPUTS], list[FF_ARRAY_ELEMS(pix_fmts)], like, ref;
    int ret, n = 0, any_hw = 0;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        if ((ret = natural_format(ctx->inputs[i], &natural[i])) < 0)
            return ret;
        any_hw |= ff_vmafx_is_hw(natural[i]);
    }
    if (any_hw)
        return query_formats(ctx);
    if (natural[0] == AV_PIX_FMT_NONE)
        return ff_set_common_formats_from_list(ctx, scored);

    like = nearest_format(scored, natural[0]);
    for (int i = 0; scored[i] != AV_PIX_FMT_NONE; i++)
        if (same_samples(scored[i], like) && is_yuvj(scored[i]) == is_yuvj(like))
            list[n++] = scored[i];
    list[n] = AV_PIX_FMT_NONE;

    ref = natural[reference_of(ctx)];
    if (ref != AV_PIX_FMT_NONE && !same_samples(ref, like))
        s->converted_from = ref;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        AVFilterFormats *formats = ff_make_format_list(list);

        if ((ret = ff_formats_ref(formats, &ctx->inputs[i]->outcfg.formats)) < 0 ||
            (i < ctx->nb_outputs && (ret = ff_formats_ref(formats, &ctx->outputs[i]->incfg.formats)) < 0))
            return ret;
    }
    return 0;
}
#endif

/** What colors the samples mean: frames know that in all versions of FFmpeg, links do not. */
static VmafxColor library_color(AVFilterLink *link, const AVFrame *frame)
{
    return (VmafxColor) {
        .matrix          = frame->colorspace,
        .range           = is_yuvj(ff_vmafx_sample_format(link)) ? AVCOL_RANGE_JPEG : frame->color_range,
        .transfer        = frame->color_trc,
        .primaries       = frame->color_primaries,
        .chroma_location = frame->chroma_location,
    };
}

/** @param first  NULL: no frame is known yet */
static VmafxFormat library_format(AVFilterContext *ctx, int pad, const AVFrame *first)
{
    AVFilterLink *link = ctx->inputs[pad];
    const enum AVPixelFormat fmt = ff_vmafx_sample_format(link);
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(fmt);
    const AVRational rate = VMAFX_LINK(link)->frame_rate;
    VmafxFormat format = {
        .width  = link->w,
        .height = link->h,
        .chroma = desc->nb_components == 1 ? VMAFX_CHROMA_400 :
                  desc->log2_chroma_h      ? VMAFX_CHROMA_420 :
                  desc->log2_chroma_w      ? VMAFX_CHROMA_422 : VMAFX_CHROMA_444,
        .bits   = desc->comp[0].depth,
        .layout = av_pix_fmt_count_planes(fmt) == 2 ? VMAFX_LAYOUT_SEMIPLANAR : VMAFX_LAYOUT_PLANAR,
        .shift  = desc->comp[0].shift,
        .memory = VMAFX_MEMORY_HOST,
        .name   = input_name(ctx, pad),
        .fps    = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0,
    };

    if (first)
        format.color = library_color(link, first);
    ff_vmafx_hw_memory(&format, link);
    return format;
}

/** Software formats were negotiated; of frames in a GPU's memory it is only known now what their samples are. */
static int check_samples(AVFilterContext *ctx, int pad)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    AVFilterLink *link = ctx->inputs[pad];
    char name[64];

    for (int i = 0; scored[i] != AV_PIX_FMT_NONE; i++)
        if (scored[i] == ff_vmafx_sample_format(link))
            return 0;
    av_log(ctx, AV_LOG_ERROR, "The %s input is %s, which cannot be scored.\n", input_name(ctx, pad),
           ff_vmafx_format_name(link, name, sizeof(name)));
    return AVERROR(EINVAL);
}

static void report_change(AVFilterContext *ctx)
{
    av_log(ctx, AV_LOG_ERROR, "An input changed its size or format in mid-stream: the scores of both parts are not "
           "one score. (-reinit_filter 0 before that input and a scale filter after it keep it the same.)\n");
}

static int check_inputs(AVFilterContext *ctx)
{
    VmafxFormat ref;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (check_samples(ctx, i) < 0)
            return AVERROR(EINVAL);
    ref = library_format(ctx, reference_of(ctx), NULL);
    for (unsigned i = 0; i < ctx->nb_outputs; i++) {
        const VmafxFormat main = library_format(ctx, i, NULL);
        const int ret = vmafx_check_formats(&ref, &main, log_message, ctx);

        if (ret < 0)
            return ret;
    }
    return 0;
}

/** Nothing is converted behind the user's back: say where libavfilter put a scale filter before an input. */
static void report_conversions(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;

    for (int i = 0; i < ctx->nb_inputs; i++) {
        const AVFilterLink *link = ctx->inputs[i];
        enum AVPixelFormat from = AV_PIX_FMT_NONE;

        if (!strncmp(link->src->name, "auto_scale", strlen("auto_scale")))
            from = link->src->inputs[0]->format;
        else if (i == reference_of(ctx))
            from = s->converted_from;
        if (from == link->format)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted in color range or matrix before it is scored.\n",
                   input_name(ctx, i));
        else if (from != AV_PIX_FMT_NONE)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted from %s to %s before it is scored.\n",
                   input_name(ctx, i), av_get_pix_fmt_name(from), av_get_pix_fmt_name(link->format));
    }
}

/* -- Pairing ------------------------------------------------------------------------------------------------------- */

/** How long a frame of main lasts on average, in seconds. */
static double mean_duration(const VMAFXContext *s, const VMAFXEncode *e)
{
    if (e->nb_main < 2)
        return 0;
    return (e->last_pts[0] - e->first_main_pts) * av_q2d(s->fs.time_base) / (e->nb_main - 1);
}

/** Whether two times, in seconds, are too far apart for frames of one time. */
static int is_far(const VMAFXContext *s, const VMAFXEncode *e, double difference)
{
    const double duration = mean_duration(s, e);

    return duration > 0 && difference > duration / 2;
}

/** Everything that makes the pairs, and so the score, doubtful. */
static void describe_doubts(AVBPrint *text, const VMAFXContext *s, const VMAFXEncode *e)
{
    const VmafxPairing *p = &e->pairing;

    if (p->unmatched_dist)
        av_bprintf(text, "; frames of main without a reference frame: %"PRId64, p->unmatched_dist);
    if (p->unmatched_ref)
        av_bprintf(text, "; reference frames not used: %"PRId64, p->unmatched_ref);
    if (p->repeated_ref)
        av_bprintf(text, "; pairs repeating a reference frame: %"PRId64, p->repeated_ref);
    if (p->repeated_dist)
        av_bprintf(text, "; pairs repeating a frame of main: %"PRId64, p->repeated_dist);
    if (is_far(s, e, p->max_time_difference))
        av_bprintf(text, "; the times of a pair differ by up to %.3f s, a frame lasts %.3f s",
                   p->max_time_difference, mean_duration(s, e));
}

#define START_REMEDY "settb=AVTB,setpts=PTS-STARTPTS before each input lets both start at zero"

static void add_remedy(AVBPrint *text, const char *remedy)
{
    av_bprintf(text, "%s%s", text->len ? "; " : "", remedy);
}

/** What helps against them, by where they occurred: at the beginning, at the end, in between. */
static void describe_remedies(AVBPrint *text, const VMAFXContext *s, const VMAFXEncode *e)
{
    const VmafxPairing *p = &e->pairing;
    const int64_t frames  = p->unmatched_dist + p->unmatched_ref + p->repeated_ref + p->repeated_dist;
    const int in_between  = frames > e->before_first + e->after_end;
    const int apart       = is_far(s, e, p->max_time_difference) && !e->after_end;

    if (s->sync.mode != VMAFX_SYNC_NEAREST && (in_between || apart))
        add_remedy(text, "ts_sync_mode=nearest pairs by the nearest time");
    if (e->before_first || is_far(s, e, e->first_difference) || (apart && !in_between))
        add_remedy(text, START_REMEDY);
    if (in_between)
        add_remedy(text, "the fps filter before an input gives both one frame rate");
    if (e->after_end)
        add_remedy(text, "shortest=1 ends with the shorter input");
}

static void report_pairing(AVFilterContext *ctx, const VMAFXEncode *e)
{
    const VMAFXContext *s = ctx->priv;
    AVBPrint doubts, remedies;
    char prefix[64];

    av_bprint_init(&doubts, 0, AV_BPRINT_SIZE_AUTOMATIC);
    av_bprint_init(&remedies, 0, AV_BPRINT_SIZE_AUTOMATIC);
    describe_doubts(&doubts, s, e);
    describe_remedies(&remedies, s, e);
    prefix_of(ctx, e, prefix);
    if (doubts.len)
        av_log(ctx, AV_LOG_WARNING, "%sThe score is doubtful, the inputs do not go together frame by frame: "
               "pairs scored: %"PRId64"%s. What helps: %s.\n", prefix, e->pairing.paired, doubts.str,
               remedies.str);
    else
        av_log(ctx, AV_LOG_VERBOSE, "%sPairs scored: %"PRId64", no frame repeated or left over.\n", prefix,
               e->pairing.paired);
    av_bprint_finalize(&remedies, NULL);
    av_bprint_finalize(&doubts, NULL);
}

/** Reference frames between the last pair and this one. */
static int64_t count_skipped(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *ref, int repeats_ref)
{
    const VMAFXContext *s = ctx->priv;
    const int reference = reference_of(ctx);
    const FFFrameSyncIn *in = &s->fs.in[reference];
    const int64_t arrived = VMAFX_LINK(ctx->inputs[reference])->frame_count_out;
    const int64_t waiting = in->have_next && in->frame_next && in->frame_next != ref;
    const int64_t before  = e->ref_skipped;

    e->nb_ref_used += !repeats_ref;
    e->ref_skipped  = arrived - waiting - e->nb_ref_used;
    return e->ref_skipped - before;
}

/** A pair of the range. */
static void count_pair(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main, const AVFrame *ref, int repeats_main,
                       int repeats_ref, int64_t skipped)
{
    const VMAFXContext *s = ctx->priv;
    const int reference = reference_of(ctx);
    const double difference = fabs((double)main->pts - ref->pts) * av_q2d(s->fs.time_base);

    e->pairing.paired++;
    e->pairing.repeated_dist += repeats_main;
    e->pairing.repeated_ref  += repeats_ref;
    e->pairing.unmatched_ref += skipped;
    if (e->pairing.paired == 1) {
        e->before_first     = e->pairing.unmatched_dist + e->pairing.unmatched_ref;
        e->first_difference = difference;
    }
    e->after_end += repeats_main || (repeats_ref && ff_vmafx_sync_ended(&s->fs, reference));
    e->pairing.max_time_difference = FFMAX(e->pairing.max_time_difference, difference);
}

/** The scale filter rounds (854x480 to 1920x1080 gives 1281:1280), and standards differ by up to 2.4 % (12:11, 16:15). */
static void report_shapes(AVFilterContext *ctx, int input, const AVFrame *main, const AVFrame *ref)
{
    const AVRational a = main->sample_aspect_ratio, b = ref->sample_aspect_ratio;

    if (a.num > 0 && a.den > 0 && b.num > 0 && b.den > 0 && fabs(av_q2d(a) / av_q2d(b) - 1) > 0.03)
        av_log(ctx, AV_LOG_WARNING, "The inputs differ in sample aspect ratio (%s %d:%d, reference %d:%d), so their pictures "
               "are not of one shape. scale=W:H,setsar=1 before each brings them to one; setsar=%d/%d before %s, if only its "
               "tag is wrong.\n", input_name(ctx, input), a.num, a.den, b.num, b.den, b.num, b.den, input_name(ctx, input));
}

/** Once, at the first pair that shows it: streams may begin with progressive frames. */
static void report_interlacing(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main, const AVFrame *ref)
{
    const VMAFXContext *s = ctx->priv;
    const char *names[] = { input_name(ctx, e - s->encode), input_name(ctx, reference_of(ctx)) };
    const int interlaced = !VMAFX_IS_INTERLACED(main);

    if (e->told_interlaced || VMAFX_IS_INTERLACED(main) == VMAFX_IS_INTERLACED(ref))
        return;
    e->told_interlaced = 1;
    av_log(ctx, AV_LOG_WARNING, "The %s input is interlaced and the %s input is not, so their lines are of different times. "
           "bwdif=send_frame before the %s input deinterlaces it; setfield=prog there, if only its tag is wrong.\n",
           names[interlaced], names[!interlaced], names[interlaced]);
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

static void release_frame(void *opaque)
{
    AVFrame *frame = opaque;

    av_frame_free(&frame);
}

/** The bit of an input in vmafx_imports(). */
static unsigned imports_bit(const AVFilterContext *ctx, int input)
{
    return input == original_of(ctx) ? 1 : IS_XPSNR(ctx) ? 2 : 2u << input;
}

static int make_picture(const AVFilterContext *ctx, VmafxPicture *pic, int input, const AVFrame *frame)
{
    const VMAFXContext *s = ctx->priv;
    AVFrame *clone;

    if (ff_vmafx_is_hw(frame->format))
        return ff_vmafx_hw_picture(pic, frame, !!(vmafx_imports(s->vmafx) & imports_bit(ctx, input)));
    if (!(clone = av_frame_clone(frame)))
        return AVERROR(ENOMEM);
    *pic = (VmafxPicture) { .release = release_frame, .opaque = clone };
    for (int i = 0; i < av_pix_fmt_count_planes(clone->format); i++) {
        pic->data[i]   = clone->data[i];
        pic->stride[i] = clone->linesize[i];
    }
    return 0;
}

static int check_frame(AVFilterContext *ctx, int pad, const AVFrame *frame)
{
    AVFilterLink *link = ctx->inputs[pad];
    const char *name = av_get_pix_fmt_name(frame->format);

    if (frame->width == link->w && frame->height == link->h && frame->format == link->format &&
        ff_vmafx_hw_same_kind(link, frame))
        return 0;
    av_log(ctx, AV_LOG_ERROR, "The %s input changed in mid-stream from %dx%d %s to %dx%d %s; "
           "a scale filter before it would keep it the same.\n", input_name(ctx, pad),
           link->w, link->h, av_get_pix_fmt_name(link->format),
           frame->width, frame->height, name ? name : "unknown");
    return AVERROR(EINVAL);
}

/** Takes the frame. With several outputs one may have had enough. */
static int send_frame(AVFilterContext *ctx, const VMAFXEncode *e, AVFrame *frame)
{
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[e - s->encode];

    if (s->encodes > 1 && ff_outlink_get_status(outlink)) {
        av_frame_free(&frame);
        return 0;
    }
    s->held_back = 0;
    return ff_filter_frame(outlink, frame);
}

/** Pass a frame on, or keep it until its scores are here. Takes the frame. */
static int output_frame(AVFilterContext *ctx, VMAFXEncode *e, AVFrame *frame, int64_t pair)
{
    const VMAFXContext *s = ctx->priv;
    HeldFrame held = { frame, pair };
    int ret;

    if (!s->metadata)
        return send_frame(ctx, e, frame);
    if ((ret = av_fifo_write(e->held, &held, 1)) < 0)
        av_frame_free(&frame);
    return ret;
}

static int set_scores(const VMAFXContext *s, AVFrame *frame, const char *prefix, const VmafxScore *scores, size_t n)
{
    int ret;

    for (size_t i = 0; i < n; i++) {
        char value[512], *key;

        if ((ret = vmafx_format_score(s->vmafx, scores[i].value, value, sizeof(value))) < 0)
            return ret;
        if (!(key = av_asprintf("lavfi.vmafx.%s%s", prefix, scores[i].key)))
            return AVERROR(ENOMEM);
        if ((ret = av_dict_set(&frame->metadata, key, value, AV_DICT_DONT_STRDUP_KEY)) < 0)
            return ret;
    }
    return 0;
}

/** The scores of the frame, and on the last frame of a window those of the window. */
static int set_metadata(const VMAFXContext *s, AVFrame *frame, const VmafxFrameResult *result)
{
    const VmafxWindow *window = result->window;
    int ret = set_scores(s, frame, "", result->scores, result->n_scores);

    if (ret < 0 || !window)
        return ret;
    if ((ret = av_dict_set_int(&frame->metadata, "lavfi.vmafx.window.frames",
                               window->last_frame - window->first_frame + 1, 0)) < 0)
        return ret;
    return set_scores(s, frame, "window.", window->scores, window->n_scores);
}

/** Send the frames of an encode that wait for no scores, up to the first that does. */
static int send_held(AVFilterContext *ctx, VMAFXEncode *e)
{
    HeldFrame held;
    int ret;

    while (av_fifo_peek(e->held, &held, 1, 0) >= 0 && held.pair < 0) {
        av_fifo_drain2(e->held, 1);
        if ((ret = send_frame(ctx, e, held.frame)) < 0)
            return ret;
    }
    return 0;
}

/** Put scores on the frame that waits for them, and send it and those that waited for it. */
static int send_scored(AVFilterContext *ctx, const VmafxFrameResult *result)
{
    VMAFXContext *s = ctx->priv;
    VMAFXEncode *e = &s->encode[result->encode];
    HeldFrame held;
    int ret;

    if (av_fifo_peek(e->held, &held, 1, 0) < 0 || result->frame != held.pair) {
        av_log(ctx, AV_LOG_ERROR, "Got the scores of pair %"PRId64", which no frame waits for.\n", result->frame);
        return AVERROR_BUG;
    }
    ret = IS_XPSNR(ctx) ? ff_vmafx_xpsnr_frame(&s->xpsnr, held.frame, result) : set_metadata(s, held.frame, result);
    if (ret < 0)
        return ret;
    held.pair = -1;
    av_fifo_drain2(e->held, 1);
    if ((ret = send_frame(ctx, e, held.frame)) < 0)
        return ret;
    return send_held(ctx, e);
}

/** Send the held frames whose scores are known, in order. Frames without a pair wait only for those before them. */
static int drain_held(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    VmafxFrameResult result;
    int ret;

    if (!s->metadata)
        return 0;
    for (int i = 0; i < s->encodes; i++)
        if ((ret = send_held(ctx, &s->encode[i])) < 0)
            return ret;
    while ((ret = vmafx_receive(s->vmafx, &result)) >= 0)
        if ((ret = send_scored(ctx, &result)) < 0)
            return ret;
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

/** The scores of held frames that nobody wants any more: statistics have them all the same. */
static int drain_unwanted(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    VmafxFrameResult result;
    int ret;

    if (!IS_XPSNR(ctx))
        return 0;
    while ((ret = vmafx_receive(s->vmafx, &result)) >= 0)
        if ((ret = ff_vmafx_xpsnr_frame(&s->xpsnr, NULL, &result)) < 0)
            return ret;
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

static void free_held(VMAFXEncode *e)
{
    HeldFrame held;

    while (e->held && av_fifo_read(e->held, &held, 1) >= 0)
        av_frame_free(&held.frame);
    av_fifo_freep2(&e->held);
}

/** The frame that an input shows first, as far as it is known. */
static const AVFrame *shown_frame(const VMAFXContext *s, int input)
{
    const FFFrameSyncIn *in = &s->fs.in[input];

    return in->frame ? in->frame : in->frame_next;
}

/** The library's work begins with the first pair: only frames say what colors they hold. */
static int begin_scoring(AVFilterContext *ctx, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    VmafxFormat main[VMAFX_MOST_ENCODES];
    VmafxFormat reference = library_format(ctx, reference_of(ctx), ref);

    for (int i = 0; i < s->encodes; i++) {
        const AVFrame *first = shown_frame(s, i);

        main[i] = library_format(ctx, i, first);
        if (s->encodes > 1)
            main[i].name = NULL;
        if (first)
            report_shapes(ctx, i, first, ref);
    }
    s->configured = 1;
    if (IS_XPSNR(ctx)) {
        FFSWAP(VmafxFormat, reference, main[0]);
        if (main[0].fps > 0) /* as in FFmpeg's filter */
            reference.fps = main[0].fps;
    }
    return vmafx_configure_encodes(s->vmafx, &reference, main, s->encodes);
}

/** Send the pairs that wait for others with their frame of the reference. */
static int submit_group(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    VMAFXGroup *group = &s->group;
    const VmafxPicture *main[VMAFX_MOST_ENCODES] = { NULL }, *original;
    VmafxPicture ref;
    int ret;

    if (!group->ref)
        return 0;
    if ((ret = make_picture(ctx, &ref, reference_of(ctx), group->ref)) < 0)
        return ret;
    for (int i = 0; i < s->encodes; i++) {
        if (group->has[i])
            main[i] = &group->main[i];
        group->has[i] = 0;
    }
    av_frame_free(&group->ref);
    original = &ref;
    if (IS_XPSNR(ctx))
        FFSWAP(const VmafxPicture *, original, main[0]);
    return vmafx_submit_encodes(s->vmafx, original, main, s->encodes);
}

static void free_group(VMAFXContext *s)
{
    for (int i = 0; i < s->encodes; i++)
        if (s->group.has[i])
            s->group.main[i].release(s->group.main[i].opaque);
    av_frame_free(&s->group.ref);
}

/** Whether a frame of the reference is the one that the group waits with. The group holds it, so its memory is no other's. */
static int is_of_group(const VMAFXGroup *group, const AVFrame *ref)
{
    return group->ref && group->ref->pts == ref->pts && group->ref->data[0] == ref->data[0] &&
           group->ref->data[3] == ref->data[3];
}

/** Encodes whose times a container rounded meet the same frame of the reference one after the other. */
static int score_pair(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    const int number = e - s->encode;
    VMAFXGroup *group = &s->group;
    VmafxPicture *pic = &group->main[number];
    int ret;

    if ((ret = check_frame(ctx, reference_of(ctx), ref)) < 0)
        return s->encodes > 1 ? s->error = ret : ret;
    if ((ret = check_frame(ctx, number, main)) < 0)
        return ret;
    if (!s->configured && (ret = begin_scoring(ctx, ref)) < 0)
        return s->error = ret;
    report_interlacing(ctx, e, main, ref);

    if ((group->has[number] || !is_of_group(group, ref)) && (ret = submit_group(ctx)) < 0)
        return s->error = ret;
    if (!group->ref && !(group->ref = av_frame_clone(ref)))
        return s->error = AVERROR(ENOMEM);
    if ((ret = make_picture(ctx, pic, number, main)) < 0)
        return s->error = ret;
    group->has[number] = 1;
    pic->has_time = 1;
    pic->time     = s->fs.pts * av_q2d(s->fs.time_base);
    pic->keyframe = VMAFX_IS_KEYFRAME(main);
    return s->encodes == 1 ? submit_group(ctx) : 0;
}

/** Nothing comes of an encode any more; as framesync itself ends when an input does that all others end with. */
static int end_encode(AVFilterContext *ctx, VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;

    e->ended = 1;
    for (int i = 0; i < s->encodes; i++)
        if (!s->encode[i].ended)
            return 0;
    s->fs.eof = 1;
    if (s->encodes == 1)
        ff_outlink_set_status(ctx->outputs[0], AVERROR_EOF, AV_NOPTS_VALUE);
    return 0;
}

/** An encode and what it meets at this time. The frames stay framesync's; library and output get references. */
static int meet(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main)
{
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[e - s->encode];
    AVFrame *ref;
    const enum VMAFXMatch match = ff_vmafx_sync_match(&e->sync, &s->fs, main, &ref);
    const int repeats_main = e->nb_main && main == e->last[0] && main->pts == e->last_pts[0];
    const int repeats_ref  = ref && ref == e->last[1] && ref->pts == e->last_pts[1];
    const int of_range = !vmafx_range_place(s->vmafx, e->pairs, 1, s->fs.pts * av_q2d(s->fs.time_base));
    int64_t pair = -1;
    AVFrame *out;
    int ret;

    if (match == VMAFX_ALL_ENDED)
        return end_encode(ctx, e);
    s->held_back = 1;

    /* After the end of main its last frame meets the rest of the reference; one of that may have had its turn. */
    if (repeats_main && repeats_ref)
        return 0;

    if (!e->nb_main)
        e->first_main_pts = main->pts;
    e->nb_main += !repeats_main;

    if (ref) {
        int64_t skipped;

        if ((ret = score_pair(ctx, e, main, ref)) < 0)
            return ret;
        if (of_range)
            pair = e->pairs;
        e->pairs++;
        skipped = count_skipped(ctx, e, ref, repeats_ref);
        if (of_range)
            count_pair(ctx, e, main, ref, repeats_main, repeats_ref, skipped);
    } else if (of_range) {
        e->pairing.unmatched_dist++;
        e->after_end += e->pairing.paired > 0;
    }
    e->last[0]     = main;
    e->last_pts[0] = main->pts;
    e->last[1]     = ref;
    e->last_pts[1] = ref ? ref->pts : AV_NOPTS_VALUE;

    if (!(out = av_frame_clone(main)))
        return AVERROR(ENOMEM);
    out->pts = av_rescale_q(s->fs.pts, s->fs.time_base, outlink->time_base);
    return output_frame(ctx, e, out, pair);
}

/** Nothing that comes after the range and its context matters: ffmpeg need not decode it. */
static void end_after_range(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (int i = 0; i < s->encodes && vmafx_range_done(s->vmafx); i++)
        if (!s->encode[i].ended)
            end_encode(ctx, &s->encode[i]);
}

static int process_event(FFFrameSync *fs)
{
    AVFilterContext *ctx = fs->parent;
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = meet(ctx, &s->encode[0], fs->in[0].frame)) < 0 || (ret = drain_held(ctx)) < 0)
        return ret;
    end_after_range(ctx);
    return 0;
}

/** What breaks one of several encodes ends that one; what the others have in common ends all. */
static int meet_or_break(AVFilterContext *ctx, VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;
    const int input = e - s->encode;
    const int ret = meet(ctx, e, s->fs.in[input].frame);
    char prefix[64];

    if (ret >= 0 || s->error)
        return ret;
    av_log(ctx, AV_LOG_ERROR, "%sThis encode is scored up to here, after %"PRId64" pairs; the others go on.\n",
           prefix_of(ctx, e, prefix), e->pairing.paired);
    e->error = ret;
    e->pairing.cut_short = 1;
    ff_vmafx_sync_close(&s->fs, input);
    return end_encode(ctx, e);
}

static int any_wanted(const AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (ff_outlink_frame_wanted(ctx->outputs[i]))
            return 1;
    return 0;
}

/** All encodes at the next time at which something comes. */
static int advance_encodes(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = ff_vmafx_sync_advance(&s->fs, any_wanted(ctx))) <= 0)
        return ret;
    for (int i = 0; i < s->encodes; i++) {
        VMAFXEncode *e = &s->encode[i];

        if (!e->ended && ff_vmafx_sync_main_done(&e->sync, &s->fs, i))
            end_encode(ctx, e);
        if (!e->ended && ff_vmafx_sync_meets(&e->sync, &s->fs, i) && (ret = meet_or_break(ctx, e)) < 0)
            return ret;
    }
    /* What an event leaves to do nobody downstream is told. */
    ff_filter_set_ready(ctx, 100);
    if ((ret = drain_held(ctx)) < 0)
        return ret;
    end_after_range(ctx);
    return 0;
}

/* -- The end ------------------------------------------------------------------------------------------------------- */

/** What ffmpeg says of its progress ends with \r: on a terminal the next line would be written over it. */
static void leave_progress_line(void)
{
#if HAVE_ISATTY
    if (isatty(2))
        av_log(NULL, AV_LOG_INFO, "\n");
#endif
}

/**
 * Programs look for "VMAF score: " and a number at the end of the line, and take the first, the last, or all of them. With several
 * encodes each line begins with the name of one.
 */
static int print_scores(AVFilterContext *ctx, const VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;
    const int number = e - s->encode;
    char prefix[64];

    if (IS_XPSNR(ctx))
        return ff_vmafx_xpsnr_end(&s->xpsnr, s->vmafx, e->pairing.paired);
    prefix_of(ctx, e, prefix);
    for (int i = 0; i < vmafx_model_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_encode_model_score(s->vmafx, number, i, &name, &score);

        if (ret < 0)
            return ret;
        if (i)
            av_log(ctx, AV_LOG_INFO, "%s%s: VMAF score: %f\n", prefix, name, score);
        else
            av_log(ctx, AV_LOG_INFO, "%sVMAF score: %f\n", prefix, score);
    }
    if (is_libvmaf(ctx) && vmafx_model_count(s->vmafx))
        return 0;
    for (int i = 0; i < vmafx_feature_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_encode_feature_score(s->vmafx, number, i, &name, &score);

        if (ret < 0)
            return ret;
        av_log(ctx, AV_LOG_INFO, "%s%s score: %f\n", prefix, name, score);
    }
    return 0;
}

/** Pairs of all encodes, those outside of the range, too. */
static int64_t pairs_of(const VMAFXContext *s)
{
    int64_t pairs = 0;

    for (int i = 0; i < s->encodes; i++)
        pairs += s->encode[i].pairs;
    return pairs;
}

static void report_no_pairs(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    int64_t arrived = 0;

    for (int i = 0; i < s->encodes; i++)
        arrived += s->encode[i].arrived;
    av_log(ctx, AV_LOG_ERROR, "No frames were scored: %"PRId64" frames of main and %"PRId64" of the reference "
           "arrived, none of them made a pair. (%s)\n", arrived, s->arrived_ref,
           arrived && s->arrived_ref ? START_REMEDY : "one of the inputs has no frames");
}

/**
 * Everything that comes after the last pair. Frames still held go out if they are wanted; if not, there may be no links
 * any more. What is wrong with one encode does not take the scores of the others away; it is what is returned.
 */
static int finish(AVFilterContext *ctx, int wanted)
{
    VMAFXContext *s = ctx->priv;
    int ret, first;

    s->finished = 1;
    leave_progress_line();
    if (!pairs_of(s)) {
        report_no_pairs(ctx);
        return AVERROR(EINVAL);
    }
    if ((ret = submit_group(ctx)) < 0)
        return ret;
    for (int i = 0; i < s->encodes; i++) {
        s->encode[i].pairing.encode = i;
        if ((ret = vmafx_set_pairing(s->vmafx, &s->encode[i].pairing)) < 0)
            return ret;
    }
    first = vmafx_finish(s->vmafx);
    if (!vmafx_finished(s->vmafx))
        return first;
    ret = wanted ? drain_held(ctx) : drain_unwanted(ctx);
    first = first < 0 ? first : ret;
    for (int i = 0; i < s->encodes; i++) {
        VMAFXEncode *e = &s->encode[i];

        first = first < 0 ? first : e->error;
        if (!e->pairing.paired)
            continue;
        report_pairing(ctx, e);
        ret = print_scores(ctx, e);
        first = first < 0 ? first : ret;
    }
    return first;
}

/** The end for those who want no more, before the inputs ended: the pairs up to here are the stream. */
static int finish_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (pairs_of(s))
        av_log(ctx, AV_LOG_INFO, "Stopped before the end of the inputs: the scores are of the %"PRId64" pairs up to there.\n",
               pairs_of(s));
    for (int i = 0; i < s->encodes; i++)
        s->encode[i].pairing.cut_short = 1;
    return finish(ctx, 0);
}

static int has_ended(const AVFilterContext *ctx, int pad)
{
    return ff_outlink_get_status(ctx->inputs[pad]) != 0;
}

static int ended_inputs(const AVFilterContext *ctx)
{
    int ended = 0;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        ended += has_ended(ctx, i);
    return ended;
}

/*
 * When its outputs are full (-frames:v, -t), or on an interrupt, ffmpeg up to 6.1 takes one more frame from each decoder,
 * ends the input if there is none, and asks for nothing. These frames are not to be paired: not even with each other, because a
 * decoder that reorders gives one that is not the next. They are told by what ffmpeg does not do: it feeds a stream
 * because it asked for a frame and its source had none, and it asks again for as long as the stream goes on.
 */

/** Frames that may wait for the output to be asked: what a cut can add to an input, and no more than memory bears. */
#define MOST_WAITING 8

/** Whether the source of an input that has ended was asked for frames before it did. */
static int was_asked(const VMAFXContext *s, int pad)
{
    AVFilterContext *source = s->graph.source[pad]->src;

    return strcmp(source->filter->name, "buffer") || av_buffersrc_get_nb_failed_requests(source);
}

/** Whether an input ended although it was asked, and nothing came since that only comes when the stream goes on. */
static int looks_interrupted(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const int wanted = any_wanted(ctx);
    const int ended  = ended_inputs(ctx);
    int64_t frames = 0;

    if (!ended || s->going_on)
        return 0;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        frames += VMAFX_LINK(ctx->inputs[i])->frame_count_in;
    if (s->frames_at_end < 0)
        s->frames_at_end = frames;
    s->unwanted |= !wanted;
    s->going_on = (wanted && (s->unwanted || ended == ctx->nb_inputs)) ||
                  frames - s->frames_at_end + ended > ctx->nb_inputs;
    return !s->going_on;
}

static int may_pair(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    int interrupted;

    if (!VMAFX_FED_UNASKED)
        return 1;
    interrupted = looks_interrupted(ctx);
    if (any_wanted(ctx))
        return !interrupted;
    /* Asked for the frames of another output, the streams have ended: an error must come while ffmpeg feeds the graph. */
    if (ended_inputs(ctx) == ctx->nb_inputs) {
        for (unsigned i = 0; i < ctx->nb_inputs; i++)
            if (!was_asked(s, i))
                return 0;
        return 1;
    }
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (ff_inlink_queued_frames(ctx->inputs[i]) > MOST_WAITING)
            return 1;
    return 0;
}

static int run_framesync(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const int all_here = ended_inputs(ctx) == ctx->nb_inputs;
    int ret;

    if (!may_pair(ctx)) {
        for (int i = 0; i < ctx->nb_inputs && any_wanted(ctx); i++)
            if (!has_ended(ctx, i))
                ff_inlink_request_frame(ctx->inputs[i]);
        return FFERROR_NOT_READY;
    }

    /* With all frames here, go to the very end at once: ffmpeg up to 6.1 makes an exit status of an error that comes
     * while it feeds the graph, and forgets one that comes while it asks for more. */
    do {
        s->held_back = 0;
        ret = s->encodes > 1 ? advance_encodes(ctx) : ff_framesync_activate(&s->fs);
        if (ret < 0)
            return ret;
    } while (all_here && !s->fs.eof);
    return 0;
}

/** What has come to the inputs. An error if it follows what an earlier graph was given. */
static int look_at_inputs(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (int i = 0; i < s->encodes; i++)
        s->encode[i].arrived = VMAFX_LINK(ctx->inputs[i])->frame_count_in;
    s->arrived_ref = VMAFX_LINK(ctx->inputs[s->encodes])->frame_count_in;
    if (!ff_vmafx_graph_goes_on(&s->graph))
        return 0;
    report_change(ctx);
    return AVERROR(EINVAL);
}

/** Whether nobody wants anything any more. */
static int all_closed(const AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (!ff_outlink_get_status(ctx->outputs[i]))
            return 0;
    return 1;
}

static int run(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = look_at_inputs(ctx)) < 0)
        return ret;
    if (all_closed(ctx)) {
        if (!s->finished && (ret = finish_early(ctx)) < 0)
            return ret;
        FF_FILTER_FORWARD_STATUS_BACK_ALL(ctx->outputs[0], ctx);
    }

    if ((ret = run_framesync(ctx)) < 0)
        return ret;

    /* framesync has set the status of the output by now. The frames added here still come before it: a status is
     * seen only when the queue of the link is empty, and no other filter runs in between. */
    if (s->fs.eof && !s->finished) {
        ret = finish(ctx, 1);
        for (int i = 0; s->encodes > 1 && i < s->encodes; i++)
            ff_outlink_set_status(ctx->outputs[i], AVERROR_EOF, AV_NOPTS_VALUE);
        for (unsigned i = 0; i < ctx->nb_inputs && vmafx_range_done(s->vmafx); i++)
            if (!has_ended(ctx, i))
                ff_inlink_set_status(ctx->inputs[i], AVERROR_EOF);
        return ret;
    }

    /* An event without output: framesync waits to be asked again, and nobody downstream was told to. */
    if (s->held_back)
        ff_filter_set_ready(ctx, 100);
    return 0;
}

/** An error as ffmpeg understands it: AVERROR(EAGAIN) of a filter means "not now" to it, and it would ask for ever. */
static int definite_error(int ret)
{
    return ret == AVERROR(EAGAIN) ? AVERROR_EXTERNAL : ret;
}

static int activate(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if (s->error)
        return s->error;
    ret = definite_error(run(ctx));
    s->wanted = any_wanted(ctx);
    if (ret < 0 && ret != FFERROR_NOT_READY)
        s->error = ret;
    return ret;
}

/* -- Set-up -------------------------------------------------------------------------------------------------------- */

/**
 * log_path is the first option, so that `vmafx=vmaf_v0.6.1` reads like a model and names a file. libvmaf writes that file.
 */
static int check_log_path(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    const char *name;

    for (int i = 0; s->log_path && (name = vmafx_builtin_model(i)); i++) {
        if (strcmp(s->log_path, name))
            continue;
        av_log(ctx, is_libvmaf(ctx) ? AV_LOG_WARNING : AV_LOG_ERROR, "The report's name, log_path=%s, is that of a model: "
               "model=%s scores with it. (log_path is the first option; a report of that name is log_path=./%s.)\n",
               name, name, name);
        return is_libvmaf(ctx) ? 0 : AVERROR(EINVAL);
    }
    return 0;
}

/** NULL: the library goes by the ending of log_path. */
static const char *report_format(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    const char *ending = s->log_path ? strrchr(s->log_path, '.') : NULL;

    if ((s->log_fmt && *s->log_fmt) || !is_libvmaf(ctx) || !s->log_path)
        return s->log_fmt;
    if (ending && av_match_name(ending + 1, "json,csv,sub,ndjson"))
        av_log(ctx, AV_LOG_WARNING, "The report %s will hold XML, as libvmaf writes it unless asked otherwise: log_fmt=%s.\n",
               s->log_path, ending + 1);
    return "xml";
}

/** The models, with what libvmaf's old options say of them. */
static void describe_models(AVBPrint *text, AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    const int by_path   = s->model_path && *s->model_path;
    const int transform = s->enable_transform || s->phone_model;
    const char *rest    = s->model ? s->model : "";
    const int is_default = av_opt_is_set_to_default_by_name(ctx->priv, "model", 0) > 0;

    if (by_path && is_default) {
        av_bprintf(text, "path=");
        av_bprint_escape(text, s->model_path, ":", AV_ESCAPE_MODE_BACKSLASH, 0);
        av_bprintf(text, "%s", transform ? ":enable_transform=true" : "");
        return;
    }
    if (by_path)
        av_log(ctx, AV_LOG_WARNING, "model_path=%s is ignored: model=%s says what scores.\n", s->model_path, s->model);
    while (*rest) {
        const int size = strcspn(rest, "|");
        const char *found = strstr(rest, "enable_transform");

        av_bprintf(text, "%.*s", size, rest);
        if (transform && size && (!found || found > rest + size))
            av_bprintf(text, ":enable_transform=true");
        rest += size;
        if (*rest)
            av_bprint_chars(text, *rest++, 1);
    }
}

/** The features, and those that libvmaf's old options stand for. */
static void describe_features(AVBPrint *text, const VMAFXContext *s)
{
    const struct { int wanted; const char *feature; } old[] = {
        { s->psnr,    "name=psnr:enable_chroma=false" },
        { s->ssim,    "name=float_ssim" },
        { s->ms_ssim, "name=float_ms_ssim" },
    };

    av_bprintf(text, "%s", s->feature ? s->feature : "");
    for (int i = 0; i < FF_ARRAY_ELEMS(old); i++)
        if (old[i].wanted)
            av_bprintf(text, "|%s", old[i].feature);
}

static av_cold int open_with(AVFilterContext *ctx, const char *model, const char *feature)
{
    VMAFXContext *s = ctx->priv;
    VmafxParams params;
    int ret;

    vmafx_default_params(&params);
#define GIVE(option, field, ...) params.field = s->field;
    VMAFX_OPTIONS(GIVE, GIVE, GIVE)
    params.model        = model;
    params.feature      = feature;
    params.log_fmt      = report_format(ctx);
    params.report_times = !is_libvmaf(ctx);
    params.summary      = !is_libvmaf(ctx) && !IS_XPSNR(ctx);
    params.ignore_unknown = is_libvmaf(ctx);
    params.log          = log_message;
    params.log_cookie   = ctx;
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        if ((ret = ff_vmafx_hw_keep_device(&s->hw_device[i], ctx->inputs[i])) < 0)
            return ret;
        ff_vmafx_hw_context(&params, ctx->inputs[i]);
    }
    return definite_error(vmafx_open(&s->vmafx, &params));
}

static av_cold int open_library(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    AVBPrint model, feature;
    int ret = AVERROR(ENOMEM);

    if (IS_XPSNR(ctx))
        return open_with(ctx, "", "name=xpsnr");
    av_bprint_init(&model, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprint_init(&feature, 0, AV_BPRINT_SIZE_UNLIMITED);
    describe_models(&model, ctx);
    describe_features(&feature, s);
    if (av_bprint_is_complete(&model) && av_bprint_is_complete(&feature))
        ret = open_with(ctx, model.str, feature.str);
    av_bprint_finalize(&model, NULL);
    av_bprint_finalize(&feature, NULL);
    if (ret >= 0 && s->enable_conf_interval)
        av_log(ctx, AV_LOG_WARNING, "enable_conf_interval does nothing of its own: the confidence interval is in the report of models that "
               "have one, such as vmaf_b_v0.6.3.\n");
    return ret;
}

static int config_output(AVFilterLink *outlink);

/** A main input and its output; `number`: of several. */
static int append_main(AVFilterContext *ctx, int number)
{
    const VMAFXContext *s = ctx->priv;
    AVFilterPad in = { .type = AVMEDIA_TYPE_VIDEO }, out = { .type = AVMEDIA_TYPE_VIDEO, .config_props = config_output };
    int ret;

    in.name  = s->encodes > 1 ? av_asprintf("main%d", number) : av_strdup("main");
    out.name = s->encodes > 1 ? av_asprintf("out%d", number)  : av_strdup("default");
    if (!in.name || !out.name) {
        av_free((void *)in.name);
        av_free((void *)out.name);
        return AVERROR(ENOMEM);
    }
    if ((ret = ff_append_inpad_free_name(ctx, &in)) < 0) {
        av_free((void *)out.name);
        return ret;
    }
    return ff_append_outpad_free_name(ctx, &out);
}

static av_cold int init(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    AVFilterPad reference = { .name = "reference", .type = AVMEDIA_TYPE_VIDEO };
    int ret;

    s->fs.on_event    = process_event;
    s->converted_from = AV_PIX_FMT_NONE;
    s->frames_at_end  = -1;
    if (!(s->encode = av_calloc(s->encodes, sizeof(*s->encode))))
        return AVERROR(ENOMEM);
    for (int i = 0; i < s->encodes; i++) {
        if (s->metadata && !(s->encode[i].held = av_fifo_alloc2(16, sizeof(HeldFrame), AV_FIFO_FLAG_AUTO_GROW)))
            return AVERROR(ENOMEM);
        if ((ret = append_main(ctx, i)) < 0)
            return ret;
    }
    return ff_append_inpad(ctx, &reference);
}

#if VMAFX_XPSNR
/** With what the name has no options for. */
static av_cold int init_xpsnr(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    s->encodes = s->n_subsample = s->metadata = 1;
    return init(ctx);
}
#endif

/** What all outputs need, before the first of them is configured. */
static int begin(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = ff_vmafx_graph_begin(&s->graph, ctx)) < 0)
        return ret;
    if ((ret = check_inputs(ctx)) < 0) {
        if (ff_vmafx_graph_follows(&s->graph))
            report_change(ctx);
        return ret;
    }
    report_conversions(ctx);
    if ((ret = check_log_path(ctx)) < 0 || (ret = open_library(ctx)) < 0)
        return ret;
    if (IS_XPSNR(ctx) && (ret = ff_vmafx_xpsnr_open(&s->xpsnr, ctx, ff_vmafx_sample_format(ctx->inputs[0]))) < 0)
        return ret;

    if ((ret = ff_vmafx_sync_init(&s->fs, ctx)) < 0 || (ret = ff_vmafx_sync_configure(&s->sync, &s->fs)) < 0)
        return ret;
    for (int i = 0; i < s->encodes; i++)
        s->encode[i].sync = ff_vmafx_sync_of_main(&s->sync, &s->fs, i);
    return 0;
}

/* The library is opened here and not in init(): ffmpeg makes each filter once more, only to count its pads. */
static int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    VMAFXContext *s = ctx->priv;
    AVFilterLink *mainlink = ctx->inputs[FF_OUTLINK_IDX(outlink)];
    int ret;

    if (!s->vmafx && (ret = begin(ctx)) < 0)
        return ret;
    outlink->w = mainlink->w;
    outlink->h = mainlink->h;
    outlink->time_base = mainlink->time_base;
    outlink->sample_aspect_ratio = mainlink->sample_aspect_ratio;
    VMAFX_LINK(outlink)->frame_rate = VMAFX_LINK(mainlink)->frame_rate;
    if (VMAFX_LINK(mainlink)->hw_frames_ctx &&
        !(VMAFX_LINK(outlink)->hw_frames_ctx = av_buffer_ref(VMAFX_LINK(mainlink)->hw_frames_ctx)))
        return AVERROR(ENOMEM);
    return 0;
}

/**
 * Freed before the end of the stream and without an error of our own. Whoever got all frames that were
 * asked for had enough (-frames:v); a frame that is still wanted means that something broke off, or a new graph.
 */
static av_cold void close_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (!pairs_of(s) || !s->wanted || VMAFX_ASKS_AHEAD || s->encodes > 1) {
        finish_early(ctx);
        return;
    }
    av_log(ctx, AV_LOG_WARNING, "Broken off before the end of the inputs, after %"PRId64" pairs: there is no score, and "
           "the report, if any, is partial.\n", pairs_of(s));
    s->encode[0].pairing.cut_short = 1;
    vmafx_set_pairing(s->vmafx, &s->encode[0].pairing);
}

static av_cold int has_begun(const VMAFXContext *s)
{
    for (int i = 0; i < s->encodes; i++)
        if (s->encode[i].nb_main)
            return 1;
    return 0;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (s->vmafx && has_begun(s) && !s->finished && !s->error)
        close_early(ctx);
    if (s->encode)
        free_group(s);
    vmafx_close(&s->vmafx);
    if (IS_XPSNR(ctx))
        ff_vmafx_xpsnr_close(&s->xpsnr);
    ff_vmafx_graph_end(&s->graph);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->hw_device); i++)
        av_buffer_unref(&s->hw_device[i]);
    for (int i = 0; s->encode && i < s->encodes; i++)
        free_held(&s->encode[i]);
    av_freep(&s->encode);
    ff_framesync_uninit(&s->fs);
}

#if CONFIG_VMAFX_FILTER
const VMAFX_FILTER ff_vf_vmafx = {
    VMAFX_PUBLIC(name)        = "vmafx",
    VMAFX_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Score a video against its reference (VMAF), on CPU or GPU."),
    VMAFX_PUBLIC(priv_class)  = &vmafx_class,
    .init          = init,
    .uninit        = uninit,
    .activate      = activate,
    .priv_size     = sizeof(VMAFXContext),
    VMAFX_PUBLIC(flags) = AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS,
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_QUERY_FUNC(query_formats),
};
#endif

#if CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF
const VMAFX_FILTER ff_vf_libvmaf = {
    VMAFX_PUBLIC(name)        = "libvmaf",
    VMAFX_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Calculate the VMAF between two video streams (by vmafx)."),
    VMAFX_PUBLIC(priv_class)  = &libvmaf_class,
    .init          = init,
    .uninit        = uninit,
    .activate      = activate,
    .priv_size     = sizeof(VMAFXContext),
    VMAFX_PUBLIC(flags) = AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS,
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_QUERY_FUNC(query_formats_dropin),
};
#endif

#if VMAFX_XPSNR
const VMAFX_FILTER ff_vf_xpsnr = {
    VMAFX_PUBLIC(name)        = "xpsnr",
    VMAFX_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Calculate the XPSNR between two video streams (by vmafx)."),
    VMAFX_PUBLIC(priv_class)  = &xpsnr_class,
    .init          = init_xpsnr,
    .uninit        = uninit,
    .activate      = activate,
    .priv_size     = sizeof(VMAFXContext),
    VMAFX_PUBLIC(flags) = AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS,
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_QUERY_FUNC(query_formats_dropin),
};
#endif
