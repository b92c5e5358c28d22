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

#include <inttypes.h>
#include <math.h>

#include "vmafx_compat.h"
#include "vmafx_pads.h"
#include "vmafx_pairs.h"
#include "vmafx_sync.h"

#include "libavutil/dict.h"
#include "libavutil/macros.h"
#include "libavutil/rational.h"

/* -- Counting ------------------------------------------------------------------------------------------------------ */

int ff_vmafx_pairs_repeats_main(const VMAFXPairs *p, const AVFrame *main)
{
    return p->nb_main && main == p->last[0] && main->pts == p->last_pts[0];
}

int ff_vmafx_pairs_repeats_ref(const VMAFXPairs *p, const AVFrame *ref)
{
    return ref && ref == p->last[1] && ref->pts == p->last_pts[1];
}

int ff_vmafx_pairs_repeats(const VMAFXPairs *p, const AVFrame *main, const AVFrame *ref)
{
    return ff_vmafx_pairs_repeats_main(p, main) && ff_vmafx_pairs_repeats_ref(p, ref);
}

void ff_vmafx_pairs_main(VMAFXPairs *p, const AVFrame *main)
{
    if (!p->nb_main)
        p->first_main_pts = main->pts;
    p->nb_main += !ff_vmafx_pairs_repeats_main(p, main);
}

/** Reference frames between the last pair and this one. */
static int64_t count_skipped(VMAFXPairs *p, const FFFrameSync *fs, const AVFrame *ref)
{
    const int reference = ff_vmafx_sync_reference(fs);
    const FFFrameSyncIn *in = &fs->in[reference];
    const int64_t arrived = VMAFX_LINK(fs->parent->inputs[reference])->frame_count_out;
    const int64_t waiting = in->have_next && in->frame_next && in->frame_next != ref;
    const int64_t before  = p->ref_skipped;

    p->nb_ref_used += !ff_vmafx_pairs_repeats_ref(p, ref);
    p->ref_skipped  = arrived - waiting - p->nb_ref_used;
    return p->ref_skipped - before;
}

/** Take down that so many frames are doubtful at a pair, or, if they have none, before it. */
static void doubt(VMAFXPairs *p, enum VmafxDoubtKind kind, int64_t nb_frames)
{
    VMAFXPairSpan *span = &p->doubtful[kind];

    if (!nb_frames)
        return;
    if (!span->end)
        span->from = p->nb;
    span->end = p->nb + 1;
}

/** A pair of the range. */
static void count_pair(VMAFXPairs *p, const FFFrameSync *fs, const AVFrame *main, const AVFrame *ref, int64_t skipped)
{
    const double difference = fabs((double)main->pts - ref->pts) * av_q2d(fs->time_base);
    const int repeats_main = ff_vmafx_pairs_repeats_main(p, main), repeats_ref = ff_vmafx_pairs_repeats_ref(p, ref);

    p->pairing.paired++;
    p->pairing.repeated_distorted  += repeats_main;
    p->pairing.repeated_reference  += repeats_ref;
    p->pairing.unmatched_reference += skipped;
    p->pairing.corrupt_distorted   += VMAFX_IS_CORRUPT(main);
    p->pairing.corrupt_reference   += VMAFX_IS_CORRUPT(ref);
    doubt(p, VMAFX_DOUBT_REPEATED_DISTORTED,  repeats_main);
    doubt(p, VMAFX_DOUBT_REPEATED_REFERENCE,  repeats_ref);
    doubt(p, VMAFX_DOUBT_UNMATCHED_REFERENCE, skipped);
    doubt(p, VMAFX_DOUBT_CORRUPT_DISTORTED,   VMAFX_IS_CORRUPT(main));
    doubt(p, VMAFX_DOUBT_CORRUPT_REFERENCE,   VMAFX_IS_CORRUPT(ref));
    if (p->pairing.paired == 1) {
        p->before_first     = p->pairing.unmatched_distorted + p->pairing.unmatched_reference;
        p->first_difference = difference;
    }
    p->after_end += repeats_main || (repeats_ref && ff_vmafx_sync_ended(fs, ff_vmafx_sync_reference(fs)));
    if (difference > p->pairing.max_time_difference) {
        p->pairing.max_time_difference = difference;
        p->doubtful[VMAFX_DOUBT_TIME_DIFFERENCE] = (VMAFXPairSpan) { p->nb, p->nb + 1 };
    }
}

int64_t ff_vmafx_pairs_count(VMAFXPairs *p, const FFFrameSync *fs, const AVFrame *main, const AVFrame *ref,
                             int of_range)
{
    int64_t pair = -1;

    if (ref) {
        const int64_t skipped = count_skipped(p, fs, ref);

        if (of_range) {
            pair = p->nb;
            count_pair(p, fs, main, ref, skipped);
        }
        p->nb++;
    } else if (of_range) {
        p->pairing.unmatched_distorted++;
        doubt(p, VMAFX_DOUBT_UNMATCHED_DISTORTED, 1);
        p->after_end += p->pairing.paired > 0;
    }
    p->last[0]     = main;
    p->last_pts[0] = main->pts;
    p->last[1]     = ref;
    p->last_pts[1] = ref ? ref->pts : AV_NOPTS_VALUE;
    return pair;
}

/* -- Doubts -------------------------------------------------------------------------------------------------------- */

/** How long a frame of main lasts on average, in seconds. */
static double mean_duration(const VMAFXPairs *p, const FFFrameSync *fs)
{
    if (p->nb_main < 2)
        return 0;
    return (p->last_pts[0] - p->first_main_pts) * av_q2d(fs->time_base) / (p->nb_main - 1);
}

/** Whether two times, in seconds, are too far apart for frames of one time. */
static int is_far(const VMAFXPairs *p, const FFFrameSync *fs, double difference)
{
    const double duration = mean_duration(p, fs);

    return duration > 0 && difference > duration / 2;
}

#define START_REMEDY "settb=AVTB,setpts=PTS-STARTPTS before each input lets both start at zero"

static const char *const damage_remedies[] = { "whole files", "-xerror makes it an error" };

/**
 * Find remedies for doubtful pairs, by where they occurred: at the beginning, at the end, in between.
 *
 * @return  number of remedies
 */
static int find_remedies(VMAFXPairs *p, const FFFrameSync *fs, int mode)
{
    const int64_t frames  = p->pairing.unmatched_distorted + p->pairing.unmatched_reference +
                            p->pairing.repeated_reference + p->pairing.repeated_distorted;
    const int in_between  = frames > p->before_first + p->after_end;
    const int apart       = is_far(p, fs, p->pairing.max_time_difference) && !p->after_end;
    int nb = 0;

    if (mode != VMAFX_SYNC_NEAREST && (in_between || apart))
        p->remedies[nb++] = "ts_sync_mode=nearest pairs by the nearest time";
    if (p->before_first || is_far(p, fs, p->first_difference) || (apart && !in_between))
        p->remedies[nb++] = START_REMEDY;
    if (in_between)
        p->remedies[nb++] = "the fps filter before an input gives both one frame rate";
    if (p->after_end)
        p->remedies[nb++] = "shortest=1 ends with the shorter input";
    return nb;
}

const VmafxPairing *ff_vmafx_pairs_finish(VMAFXPairs *p, const FFFrameSync *fs, int mode)
{
    const int nb_remedies = find_remedies(p, fs, mode);
    int nb = 0;

    for (int kind = 0; kind < VMAFX_DOUBT_KINDS; kind++) {
        const int of_damage = kind == VMAFX_DOUBT_CORRUPT_DISTORTED || kind == VMAFX_DOUBT_CORRUPT_REFERENCE;

        if (!p->doubtful[kind].end ||
            (kind == VMAFX_DOUBT_TIME_DIFFERENCE && !is_far(p, fs, p->pairing.max_time_difference)))
            continue;
        p->doubts[nb++] = (VmafxDoubt) {
            .kind           = kind,
            .from           = p->doubtful[kind].from,
            .end            = p->doubtful[kind].end,
            .frame_duration = mean_duration(p, fs),
            .remedies       = of_damage ? damage_remedies : p->remedies,
            .n_remedies     = of_damage ? FF_ARRAY_ELEMS(damage_remedies) : nb_remedies,
        };
    }
    p->pairing.doubts   = p->doubts;
    p->pairing.n_doubts = nb;
    return &p->pairing;
}

void ff_vmafx_pairs_report_none(AVFilterContext *ctx, int64_t arrived_main, int64_t arrived_ref)
{
    av_log(ctx, AV_LOG_ERROR, "No frames were scored: %"PRId64" frames of main and %"PRId64" of the reference "
           "arrived, none of them made a pair. (%s)\n", arrived_main, arrived_ref,
           arrived_main && arrived_ref ? START_REMEDY : "one of the inputs has no frames");
}

int ff_vmafx_pairs_mark_corrupt(AVFrame *out, const AVFrame *main, const AVFrame *ref)
{
    const int of_main = VMAFX_IS_CORRUPT(main), of_ref = ref && VMAFX_IS_CORRUPT(ref);

    if (!of_main && !of_ref)
        return 0;
    return av_dict_set(&out->metadata, "lavfi.vmafx.corrupt",
                       of_main && of_ref ? "both" : of_main ? "main" : "reference", 0);
}

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

/** The scale filter rounds (854x480 to 1920x1080 gives 1281:1280), and standards differ by up to 2.4 % (12:11,
 * 16:15). */
void ff_vmafx_pairs_report_shapes(AVFilterContext *ctx, int input, const AVFrame *main, const AVFrame *ref)
{
    const AVRational a = main->sample_aspect_ratio, b = ref->sample_aspect_ratio;
    const char *name = ff_vmafx_input_name(ctx, input);

    if (a.num > 0 && a.den > 0 && b.num > 0 && b.den > 0 && fabs(av_q2d(a) / av_q2d(b) - 1) > 0.03)
        av_log(ctx, AV_LOG_WARNING,
               "The inputs differ in sample aspect ratio (%s %d:%d, reference %d:%d), so their pictures "
               "are not of one shape. scale=W:H,setsar=1 before each brings them to one; setsar=%d/%d "
               "before %s, if only its tag is wrong.\n", name, a.num, a.den, b.num, b.den, b.num, b.den, name);
}

void ff_vmafx_pairs_report_interlacing(VMAFXPairs *p, AVFilterContext *ctx, int input, const AVFrame *main,
                                       const AVFrame *ref)
{
    const char *names[] = { ff_vmafx_input_name(ctx, input), ff_vmafx_input_name(ctx, ff_vmafx_reference_of(ctx)) };
    const int interlaced = !VMAFX_IS_INTERLACED(main);

    if (p->told_interlaced || VMAFX_IS_INTERLACED(main) == VMAFX_IS_INTERLACED(ref))
        return;
    p->told_interlaced = 1;
    av_log(ctx, AV_LOG_WARNING,
           "The %s input is interlaced and the %s input is not, as their tags say. If its pictures alone are combed, "
           "bwdif=send_frame before it deinterlaces them; if those of both are, or none, only a tag is wrong: "
           "setfield=prog before it.\n", names[interlaced], names[!interlaced]);
}
