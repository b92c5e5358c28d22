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
 * Frames in a GPU's memory, as pictures for libvmafx.
 */

#ifndef AVFILTER_VMAFX_HW_H
#define AVFILTER_VMAFX_HW_H

#include <vmafx/vmafx.h>

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"
#include "avfilter.h"
#include "vmafx_vulkan.h"

/** The formats of hardware frames that are taken, up to AV_PIX_FMT_NONE. */
extern const enum AVPixelFormat ff_vmafx_hw_formats[];

/** Whether the frames of a format are in a GPU's memory. */
int ff_vmafx_is_hw(enum AVPixelFormat fmt);

/**
 * The format of the samples: of a hardware format's frames the software format.
 *
 * @return  AV_PIX_FMT_NONE if the link has no frames context to know it from
 */
enum AVPixelFormat ff_vmafx_sample_format(AVFilterLink *link);

/** "cuda (nv12)", "yuv420p". */
const char *ff_vmafx_format_name(AVFilterLink *link, char *buf, size_t size);

/**
 * Fill in where the samples of the link's frames lie.
 *
 * @param vulkan  what copies the frames, or NULL
 */
void ff_vmafx_hw_memory(VmafxFormat *format, AVFilterLink *link, const VMAFXVulkan *vulkan);

/**
 * If the link's frames have a device context that libvmafx works with, take a reference to it, to be kept until the
 * library is closed: the filters before this one may be freed first.
 */
int ff_vmafx_hw_keep_device(AVBufferRef **device, AVFilterLink *link);

/** If libvmafx can run in the device context of the link's frames, hand it in. Return 1 if so, else 0. */
int ff_vmafx_hw_context(VmafxOptions *options, AVFilterLink *link);

/** Whether a frame is of the kind that the link has announced. */
int ff_vmafx_hw_same_kind(AVFilterLink *link, const AVFrame *frame);

/**
 * A hardware frame as a picture, which holds a reference to it.
 *
 * @param imported  whether the library reads it where it lies, as far as is known; else it only downloads
 * @param vulkan    what copies the frames of the input, or NULL
 * @param planes    a bit mask of the planes that the library reads
 */
int ff_vmafx_hw_picture(VmafxPicture *pic, const AVFrame *frame, int imported, VMAFXVulkan *vulkan, unsigned planes);

#endif /* AVFILTER_VMAFX_HW_H */
