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
 * How the frames of a main input and of the reference were paired, and what makes the pairs, and so the score,
 * doubtful. The library puts it into words.
 */

#ifndef AVFILTER_VMAFX_PAIRS_H
#define AVFILTER_VMAFX_PAIRS_H

#include <stdint.h>

#include <vmafx/vmafx.h>

#include "libavutil/frame.h"
#include "avfilter.h"
#include "framesync.h"

#define VMAFX_DOUBT_KINDS (VMAFX_DOUBT_CORRUPT_REFERENCE + 1)
#define VMAFX_MOST_REMEDIES 4

/** Numbers of pairs, from the first to the one before `end`. All zero: none. */
typedef struct VMAFXPairSpan {
    int64_t from, end;
} VMAFXPairSpan;

/** The pairs of a main input. All zero before the first one. */
typedef struct VMAFXPairs {
    VmafxPairing pairing;       ///< pairs of the range, as the library is told
    int64_t nb;                 ///< pairs of the range, and others
    const AVFrame *last[2];     ///< frames of main and of the reference at the last event, for comparison only
    int64_t last_pts[2];
    int64_t first_main_pts;
    int64_t nb_main;            ///< distinct main frames
    int64_t nb_ref_used;        ///< distinct reference frames that were paired
    int64_t ref_skipped;        ///< reference frames before the last pair that were not
    int64_t before_first;       ///< frames of either input before the first pair
    double first_difference;    ///< between the times of the first pair, in seconds
    int64_t after_end;          ///< frames of main that met the end of the reference, or the other way around
    VMAFXPairSpan doubtful[VMAFX_DOUBT_KINDS];  ///< places of doubtful pairs; of the largest difference of times always
    VmafxDoubt doubts[VMAFX_DOUBT_KINDS];       ///< `pairing` points to them at the end
    const char *remedies[VMAFX_MOST_REMEDIES];
    int told_interlaced;        ///< the user knows that only one input is interlaced
} VMAFXPairs;

/** Whether a frame of main is that of the last event. */
int ff_vmafx_pairs_repeats_main(const VMAFXPairs *pairs, const AVFrame *main);

/** Whether a frame of the reference is that of the last event; NULL: there is none. */
int ff_vmafx_pairs_repeats_ref(const VMAFXPairs *pairs, const AVFrame *ref);

/**
 * Whether both frames are those of the last event.
 *
 * @param ref  NULL: there is none
 */
int ff_vmafx_pairs_repeats(const VMAFXPairs *pairs, const AVFrame *main, const AVFrame *ref);

/** Count a frame of main. To be called at each event that counts, before there may be a pair. */
void ff_vmafx_pairs_main(VMAFXPairs *pairs, const AVFrame *main);

/**
 * Count what main has met, once its pair is scored. To be called after ff_vmafx_pairs_main().
 *
 * @param ref       NULL: main goes on without
 * @param of_range  whether the pair is to be scored, not only read
 * @return          number of the pair, -1: there is none in the range
 */
int64_t ff_vmafx_pairs_count(VMAFXPairs *pairs, const FFFrameSync *fs, const AVFrame *main, const AVFrame *ref,
                             int of_range);

/**
 * Find out whether the pairs are doubtful, and what helps.
 *
 * @param mode  enum VMAFXSyncMode, by which they were made
 * @return      what the library is told of them, valid as long as `pairs`
 */
const VmafxPairing *ff_vmafx_pairs_finish(VMAFXPairs *pairs, const FFFrameSync *fs, int mode);

/**
 * Tell in the metadata of an output frame which frames of its pair are damaged, as their decoders say.
 *
 * @param ref  NULL: there is none
 */
int ff_vmafx_pairs_mark_corrupt(AVFrame *out, const AVFrame *main, const AVFrame *ref);

/**
 * Say that there were none at all.
 *
 * @param arrived_main  frames that came to all main inputs
 * @param arrived_ref   frames that came to the reference's input
 */
void ff_vmafx_pairs_report_none(AVFilterContext *ctx, int64_t arrived_main, int64_t arrived_ref);

/** Say so if the pictures of a main input and of the reference are not of one shape. */
void ff_vmafx_pairs_report_shapes(AVFilterContext *ctx, int input, const AVFrame *main, const AVFrame *ref);

/** Say so if one frame of a pair is interlaced and the other is not. Once, at the first pair that shows it: streams may
 *  begin with progressive frames. */
void ff_vmafx_pairs_report_interlacing(VMAFXPairs *pairs, AVFilterContext *ctx, int input, const AVFrame *main,
                                       const AVFrame *ref);

#endif /* AVFILTER_VMAFX_PAIRS_H */
