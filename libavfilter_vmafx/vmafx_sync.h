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
 * The choice of the reference frame that belongs to a frame of main.
 *
 * framesync brings the frames of both inputs in the order of their times; it always runs in its default mode, the same
 * in all versions of FFmpeg. framesync serves filters with one output only: with several main inputs, each with an
 * output, the frames are brought in order here, and each main input meets the reference as if there were no other. The
 * choice among the reference frames around an event, and what happens at the end of the reference, is made here,
 * because framesync is exact to a tick: a frame whose time a container rounded up counts as later there, and one pair
 * in three is then made with the frame before.
 */

#ifndef AVFILTER_VMAFX_SYNC_H
#define AVFILTER_VMAFX_SYNC_H

#include "avfilter.h"
#include "framesync.h"

enum VMAFXSyncMode {
    VMAFX_SYNC_DEFAULT,         ///< the last frame that is not later, but for rounding
    VMAFX_SYNC_NEAREST,         ///< the nearest in time
};

typedef struct VMAFXSync {
    /* Options. The last three are those of framesync. */
    int mode;                   ///< enum VMAFXSyncMode
    int eof_action;             ///< enum EOFAction
    int shortest;
    int repeatlast;

    int64_t rounding;           ///< how far apart equal times may lie, in the time base of framesync
    int64_t frame;              ///< how long a frame lasts, in the same, 0: not known
} VMAFXSync;

/** The match of a frame of main. */
enum VMAFXMatch {
    VMAFX_MATCHED,              ///< a frame of the reference
    VMAFX_UNMATCHED,            ///< none: main goes on without
    VMAFX_ALL_ENDED,            ///< none, and the filter ends here
};

/**
 * In place of ff_framesync_init(): the inputs are main ones, then the reference.
 */
int ff_vmafx_sync_init(FFFrameSync *fs, AVFilterContext *ctx);

/**
 * In place of ff_framesync_configure(), whose own options are left as they are by default. To be called once, with the
 * options.
 */
int ff_vmafx_sync_configure(VMAFXSync *sync, FFFrameSync *fs);

/** The options for one main input, with its rounding and frame duration and the reference's. To be called after
 * configuring. */
VMAFXSync ff_vmafx_sync_of_main(const VMAFXSync *options, const FFFrameSync *fs, int main);

/**
 * In place of ff_framesync_activate() if there are several main inputs: go on to the next time at which an input has a
 * frame.
 *
 * @param wanted  whether some output wants a frame
 * @return  1: fs->pts is that time, and the frames of the inputs are those that are current then; 0: frames were asked
 *          for; FFERROR_NOT_READY; or an error. At the end 0, and fs->eof is set.
 */
int ff_vmafx_sync_advance(FFFrameSync *fs, int wanted);

/**
 * After ff_vmafx_sync_advance(), whether a main input meets the reference now, as it would if there were no other: it
 * has a new frame, or it has ended and the reference has one.
 */
int ff_vmafx_sync_meets(const VMAFXSync *sync, const FFFrameSync *fs, int main);

/** Whether a main input has ended and meets no frame of the reference any more. */
int ff_vmafx_sync_main_done(const VMAFXSync *sync, const FFFrameSync *fs, int main);

/** Take no more frames of an input. */
void ff_vmafx_sync_close(FFFrameSync *fs, int input);

/** Whether an input has no more frames but the current one. */
int ff_vmafx_sync_ended(const FFFrameSync *fs, int input);

/** The number of the reference's input: the last one. */
static inline int ff_vmafx_sync_reference(const FFFrameSync *fs)
{
    return fs->nb_in - 1;
}

/**
 * To be called for a main input that meets the reference: with one main input from on_event.
 *
 * @param main       the current frame of the main input, owned by framesync
 * @param reference  the frame of the reference, owned by framesync, or NULL
 */
enum VMAFXMatch ff_vmafx_sync_match(const VMAFXSync *sync, const FFFrameSync *fs, const AVFrame *main,
                                   AVFrame **reference);

#endif /* AVFILTER_VMAFX_SYNC_H */
