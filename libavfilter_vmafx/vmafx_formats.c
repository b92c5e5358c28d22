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

#include <stdio.h>
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

static int is_rgb(enum AVPixelFormat fmt)
{
    return !!(av_pix_fmt_desc_get(fmt)->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL));
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

/** The link by which the frames of a filter's output come to it: that of the input which shares its formats with this
 *  output, as in filters that pass frames on, else the first one. */
static AVFilterLink *upstream_of(const AVFilterLink *link)
{
    const AVFilterContext *src = link->src;

    for (unsigned i = 0; i < src->nb_inputs; i++)
        if (src->inputs[i]->outcfg.formats == link->incfg.formats)
            return src->inputs[i];
    return src->inputs[0];
}

/**
 * The format that a link will carry unless somebody asks for another: that of the first filter upstream which has no
 * choice, as far as the filters from there on take it.
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
    if ((ret = natural_format(upstream_of(link), &from)) < 0 || from == AV_PIX_FMT_NONE)
        return ret;
    for (unsigned i = 0; i < formats->nb_formats; i++)
        *fmt = better_format(*fmt, formats->formats[i], from);
    if (is_hwaccel(*fmt) != is_hwaccel(from)) /* the device decides what comes of it */
        *fmt = AV_PIX_FMT_NONE;
    return 0;
}

/** The value of a property that a link will carry unless somebody asks for another. Returns as natural_format(). */
static int natural_value(AVFilterLink *link, enum VMAFXProperty property, int *value)
{
    AVFilterFormats **const list = vmafx_values(&link->incfg, property);
    int ret, from;

    *value = VMAFX_OPEN;
    if (!list || link->type != AVMEDIA_TYPE_VIDEO)
        return 0;
    if (!*list)
        return AVERROR(EAGAIN);
    /* Sources that do not know the range offer `unknown` and then `tv`, so that it need not be converted. */
    if ((*list)->nb_formats == 1 || (!link->src->nb_inputs && (*list)->nb_formats == 2)) {
        *value = (*list)->formats[0];
        return 0;
    }
    if (!link->src->nb_inputs)
        return 0;
    if ((ret = natural_value(upstream_of(link), property, &from)) < 0)
        return ret;
    for (unsigned i = 0; i < (*list)->nb_formats; i++)
        if ((*list)->formats[i] == from)
            *value = from;
    return 0;
}

/** Whether the pictures of a link are RGB at some filter upstream. */
static int is_of_rgb(const AVFilterLink *link)
{
    while (link->type == AVMEDIA_TYPE_VIDEO && link->incfg.formats) {
        const AVFilterFormats *formats = link->incfg.formats;

        if (formats->nb_formats == 1 && is_rgb(formats->formats[0]))
            return 1;
        if (!link->src->nb_inputs)
            return 0;
        link = upstream_of(link);
    }
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

    return ret < 0 || input == ff_vmafx_reference_of(ctx) ? ret : ff_formats_ref(formats, &ctx->outputs[input]->incfg.formats);
}

static int look_upstream(const AVFilterContext *ctx, VMAFXNatural natural[VMAFX_MOST_INPUTS])
{
    int ret;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        if ((ret = natural_format(ctx->inputs[i], &natural[i].format)) < 0)
            return ret;
        for (int p = 0; p < VMAFX_PROPERTIES; p++)
            if ((ret = natural_value(ctx->inputs[i], p, &natural[i].values[p])) < 0)
                return ret;
        natural[i].is_of_rgb = is_of_rgb(ctx->inputs[i]);
    }
    return 0;
}

/** The formats of an input that would carry `natural`: those of its depth and chroma, or, if none of them is scored, of
 * the nearest. libavfilter alone would not see to that: it also takes what another input or the output asks for. */
static AVFilterFormats *formats_for(const AVFilterContext *ctx, enum AVPixelFormat natural)
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat list[VMAFX_MOST_PIX_FMTS];

    if (natural == AV_PIX_FMT_NONE || is_hwaccel(natural))
        return all_formats(ctx);
    list_like(list, scored, nearest_format(scored, natural));
    return ff_make_format_list(list);
}

/** A matrix's name in the options of the filter scale. NULL: scale does not have it. */
static const char *scale_matrix(enum AVColorSpace space)
{
    switch (space) {
    case AVCOL_SPC_BT709:      return "bt709";
    case AVCOL_SPC_FCC:        return "fcc";
    case AVCOL_SPC_BT470BG:    return "bt470";
    case AVCOL_SPC_SMPTE170M:  return "smpte170m";
    case AVCOL_SPC_SMPTE240M:  return "smpte240m";
    case AVCOL_SPC_BT2020_NCL: return "bt2020";
    default:                   return NULL;
    }
}

/** The matrices that RGB of an input may be converted with: that of the input which it is compared with, if it is known
 *  and scale has it. Other pictures keep theirs. */
static AVFilterFormats *spaces_for(const AVFilterContext *ctx, const VMAFXNatural *natural, unsigned input)
{
    const unsigned reference = ff_vmafx_reference_of(ctx);
    const int other = natural[input == reference ? 0 : reference].values[VMAFX_COLOR_SPACE];
    AVFilterFormats *list = NULL;

    if (!natural[input].is_of_rgb || natural[input].values[VMAFX_COLOR_SPACE] != VMAFX_OPEN || !scale_matrix(other))
        return vmafx_all_values(VMAFX_COLOR_SPACE);
    return ff_add_format(&list, other) < 0 ? NULL : list;
}

/** The values of a property that an output may have, whose input has `value`. NULL: out of memory. */
static AVFilterFormats *output_values(enum VMAFXProperty property, int value)
{
    AVFilterFormats *list = NULL;

    if (value == VMAFX_OPEN)
        return vmafx_all_values(property);
    if (ff_add_format(&list, value) < 0)
        return NULL;
    /* An unknown range may count as limited, as at the sources of graphs: encoders ask for it. */
    if (property == VMAFX_COLOR_RANGE && value == AVCOL_RANGE_UNSPECIFIED && ff_add_format(&list, AVCOL_RANGE_MPEG) < 0)
        return NULL;
    return list;
}

/**
 * Lists of their own for all pads: libavfilter takes what pads share from any input, and converts the others to it. An
 * output's are apart from its input's, so that what is asked for downstream is converted after the filter.
 */
static int keep_values(AVFilterContext *ctx, const VMAFXNatural *natural, enum VMAFXProperty property)
{
    int ret;

    if (!vmafx_values(&ctx->inputs[0]->outcfg, property))
        return 0;
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        AVFilterFormats *values = property == VMAFX_COLOR_SPACE ? spaces_for(ctx, natural, i)
                                                                : vmafx_all_values(property);

        if ((ret = ff_formats_ref(values, vmafx_values(&ctx->inputs[i]->outcfg, property))) < 0)
            return ret;
    }
    for (int i = 0; i < ff_vmafx_mains_of(ctx); i++)
        if ((ret = ff_formats_ref(output_values(property, natural[i].values[property]),
                                  vmafx_values(&ctx->outputs[i]->incfg, property))) < 0)
            return ret;
    return 0;
}

/** Each input has what is natural to it, as far as it can be scored. */
static int keep_natural(AVFilterContext *ctx, const VMAFXNatural *natural)
{
    int ret;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if ((ret = set_formats(ctx, i, formats_for(ctx, natural[i].format))) < 0)
            return ret;
    for (int p = 0; p < VMAFX_PROPERTIES; p++)
        if ((ret = keep_values(ctx, natural, p)) < 0)
            return ret;
    return 0;
}

/** The format of an output for maps, which shares nothing with the inputs. */
static int set_map_format(AVFilterLink *outlink, enum AVPixelFormat map)
{
    AVFilterFormats *list = NULL;
    int ret;

    if ((ret = ff_add_format(&list, map)) < 0 || (ret = ff_formats_ref(list, &outlink->incfg.formats)) < 0)
        return ret;
    for (int p = 0; p < VMAFX_PROPERTIES; p++)
        if (vmafx_values(&outlink->incfg, p) &&
            (ret = ff_formats_ref(vmafx_all_values(p), vmafx_values(&outlink->incfg, p))) < 0)
            return ret;
    return 0;
}

int ff_vmafx_formats_query(AVFilterContext *ctx, VMAFXNatural natural[VMAFX_MOST_INPUTS], enum AVPixelFormat map)
{
    int ret;

    if ((ret = look_upstream(ctx, natural)) < 0 || (ret = keep_natural(ctx, natural)) < 0)
        return ret;
    for (unsigned i = ff_vmafx_mains_of(ctx); i < ctx->nb_outputs; i++)
        if ((ret = set_map_format(ctx->outputs[i], map)) < 0)
            return ret;
    return 0;
}

/** The planar formats of a list. NULL: out of memory. */
static AVFilterFormats *planar_formats(const enum AVPixelFormat *list)
{
    AVFilterFormats *formats = NULL;

    for (int i = 0; list[i] != AV_PIX_FMT_NONE; i++)
        if (av_pix_fmt_count_planes(list[i]) != 2 && ff_add_format(&formats, list[i]) < 0)
            return NULL;
    return formats;
}

int ff_vmafx_formats_query_dropin(AVFilterContext *ctx, VMAFXNatural natural[VMAFX_MOST_INPUTS])
{
    const enum AVPixelFormat *scored = scored_pix_fmts(ctx);
    enum AVPixelFormat list[VMAFX_MOST_PIX_FMTS];
    int ret, any_hw = 0;

    if ((ret = look_upstream(ctx, natural)) < 0)
        return ret;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        any_hw |= ff_vmafx_is_hw(natural[i].format);
    if (any_hw)
        return keep_natural(ctx, natural);
    if (natural[0].format == AV_PIX_FMT_NONE || is_hwaccel(natural[0].format))
        return ff_set_common_formats_from_list(ctx, scored);

    list_like(list, scored, nearest_format(scored, natural[0].format));
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        const int is_scaled = ctx->inputs[i]->incfg.formats->nb_formats > 1;

        if ((ret = set_formats(ctx, i, is_scaled && VMAFX_SCALE_SPOILS_NV12 ? planar_formats(list)
                                                                            : ff_make_format_list(list))) < 0)
            return ret;
    }
    return 0;
}

/* -- Conversions --------------------------------------------------------------------------------------------------- */

/** The filter of this kind that libavfilter put before an input, or NULL. */
static const AVFilterContext *auto_filter(const AVFilterLink *link, const char *kind)
{
    char start[64];

    snprintf(start, sizeof(start), "auto_%s_", kind);
    while (!strncmp(link->src->name, "auto_", strlen("auto_")) && link->src->nb_inputs) {
        if (!strncmp(link->src->name, start, strlen(start)))
            return link->src;
        link = link->src->inputs[0];
    }
    return NULL;
}

static void report_format(AVFilterContext *ctx, int input, const VMAFXNatural *natural)
{
    const AVFilterLink *link = ctx->inputs[input];
    const AVFilterContext *scale = auto_filter(link, "scale");
    enum AVPixelFormat from = AV_PIX_FMT_NONE;

    if (scale)
        from = scale->inputs[0]->format;
    else if (natural->format != AV_PIX_FMT_NONE && !same_samples(natural->format, link->format))
        from = natural->format;
    if (from != AV_PIX_FMT_NONE && from != link->format)
        av_log(ctx, AV_LOG_WARNING, "The %s input is converted from %s to %s before it is scored.\n",
               ff_vmafx_input_name(ctx, input), av_get_pix_fmt_name(from), av_get_pix_fmt_name(link->format));
}

/** The matrix as scale takes it: an unknown one for BT.601's, which has two numbers. */
static enum AVColorSpace converted_as(enum AVColorSpace space)
{
    return space == AVCOL_SPC_UNSPECIFIED || space == AVCOL_SPC_SMPTE170M ? AVCOL_SPC_BT470BG : space;
}

/** The end of a warning under the names that convert. */
static const char *vmafx_keeps(const AVFilterContext *ctx)
{
    return strcmp(ctx->filter->name, "vmafx") ? "; the filter vmafx keeps them in any case" : "";
}

static void report_color(AVFilterContext *ctx, int input, const char *what, const char *from, const char *to,
                         const char *option)
{
    av_log(ctx, AV_LOG_WARNING,
           "FFmpeg converts the %s input from color %s %s to %s before it is scored, which changes its samples. "
           "setparams=%s=%s as the first filter of that input keeps them, if its tag is missing or wrong%s.\n",
           ff_vmafx_input_name(ctx, input), what, from, to, option, to,
           vmafx_keeps(ctx));
}

/** Say which colors a scale filter converts, since libavfilter chose others for a link than its pictures have. */
static void report_colors(AVFilterContext *ctx, int input, const VMAFXNatural *natural)
{
    const AVFilterLink *link = ctx->inputs[input];
    const Samples samples = samples_of(av_pix_fmt_desc_get(link->format));
    const enum AVColorSpace space = vmafx_link_space(link), space_before = natural->values[VMAFX_COLOR_SPACE];
    const enum AVColorRange range = vmafx_link_range(link), range_before = natural->values[VMAFX_COLOR_RANGE];

    if (samples.is_rgb || samples.is_gray || natural->is_of_rgb)
        return;
    if (natural->values[VMAFX_COLOR_SPACE] != VMAFX_OPEN && converted_as(space) != converted_as(space_before) &&
        (VMAFX_CONVERTS_TO_UNKNOWN || space != AVCOL_SPC_UNSPECIFIED))
        report_color(ctx, input, "matrix", av_color_space_name(space_before), av_color_space_name(space), "colorspace");
    if (natural->values[VMAFX_COLOR_RANGE] != VMAFX_OPEN &&
        (range == AVCOL_RANGE_JPEG) != (range_before == AVCOL_RANGE_JPEG))
        report_color(ctx, input, "range", av_color_range_name(range_before), av_color_range_name(range), "range");
}

void ff_vmafx_formats_report_conversions(AVFilterContext *ctx, const VMAFXNatural natural[VMAFX_MOST_INPUTS])
{
    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        report_format(ctx, i, &natural[i]);
        report_colors(ctx, i, &natural[i]);
        if (auto_filter(ctx->inputs[i], "premultiply_dynamic"))
            av_log(ctx, AV_LOG_WARNING,
                   "FFmpeg multiplies or divides the samples of the %s input by its alpha before they are scored, as "
                   "the inputs differ in alpha mode. setparams=alpha_mode=straight as the first filter of both inputs "
                   "keeps them%s.\n", ff_vmafx_input_name(ctx, i), vmafx_keeps(ctx));
    }
}

void ff_vmafx_formats_report_matrix(AVFilterContext *ctx, int input, const AVFrame *frame, int other,
                                    const AVFrame *other_frame)
{
    const AVFilterContext *scale = auto_filter(ctx->inputs[input], "scale");
    const char *matrix = scale_matrix(other_frame->colorspace);

    if (!scale || !matrix || !is_rgb(scale->inputs[0]->format) || is_rgb(frame->format) ||
        frame->colorspace != AVCOL_SPC_UNSPECIFIED ||
        converted_as(other_frame->colorspace) == converted_as(AVCOL_SPC_UNSPECIFIED))
        return;
    av_log(ctx, AV_LOG_WARNING,
           "FFmpeg converts the %s input from RGB by the matrix of BT.601, and the %s input has the matrix %s: equal "
           "pictures differ. scale=out_color_matrix=%s,format=%s before the %s input converts it by the same one.\n",
           ff_vmafx_input_name(ctx, input), ff_vmafx_input_name(ctx, other),
           av_color_space_name(other_frame->colorspace), matrix,
           av_get_pix_fmt_name(frame->format), ff_vmafx_input_name(ctx, input));
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

VmafxFormat ff_vmafx_formats_of_input(AVFilterContext *ctx, int input, const AVFrame *first, const VMAFXVulkan *vulkan)
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
    ff_vmafx_hw_memory(&format, link, vulkan);
    return format;
}
