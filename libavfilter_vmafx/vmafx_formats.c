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

int ff_vmafx_formats_query(AVFilterContext *ctx)
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

int ff_vmafx_formats_query_dropin(AVFilterContext *ctx, enum AVPixelFormat *converted_from)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat natural[VMAFX_MOST_INPUTS], list[FF_ARRAY_ELEMS(pix_fmts)], like, ref;
    int ret, n = 0, any_hw = 0;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        if ((ret = natural_format(ctx->inputs[i], &natural[i])) < 0)
            return ret;
        any_hw |= ff_vmafx_is_hw(natural[i]);
    }
    if (any_hw)
        return ff_vmafx_formats_query(ctx);
    if (natural[0] == AV_PIX_FMT_NONE)
        return ff_set_common_formats_from_list(ctx, scored);

    like = nearest_format(scored, natural[0]);
    for (int i = 0; scored[i] != AV_PIX_FMT_NONE; i++)
        if (same_samples(scored[i], like) && is_yuvj(scored[i]) == is_yuvj(like))
            list[n++] = scored[i];
    list[n] = AV_PIX_FMT_NONE;

    ref = natural[ff_vmafx_reference_of(ctx)];
    if (ref != AV_PIX_FMT_NONE && !same_samples(ref, like))
        *converted_from = ref;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        AVFilterFormats *formats = ff_make_format_list(list);

        if ((ret = ff_formats_ref(formats, &ctx->inputs[i]->outcfg.formats)) < 0 ||
            (i < ctx->nb_outputs && (ret = ff_formats_ref(formats, &ctx->outputs[i]->incfg.formats)) < 0))
            return ret;
    }
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
