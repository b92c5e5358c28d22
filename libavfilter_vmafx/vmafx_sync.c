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

/** Coarser time bases, in seconds, are taken for such that count frames: their times are not rounded. */
static const AVRational coarsest_rounding = { 1, 200 };

/**
 * The coarsest time base that the times of an input were rounded to on their way: Matroska's millisecond, wherever a
 * settb filter follows it. One that counts frames rounds nothing.
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

static int64_t frame_duration(AVFilterLink *main, AVFilterLink *reference, AVRational time_base)
{
    AVFilterLink *links[] = { main, reference };

    for (int i = 0; i < 2; i++) {
        const AVRational rate = VMAFX_LINK(links[i])->frame_rate;

        if (rate.num > 0 && rate.den > 0)
            return av_rescale_q(1, av_inv_q(rate), time_base);
    }
    return 0;
}

int ff_vmafx_sync_init(FFFrameSync *fs, AVFilterContext *ctx)
{
    ff_framesync_preinit(fs);
    fs->parent = ctx;
    fs->nb_in  = ctx->nb_inputs;
    if (!(fs->in = av_calloc(fs->nb_in, sizeof(*fs->in))))
        return AVERROR(ENOMEM);
    for (unsigned i = 0; i < fs->nb_in; i++)
        fs->in[i].time_base = ctx->inputs[i]->time_base;
    if (fs->nb_in > 2)
        return 0;
    /* The settings of ff_framesync_init_dualinput(), which a filter with several outputs may not call. */
    fs->in[0].sync   = 2;
    fs->in[0].before = EXT_STOP;
    fs->in[0].after  = EXT_INFINITY;
    fs->in[1].sync   = 1;
    fs->in[1].before = EXT_NULL;
    fs->in[1].after  = EXT_INFINITY;
    return 0;
}

/** All times are whole numbers in the common time base. */
static void configure_inputs(FFFrameSync *fs)
{
    fs->time_base = fs->in[0].time_base;
    for (unsigned i = 0; i < fs->nb_in; i++) {
        fs->time_base = av_gcd_q(fs->time_base, fs->in[i].time_base, AV_TIME_BASE / 2, AV_TIME_BASE_Q);
        fs->in[i].pts = fs->in[i].pts_next = AV_NOPTS_VALUE;
    }
}

int ff_vmafx_sync_configure(VMAFXSync *sync, FFFrameSync *fs)
{
    int ret;

    /* The options take precedence as in framesync. */
    if (!sync->repeatlast)
        sync->eof_action = EOF_ACTION_PASS;
    if (sync->shortest)
        sync->eof_action = EOF_ACTION_ENDALL;

    if (fs->nb_in > 2) {
        configure_inputs(fs);
        return 0;
    }
    fs->in[0].after = sync->eof_action == EOF_ACTION_ENDALL ? EXT_STOP : EXT_INFINITY;
    if ((ret = ff_framesync_configure(fs)) < 0)
        return ret;
    /* After configuring, which takes the common time base from all inputs that count. */
    if (sync->eof_action == EOF_ACTION_PASS)
        fs->in[1].sync = 0;
    return 0;
}

VMAFXSync ff_vmafx_sync_of_main(const VMAFXSync *options, const FFFrameSync *fs, int main)
{
    AVFilterLink *link = fs->parent->inputs[main], *reference = fs->parent->inputs[ff_vmafx_sync_reference(fs)];
    const AVRational unit = coarser(rounding_unit(link), rounding_unit(reference));
    VMAFXSync sync = *options;

    sync.rounding = av_cmp_q(unit, fs->time_base) >= 0 ? av_rescale_q_rnd(1, unit, fs->time_base, AV_ROUND_UP) : 0;
    sync.frame    = frame_duration(link, reference, fs->time_base);
    return sync;
}

/* -- Several main inputs ------------------------------------------------------------------------------------------- */

/** @return  1: the next frame of the input, or its end, is known */
static int look_ahead(FFFrameSync *fs, int input)
{
    FFFrameSyncIn *in = &fs->in[input];
    AVFilterLink *link = fs->parent->inputs[input];
    AVFrame *frame = NULL;
    int64_t pts;
    int ret, status;

    if (in->have_next)
        return 1;
    if ((ret = ff_inlink_consume_frame(link, &frame)) < 0)
        return ret;
    if (ret) {
        frame->pts     = av_rescale_q(frame->pts, in->time_base, fs->time_base);
        in->frame_next = frame;
        in->pts_next   = frame->pts;
    } else if (ff_inlink_acknowledge_status(link, &status, &pts)) {
        in->pts_next   = INT64_MAX;
    } else {
        return 0;
    }
    in->have_next = 1;
    return 1;
}

/**
 * Look at the inputs' next frames: they decide which frame of the reference is nearest, and whether an input has ended.
 *
 * @return  1: that is known of all inputs
 */
static int look_at_all(FFFrameSync *fs, int wanted)
{
    unsigned known = 0, waiting = 0;

    for (unsigned i = 0; i < fs->nb_in; i++) {
        const int ret = look_ahead(fs, i);

        if (ret < 0)
            return ret;
        known   += ret;
        waiting += fs->in[i].frame_next != NULL;
    }
    if (known == fs->nb_in)
        return 1;
    if (!waiting && !wanted)
        return FFERROR_NOT_READY;
    for (unsigned i = 0; i < fs->nb_in; i++)
        if (!fs->in[i].have_next)
            ff_inlink_request_frame(fs->parent->inputs[i]);
    return 0;
}

int ff_vmafx_sync_advance(FFFrameSync *fs, int wanted)
{
    int64_t pts = INT64_MAX;
    int ret;

    if ((ret = look_at_all(fs, wanted)) <= 0)
        return ret;
    for (unsigned i = 0; i < fs->nb_in; i++)
        pts = FFMIN(pts, fs->in[i].pts_next);
    if (pts == INT64_MAX) {
        fs->eof = 1;
        return 0;
    }
    for (unsigned i = 0; i < fs->nb_in; i++) {
        FFFrameSyncIn *in = &fs->in[i];

        if (in->pts_next != pts)
            continue;
        av_frame_free(&in->frame);
        in->frame      = in->frame_next;
        in->pts        = pts;
        in->frame_next = NULL;
        in->pts_next   = AV_NOPTS_VALUE;
        in->have_next  = 0;
    }
    fs->pts = pts;
    return 1;
}

static int is_new(const FFFrameSync *fs, int input)
{
    return fs->in[input].frame && fs->in[input].pts == fs->pts;
}

int ff_vmafx_sync_main_done(const VMAFXSync *sync, const FFFrameSync *fs, int main)
{
    return ff_vmafx_sync_ended(fs, main) && !is_new(fs, main) &&
           (!fs->in[main].frame || sync->eof_action != EOF_ACTION_REPEAT);
}

int ff_vmafx_sync_meets(const VMAFXSync *sync, const FFFrameSync *fs, int main)
{
    return is_new(fs, main) ||
           (fs->in[main].frame && ff_vmafx_sync_ended(fs, main) && !ff_vmafx_sync_main_done(sync, fs, main) &&
            is_new(fs, ff_vmafx_sync_reference(fs)));
}

void ff_vmafx_sync_close(FFFrameSync *fs, int input)
{
    FFFrameSyncIn *in = &fs->in[input];

    ff_inlink_set_status(fs->parent->inputs[input], AVERROR_EOF);
    av_frame_free(&in->frame_next);
    in->pts_next  = INT64_MAX;
    in->have_next = 1;
}

/* -- Pairs --------------------------------------------------------------------------------------------------------- */

int ff_vmafx_sync_ended(const FFFrameSync *fs, int input)
{
    return fs->in[input].have_next && !fs->in[input].frame_next;
}

/** Whether a frame of main and the first or last of the reference, that far apart, are of one time. */
static int is_near(const VMAFXSync *sync, int64_t distance)
{
    return distance <= sync->rounding || (sync->mode == VMAFX_SYNC_NEAREST && distance < sync->frame - distance);
}

/**
 * Whether the next frame of the reference is the one. At an event framesync knows it: an event is ready only when each
 * input has shown its next frame or its end. A frame taken early becomes framesync's current one when its own time
 * comes.
 */
static int next_is_better(const VMAFXSync *sync, const AVFrame *main, const AVFrame *current, const AVFrame *next)
{
    const int64_t distance = next->pts - main->pts;

    if (!current)
        return is_near(sync, distance);
    return distance < main->pts - current->pts && (sync->mode == VMAFX_SYNC_NEAREST || distance <= sync->rounding);
}

enum VMAFXMatch ff_vmafx_sync_match(const VMAFXSync *sync, const FFFrameSync *fs, const AVFrame *main,
                                   AVFrame **reference)
{
    const FFFrameSyncIn *in = &fs->in[ff_vmafx_sync_reference(fs)];
    AVFrame *current = in->frame;
    AVFrame *next    = in->have_next ? in->frame_next : NULL;

    *reference = NULL;
    if (next && next_is_better(sync, main, current, next))
        current = next;
    if (!current)
        return VMAFX_UNMATCHED;
    if (ff_vmafx_sync_ended(fs, ff_vmafx_sync_reference(fs)) && !is_near(sync, main->pts - current->pts)) {
        if (sync->eof_action == EOF_ACTION_ENDALL)
            return VMAFX_ALL_ENDED;
        if (sync->eof_action == EOF_ACTION_PASS)
            return VMAFX_UNMATCHED;
    }
    *reference = current;
    return VMAFX_MATCHED;
}
