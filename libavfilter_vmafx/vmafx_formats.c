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

#include <string.h>

#include "vmafx_compat.h"
#include "vmafx_formats.h"
#include "vmafx_graph.h"
#include "vmafx_hw.h"
#include "vmafx_name.h"
#include "vmafx_pads.h"

#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

/* -- Negotiation --------------------------------------------------------------------------------------------------- */

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

/** Room for one of these lists. */
#define VMAFX_MOST_PIX_FMTS (FF_ARRAY_ELEMS(pix_fmts) + 8)

#if VMAFX_XPSNR
/** RGB is scored plane by plane. */
static const enum AVPixelFormat xpsnr_pix_fmts[] = {
    YUV_PIX_FMTS
    AV_PIX_FMT_GBRP,      AV_PIX_FMT_GBRP9,     AV_PIX_FMT_GBRP10,    AV_PIX_FMT_GBRP12,
    AV_PIX_FMT_GBRP14,    AV_PIX_FMT_GBRP16,
    AV_PIX_FMT_NONE
};
#endif

/** The formats that can be scored. */
static const enum AVPixelFormat *scored_pix_fmts(const AVFilterContext *ctx)
{
#if VMAFX_XPSNR
    if (VMAFX_IS_XPSNR(ctx))
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
    return fmt == AV_PIX_FMT_YUVJ420P || fmt == AV_PIX_FMT_YUVJ422P || fmt == AV_PIX_FMT_YUVJ444P ||
           fmt == AV_PIX_FMT_YUVJ411P || fmt == AV_PIX_FMT_YUVJ440P;
}

static int is_hwaccel(enum AVPixelFormat fmt)
{
    return !!(av_pix_fmt_desc_get(fmt)->flags & AV_PIX_FMT_FLAG_HWACCEL);
}

/** The properties of a format's samples that a conversion can keep. */
typedef struct Samples {
    int is_rgb, is_gray, has_alpha;
    int log2_chroma_w, log2_chroma_h;
    int depth;                  ///< bits of the deepest component
} Samples;

static Samples samples_of(const AVPixFmtDescriptor *desc)
{
    const int has_alpha = !!(desc->flags & AV_PIX_FMT_FLAG_ALPHA);
    const int has_palette = !!(desc->flags & AV_PIX_FMT_FLAG_PAL);
    Samples samples = {
        .is_rgb        = has_palette || (desc->flags & AV_PIX_FMT_FLAG_RGB),
        .is_gray       = !has_palette && desc->nb_components - has_alpha == 1,
        .has_alpha     = has_alpha,
        .log2_chroma_w = desc->log2_chroma_w,
        .log2_chroma_h = desc->log2_chroma_h,
    };

    for (int i = 0; i < desc->nb_components; i++)
        samples.depth = FFMAX(samples.depth, desc->comp[i].depth);
    return samples;
}

/**
 * Rates a conversion by what it loses, and by what it adds for nothing, in one number: the first losses count more than
 * all that follow. FFmpeg's own measure (av_find_best_pix_fmt_of_2()) differs from release to release; in 5.1 it does
 * not mind bits that are added.
 */
static int64_t conversion_loss(enum AVPixelFormat to, enum AVPixelFormat from)
{
    const AVPixFmtDescriptor *const to_desc = av_pix_fmt_desc_get(to), *const from_desc = av_pix_fmt_desc_get(from);
    const Samples t = samples_of(to_desc), f = samples_of(from_desc);
    const int chroma_w = t.log2_chroma_w - f.log2_chroma_w, chroma_h = t.log2_chroma_h - f.log2_chroma_h;
    const int has_chroma = !t.is_gray && !f.is_gray;
    const int losses[] = {
        is_hwaccel(to) != is_hwaccel(from),
        t.is_gray && !f.is_gray,
        t.is_rgb != f.is_rgb,
        has_chroma ? FFMAX(chroma_w, 0) + FFMAX(chroma_h, 0) : 0,
        FFMAX(f.depth - t.depth, 0),
        f.has_alpha && !t.has_alpha,
        f.is_gray && !t.is_gray,
        FFMAX(t.depth - f.depth, 0),
        has_chroma ? FFMAX(-chroma_w, 0) + FFMAX(-chroma_h, 0) : 0,
        t.has_alpha && !f.has_alpha,
        is_yuvj(to) != is_yuvj(from),
    };
    int64_t sum = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(losses); i++)
        sum = (sum << 5) + FFMIN(losses[i], 31);
    return sum;
}

/** The better one to convert to; `best` may be AV_PIX_FMT_NONE. */
static enum AVPixelFormat better_format(enum AVPixelFormat best, enum AVPixelFormat other, enum AVPixelFormat from)
{
    if (best == AV_PIX_FMT_NONE || (other == from && best != from))
        return other;
    return best != from && conversion_loss(other, from) < conversion_loss(best, from) ? other : best;
}

/** The format of a list that loses least of fmt: fmt itself if it is there, else one of the same depth and chroma if
 * there is one. */
static enum AVPixelFormat nearest_format(const enum AVPixelFormat *list, enum AVPixelFormat fmt)
{
    enum AVPixelFormat best = AV_PIX_FMT_NONE;

    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        best = better_format(best, list[i], fmt);
    return best;
}

/**
 * The format that a link will carry unless somebody asks for another: that of the first filter upstream which has no
 * choice, as far as the filters from there on take it. If a filter has several inputs, the first counts.
 *
 * @return  AVERROR(EAGAIN) if a filter upstream was not asked yet
 */
static int natural_format(const AVFilterLink *link, enum AVPixelFormat *fmt)
{
    const AVFilterFormats *formats = link->incfg.formats;
    enum AVPixelFormat from;
    int ret;

    *fmt = AV_PIX_FMT_NONE;
    if (link->type != AVMEDIA_TYPE_VIDEO)
        return 0;
    if (!formats)
        return AVERROR(EAGAIN);
    if (formats->nb_formats == 1) {
        *fmt = formats->formats[0];
        return 0;
    }
    if (!link->src->nb_inputs)
        return 0;
    if ((ret = natural_format(link->src->inputs[0], &from)) < 0 || from == AV_PIX_FMT_NONE)
        return ret;
    for (unsigned i = 0; i < formats->nb_formats; i++)
        *fmt = better_format(*fmt, formats->formats[i], from);
    return 0;
}

/** Copies the formats of a list whose samples mean what those of `like` do. `of` must have room for the whole list. */
static void list_like(enum AVPixelFormat *of, const enum AVPixelFormat *list, enum AVPixelFormat like)
{
    int n = 0;

    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        if (same_samples(list[i], like) && is_yuvj(list[i]) == is_yuvj(like))
            of[n++] = list[i];
    of[n] = AV_PIX_FMT_NONE;
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

/** Formats of an input, and of the output that belongs to it. */
static int set_formats(AVFilterContext *ctx, unsigned input, AVFilterFormats *formats)
{
    const int ret = ff_formats_ref(formats, &ctx->inputs[input]->outcfg.formats);

    return ret < 0 || input >= ctx->nb_outputs ? ret : ff_formats_ref(formats, &ctx->outputs[input]->incfg.formats);
}

static int natural_formats(const AVFilterContext *ctx, enum AVPixelFormat natural[VMAFX_MOST_INPUTS])
{
    int ret;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if ((ret = natural_format(ctx->inputs[i], &natural[i])) < 0)
            return ret;
    return 0;
}

/** The formats of an input that would carry `natural`: if it must be converted, formats of its depth and chroma, which
 * libavfilter alone would not see to. */
static AVFilterFormats *formats_for(const AVFilterContext *ctx, enum AVPixelFormat natural)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat list[VMAFX_MOST_PIX_FMTS], like;

    if (natural == AV_PIX_FMT_NONE || is_hwaccel(natural) || (like = nearest_format(scored, natural)) == natural)
        return all_formats(ctx);
    list_like(list, scored, like);
    return ff_make_format_list(list);
}

int ff_vmafx_formats_query(AVFilterContext *ctx)
{
    enum AVPixelFormat natural[VMAFX_MOST_INPUTS];
    int ret;

    if ((ret = natural_formats(ctx, natural)) < 0)
        return ret;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if ((ret = set_formats(ctx, i, formats_for(ctx, natural[i]))) < 0)
            return ret;
    return vmafx_keep_input_colors(ctx);
}

int ff_vmafx_formats_query_dropin(AVFilterContext *ctx, enum AVPixelFormat *converted_from)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat natural[VMAFX_MOST_INPUTS], list[VMAFX_MOST_PIX_FMTS], like, ref;
    int ret, any_hw = 0;

    if ((ret = natural_formats(ctx, natural)) < 0)
        return ret;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        any_hw |= ff_vmafx_is_hw(natural[i]);
    if (any_hw)
        return ff_vmafx_formats_query(ctx);
    if (natural[0] == AV_PIX_FMT_NONE || is_hwaccel(natural[0]))
        return ff_set_common_formats_from_list(ctx, scored);

    like = nearest_format(scored, natural[0]);
    list_like(list, scored, like);

    ref = natural[ff_vmafx_reference_of(ctx)];
    if (ref != AV_PIX_FMT_NONE && !same_samples(ref, like))
        *converted_from = ref;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if ((ret = set_formats(ctx, i, ff_make_format_list(list))) < 0)
            return ret;
    return 0;
}

void ff_vmafx_formats_report_conversions(AVFilterContext *ctx, enum AVPixelFormat converted_from)
{
    for (int i = 0; i < ctx->nb_inputs; i++) {
        const AVFilterLink *link = ctx->inputs[i];
        enum AVPixelFormat from = AV_PIX_FMT_NONE;

        if (!strncmp(link->src->name, "auto_scale", strlen("auto_scale")))
            from = link->src->inputs[0]->format;
        else if (i == ff_vmafx_reference_of(ctx))
            from = converted_from;
        if (from == link->format)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted in color range or matrix before it is scored.\n",
                   ff_vmafx_input_name(ctx, i));
        else if (from != AV_PIX_FMT_NONE)
            av_log(ctx, AV_LOG_WARNING, "The %s input is converted from %s to %s before it is scored.\n",
                   ff_vmafx_input_name(ctx, i), av_get_pix_fmt_name(from), av_get_pix_fmt_name(link->format));
    }
}

/* -- Inputs -------------------------------------------------------------------------------------------------------- */

/** Software formats were negotiated; of frames in a GPU's memory it is only known now what their samples are. */
int ff_vmafx_formats_check_samples(AVFilterContext *ctx, int input)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    AVFilterLink *link = ctx->inputs[input];
    char name[64];

    for (int i = 0; scored[i] != AV_PIX_FMT_NONE; i++)
        if (scored[i] == ff_vmafx_sample_format(link))
            return 0;
    av_log(ctx, AV_LOG_ERROR, "The %s input is %s, which cannot be scored.\n", ff_vmafx_input_name(ctx, input),
           ff_vmafx_format_name(link, name, sizeof(name)));
    return AVERROR(EINVAL);
}

int ff_vmafx_formats_check_frame(AVFilterContext *ctx, int input, const AVFrame *frame)
{
    AVFilterLink *link = ctx->inputs[input];
    const char *name = av_get_pix_fmt_name(frame->format);

    if (frame->width == link->w && frame->height == link->h && frame->format == link->format &&
        ff_vmafx_hw_same_kind(link, frame))
        return 0;
    av_log(ctx, AV_LOG_ERROR, "The %s input changed in mid-stream from %dx%d %s to %dx%d %s; "
           "a scale filter before it would keep it the same.\n", ff_vmafx_input_name(ctx, input),
           link->w, link->h, av_get_pix_fmt_name(link->format),
           frame->width, frame->height, name ? name : "unknown");
    return AVERROR(EINVAL);
}

/** The meaning of samples as colors: frames know it in all versions of FFmpeg, links do not. */
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

VmafxFormat ff_vmafx_formats_of_input(AVFilterContext *ctx, int input, const AVFrame *first)
{
    AVFilterLink *link = ctx->inputs[input];
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
        .name   = ff_vmafx_input_name(ctx, input),
        .fps    = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : 0,
        .whole_chroma = 1,
    };

    if (first)
        format.color = library_color(link, first);
    ff_vmafx_hw_memory(&format, link);
    return format;
}
