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
 * The outputs for maps: the map of each frame that an encode's output has, as a picture of the same size and time.
 */

#ifndef AVFILTER_VMAFX_MAP_H
#define AVFILTER_VMAFX_MAP_H

#include <stdint.h>

#include <vmafx/vmafx.h>

#include "libavutil/fifo.h"
#include "libavutil/frame.h"
#include "avfilter.h"
#include "vmafx_options.h"

/** The maps of an encode. All zero before ff_vmafx_map_alloc(). */
typedef struct VMAFXMap {
    AVFifo *waiting;            ///< frames without samples, which tell the times of the pictures to come
    AVFrame *last;              ///< the last picture that was drawn
} VMAFXMap;

int ff_vmafx_map_alloc(VMAFXMap *map);

/** The output's only pixel format. */
enum AVPixelFormat ff_vmafx_map_pix_fmt(const VMAFXOptions *options);

/**
 * Expect a picture for a frame of the encode's output.
 *
 * @param pair  number of its frame pair, -1: has none, and gets an empty picture
 */
int ff_vmafx_map_expect(VMAFXMap *map, const AVFrame *frame, int64_t pair);

/** The next picture, if it is an empty one; *picture is NULL if it is another, or none is expected. */
int ff_vmafx_map_take_empty(VMAFXMap *map, AVFilterLink *outlink, AVFrame **picture);

/** The picture of a result, which must be the next one. A frame that n_subsample skips has the picture of the frame
 *  before it. AVERROR(EINVAL), with a message: the result has no such map, or nothing says where its scale ends. */
int ff_vmafx_map_draw(VMAFXMap *map, AVFilterLink *outlink, const VMAFXOptions *options, const VmafxFrameResult *result,
                      AVFrame **picture);

void ff_vmafx_map_free(VMAFXMap *map);

#endif /* AVFILTER_VMAFX_MAP_H */
