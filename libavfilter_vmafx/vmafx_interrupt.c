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
#include "vmafx_interrupt.h"
#include "vmafx_pads.h"

#include "buffersrc.h"

/** Frames that may wait for the output to be asked: what a cut can add to an input, and no more than memory bears. */
#define MOST_WAITING 8

void ff_vmafx_interrupt_begin(VMAFXInterrupt *interrupt)
{
    interrupt->frames_at_end = -1;
}

/** Whether the source of an input that has ended was asked for frames before it did. */
static int was_asked(const VMAFXGraph *graph, int input)
{
    AVFilterContext *source = graph->source[input]->src;

    return strcmp(source->filter->name, "buffer") || av_buffersrc_get_nb_failed_requests(source);
}

/** Whether an input ended although it was asked, and nothing came since that only comes when the stream goes on. */
static int looks_interrupted(VMAFXInterrupt *interrupt, AVFilterContext *ctx)
{
    const int wanted = ff_vmafx_any_wanted(ctx);
    const int ended  = ff_vmafx_ended_inputs(ctx);
    int64_t frames = 0;

    if (!ended || interrupt->going_on)
        return 0;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        frames += VMAFX_LINK(ctx->inputs[i])->frame_count_in;
    if (interrupt->frames_at_end < 0)
        interrupt->frames_at_end = frames;
    interrupt->unwanted |= !wanted;
    interrupt->going_on = (wanted && (interrupt->unwanted || ended == ctx->nb_inputs)) ||
                            frames - interrupt->frames_at_end + ended > ctx->nb_inputs;
    return !interrupt->going_on;
}

int ff_vmafx_interrupt_may_pair(VMAFXInterrupt *interrupt, const VMAFXGraph *graph, AVFilterContext *ctx)
{
    int interrupted;

    if (!VMAFX_FED_UNASKED)
        return 1;
    interrupted = looks_interrupted(interrupt, ctx);
    if (ff_vmafx_any_wanted(ctx))
        return !interrupted;
    /* Asked for the frames of another output, the streams have ended: an error must come while ffmpeg feeds the
     * graph. */
    if (ff_vmafx_ended_inputs(ctx) == ctx->nb_inputs) {
        for (unsigned i = 0; i < ctx->nb_inputs; i++)
            if (!was_asked(graph, i))
                return 0;
        return 1;
    }
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (ff_inlink_queued_frames(ctx->inputs[i]) > MOST_WAITING)
            return 1;
    return 0;
}
