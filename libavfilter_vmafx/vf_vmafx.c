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
 * Score a video against its reference with libvmafx: VMAF and the metrics around it.
 *
 * Frame pairs go to the library as references, nothing is copied; frames in a GPU's memory, too. Everything that can
 * fail at the end of the stream happens in activate(), so that a failure is the exit status of the program and no score
 * is printed after one.
 */

#include <inttypes.h>
#include <stdio.h>

#include "config.h"

#if HAVE_UNISTD_H
#include <unistd.h>
#endif
#if HAVE_IO_H
#include <io.h>
#endif

#include <vmafx/vmafx.h>

#include "vmafx_compat.h"
#include "vmafx_formats.h"
#include "vmafx_graph.h"
#include "vmafx_group.h"
#include "vmafx_held.h"
#include "vmafx_hw.h"
#include "vmafx_interrupt.h"
#include "vmafx_map.h"
#include "vmafx_name.h"
#include "vmafx_options.h"
#include "vmafx_pads.h"
#include "vmafx_pairs.h"
#include "vmafx_sync.h"
#include "vmafx_xpsnr.h"

#include "libavutil/avstring.h"
#include "libavutil/buffer.h"
#include "libavutil/macros.h"
#include "libavutil/mathematics.h"

/** A main input, which is an encode. Its input and its output have its number (vmafx_pads.h). */
typedef struct VMAFXEncode {
    VMAFXSync sync;
    VMAFXPairs pairs;
    int64_t arrived;            ///< frames that have come to the input
    int ended;                  ///< will produce no more pairs: it met the end of the reference, or broke
    int error;                  ///< error that ended it early
    AVFifo *held;               ///< metadata=1: output frames that wait for their scores
    VMAFXMap map;               ///< with the option map
} VMAFXEncode;

typedef struct VMAFXContext {
    VMAFXOptions options;       ///< first, as it begins with the class

    FFFrameSync fs;
    VmafxContext *vmafx;
    AVBufferRef *hw_device[VMAFX_MOST_INPUTS];  ///< by input, while the library is open
    VMAFXVulkan *vulkan[VMAFX_MOST_INPUTS];     ///< by input: what copies Vulkan frames
    VMAFXXpsnr xpsnr;
    VMAFXEncode *encode;
    VMAFXGroup group;
    int configured;             ///< the library knows the formats
    int error;                  ///< first failure; every later activate() repeats it
    int finished;               ///< the end of the stream was dealt with

    VMAFXGraph graph;
    VMAFXInterrupt interrupt;
    int64_t arrived_ref;        ///< frames of the reference that have come
    VMAFXNatural natural[VMAFX_MOST_INPUTS];    ///< by input, once formats are negotiated
    int held_back;              ///< the last activate() had an event and gave no frame for it
    int wanted;                 ///< a frame was wanted when the last activate() ended
} VMAFXContext;

#if VMAFX_MOST_INPUTS != VMAFX_MOST_ENCODES + 1
#error "there is an input for each encode, and one for the reference"
#endif

/** "low: " if there are several encodes, else nothing: log lines of one encode begin with it. */
static const char *prefix_of(const AVFilterContext *ctx, const VMAFXEncode *encode, char buf[64])
{
    const VMAFXContext *s = ctx->priv;

    buf[0] = 0;
    if (s->options.encodes > 1)
        snprintf(buf, 64, "%.60s: ", vmafx_encode_name(s->vmafx, encode - s->encode));
    return buf;
}

static void report_change(AVFilterContext *ctx)
{
    av_log(ctx, AV_LOG_ERROR, "An input changed its size or format in mid-stream: the scores of both parts are not "
           "one score. (-reinit_filter 0 before that input and a scale filter after it keep it the same.)\n");
}

static int check_inputs(AVFilterContext *ctx)
{
    const VMAFXContext *s = ctx->priv;
    VmafxFormat ref;

    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (ff_vmafx_formats_check_samples(ctx, i) < 0)
            return AVERROR(EINVAL);
    ref = ff_vmafx_formats_of_input(ctx, ff_vmafx_reference_of(ctx), NULL, NULL);
    for (int i = 0; i < ff_vmafx_mains_of(ctx); i++) {
        VmafxFormat main = ff_vmafx_formats_of_input(ctx, i, NULL, NULL);
        int ret;

        if (s->options.convert && *s->options.convert) {    /* it makes samples alike */
            main.chroma = ref.chroma;
            main.bits   = ref.bits;
            main.shift  = ref.shift;
        }
        if ((ret = vmafx_check_formats(&ref, &main, ff_vmafx_log, ctx)) < 0)
            return ret;
    }
    return 0;
}

/* -- Output -------------------------------------------------------------------------------------------------------- */

/** Takes the frame. With several outputs one may have had enough. */
static int send_frame(AVFilterContext *ctx, const VMAFXEncode *e, AVFrame *frame)
{
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[e - s->encode];

    if (ctx->nb_outputs > 1 && ff_outlink_get_status(outlink)) {
        av_frame_free(&frame);
        return 0;
    }
    s->held_back = 0;
    return ff_filter_frame(outlink, frame);
}

/** Pass a frame on, or keep it until its scores are here. Takes the frame. */
static int output_frame(AVFilterContext *ctx, VMAFXEncode *e, AVFrame *frame, int64_t pair)
{
    const VMAFXContext *s = ctx->priv;

    return s->options.metadata ? ff_vmafx_held_add(e->held, frame, pair) : send_frame(ctx, e, frame);
}

/** Send the frames of an encode that wait for no scores, up to the first that does. */
static int send_held(AVFilterContext *ctx, VMAFXEncode *e)
{
    AVFrame *frame;
    int ret;

    while ((frame = ff_vmafx_held_take(e->held, -1)))
        if ((ret = send_frame(ctx, e, frame)) < 0)
            return ret;
    return 0;
}

/** Takes the picture of a map. NULL: there is none. */
static int send_picture(AVFilterLink *outlink, AVFrame *picture)
{
    if (!picture || ff_outlink_get_status(outlink)) {
        av_frame_free(&picture);
        return 0;
    }
    return ff_filter_frame(outlink, picture);
}

/** Send the pictures of maps that wait for no scores, up to the first that does. */
static int send_empty_maps(AVFilterContext *ctx, VMAFXEncode *e)
{
    const VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ff_vmafx_map_output(ctx, e - s->encode);
    AVFrame *picture;
    int ret;

    do {
        if ((ret = ff_vmafx_map_take_empty(&e->map, outlink, &picture)) < 0)
            return ret;
    } while (picture && (ret = send_picture(outlink, picture)) >= 0);
    return ret;
}

/** Send the map of a frame, and the pictures that waited for it. */
static int send_map(AVFilterContext *ctx, const VmafxFrameResult *result)
{
    VMAFXContext *s = ctx->priv;
    VMAFXEncode *e = &s->encode[result->encode];
    AVFilterLink *outlink = ff_vmafx_map_output(ctx, result->encode);
    AVFrame *picture;
    int ret;

    if ((ret = ff_vmafx_map_draw(&e->map, outlink, &s->options, result, &picture)) < 0 ||
        (ret = send_picture(outlink, picture)) < 0)
        return ret;
    return send_empty_maps(ctx, e);
}

/** Put scores on the frame that waits for them, and send it and those that waited for it. */
static int send_scored(AVFilterContext *ctx, const VmafxFrameResult *result)
{
    VMAFXContext *s = ctx->priv;
    VMAFXEncode *e = &s->encode[result->encode];
    AVFrame *frame = ff_vmafx_held_take(e->held, result->frame);
    int ret;

    if (!frame) {
        av_log(ctx, AV_LOG_ERROR, "Got the scores of pair %"PRId64", which no frame waits for.\n", result->frame);
        return AVERROR_BUG;
    }
    ret = VMAFX_IS_XPSNR(ctx) ? ff_vmafx_xpsnr_frame(&s->xpsnr, frame, result)
                              : ff_vmafx_held_set_scores(frame, s->vmafx, result);
    if (ret < 0) {
        av_frame_free(&frame);
        return ret;
    }
    if ((ret = send_frame(ctx, e, frame)) < 0)
        return ret;
    return send_held(ctx, e);
}

/** Send the held frames and the maps whose scores are known, in order. Frames without a pair wait only for those before
 *  them. */
static int drain_held(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const int has_map = ff_vmafx_options_has_map(&s->options);
    VmafxFrameResult result;
    int ret;

    if (!s->options.metadata && !has_map)
        return 0;
    for (int i = 0; i < s->options.encodes; i++)
        if ((s->options.metadata && (ret = send_held(ctx, &s->encode[i])) < 0) ||
            (has_map && (ret = send_empty_maps(ctx, &s->encode[i])) < 0))
            return ret;
    while ((ret = vmafx_receive(s->vmafx, &result)) >= 0)
        if ((s->options.metadata && (ret = send_scored(ctx, &result)) < 0) ||
            (has_map && (ret = send_map(ctx, &result)) < 0))
            return ret;
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

/** The scores of held frames that nobody wants any more: statistics have them all the same. */
static int drain_unwanted(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    VmafxFrameResult result;
    int ret;

    if (!VMAFX_IS_XPSNR(ctx))
        return 0;
    while ((ret = vmafx_receive(s->vmafx, &result)) >= 0)
        if ((ret = ff_vmafx_xpsnr_frame(&s->xpsnr, NULL, &result)) < 0)
            return ret;
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

/** The frame that an input shows first, as far as it is known. */
static const AVFrame *shown_frame(const VMAFXContext *s, int input)
{
    const FFFrameSyncIn *in = &s->fs.in[input];

    return in->frame ? in->frame : in->frame_next;
}

/** The library's work begins with the first pair: only frames say what colors they hold. */
static int begin_scoring(AVFilterContext *ctx, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    VmafxFormat main[VMAFX_MOST_ENCODES];
    VmafxFormat reference = ff_vmafx_formats_of_input(ctx, ff_vmafx_reference_of(ctx), ref,
                                                      s->vulkan[ff_vmafx_reference_of(ctx)]);

    for (int i = 0; i < s->options.encodes; i++) {
        const AVFrame *first = shown_frame(s, i);

        main[i] = ff_vmafx_formats_of_input(ctx, i, first, s->vulkan[i]);
        if (s->options.encodes > 1)
            main[i].name = NULL;
        if (first) {
            ff_vmafx_pairs_report_shapes(ctx, i, first, ref);
            ff_vmafx_formats_report_matrix(ctx, i, first, ff_vmafx_reference_of(ctx), ref);
        }
        if (first && i == 0)
            ff_vmafx_formats_report_matrix(ctx, ff_vmafx_reference_of(ctx), ref, i, first);
    }
    s->configured = 1;
    if (VMAFX_IS_XPSNR(ctx)) {
        FFSWAP(VmafxFormat, reference, main[0]);
        if (main[0].fps > 0) /* as in FFmpeg's filter */
            reference.fps = main[0].fps;
    }
    return vmafx_configure_encodes(s->vmafx, &reference, main, s->options.encodes);
}

static int score_pair(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main, const AVFrame *ref)
{
    VMAFXContext *s = ctx->priv;
    const int number = e - s->encode;
    int ret;

    if ((ret = ff_vmafx_formats_check_frame(ctx, ff_vmafx_reference_of(ctx), ref)) < 0)
        return s->options.encodes > 1 ? s->error = ret : ret;
    if ((ret = ff_vmafx_formats_check_frame(ctx, number, main)) < 0)
        return ret;
    if (!s->configured && (ret = begin_scoring(ctx, ref)) < 0)
        return s->error = ret;
    ff_vmafx_pairs_report_interlacing(&e->pairs, ctx, number, main, ref);
    if ((ret = ff_vmafx_group_add(&s->group, number, main, ref, s->fs.pts * av_q2d(s->fs.time_base))) < 0)
        return s->error = ret;
    return 0;
}

/** Nothing comes of an encode any more; as framesync itself ends when an input does that all others end with. */
static int end_encode(AVFilterContext *ctx, VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;

    e->ended = 1;
    for (int i = 0; i < s->options.encodes; i++)
        if (!s->encode[i].ended)
            return 0;
    s->fs.eof = 1;
    if (s->options.encodes == 1)
        ff_outlink_set_status(ctx->outputs[0], AVERROR_EOF, AV_NOPTS_VALUE);
    return 0;
}

/** Whether a frame would be repeated because its input ended with an error: what belongs there did not come. */
static int is_after_error(AVFilterContext *ctx, const VMAFXEncode *e, const AVFrame *main, const AVFrame *ref)
{
    const VMAFXContext *s = ctx->priv;
    const int input = e - s->encode, reference = ff_vmafx_reference_of(ctx);

    return (ff_vmafx_input_error(ctx, input) && ff_vmafx_sync_ended(&s->fs, input) &&
            ff_vmafx_pairs_repeats_main(&e->pairs, main)) ||
           (ff_vmafx_input_error(ctx, reference) && ff_vmafx_sync_ended(&s->fs, reference) &&
            ff_vmafx_pairs_repeats_ref(&e->pairs, ref));
}

/** An encode and what it meets at this time. The frames stay framesync's; library and output get references. */
static int meet(AVFilterContext *ctx, VMAFXEncode *e, const AVFrame *main)
{
    VMAFXContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[e - s->encode];
    AVFrame *ref;
    const enum VMAFXMatch match = ff_vmafx_sync_match(&e->sync, &s->fs, main, &ref);
    const int of_range = !vmafx_range_place(s->vmafx, e->pairs.nb, 1, s->fs.pts * av_q2d(s->fs.time_base));
    int64_t pair;
    AVFrame *out;
    int ret;

    if (match == VMAFX_ALL_ENDED || is_after_error(ctx, e, main, ref))
        return end_encode(ctx, e);
    s->held_back = 1;

    /* After the end of main its last frame meets the rest of the reference; one of that may have had its turn. */
    if (ff_vmafx_pairs_repeats(&e->pairs, main, ref))
        return 0;

    ff_vmafx_pairs_main(&e->pairs, main);
    if (ref && (ret = score_pair(ctx, e, main, ref)) < 0)
        return ret;
    pair = ff_vmafx_pairs_count(&e->pairs, &s->fs, main, ref, of_range);

    if (!(out = av_frame_clone(main)))
        return AVERROR(ENOMEM);
    out->pts = av_rescale_q(s->fs.pts, s->fs.time_base, outlink->time_base);
    if (s->options.metadata && !VMAFX_IS_XPSNR(ctx) && pair >= 0 &&
        (ret = ff_vmafx_pairs_mark_corrupt(out, main, ref)) < 0) {
        av_frame_free(&out);
        return ret;
    }
    if (ff_vmafx_options_has_map(&s->options) && (ret = ff_vmafx_map_expect(&e->map, out, pair)) < 0) {
        av_frame_free(&out);
        return ret;
    }
    return output_frame(ctx, e, out, pair);
}

/** Nothing that comes after the range and its context matters: ffmpeg need not decode it. */
static void end_after_range(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (int i = 0; i < s->options.encodes && vmafx_range_done(s->vmafx); i++)
        if (!s->encode[i].ended)
            end_encode(ctx, &s->encode[i]);
}

static int process_event(FFFrameSync *fs)
{
    AVFilterContext *ctx = fs->parent;
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = meet(ctx, &s->encode[0], fs->in[0].frame)) < 0 || (ret = drain_held(ctx)) < 0)
        return ret;
    if (ff_vmafx_any_wanted(ctx))   /* the frame went to one output, and another one still waits for its own */
        s->held_back = 1;
    end_after_range(ctx);
    return 0;
}

/** An error of one of several encodes ends that encode; errors in what they share end all. */
static int meet_or_break(AVFilterContext *ctx, VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;
    const int input = e - s->encode;
    const int ret = meet(ctx, e, s->fs.in[input].frame);
    char prefix[64];

    if (ret >= 0 || s->error)
        return ret;
    av_log(ctx, AV_LOG_ERROR, "%sThis encode is scored up to here, after %"PRId64" pairs; the others go on.\n",
           prefix_of(ctx, e, prefix), e->pairs.pairing.paired);
    e->error = ret;
    e->pairs.pairing.cut_short = 1;
    ff_vmafx_sync_close(&s->fs, input);
    return end_encode(ctx, e);
}

/** All encodes at the next time at which something comes. */
static int advance_encodes(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = ff_vmafx_sync_advance(&s->fs, ff_vmafx_any_wanted(ctx))) <= 0)
        return ret;
    for (int i = 0; i < s->options.encodes; i++) {
        VMAFXEncode *e = &s->encode[i];

        if (!e->ended && ff_vmafx_sync_main_done(&e->sync, &s->fs, i))
            end_encode(ctx, e);
        if (!e->ended && ff_vmafx_sync_meets(&e->sync, &s->fs, i) && (ret = meet_or_break(ctx, e)) < 0)
            return ret;
    }
    /* Nobody downstream asks for the work that an event leaves, so the filter asks to run again. */
    ff_filter_set_ready(ctx, 100);
    if ((ret = drain_held(ctx)) < 0)
        return ret;
    end_after_range(ctx);
    return 0;
}

/* -- The end ------------------------------------------------------------------------------------------------------- */

/** ffmpeg ends its progress line with \r, so on a terminal the next line would be written over it. */
static void leave_progress_line(void)
{
#if HAVE_ISATTY
    if (isatty(2))
        av_log(NULL, AV_LOG_INFO, "\n");
#endif
}

/**
 * Programs look for "VMAF score: " and a number at the end of the line, and take the first, the last, or all of them.
 * With several encodes each line begins with the name of one.
 */
static int print_scores(AVFilterContext *ctx, const VMAFXEncode *e)
{
    VMAFXContext *s = ctx->priv;
    const int number = e - s->encode;
    char prefix[64];

    if (VMAFX_IS_XPSNR(ctx))
        return ff_vmafx_xpsnr_end(&s->xpsnr, s->vmafx, e->pairs.pairing.paired);
    prefix_of(ctx, e, prefix);
    for (int i = 0; i < vmafx_model_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_encode_model_score(s->vmafx, number, i, &name, &score);

        if (ret < 0)
            return ret;
        if (i)
            av_log(ctx, AV_LOG_INFO, "%s%s: VMAF score: %f\n", prefix, name, score);
        else
            av_log(ctx, AV_LOG_INFO, "%sVMAF score: %f\n", prefix, score);
    }
    if (ff_vmafx_is_libvmaf(ctx) && vmafx_model_count(s->vmafx))
        return 0;
    for (int i = 0; i < vmafx_feature_count(s->vmafx); i++) {
        const char *name;
        double score;
        int ret = vmafx_encode_feature_score(s->vmafx, number, i, &name, &score);

        if (ret < 0)
            return ret;
        av_log(ctx, AV_LOG_INFO, "%s%s score: %f\n", prefix, name, score);
    }
    return 0;
}

/** Pairs of all encodes, those outside of the range, too. */
static int64_t pairs_of(const VMAFXContext *s)
{
    int64_t pairs = 0;

    for (int i = 0; i < s->options.encodes; i++)
        pairs += s->encode[i].pairs.nb;
    return pairs;
}

/** Frames of all encodes that have come. */
static int64_t arrived_main(const VMAFXContext *s)
{
    int64_t arrived = 0;

    for (int i = 0; i < s->options.encodes; i++)
        arrived += s->encode[i].arrived;
    return arrived;
}

/** The error that cuts an encode short: its own input's, else the reference's. */
static int input_error_of(AVFilterContext *ctx, const VMAFXEncode *e)
{
    const VMAFXContext *s = ctx->priv;
    const int of_main = ff_vmafx_input_error(ctx, e - s->encode);

    return of_main < 0 ? of_main : ff_vmafx_input_error(ctx, ff_vmafx_reference_of(ctx));
}

/** An input that ended with an error has more frames than came: the pairs up to there are scored and reported as a
 * part. */
static void look_for_input_errors(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (unsigned i = 0; i < ctx->nb_inputs; i++) {
        const int ret = ff_vmafx_input_error(ctx, i);

        if (ret < 0)
            av_log(ctx, AV_LOG_ERROR, "The %s input ended with an error after %"PRId64" frames: %s. The scores are of "
                   "the part up to there.\n", ff_vmafx_input_name(ctx, i),
                   (int64_t)VMAFX_LINK(ctx->inputs[i])->frame_count_in, av_err2str(ret));
    }
    for (int i = 0; i < s->options.encodes; i++) {
        VMAFXEncode *e = &s->encode[i];
        const int ret = input_error_of(ctx, e);

        if (ret >= 0)
            continue;
        e->pairs.pairing.cut_short = 1;
        e->error = e->error < 0 ? e->error : ret;
    }
}

/** Tell the library how the frames of an encode were paired; it logs and reports the doubts. */
static int set_pairing(VMAFXContext *s, int number)
{
    VMAFXPairs *pairs = &s->encode[number].pairs;

    pairs->pairing.encode = number;
    return vmafx_set_pairing(s->vmafx, ff_vmafx_pairs_finish(pairs, &s->fs, s->options.sync.mode));
}

/**
 * Everything that comes after the last pair. Frames still held go out if they are wanted; if not, there may be no links
 * any more. An error of one encode is returned, and does not take the scores of the others away.
 */
static int finish(AVFilterContext *ctx, int wanted)
{
    VMAFXContext *s = ctx->priv;
    int ret, first;

    s->finished = 1;
    leave_progress_line();
    if (wanted)
        look_for_input_errors(ctx);
    if (!pairs_of(s)) {
        ff_vmafx_pairs_report_none(ctx, arrived_main(s), s->arrived_ref);
        return s->encode[0].error < 0 ? s->encode[0].error : AVERROR(EINVAL);
    }
    if ((ret = ff_vmafx_group_submit(&s->group)) < 0)
        return ret;
    for (int i = 0; i < s->options.encodes; i++)
        if ((ret = set_pairing(s, i)) < 0)
            return ret;
    first = vmafx_finish(s->vmafx);
    if (!vmafx_finished(s->vmafx))
        return first;
    ret = wanted ? drain_held(ctx) : drain_unwanted(ctx);
    first = first < 0 ? first : ret;
    for (int i = 0; i < s->options.encodes; i++) {
        VMAFXEncode *e = &s->encode[i];

        first = first < 0 ? first : e->error;
        if (!e->pairs.pairing.paired)
            continue;
        ret = print_scores(ctx, e);
        first = first < 0 ? first : ret;
    }
    return first;
}

/** The end for those who want no more, before the inputs ended: the pairs up to here are the stream. */
static int finish_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (pairs_of(s))
        av_log(ctx, AV_LOG_INFO,
               "Stopped before the end of the inputs: the scores are of the %"PRId64" pairs up to there.\n",
               pairs_of(s));
    for (int i = 0; i < s->options.encodes; i++)
        s->encode[i].pairs.pairing.cut_short = 1;
    return finish(ctx, 0);
}

static void request_frames(AVFilterContext *ctx)
{
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if (!ff_vmafx_has_ended(ctx, i))
            ff_inlink_request_frame(ctx->inputs[i]);
}

static int run_framesync(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    const int all_here = ff_vmafx_ended_inputs(ctx) == ctx->nb_inputs;
    int ret;

    if (!ff_vmafx_interrupt_may_pair(&s->interrupt, &s->graph, ctx)) {
        if (ff_vmafx_any_wanted(ctx))
            request_frames(ctx);
        return FFERROR_NOT_READY;
    }

    /* With all frames here, go to the very end at once: ffmpeg up to 6.1 makes an exit status of an error that comes
     * while it feeds the graph, and forgets one that comes while it asks for more. */
    do {
        s->held_back = 0;
        ret = s->options.encodes > 1 ? advance_encodes(ctx) : ff_framesync_activate(&s->fs);
        if (ret == FFERROR_NOT_READY && ff_vmafx_any_wanted(ctx))   /* framesync knows the first output alone */
            request_frames(ctx);
        if (ret < 0)
            return ret;
    } while (all_here && !s->fs.eof);
    return 0;
}

/** Counts the frames that have come to the inputs. An error if this graph continues an earlier one. */
static int look_at_inputs(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    for (int i = 0; i < s->options.encodes; i++)
        s->encode[i].arrived = VMAFX_LINK(ctx->inputs[i])->frame_count_in;
    s->arrived_ref = VMAFX_LINK(ctx->inputs[s->options.encodes])->frame_count_in;
    if (!ff_vmafx_graph_goes_on(&s->graph))
        return 0;
    report_change(ctx);
    return AVERROR(EINVAL);
}

static int run(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = look_at_inputs(ctx)) < 0)
        return ret;
    if (ff_vmafx_all_closed(ctx)) {
        if (!s->finished && (ret = finish_early(ctx)) < 0)
            return ret;
        FF_FILTER_FORWARD_STATUS_BACK_ALL(ctx->outputs[0], ctx);
    }

    if ((ret = run_framesync(ctx)) < 0)
        return ret;

    /* framesync has set the status of the output by now. The frames added here still come before it: a status is
     * seen only when the queue of the link is empty, and no other filter runs in between. */
    if (s->fs.eof && !s->finished) {
        ret = finish(ctx, 1);
        for (unsigned i = s->options.encodes > 1 ? 0 : 1; i < ctx->nb_outputs; i++)
            ff_outlink_set_status(ctx->outputs[i], AVERROR_EOF, AV_NOPTS_VALUE);
        for (unsigned i = 0; i < ctx->nb_inputs && vmafx_range_done(s->vmafx); i++)
            if (!ff_vmafx_has_ended(ctx, i))
                ff_inlink_set_status(ctx->inputs[i], AVERROR_EOF);
        return ret;
    }

    /* An event without output: framesync waits to be asked again, and nobody downstream was told to. */
    if (s->held_back)
        ff_filter_set_ready(ctx, 100);
    return 0;
}

/** An error as ffmpeg understands it: AVERROR(EAGAIN) of a filter means "not now" to it, and it would ask for ever. */
static int definite_error(int ret)
{
    return ret == AVERROR(EAGAIN) ? AVERROR_EXTERNAL : ret;
}

static int activate(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if (s->error)
        return s->error;
    ret = definite_error(run(ctx));
    s->wanted = ff_vmafx_any_wanted(ctx);
    if (ret < 0 && ret != FFERROR_NOT_READY)
        s->error = ret;
    return ret;
}

/* -- Set-up -------------------------------------------------------------------------------------------------------- */

static int config_output(AVFilterLink *outlink);
static int config_map(AVFilterLink *outlink);

/** A main input and its output; `number`: of several. */
static int append_main(AVFilterContext *ctx, int number)
{
    const VMAFXContext *s = ctx->priv;
    AVFilterPad in  = { .type = AVMEDIA_TYPE_VIDEO };
    AVFilterPad out = { .type = AVMEDIA_TYPE_VIDEO, .config_props = config_output };
    int ret;

    in.name  = s->options.encodes > 1 ? av_asprintf("main%d", number) : av_strdup("main");
    out.name = s->options.encodes > 1 ? av_asprintf("out%d", number)  : av_strdup("default");
    if (!in.name || !out.name) {
        av_free((void *)in.name);
        av_free((void *)out.name);
        return AVERROR(ENOMEM);
    }
    if ((ret = ff_append_inpad_free_name(ctx, &in)) < 0) {
        av_free((void *)out.name);
        return ret;
    }
    return ff_append_outpad_free_name(ctx, &out);
}

/** The output for the maps of a main input. */
static int append_map(AVFilterContext *ctx, int number)
{
    const VMAFXContext *s = ctx->priv;
    AVFilterPad out = { .type = AVMEDIA_TYPE_VIDEO, .config_props = config_map };

    out.name = s->options.encodes > 1 ? av_asprintf("map%d", number) : av_strdup("map");
    return out.name ? ff_append_outpad_free_name(ctx, &out) : AVERROR(ENOMEM);
}

static av_cold int init(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    AVFilterPad reference = { .name = "reference", .type = AVMEDIA_TYPE_VIDEO };
    int ret;

    s->fs.on_event = process_event;
    ff_vmafx_interrupt_begin(&s->interrupt);
    if (!(s->encode = av_calloc(s->options.encodes, sizeof(*s->encode))))
        return AVERROR(ENOMEM);
    for (int i = 0; i < s->options.encodes; i++) {
        if (s->options.metadata && !(s->encode[i].held = ff_vmafx_held_alloc()))
            return AVERROR(ENOMEM);
        if ((ret = append_main(ctx, i)) < 0)
            return ret;
    }
    for (int i = 0; ff_vmafx_options_has_map(&s->options) && i < s->options.encodes; i++)
        if ((ret = ff_vmafx_map_alloc(&s->encode[i].map)) < 0 || (ret = append_map(ctx, i)) < 0)
            return ret;
    return ff_append_inpad(ctx, &reference);
}

#if VMAFX_XPSNR
/** With what the name has no options for. */
static av_cold int init_xpsnr(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    s->options.encodes = s->options.metadata = 1;
    return init(ctx);
}
#endif

/** Prepares the filter, before the first output is configured. */
static int begin(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;
    int ret;

    if ((ret = ff_vmafx_graph_begin(&s->graph, ctx)) < 0)
        return ret;
    if ((ret = check_inputs(ctx)) < 0) {
        if (ff_vmafx_graph_follows(&s->graph))
            report_change(ctx);
        return ret;
    }
    ff_vmafx_formats_report_conversions(ctx, s->natural);
    if (VMAFX_IS_XPSNR(ctx) && (ret = ff_vmafx_xpsnr_check_file(ctx, s->options.stats_path, s->options.overwrite)) < 0)
        return ret;
    if ((ret = ff_vmafx_options_check_log_path(ctx, &s->options)) < 0 ||
        (ret = definite_error(ff_vmafx_options_open(&s->vmafx, ctx, &s->options, s->hw_device))) < 0)
        return ret;
    for (unsigned i = 0; i < ctx->nb_inputs; i++)
        if ((ret = ff_vmafx_vulkan_alloc(&s->vulkan[i], ctx, ctx->inputs[i])) < 0)
            return ret;
    s->group.vmafx            = s->vmafx;
    s->group.vulkan           = s->vulkan;
    s->group.encodes          = s->options.encodes;
    s->group.main_is_original = VMAFX_IS_XPSNR(ctx);
    if (VMAFX_IS_XPSNR(ctx) &&
        (ret = ff_vmafx_xpsnr_open(&s->xpsnr, ctx, s->options.stats_path, ff_vmafx_sample_format(ctx->inputs[0]))) < 0)
        return ret;

    if ((ret = ff_vmafx_sync_init(&s->fs, ctx)) < 0 || (ret = ff_vmafx_sync_configure(&s->options.sync, &s->fs)) < 0)
        return ret;
    for (int i = 0; i < s->options.encodes; i++)
        s->encode[i].sync = ff_vmafx_sync_of_main(&s->options.sync, &s->fs, i);
    return 0;
}

/* The library is opened here and not in init(): ffmpeg makes each filter once more, only to count its pads. */
static int config_like(AVFilterLink *outlink, AVFilterLink *mainlink)
{
    AVFilterContext *ctx = outlink->src;
    const VMAFXContext *s = ctx->priv;
    int ret;

    if (!s->vmafx && (ret = begin(ctx)) < 0)
        return ret;
    outlink->w = mainlink->w;
    outlink->h = mainlink->h;
    outlink->time_base = mainlink->time_base;
    outlink->sample_aspect_ratio = mainlink->sample_aspect_ratio;
    VMAFX_LINK(outlink)->frame_rate = VMAFX_LINK(mainlink)->frame_rate;
    return 0;
}

static int config_map(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;

    return config_like(outlink, ctx->inputs[FF_OUTLINK_IDX(outlink) - ff_vmafx_mains_of(ctx)]);
}

static int config_output(AVFilterLink *outlink)
{
    AVFilterLink *mainlink = outlink->src->inputs[FF_OUTLINK_IDX(outlink)];
    const int ret = config_like(outlink, mainlink);

    if (ret < 0)
        return ret;
    vmafx_copy_colors(outlink, mainlink);
    if (VMAFX_LINK(mainlink)->hw_frames_ctx &&
        !(VMAFX_LINK(outlink)->hw_frames_ctx = av_buffer_ref(VMAFX_LINK(mainlink)->hw_frames_ctx)))
        return AVERROR(ENOMEM);
    return 0;
}

/**
 * Freed before the end of the stream and without an error of our own. Whoever got all frames that were
 * asked for had enough (-frames:v); a frame that is still wanted means that something broke off, or a new graph.
 */
static av_cold void close_early(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (!pairs_of(s) || !s->wanted || VMAFX_ASKS_AHEAD || s->options.encodes > 1) {
        finish_early(ctx);
        return;
    }
    av_log(ctx, AV_LOG_WARNING,
           "Broken off before the end of the inputs, after %"PRId64" pairs: there is no score, and the report, if any, "
           "is partial.\n", pairs_of(s));
    s->encode[0].pairs.pairing.cut_short = 1;
    set_pairing(s, 0);
}

static av_cold int has_begun(const VMAFXContext *s)
{
    for (int i = 0; i < s->options.encodes; i++)
        if (s->encode[i].pairs.nb_main)
            return 1;
    return 0;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    if (s->vmafx && has_begun(s) && !s->finished && !s->error)
        close_early(ctx);
    ff_vmafx_group_free(&s->group);
    vmafx_close(&s->vmafx);
    if (VMAFX_IS_XPSNR(ctx))
        ff_vmafx_xpsnr_close(&s->xpsnr);
    ff_vmafx_graph_end(&s->graph);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->hw_device); i++)
        av_buffer_unref(&s->hw_device[i]);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->vulkan); i++)
        ff_vmafx_vulkan_free(&s->vulkan[i]);
    for (int i = 0; s->encode && i < s->options.encodes; i++) {
        ff_vmafx_held_free(&s->encode[i].held);
        ff_vmafx_map_free(&s->encode[i].map);
    }
    av_freep(&s->encode);
    ff_framesync_uninit(&s->fs);
}

#if CONFIG_VMAFX_FILTER
static int query_formats(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    return ff_vmafx_formats_query(ctx, s->natural, ff_vmafx_map_pix_fmt(&s->options));
}
#endif

#if (CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF) || VMAFX_XPSNR
static int query_formats_dropin(AVFilterContext *ctx)
{
    VMAFXContext *s = ctx->priv;

    return ff_vmafx_formats_query_dropin(ctx, s->natural);
}
#endif

/* The filter `id`, with a class and options of its own. */
#define DEFINE_FILTER(id, option_list, init_function, formats_function, description_text)                    \
AVFILTER_DEFINE_CLASS_EXT(id, #id, option_list);                                                              \
                                                                                                              \
const VMAFX_FILTER ff_vf_##id = {                                                                             \
    VMAFX_PUBLIC(name)        = #id,                                                                          \
    VMAFX_PUBLIC(description) = NULL_IF_CONFIG_SMALL(description_text),                                       \
    VMAFX_PUBLIC(priv_class)  = &id##_class,                                                                  \
    .init          = init_function,                                                                           \
    .uninit        = uninit,                                                                                  \
    .activate      = activate,                                                                                \
    .priv_size     = sizeof(VMAFXContext),                                                                    \
    VMAFX_PUBLIC(flags) = AVFILTER_FLAG_DYNAMIC_INPUTS | AVFILTER_FLAG_DYNAMIC_OUTPUTS,                       \
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,                                                           \
    FILTER_QUERY_FUNC(formats_function),                                                                      \
}

#if CONFIG_VMAFX_FILTER
DEFINE_FILTER(vmafx, ff_vmafx_options, init, query_formats,
              "Score a video against its reference (VMAF), on CPU or GPU.");
#endif

#if CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF
DEFINE_FILTER(libvmaf, ff_vmafx_libvmaf_options, init, query_formats_dropin,
              "Calculate the VMAF between two video streams (by vmafx).");
#endif

#if VMAFX_XPSNR
DEFINE_FILTER(xpsnr, ff_vmafx_xpsnr_options, init_xpsnr, query_formats_dropin,
              "Calculate the XPSNR between two video streams (by vmafx).");
#endif
