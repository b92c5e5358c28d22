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
 * Differences between FFmpeg 5.1 to 9.0 that matter to the filter, and nothing else. Each part names the release that
 * changed it.
 */

#ifndef AVFILTER_VMAFX_COMPAT_H
#define AVFILTER_VMAFX_COMPAT_H

#include "config_components.h"

#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/pixfmt.h"
#include "libavutil/version.h"
#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "framesync.h"
#include "version.h"
#include "video.h"

/* internal.h went away in 7.1; filters.h took over what filters need of it. */
#if LIBAVFILTER_VERSION_INT < AV_VERSION_INT(10, 4, 100)
#include "internal.h"
#endif

/* avpriv_fopen_utf8() has a header of its own since 6.0. */
#if LIBAVUTIL_VERSION_MAJOR >= 58
#include "libavutil/file_open.h"
#else
#include "libavutil/internal.h"
#endif

/* Since 8.0 a filter is an FFFilter, with the public part in a member p. */
#if LIBAVFILTER_VERSION_MAJOR >= 11
#define VMAFX_FILTER FFFilter
#define VMAFX_PUBLIC(field) .p.field
#else
#define VMAFX_FILTER AVFilter
#define VMAFX_PUBLIC(field) .field
#endif

/* Since 7.1 frame_rate and the frame counters of a link are in a FilterLink. */
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(10, 4, 100)
#define VMAFX_LINK(link) ff_filter_link(link)
#else
#define VMAFX_LINK(link) (link)
#endif

/* Since 7.1 FFmpeg has a filter xpsnr of its own. */
#if CONFIG_XPSNR_FILTER && LIBAVFILTER_VERSION_INT < AV_VERSION_INT(10, 4, 100)
#define VMAFX_XPSNR 1
#else
#define VMAFX_XPSNR 0
#endif

/* Up to 6.1 ffmpeg feeds the graph frames that it did not ask for when its outputs are full (-frames:v) or it is
 * interrupted. */
#define VMAFX_FED_UNASKED (LIBAVFILTER_VERSION_MAJOR < 10)

/* Since 8.0 ffmpeg asks the graph for the next frame before it notices that its outputs are full (-frames:v), so that a
 * frame still wanted says nothing. */
#define VMAFX_ASKS_AHEAD (LIBAVFILTER_VERSION_MAJOR >= 11)

/* Since 6.1 a flag, since 8.0 only that. */
#ifdef AV_FRAME_FLAG_INTERLACED
#define VMAFX_IS_INTERLACED(frame) (!!((frame)->flags & AV_FRAME_FLAG_INTERLACED))
#else
#define VMAFX_IS_INTERLACED(frame) ((frame)->interlaced_frame)
#endif

/* Whether a decoder says that a frame is damaged. Decoders of one release set the flag, the errors, or both. */
#define VMAFX_IS_CORRUPT(frame) (((frame)->flags & AV_FRAME_FLAG_CORRUPT) || (frame)->decode_error_flags)

/* Since 6.1 a flag. */
#ifdef AV_FRAME_FLAG_KEY
#define VMAFX_IS_KEYFRAME(frame) (!!((frame)->flags & AV_FRAME_FLAG_KEY))
#else
#define VMAFX_IS_KEYFRAME(frame) ((frame)->key_frame)
#endif

/* Semi-planar formats with 12 bits came with 6.0. */
#ifdef AV_PIX_FMT_P012
#define VMAFX_PIX_FMTS_P012 AV_PIX_FMT_P012,
#else
#define VMAFX_PIX_FMTS_P012
#endif
#ifdef AV_PIX_FMT_P212
#define VMAFX_PIX_FMTS_P212 AV_PIX_FMT_P212, AV_PIX_FMT_P412,
#else
#define VMAFX_PIX_FMTS_P212
#endif

/** Properties of a link that filters negotiate beside its pixel format, in the releases that do. */
enum VMAFXProperty { VMAFX_COLOR_SPACE, VMAFX_COLOR_RANGE, VMAFX_ALPHA_MODE, VMAFX_PROPERTIES };

/** The list of a property's values. NULL: the release does not negotiate it. Since 7.0 links negotiate color space and
 *  range, since 8.1 the alpha mode; if a filter sets no lists, all its pads have one value, by conversion. */
static inline AVFilterFormats **vmafx_values(AVFilterFormatsConfig *config, enum VMAFXProperty property)
{
#if LIBAVFILTER_VERSION_MAJOR >= 10
    if (property == VMAFX_COLOR_SPACE)
        return &config->color_spaces;
    if (property == VMAFX_COLOR_RANGE)
        return &config->color_ranges;
#endif
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 14, 100)
    if (property == VMAFX_ALPHA_MODE)
        return &config->alpha_modes;
#endif
    return NULL;
}

/** All values of a property. NULL: out of memory, or the release does not negotiate it. */
static inline AVFilterFormats *vmafx_all_values(enum VMAFXProperty property)
{
#if LIBAVFILTER_VERSION_MAJOR >= 10
    if (property == VMAFX_COLOR_SPACE)
        return ff_all_color_spaces();
    if (property == VMAFX_COLOR_RANGE)
        return ff_all_color_ranges();
#endif
#if LIBAVFILTER_VERSION_INT >= AV_VERSION_INT(11, 14, 100)
    if (property == VMAFX_ALPHA_MODE)
        return ff_all_alpha_modes();
#endif
    return NULL;
}

/** The color space negotiated for a link; `unknown` in releases that do not negotiate it. */
static inline enum AVColorSpace vmafx_link_space(const AVFilterLink *link)
{
#if LIBAVFILTER_VERSION_MAJOR >= 10
    return link->colorspace;
#else
    return AVCOL_SPC_UNSPECIFIED;
#endif
}

static inline enum AVColorRange vmafx_link_range(const AVFilterLink *link)
{
#if LIBAVFILTER_VERSION_MAJOR >= 10
    return link->color_range;
#else
    return AVCOL_RANGE_UNSPECIFIED;
#endif
}

/* Since 8.0 the filter scale converts a known matrix to BT.601's where it is to write an unknown one; before, not at
 * all. */
#define VMAFX_CONVERTS_TO_UNKNOWN (LIBAVFILTER_VERSION_MAJOR >= 11)

/* The filter scale of 7.0 spoils chroma from nv12 to nv12, if only the tags differ. */
#define VMAFX_SCALE_SPOILS_NV12 (LIBAVFILTER_VERSION_MAJOR == 10)

/** An output's colors are those of its input, whatever was negotiated for it. */
static inline void vmafx_copy_colors(AVFilterLink *outlink, const AVFilterLink *inlink)
{
#if LIBAVFILTER_VERSION_MAJOR >= 10
    outlink->colorspace  = inlink->colorspace;
    outlink->color_range = inlink->color_range;
#endif
}

#endif /* AVFILTER_VMAFX_COMPAT_H */
