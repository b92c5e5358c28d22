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
 * Whether the frames that wait are of the stream, or what an interrupt has left.
 *
 * When its outputs are full (-frames:v, -t), or on an interrupt, ffmpeg up to 6.1 takes one more frame from each
 * decoder, ends the input if there is none, and asks for nothing. These frames are not to be paired: not even with each
 * other, because a decoder that reorders gives one that is not the next. They are told by what ffmpeg does not do: it
 * feeds a stream because it asked for a frame and its source had none, and it asks again for as long as the stream goes
 * on.
 */

#ifndef AVFILTER_VMAFX_INTERRUPT_H
#define AVFILTER_VMAFX_INTERRUPT_H

#include <stdint.h>

#include "avfilter.h"
#include "vmafx_graph.h"

typedef struct VMAFXInterrupt {
    int64_t frames_at_end;      ///< frames that had arrived when the first input ended, -1: none has
    int unwanted;               ///< after that, there was a time when no frame was wanted
    int going_on;               ///< after that, the program went on feeding or asking
} VMAFXInterrupt;

void ff_vmafx_interrupt_begin(VMAFXInterrupt *interrupt);

/** Whether the frames that wait may be paired now. To be asked at each activation, once the graph is configured. */
int ff_vmafx_interrupt_may_pair(VMAFXInterrupt *interrupt, const VMAFXGraph *graph, AVFilterContext *ctx);

#endif /* AVFILTER_VMAFX_INTERRUPT_H */
