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
 * Output frames that wait for their scores, and the metadata that they get.
 */

#ifndef AVFILTER_VMAFX_HELD_H
#define AVFILTER_VMAFX_HELD_H

#include <stdint.h>

#include <vmafx/vmafx.h>

#include "libavutil/fifo.h"
#include "libavutil/frame.h"

/** The frames of an output, in its order. NULL: out of memory. */
AVFifo *ff_vmafx_held_alloc(void);

/**
 * Takes the frame.
 *
 * @param pair  number of its frame pair, -1: has none, and waits only for those before it
 */
int ff_vmafx_held_add(AVFifo *held, AVFrame *frame, int64_t pair);

/** Take the first frame, if it belongs to the pair, or to none (-1); it is no longer held. NULL: the first frame is
 * another, or none is held. */
AVFrame *ff_vmafx_held_take(AVFifo *held, int64_t pair);

/** Put the scores on their frame, the doubts that are sure so far, and on the last frame of a window its scores. */
int ff_vmafx_held_set_scores(AVFrame *frame, const VmafxContext *vmafx, const VmafxFrameResult *result);

/** Free the queue and its frames. */
void ff_vmafx_held_free(AVFifo **held);

#endif /* AVFILTER_VMAFX_HELD_H */
