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
 * The filter's pads: which is which, what they are called, whether their streams have ended and frames are wanted.
 *
 * Inputs are the main ones, then the reference. Each main input has an output of the same number, and with the option
 * `map` another one, which has its map; those outputs come behind the others.
 */

#ifndef AVFILTER_VMAFX_PADS_H
#define AVFILTER_VMAFX_PADS_H

#include "vmafx_compat.h"

#include "libavutil/error.h"
#include "libavutil/macros.h"

static inline const char *ff_vmafx_input_name(const AVFilterContext *ctx, int input)
{
    return ctx->input_pads[input].name;
}

/** The number of the reference's input. */
static inline int ff_vmafx_reference_of(const AVFilterContext *ctx)
{
    return ctx->nb_inputs - 1;
}

/** How many main inputs there are, and so outputs that pass them on. */
static inline int ff_vmafx_mains_of(const AVFilterContext *ctx)
{
    return ctx->nb_inputs - 1;
}

/** The output that has the map of a main input. */
static inline AVFilterLink *ff_vmafx_map_output(const AVFilterContext *ctx, int input)
{
    return ctx->outputs[ff_vmafx_mains_of(ctx) + input];
}

/** Whether no more frames come to an input; those that have come may still wait there. */
static inline int ff_vmafx_has_ended(const AVFilterContext *ctx, int input)
{
    return ff_outlink_get_status(ctx->inputs[input]) != 0;
}

/** The error that an input ended with: that of a filter before it, which had no more frames for it. 0: none, or it
 * goes on. */
static inline int ff_vmafx_input_error(const AVFilterContext *ctx, int input)
{
    const int status = ff_outlink_get_status(ctx->inputs[input]);

    return status == AVERROR_EOF ? 0 : FFMIN(status, 0);
}

static inline int ff_vmafx_ended_inputs(const AVFilterContext *ctx)
{
    int ended = 0;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        ended += ff_vmafx_has_ended(ctx, i);
    return ended;
}

/** Whether some output wants a frame. */
static inline int ff_vmafx_any_wanted(const AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (ff_outlink_frame_wanted(ctx->outputs[i]))
            return 1;
    return 0;
}

/** Whether nobody wants anything any more. */
static inline int ff_vmafx_all_closed(const AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_outputs; i++)
        if (!ff_outlink_get_status(ctx->outputs[i]))
            return 0;
    return 1;
}

#endif /* AVFILTER_VMAFX_PADS_H */
