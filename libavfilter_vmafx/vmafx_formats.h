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
 * Pixel formats: which ones the inputs are asked for, and what they are to libvmafx.
 */

#ifndef AVFILTER_VMAFX_FORMATS_H
#define AVFILTER_VMAFX_FORMATS_H

#include <vmafx/vmafx.h>

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"
#include "avfilter.h"
#include "vmafx_vulkan.h"
#include "vmafx_compat.h"
#include "vmafx_graph.h"

/** The format that an input has if no filter asks for another, as its link tells when formats are negotiated. */
typedef struct VMAFXNatural {
    enum AVPixelFormat format;      ///< AV_PIX_FMT_NONE: not known
    int values[VMAFX_PROPERTIES];   ///< VMAFX_OPEN: nothing upstream says
    int is_of_rgb;                  ///< the pictures begin as RGB
} VMAFXNatural;

#define VMAFX_OPEN (-1)

/**
 * vmafx: each input has the format and the colors it has; an output has those of its main. Formats that cannot be
 * scored are converted, and no color is: only RGB gets a matrix, that of the other input if it is known.
 *
 * @param natural  set to what the inputs are without conversion
 * @param map      the format of outputs for maps
 */
int ff_vmafx_formats_query(AVFilterContext *ctx, VMAFXNatural natural[VMAFX_MOST_INPUTS], enum AVPixelFormat map);

/**
 * libvmaf, xpsnr: command lines count on it that the reference is converted to the format of main where the two differ.
 * Only a difference of memory layout needs no conversion. With several main inputs, the first decides. FFmpeg since 7.0
 * makes the colors alike, too, as in its own filters.
 *
 * @param natural  set to what the inputs are without conversion
 */
int ff_vmafx_formats_query_dropin(AVFilterContext *ctx, VMAFXNatural natural[VMAFX_MOST_INPUTS]);

/** Warn of what libavfilter converts before an input: nothing is converted behind the user's back. */
void ff_vmafx_formats_report_conversions(AVFilterContext *ctx, const VMAFXNatural natural[VMAFX_MOST_INPUTS]);

/**
 * Warn if an input was converted from RGB by another matrix than that of the input which it is compared with.
 *
 * @param frame        first frame of the input
 * @param other_frame  first frame of the other input
 */
void ff_vmafx_formats_report_matrix(AVFilterContext *ctx, int input, const AVFrame *frame, int other,
                                    const AVFrame *other_frame);

/** An error if the samples of an input cannot be scored. To be called when the graph is configured. */
int ff_vmafx_formats_check_samples(AVFilterContext *ctx, int input);

/** An error if a frame is not of the size and format that its input was configured with. */
int ff_vmafx_formats_check_frame(AVFilterContext *ctx, int input, const AVFrame *frame);

/**
 * An input's format, as libvmafx is told of it.
 *
 * @param first   the input's first frame, which says what its colors mean; NULL: no frame is known yet
 * @param vulkan  what copies the input's frames, or NULL
 */
VmafxFormat ff_vmafx_formats_of_input(AVFilterContext *ctx, int input, const AVFrame *first,
                                      const VMAFXVulkan *vulkan);

#endif /* AVFILTER_VMAFX_FORMATS_H */
