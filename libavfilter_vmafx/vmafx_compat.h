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

#include "config.h"
#include "config_components.h"

#include <string.h>

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

/* Up to 6.0 FFmpeg has no locks for Vulkan: two downloads of frames of one context, for example, spoil each other. */
#define VMAFX_VULKAN_HAS_LOCKS (LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(58, 11, 100))

#if CONFIG_VULKAN

#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_vulkan.h"
#include "libavutil/internal.h"

/** Whether an extension of the device is in use. */
static inline int vmafx_vulkan_enables(const AVVulkanDeviceContext *hwctx, const char *extension)
{
    for (int i = 0; i < hwctx->nb_enabled_dev_extensions; i++)
        if (!strcmp(hwctx->enabled_dev_extensions[i], extension))
            return 1;
    return 0;
}

/** Flags that the queues were made with. Since 9.0 they may be made so that no lock is needed. Headers of Vulkan that
 *  FFmpeg still takes do not have the names. */
static inline VkDeviceQueueCreateFlags vmafx_vulkan_queue_flags(const AVVulkanDeviceContext *hwctx)
{
    return vmafx_vulkan_enables(hwctx, "VK_KHR_internally_synchronized_queues") ? 0x4 : 0;
}

/** Lock or unlock the first queue of a family. 8.1 announces the end of the fields. */
static inline void vmafx_vulkan_lock_queue(AVHWDeviceContext *device, int family, int lock)
{
#if VMAFX_VULKAN_HAS_LOCKS && LIBAVUTIL_VERSION_MAJOR < 62
    const AVVulkanDeviceContext *hwctx = device->hwctx;

FF_DISABLE_DEPRECATION_WARNINGS
    if (lock && hwctx->lock_queue)
        hwctx->lock_queue(device, family, 0);
    if (!lock && hwctx->unlock_queue)
        hwctx->unlock_queue(device, family, 0);
FF_ENABLE_DEPRECATION_WARNINGS
#endif
}

/** Lock or unlock the layouts and semaphores of a frame. */
static inline void vmafx_vulkan_lock_frame(AVHWFramesContext *frames, AVVkFrame *frame, int lock)
{
#if VMAFX_VULKAN_HAS_LOCKS
    AVVulkanFramesContext *hwctx = frames->hwctx;

    if (lock)
        hwctx->lock_frame(frames, frame);
    else
        hwctx->unlock_frame(frames, frame);
#endif
}

/** The family of queues for copies, the one that does nothing else if there is one; -1: there is none. Since 7.1
 *  families are in a list. */
static inline int vmafx_vulkan_transfer_family(const AVVulkanDeviceContext *hwctx)
{
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(59, 34, 100)
    const VkQueueFlags others = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    int any = -1;

    for (int i = 0; i < hwctx->nb_qf; i++) {
        if (!(hwctx->qf[i].flags & (VK_QUEUE_TRANSFER_BIT | others)) || !hwctx->qf[i].num)
            continue;
        if (!(hwctx->qf[i].flags & others))
            return hwctx->qf[i].idx;
        if (any < 0)
            any = hwctx->qf[i].idx;
    }
    return any;
#else
    return hwctx->nb_tx_queues ? hwctx->queue_family_tx_index : -1;
#endif
}

#endif /* CONFIG_VULKAN */

#endif /* AVFILTER_VMAFX_COMPAT_H */
