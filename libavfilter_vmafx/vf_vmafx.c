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

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/buffer.h"
#include "libavutil/fifo.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"
#include "buffersrc.h"

enum { MAIN, REFERENCE };
static const char *const pad_name[] = { "main", "reference" };

typedef struct VMAFXContext {
    const AVClass *class;
    FFFrameSync fs;

    /* Those of the library. */
#define FIELD_TEXT(option, field, ...) char *field;
#define FIELD_NUMBER(option, field, ...) int field;
    VMAFX_OPTIONS(FIELD_TEXT, FIELD_NUMBER, FIELD_NUMBER)
    int metadata;
    VMAFXSync sync;

    /* Options of FFmpeg's libvmaf up to 6.1, under that name only. */
    char *model_path;
    int enable_transform;
    int phone_model;
    int enable_conf_interval;
    int psnr;
    int ssim;
    int ms_ssim;

    VmafxContext *vmafx;
    AVBufferRef *hw_device[2];  ///< of the inputs, while the library is open
    VmafxPairing pairing;
    int error;                  ///< first failure; every later activate() repeats it
    int finished;               ///< the end of the stream was dealt with

    const AVFrame *last[2];     ///< frames of the last event, for comparison only
    int64_t last_pts[2];
    int64_t first_main_pts;
    int64_t nb_main;            ///< distinct main frames
    int64_t nb_ref_used;        ///< distinct reference frames that were scored
    int64_t before_first;       ///< frames of either input before the first pair
    double first_difference;    ///< of the times of the first pair, in seconds
    int64_t after_end;          ///< frames of main that met the end of the reference, or the other way around

    VMAFXGraph graph;
    int64_t arrived[2];         ///< frames that have come to each input
    enum AVPixelFormat converted_from; ///< format of the reference before it was made like main, or AV_PIX_FMT_NONE
    int told_interlaced;        ///< that one input is interlaced and the other is not
    int held_back;              ///< the last activate() had an event and gave no frame for it
    int64_t frames_at_end;      ///< frames that had arrived when the first input ended, -1: none has
    int unwanted;               ///< after that, there was a time when no frame was wanted
    int going_on;               ///< after that, the program went on feeding or asking
    int wanted;                 ///< a frame was wanted when the last activate() ended
    AVFifo *held;               ///< metadata=1: HeldFrame, in output order
} VMAFXContext;

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

/** Options of both names. Those of pairing are framesync's, said here because the default of one differs. */
#define OPTIONS(default_sync_mode) \
    VMAFX_OPTIONS(OPTION_TEXT, OPTION_INT, OPTION_FLAG) \
    { "threads",     "same as n_threads",                                                   OFFSET(n_threads),   AV_OPT_TYPE_INT,    { .i64 = 0 }, 0, INT_MAX, FLAGS }, \
    { "subsample",   "same as n_subsample",                                                 OFFSET(n_subsample), AV_OPT_TYPE_INT,    { .i64 = 1 }, 1, INT_MAX, FLAGS }, \
    { "metadata",    "put the scores on the output frames as lavfi.vmafx.*",                OFFSET(metadata),    AV_OPT_TYPE_BOOL,   { .i64 = 0 }, 0, 1, FLAGS }, \
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

/** Whether the filter goes by the name that programs know which were written for libvmaf. */
static int is_libvmaf(const AVFilterContext *ctx)
{
    return !strcmp(ctx->filter->name, "libvmaf");
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

static const enum AVPixelFormat pix_fmts[] = {
    AV_PIX_FMT_YUV420P,   AV_PIX_FMT_YUV422P,   AV_PIX_FMT_YUV444P,   AV_PIX_FMT_GRAY8,
    AV_PIX_FMT_YUV420P9,  AV_PIX_FMT_YUV422P9,  AV_PIX_FMT_YUV444P9,  AV_PIX_FMT_GRAY9,
    AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P10, AV_PIX_FMT_YUV444P10, AV_PIX_FMT_GRAY10,
    AV_PIX_FMT_YUV420P12, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_YUV444P12, AV_PIX_FMT_GRAY12,
    AV_PIX_FMT_YUV420P14, AV_PIX_FMT_YUV422P14, AV_PIX_FMT_YUV444P14, AV_PIX_FMT_GRAY14,
    AV_PIX_FMT_YUV420P16, AV_PIX_FMT_YUV422P16, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16,
    AV_PIX_FMT_YUVJ420P,  AV_PIX_FMT_YUVJ422P,  AV_PIX_FMT_YUVJ444P,
    AV_PIX_FMT_NV12,      AV_PIX_FMT_NV16,      AV_PIX_FMT_NV24,
    AV_PIX_FMT_P010,      AV_PIX_FMT_P210,      AV_PIX_FMT_P410,
    VMAFX_PIX_FMTS_P012   VMAFX_PIX_FMTS_P212
    AV_PIX_FMT_P016,      AV_PIX_FMT_P216,      AV_PIX_FMT_P416,
    AV_PIX_FMT_NONE
};

/** Whether the samples of two formats mean the same, however they lie in memory: nv12 and yuv420p. */
static int same_samples(enum AVPixelFormat a, enum AVPixelFormat b)
{
    const AVPixFmtDescriptor *da = av_pix_fmt_desc_get(a), *db = av_pix_fmt_desc_get(b);

    return da->nb_components  == db->nb_components  &&
           da->log2_chroma_w  == db->log2_chroma_w  &&
           da->log2_chroma_h  == db->log2_chroma_h  &&
           da->comp[0].depth  == db->comp[0].depth;
}

static int is_yuvj(enum AVPixelFormat fmt)
{
    return fmt == AV_PIX_FMT_YUVJ420P || fmt == AV_PIX_FMT_YUVJ422P || fmt == AV_PIX_FMT_YUVJ444P;
}

/** The format of our list that loses least of fmt: fmt itself if it is there. */
static enum AVPixelFormat nearest_format(enum AVPixelFormat fmt)
{
    const int alpha = !!(av_pix_fmt_desc_get(fmt)->flags & AV_PIX_FMT_FLAG_ALPHA);
    enum AVPixelFormat best = pix_fmts[0];

    for (int i = 0; pix_fmts[i] != AV_PIX_FMT_NONE; i++)
        if (pix_fmts[i] == fmt)
            return fmt;
    for (int i = 1; pix_fmts[i] != AV_PIX_FMT_NONE; i++)
        best = av_find_best_pix_fmt_of_2(best, pix_fmts[i], fmt, alpha, NULL);
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
static AVFilterFormats *all_formats(void)
{
    AVFilterFormats *formats = ff_make_format_list(pix_fmts);

    for (int i = 0; formats && ff_vmafx_hw_formats[i] != AV_PIX_FMT_NONE; i++)
        if (ff_add_format(&formats, ff_vmafx_hw_formats[i]) < 0)
            return NULL;
    return formats;
}

/** vmafx: each input has the format it has; the output has main's. Formats not in the list are converted. */
static int query_formats(AVFilterContext *ctx)
{
    AVFilterFormats *main = all_formats();
    int ret;

    if ((ret = ff_formats_ref(main, &ctx->inputs[MAIN]->outcfg.formats)) < 0 ||
        (ret = ff_formats_ref(main, &ctx->outputs[0]->incfg.formats)) < 0 ||
        (ret = ff_formats_ref(all_formats(), &ctx->inputs[REFERENCE]->outcfg.formats)) < 0)
        return ret;
    return vmafx_keep_input_colors(ctx);
}

#if CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF
/**
 * libvmaf: command lines count on it that the reference is converted to the format of main where the two differ. Only
 * a difference of memory layout needs no conversion.
 */
static int query_formats_dropin(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    enum AVPixelFormat natural[2], list[FF_ARRAY_ELEMS(pix_fmts)], like;
    AVFilterFormats *main;
    int ret, n = 0;

    if ((ret = natural_format(ctx->inputs[MAIN],      &natural[MAIN]))      < 0 ||
        (ret = natural_format(ctx->inputs[REFERENCE], &natural[REFERENCE])) < 0)
        return ret;
    if (ff_vmafx_is_hw(natural[MAIN]) || ff_vmafx_is_hw(natural[REFERENCE]))
        return query_formats(ctx);
    if (natural[MAIN] == AV_PIX_FMT_NONE)
        return ff_set_common_formats_from_list(ctx, pix_fmts);

    like = nearest_format(natural[MAIN]);
    for (int i = 0; pix_fmts[i] != AV_PIX_FMT_NONE; i++)
        if (same_samples(pix_fmts[i], like) && is_yuvj(pix_fmts[i]) == is_yuvj(like))
            list[n++] = pix_fmts[i];
    list[n] = AV_PIX_FMT_NONE;

    if (natural[REFERENCE] != AV_PIX_FMT_NONE && !same_samples(natural[REFERENCE], like))
        s->converted_from = natural[REFERENCE];

    main = ff_make_format_list(list);
    if ((ret = ff_formats_ref(main, &ctx->inputs[MAIN]->outcfg.formats)) < 0 ||
        (ret = ff_formats_ref(main, &ctx->outputs[0]->incfg.formats)) < 0)
        return ret;
    return ff_formats_ref(ff_make_format_list(list), &ctx->inputs[REFERENCE]->outcfg.formats);
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
        .name   = pad_name[pad],
    };

    if (first)
        format.color = library_color(link, first);
    ff_vmafx_hw_memory(&format, link);
    return format;
}

/** Software formats were negotiated; of frames in a GPU's memory it is only known now what their samples are. */
static int check_samples(AVFilterContext *ctx, int pad)
{
    AVFilterLink *link = ctx->inputs[pad];
    char name[64];

    for (int i = 0; pix_fmts[i] != AV_PIX_FMT_NONE; i++)
        if (pix_fmts[i] == ff_vmafx_sample_format(link))
            return 0;
    av_log(ctx, AV_LOG_ERROR, "The %s input is %s, which cannot be scored.\n", pad_name[pad],
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
    VmafxFormat main, ref;

    if (check_samples(ctx, MAIN) < 0 || check_samples(ctx, REFERENCE) < 0)
        return AVERROR(EINVAL);
    main = library_format(ctx, MAIN, NULL);
    ref  = library_format(ctx, REFERENCE, NULL);
    return vmafx_check_formats(&ref, &main, log_message, ctx);
}

/** Nothing is converted behind the user's back: say where libavfilter put a scale filter before an input. */
static void report_conversions(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;

    for (int i = 0; i < 2; i++) {
        const AVFilterLink *link = ctx->inputs[i];
        enum AVPixelFormat from = AV_PIX_FMT_NONE;

        if (!strncmp(link->src->name, "auto_scale", strlen("auto_scale")))
            from = link->src->inputs[0]->format;
        else if (i == REFERENCE)
            from = s->converted_from;
        if (from == link->format)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted in color range or matrix before it is scored.\n",
                   pad_name[i]);
        else if (from != AV_PIX_FMT_NONE)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted from %s to %s before it is scored.\n",
                   pad_name[i], av_get_pix_fmt_name(from), av_get_pix_fmt_name(link->format));
    }
}

/* -- Pairing ------------------------------------------------------------------------------------------------------- */

/** How long a frame of main lasts on average, in seconds. */
static double mean_duration(const VMAFXContext *s)
{
    if (s->nb_main < 2)
        return 0;
    return (s->last_pts[MAIN] - s->first_main_pts) * av_q2d(s->fs.time_base) / (s->nb_main - 1);
}

/** Whether two times, in seconds, are too far apart for frames of one time. */
static int is_far(const VMAFXContext *s, double difference)
{
    const double duration = mean_duration(s);

    return duration > 0 && difference > duration / 2;
}

/** Everything that makes the pairs, and so the score, doubtful. */
static void describe_doubts(AVBPrint *text, const VMAFXContext *s)
{
    const VmafxPairing *p = &s->pairing;

    if (p->unmatched_dist)
        av_bprintf(text, "; frames of main without a reference frame: %"PRId64, p->unmatched_dist);
    if (p->unmatched_ref)
        av_bprintf(text, "; reference frames not used: %"PRId64, p->unmatched_ref);
    if (p->repeated_ref)
        av_bprintf(text, "; pairs repeating a reference frame: %"PRId64, p->repeated_ref);
    if (p->repeated_dist)
        av_bprintf(text, "; pairs repeating a frame of main: %"PRId64, p->repeated_dist);
    if (is_far(s, p->max_time_difference))
        av_bprintf(text, "; the times of a pair differ by up to %.3f s, a frame lasts %.3f s",
                   p->max_time_difference, mean_duration(s));
}

#define START_REMEDY "settb=AVTB,setpts=PTS-STARTPTS before each input lets both start at zero"

static void add_remedy(AVBPrint *text, const char *remedy)
{
    av_bprintf(text, "%s%s", text->len ? "; " : "", remedy);
}

/** What helps against them, by where they occurred: at the beginning, at the end, in between. */
static void describe_remedies(AVBPrint *text, const VMAFXContext *s)
{
    const VmafxPairing *p = &s->pairing;
    const int64_t frames  = p->unmatched_dist + p->unmatched_ref + p->repeated_ref + p->repeated_dist;
    const int in_between  = frames > s->before_first + s->after_end;
    const int apart       = is_far(s, p->max_time_difference) && !s->after_end;

    if (s->sync.mode != VMAFX_SYNC_NEAREST && (in_between || apart))
        add_remedy(text, "ts_sync_mode=nearest pairs by the nearest time");
    if (s->before_first || is_far(s, s->first_difference) || (apart && !in_between))
        add_remedy(text, START_REMEDY);
    if (in_between)
        add_remedy(text, "the fps filter before an input gives both one frame rate");
    if (s->after_end)
        add_remedy(text, "shortest=1 ends with the shorter input");
}

static void report_pairing(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    AVBPrint doubts, remedies;

    av_bprint_init(&doubts, 0, AV_BPRINT_SIZE_AUTOMATIC);
    av_bprint_init(&remedies, 0, AV_BPRINT_SIZE_AUTOMATIC);
    describe_doubts(&doubts, s);
    describe_remedies(&remedies, s);
    if (doubts.len)
        av_log(ctx, AV_LOG_WARNING, "The score is doubtful, the inputs do not go together frame by frame: "
               "pairs scored: %"PRId64"%s. What helps: %s.\n", s->pairing.paired, doubts.str,
               remedies.str);
    else
        av_log(ctx, AV_LOG_VERBOSE, "Pairs scored: %"PRId64", no frame repeated or left over.\n", s->pairing.paired);
    av_bprint_finalize(&remedies, NULL);
    av_bprint_finalize(&doubts, NULL);
}

static void count_pair(AVFilterContext *ctx, const AVFrame *main, const AVFrame *ref, int repeats_main, int repeats_ref)
{
    VMAFXContext *s = ctx->priv;
    const FFFrameSyncIn *in = &s->fs.in[REFERENCE];
    const int64_t arrived = VMAFX_LINK(ctx->inputs[REFERENCE])->frame_count_out;
    const int64_t waiting = in->have_next && in->frame_next && in->frame_next != ref;

    const double difference = fabs((double)main->pts - ref->pts) * av_q2d(s->fs.time_base);

    s->pairing.paired++;
    s->pairing.repeated_dist += repeats_main;
    s->pairing.repeated_ref  += repeats_ref;
    s->nb_ref_used           += !repeats_ref;
    s->pairing.unmatched_ref = arrived - waiting - s->nb_ref_used;
    if (s->pairing.paired == 1) {
        s->before_first     = s->pairing.unmatched_dist + s->pairing.unmatched_ref;
        s->first_difference = difference;
    }
    s->after_end += repeats_main || (repeats_ref && ff_vmafx_sync_reference_ended(&s->fs));
    s->pairing.max_time_difference = FFMAX(s->pairing.max_time_difference, difference);
}

/** The scale filter rounds (854x480 to 1920x1080 gives 1281:1280), and standards differ by up to 2.4 % (12:11, 16:15). */
static void report_shapes(AVFilterContext *ctx, const AVFrame *main, const AVFrame *ref)
{
    const AVRational a = main->sample_aspect_ratio, b = ref->sample_aspect_ratio;

    if (a.num > 0 && a.den > 0 && b.num > 0 && b.den > 0 && fabs(av_q2d(a) / av_q2d(b) - 1) > 0.03)
        av_log(ctx, AV_LOG_WARNING, "The inputs differ in sample aspect ratio (main %d:%d, reference %d:%d), so their pictures "
               "are not of one shape. scale=W:H,setsar=1 before each brings them to one; setsar=%d/%d before main, if only its "
               "tag is wrong.\n", a.num, a.den, b.num, b.den, b.num, b.den);
}

/** Once, at the first pair that shows it: streams may begin with progressive frames. */
static void report_interlacing(AVFilterContext *ctx, const AVFrame *main, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    const int interlaced = VMAFX_IS_INTERLACED(main) ? MAIN : REFERENCE;

    if (s->told_interlaced || VMAFX_IS_INTERLACED(main) == VMAFX_IS_INTERLACED(ref))
        return;
    s->told_interlaced = 1;
    av_log(ctx, AV_LOG_WARNING, "The %s input is interlaced and the %s input is not, so their lines are of different times. "
           "bwdif=send_frame before the %s input deinterlaces it; setfield=prog there, if only its tag is wrong.\n",
           pad_name[interlaced], pad_name[!interlaced], pad_name[interlaced]);
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

static void release_frame(void *opaque)
{
    AVFrame *frame = opaque;

    av_frame_free(&frame);
}

static int make_picture(const VMAFXContext *s, VmafxPicture *pic, int pad, const AVFrame *frame)
{
    AVFrame *clone;

    if (ff_vmafx_is_hw(frame->format))
        return ff_vmafx_hw_picture(pic, frame, vmafx_imports(s->vmafx) & (pad == REFERENCE ? 1 : 2));
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
           "a scale filter before it would keep it the same.\n", pad_name[pad],
           link->w, link->h, av_get_pix_fmt_name(link->format),
           frame->width, frame->height, name ? name : "unknown");
    return AVERROR(EINVAL);
}

static int send_frame(AVFilterContext *ctx, AVFrame *frame)
{
    VMAFXContext *s = ctx->priv;

    s->held_back = 0;
    return ff_filter_frame(ctx->outputs[0], frame);
}

/** Pass a frame on, or keep it until its scores are here. Takes the frame. */
static int output_frame(AVFilterContext *ctx, AVFrame *frame, int64_t pair)
{
    VMAFXContext *s = ctx->priv;
    HeldFrame held = { frame, pair };
    int ret;

    if (!s->metadata)
        return send_frame(ctx, frame);
    if ((ret = av_fifo_write(s->held, &held, 1)) < 0)
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

/** Send the held frames whose scores are known, in order. Frames without a pair wait only for those before them. */
static int drain_held(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    HeldFrame held;
    int ret;

    while (s->held && av_fifo_peek(s->held, &held, 1, 0) >= 0) {
        if (held.pair >= 0) {
            VmafxFrameResult result;

            ret = vmafx_receive(s->vmafx, &result);
            if (ret == AVERROR(EAGAIN))
                return 0;
            if (ret < 0)
                return ret;
            if (result.frame != held.pair) {
                av_log(ctx, AV_LOG_ERROR, "Got the scores of pair %"PRId64" instead of %"PRId64".\n",
                       result.frame, held.pair);
                return AVERROR_BUG;
            }
            if ((ret = set_metadata(s, held.frame, &result)) < 0)
                return ret;
        }
        av_fifo_drain2(s->held, 1);
        if ((ret = send_frame(ctx, held.frame)) < 0)
            return ret;
    }
    return 0;
}

static void free_held(VMAFXContext *s)
{
    HeldFrame held;

    while (s->held && av_fifo_read(s->held, &held, 1) >= 0)
        av_frame_free(&held.frame);
}

/** The library's work begins with the first pair: only frames say what colors they hold. */
static int begin_scoring(AVFilterContext *ctx, const AVFrame *main, const AVFrame *ref)
{
    const VMAFXContext *s = ctx->priv;
    const VmafxFormat main_format = library_format(ctx, MAIN, main);
    const VmafxFormat ref_format  = library_format(ctx, REFERENCE, ref);

    report_shapes(ctx, main, ref);
    return vmafx_configure(s->vmafx, &ref_format, &main_format);
}

static int score_pair(AVFilterContext *ctx, const AVFrame *main, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    VmafxPicture pic_main, pic_ref;
    int ret;

    if ((ret = check_frame(ctx, MAIN, main)) < 0 || (ret = check_frame(ctx, REFERENCE, ref)) < 0)
        return ret;
    if (!s->pairing.paired && (ret = begin_scoring(ctx, main, ref)) < 0)
        return ret;
    report_interlacing(ctx, main, ref);

    if ((ret = make_picture(s, &pic_ref, REFERENCE, ref)) < 0)
        return ret;
    if ((ret = make_picture(s, &pic_main, MAIN, main)) < 0) {
        pic_ref.release(pic_ref.opaque);
        return ret;
    }
    pic_main.has_time = 1;
    pic_main.time     = s->fs.pts * av_q2d(s->fs.time_base);
    pic_main.keyframe = VMAFX_IS_KEYFRAME(main);
    return vmafx_submit(s->vmafx, &pic_ref, &pic_main);
}

/** As framesync itself ends when an input does that all others end with. */
static int end_all(FFFrameSync *fs)
{
    fs->eof = 1;
    ff_outlink_set_status(fs->parent->outputs[0], AVERROR_EOF, AV_NOPTS_VALUE);
    return 0;
}

/** The frames stay framesync's; library and output get references. */
static int process_event(FFFrameSync *fs)
{
    AVFilterContext *ctx = fs->parent;
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[0];
    const AVFrame *main = fs->in[MAIN].frame;
    AVFrame *ref;
    const enum VMAFXMatch match = ff_vmafx_sync_match(&s->sync, fs, main, &ref);
    const int repeats_main = s->nb_main && main == s->last[MAIN] && main->pts == s->last_pts[MAIN];
    const int repeats_ref  = ref && ref == s->last[REFERENCE] && ref->pts == s->last_pts[REFERENCE];
    int64_t pair = -1;
    AVFrame *out;
    int ret;

    if (match == VMAFX_ALL_ENDED)
        return end_all(fs);
    s->held_back = 1;

    /* After the end of main its last frame meets the rest of the reference; one of that may have had its turn. */
    if (repeats_main && repeats_ref)
        return 0;

    if (!s->nb_main)
        s->first_main_pts = main->pts;
    s->nb_main += !repeats_main;

    if (ref) {
        if ((ret = score_pair(ctx, main, ref)) < 0)
            return ret;
        pair = s->pairing.paired;
        count_pair(ctx, main, ref, repeats_main, repeats_ref);
    } else {
        s->pairing.unmatched_dist++;
        s->after_end += s->pairing.paired > 0;
    }
    s->last[MAIN]          = main;
    s->last_pts[MAIN]      = main->pts;
    s->last[REFERENCE]     = ref;
    s->last_pts[REFERENCE] = ref ? ref->pts : AV_NOPTS_VALUE;

    if (!(out = av_frame_clone(main)))
        return AVERROR(ENOMEM);
    out->pts = av_rescale_q(fs->pts, fs->time_base, outlink->time_base);
    if ((ret = output_frame(ctx, out, pair)) < 0)
        return ret;
    return drain_held(ctx);
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

/** Programs look for "VMAF score: " and a number at the end of the line, and take the first, the last, or all of them. */
static int print_scores(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;

    for (int i = 0; i < vmafx_model_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_model_score(s->vmafx, i, &name, &score);

        if (ret < 0)
            return ret;
        if (i)
            av_log(ctx, AV_LOG_INFO, "%s: VMAF score: %f\n", name, score);
        else
            av_log(ctx, AV_LOG_INFO, "VMAF score: %f\n", score);
    }
    if (is_libvmaf(ctx) && vmafx_model_count(s->vmafx))
        return 0;
    for (int i = 0; i < vmafx_feature_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_feature_score(s->vmafx, i, &name, &score);

        if (ret < 0)
            return ret;
        av_log(ctx, AV_LOG_INFO, "%s score: %f\n", name, score);
    }
    return 0;
}

/**
 * Everything that comes after the last pair. Frames still held go out if they are wanted; if not, there may be no links
 * any more.
 */
static int finish(AVFilterContext *ctx, int wanted)
{
    VMAFXContext *s = ctx->priv;
    int ret, drained, scored;

    s->finished = 1;
    leave_progress_line();
    if (!s->pairing.paired) {
        av_log(ctx, AV_LOG_ERROR, "No frames were scored: %"PRId64" frames of main and %"PRId64" of the reference "
               "arrived, none of them made a pair. (%s)\n", s->arrived[MAIN], s->arrived[REFERENCE],
               s->arrived[MAIN] && s->arrived[REFERENCE] ? START_REMEDY : "one of the inputs has no frames");
        return AVERROR(EINVAL);
    }
    if ((ret = vmafx_set_pairing(s->vmafx, &s->pairing)) < 0)
        return ret;
    ret = vmafx_finish(s->vmafx);
    if (!vmafx_finished(s->vmafx))
        return ret;
    drained = wanted ? drain_held(ctx) : 0;
    report_pairing(ctx);
    scored = print_scores(ctx);
    return ret < 0 ? ret : drained < 0 ? drained : scored;
}

/** The end for those who want no more, before the inputs ended: the pairs up to here are the stream. */
static int finish_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (s->pairing.paired)
        av_log(ctx, AV_LOG_INFO, "Stopped before the end of the inputs: the scores are of the %"PRId64" pairs up to there.\n",
               s->pairing.paired);
    s->pairing.cut_short = 1;
    return finish(ctx, 0);
}

static int has_ended(const AVFilterContext *ctx, int pad)
{
    return ff_outlink_get_status(ctx->inputs[pad]) != 0;
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
    const int wanted     = ff_outlink_frame_wanted(ctx->outputs[0]);
    const int ended      = has_ended(ctx, MAIN) + has_ended(ctx, REFERENCE);
    const int64_t frames = VMAFX_LINK(ctx->inputs[MAIN])->frame_count_in +
                           VMAFX_LINK(ctx->inputs[REFERENCE])->frame_count_in;

    if (!ended || s->going_on)
        return 0;
    if (s->frames_at_end < 0)
        s->frames_at_end = frames;
    s->unwanted |= !wanted;
    s->going_on = (wanted && (s->unwanted || ended == 2)) ||
                  frames - s->frames_at_end + ended > 2;
    return !s->going_on;
}

static int may_pair(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    int interrupted;

    if (!VMAFX_FED_UNASKED)
        return 1;
    interrupted = looks_interrupted(ctx);
    if (ff_outlink_frame_wanted(ctx->outputs[0]))
        return !interrupted;
    /* Asked for the frames of another output, the streams have ended: an error must come while ffmpeg feeds the graph. */
    if (has_ended(ctx, MAIN) && has_ended(ctx, REFERENCE))
        return was_asked(s, MAIN) && was_asked(s, REFERENCE);
    return ff_inlink_queued_frames(ctx->inputs[MAIN])      > MOST_WAITING ||
           ff_inlink_queued_frames(ctx->inputs[REFERENCE]) > MOST_WAITING;
}

static int run_framesync(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const int all_here = has_ended(ctx, MAIN) && has_ended(ctx, REFERENCE);
    int ret;

    if (!may_pair(ctx)) {
        for (int i = 0; i < 2 && ff_outlink_frame_wanted(ctx->outputs[0]); i++)
            if (!has_ended(ctx, i))
                ff_inlink_request_frame(ctx->inputs[i]);
        return FFERROR_NOT_READY;
    }

    /* With all frames here, go to the very end at once: ffmpeg up to 6.1 makes an exit status of an error that comes
     * while it feeds the graph, and forgets one that comes while it asks for more. */
    do {
        s->held_back = 0;
        if ((ret = ff_framesync_activate(&s->fs)) < 0)
            return ret;
    } while (all_here && !s->fs.eof);
    return 0;
}

/** What has come to the inputs. An error if it follows what an earlier graph was given. */
static int look_at_inputs(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (int i = 0; i < 2; i++)
        s->arrived[i] = VMAFX_LINK(ctx->inputs[i])->frame_count_in;
    if (!ff_vmafx_graph_goes_on(&s->graph))
        return 0;
    report_change(ctx);
    return AVERROR(EINVAL);
}

static int run(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[0];
    int ret;

    if ((ret = look_at_inputs(ctx)) < 0)
        return ret;
    if (!s->finished && ff_outlink_get_status(outlink) && (ret = finish_early(ctx)) < 0)
        return ret;
    FF_FILTER_FORWARD_STATUS_BACK_ALL(outlink, ctx);

    if ((ret = run_framesync(ctx)) < 0)
        return ret;

    /* framesync has set the status of the output by now. The frames added here still come before it: a status is
     * seen only when the queue of the link is empty, and no other filter runs in between. */
    if (s->fs.eof)
        return finish(ctx, 1);

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
    s->wanted = ff_outlink_frame_wanted(ctx->outputs[0]);
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
    params.summary      = !is_libvmaf(ctx);
    params.ignore_unknown = is_libvmaf(ctx);
    params.log          = log_message;
    params.log_cookie   = ctx;
    for (int i = 0; i < 2; i++) {
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

static av_cold int init(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    s->fs.on_event    = process_event;
    s->converted_from = AV_PIX_FMT_NONE;
    s->frames_at_end  = -1;
    if (s->metadata && !(s->held = av_fifo_alloc2(16, sizeof(HeldFrame), AV_FIFO_FLAG_AUTO_GROW)))
        return AVERROR(ENOMEM);
    return 0;
}

/* The library is opened here and not in init(): ffmpeg makes each filter once more, only to count its pads. */
static int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    VMAFXContext *s = ctx->priv;
    AVFilterLink *mainlink = ctx->inputs[MAIN];
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

    if ((ret = ff_framesync_init_dualinput(&s->fs, ctx)) < 0)
        return ret;
    outlink->w = mainlink->w;
    outlink->h = mainlink->h;
    outlink->time_base = mainlink->time_base;
    outlink->sample_aspect_ratio = mainlink->sample_aspect_ratio;
    VMAFX_LINK(outlink)->frame_rate = VMAFX_LINK(mainlink)->frame_rate;
    if (VMAFX_LINK(mainlink)->hw_frames_ctx &&
        !(VMAFX_LINK(outlink)->hw_frames_ctx = av_buffer_ref(VMAFX_LINK(mainlink)->hw_frames_ctx)))
        return AVERROR(ENOMEM);
    return ff_vmafx_sync_configure(&s->sync, &s->fs);
}

/**
 * Freed before the end of the stream and without an error of our own. Whoever got all frames that were
 * asked for had enough (-frames:v); a frame that is still wanted means that something broke off, or a new graph.
 */
static av_cold void close_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (!s->pairing.paired || !s->wanted || VMAFX_ASKS_AHEAD) {
        finish_early(ctx);
        return;
    }
    av_log(ctx, AV_LOG_WARNING, "Broken off before the end of the inputs, after %"PRId64" pairs: there is no score, and "
           "the report, if any, is partial.\n", s->pairing.paired);
    s->pairing.cut_short = 1;
    vmafx_set_pairing(s->vmafx, &s->pairing);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (s->vmafx && s->nb_main && !s->finished && !s->error)
        close_early(ctx);
    vmafx_close(&s->vmafx);
    ff_vmafx_graph_end(&s->graph);
    for (int i = 0; i < 2; i++)
        av_buffer_unref(&s->hw_device[i]);
    free_held(s);
    av_fifo_freep2(&s->held);
    ff_framesync_uninit(&s->fs);
}

static const AVFilterPad vmafx_inputs[] = {
    {
        .name         = "main",
        .type         = AVMEDIA_TYPE_VIDEO,
    },{
        .name         = "reference",
        .type         = AVMEDIA_TYPE_VIDEO,
    },
};

static const AVFilterPad vmafx_outputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

#if CONFIG_VMAFX_FILTER
const VMAFX_FILTER ff_vf_vmafx = {
    VMAFX_PUBLIC(name)        = "vmafx",
    VMAFX_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Score a video against its reference (VMAF), on CPU or GPU."),
    VMAFX_PUBLIC(priv_class)  = &vmafx_class,
    .init          = init,
    .uninit        = uninit,
    .activate      = activate,
    .priv_size     = sizeof(VMAFXContext),
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_INPUTS(vmafx_inputs),
    FILTER_OUTPUTS(vmafx_outputs),
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
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
    FILTER_INPUTS(vmafx_inputs),
    FILTER_OUTPUTS(vmafx_outputs),
    FILTER_QUERY_FUNC(query_formats_dropin),
};
#endif
