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
 * Vulkan frames, which are tiled as the GPU likes it, as linear pictures: a copy on their device into buffers that the
 * library imports.
 */

#ifndef AVFILTER_VMAFX_VULKAN_H
#define AVFILTER_VMAFX_VULKAN_H

#include <stdint.h>

#include <vmafx/vmafx.h>

#include "libavutil/frame.h"
#include "avfilter.h"

/** A copier of the frames of one input. Its functions are called by the filter's thread, except for those that say
 * otherwise. */
typedef struct VMAFXVulkan VMAFXVulkan;

/** A copy of a frame, in a buffer that is used for no other copy until ff_vmafx_vulkan_release(). */
typedef struct VMAFXVulkanCopy {
    VMAFXVulkan *vulkan;        ///< NULL: there is no copy
    int slot;
    VmafxSemaphore semaphore;   ///< has its value when the copy is done
} VMAFXVulkanCopy;

/**
 * @return  0 with *vulkan NULL, after a message, if the frames of the link cannot be copied this way, or are no Vulkan
 *          frames; AVERROR(ENOMEM)
 */
int ff_vmafx_vulkan_alloc(VMAFXVulkan **vulkan, AVFilterContext *ctx, AVFilterLink *link);

/** After all copies were released. */
void ff_vmafx_vulkan_free(VMAFXVulkan **vulkan);

/** Fill in where copies lie; the texts are valid as long as `vulkan`. */
void ff_vmafx_vulkan_memory(VmafxFormat *format, const VMAFXVulkan *vulkan);

/**
 * Begin to copy a frame, which must stay until the copy is released. Without success, of which there is a message, the
 * picture is left as it is.
 *
 * @param planes  a bit mask of the planes that are needed: Y, U, V
 */
void ff_vmafx_vulkan_copy(VMAFXVulkanCopy *copy, VmafxPicture *pic, VMAFXVulkan *vulkan, const AVFrame *frame,
                          unsigned planes);

/** Wait for a copy. Any thread. */
int ff_vmafx_vulkan_wait(const VMAFXVulkanCopy *copy, int timeout_ms);

/** Lock or unlock all work of the filter with Vulkan, in releases of FFmpeg that have no locks for that. */
void ff_vmafx_vulkan_lock(int lock);

/** Any thread. */
void ff_vmafx_vulkan_release(VMAFXVulkanCopy *copy);

#endif /* AVFILTER_VMAFX_VULKAN_H */
