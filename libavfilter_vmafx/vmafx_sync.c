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

#include "libavutil/mathematics.h"
#include "vmafx_compat.h"
#include "vmafx_sync.h"

enum { MAIN, REFERENCE };

/** Coarser time bases, in seconds, are taken for such that count frames: their times are not rounded. */
static const AVRational coarsest_rounding = { 1, 200 };

/**
 * The coarsest time base that the times of an input were rounded to on their way: Matroska's millisecond, wherever a settb
 * filter follows it. One that counts frames rounds nothing.
 */
static AVRational rounding_unit(AVFilterLink *link)
{
    AVRational unit = { 0, 1 };

    while (link) {
        const AVRational rate  = VMAFX_LINK(link)->frame_rate;
        const int counts_frames = rate.num > 0 && !av_cmp_q(link->time_base, av_inv_q(rate));

        if (!counts_frames && av_cmp_q(link->time_base, coarsest_rounding) <= 0 && av_cmp_q(link->time_base, unit) > 0)
            unit = link->time_base;
        link = link->src->nb_inputs ? link->src->inputs[0] : NULL;
    }
    return unit;
}

static AVRational coarser(AVRational a, AVRational b)
{
    return av_cmp_q(a, b) > 0 ? a : b;
}

static int64_t frame_duration(AVFilterContext *ctx, AVRational time_base)
{
    for (int i = 0; i < 2; i++) {
        const AVRational rate = VMAFX_LINK(ctx->inputs[i])->frame_rate;

        if (rate.num > 0 && rate.den > 0)
            return av_rescale_q(1, av_inv_q(rate), time_base);
    }
    return 0;
}

int ff_vmafx_sync_configure(VMAFXSync *sync, FFFrameSync *fs)
{
    AVFilterContext *ctx = fs->parent;
    AVRational unit;
    int ret;

    /* Which option wins is as in framesync. */
    if (!sync->repeatlast)
        sync->eof_action = EOF_ACTION_PASS;
    if (sync->shortest)
        sync->eof_action = EOF_ACTION_ENDALL;

    fs->in[MAIN].after = sync->eof_action == EOF_ACTION_ENDALL ? EXT_STOP : EXT_INFINITY;
    if ((ret = ff_framesync_configure(fs)) < 0)
        return ret;
    /* After configuring, which takes the common time base from all inputs that count. */
    if (sync->eof_action == EOF_ACTION_PASS)
        fs->in[REFERENCE].sync = 0;

    unit = coarser(rounding_unit(ctx->inputs[MAIN]), rounding_unit(ctx->inputs[REFERENCE]));
    sync->rounding = av_cmp_q(unit, fs->time_base) >= 0 ? av_rescale_q_rnd(1, unit, fs->time_base, AV_ROUND_UP) : 0;
    sync->frame    = frame_duration(ctx, fs->time_base);
    return 0;
}

int ff_vmafx_sync_reference_ended(const FFFrameSync *fs)
{
    return fs->in[REFERENCE].have_next && !fs->in[REFERENCE].frame_next;
}

/** Whether a frame of main and the first or last of the reference, that far apart, are of one time. */
static int is_near(const VMAFXSync *sync, int64_t distance)
{
    return distance <= sync->rounding || (sync->mode == VMAFX_SYNC_NEAREST && distance < sync->frame - distance);
}

/**
 * Whether the next frame of the reference is the one. At an event framesync knows it: an event is ready only when each input has
 * shown its next frame or its end. A frame taken early becomes framesync's current one when its own time comes.
 */
static int next_is_better(const VMAFXSync *sync, const AVFrame *main, const AVFrame *current, const AVFrame *next)
{
    const int64_t distance = next->pts - main->pts;

    if (!current)
        return is_near(sync, distance);
    return distance < main->pts - current->pts && (sync->mode == VMAFX_SYNC_NEAREST || distance <= sync->rounding);
}

enum VMAFXMatch ff_vmafx_sync_match(const VMAFXSync *sync, const FFFrameSync *fs, const AVFrame *main, AVFrame **reference)
{
    AVFrame *current = fs->in[REFERENCE].frame;
    AVFrame *next    = fs->in[REFERENCE].have_next ? fs->in[REFERENCE].frame_next : NULL;

    *reference = NULL;
    if (next && next_is_better(sync, main, current, next))
        current = next;
    if (!current)
        return VMAFX_UNMATCHED;
    if (ff_vmafx_sync_reference_ended(fs) && !is_near(sync, main->pts - current->pts)) {
        if (sync->eof_action == EOF_ACTION_ENDALL)
            return VMAFX_ALL_ENDED;
        if (sync->eof_action == EOF_ACTION_PASS)
            return VMAFX_UNMATCHED;
    }
    *reference = current;
    return VMAFX_MATCHED;
}
