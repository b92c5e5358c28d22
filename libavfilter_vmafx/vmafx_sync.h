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
 * Which frame of the reference belongs to a frame of main.
 *
 * framesync brings the frames of both inputs in the order of their times; it always runs in its default mode, the same in
 * all versions of FFmpeg. The choice among the reference frames around an event, and what happens at the end of the
 * reference, is made here, because framesync is exact to a tick: a frame whose time a container rounded up counts as later
 * there, and one pair in three is then made with the frame before.
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

/** What there is for a frame of main. */
enum VMAFXMatch {
    VMAFX_MATCHED,              ///< a frame of the reference
    VMAFX_UNMATCHED,            ///< none: main goes on without
    VMAFX_ALL_ENDED,            ///< none, and the filter ends here
};

/** In place of ff_framesync_configure() for a dual-input framesync, whose own options are left as they are by default. */
int ff_vmafx_sync_configure(VMAFXSync *sync, FFFrameSync *fs);

/** Whether the reference has no more frames but the current one. */
int ff_vmafx_sync_reference_ended(const FFFrameSync *fs);

/**
 * To be called from on_event.
 *
 * @param main       the current main frame, owned by framesync
 * @param reference  the frame of the reference, owned by framesync, or NULL
 */
enum VMAFXMatch ff_vmafx_sync_match(const VMAFXSync *sync, const FFFrameSync *fs, const AVFrame *main, AVFrame **reference);

#endif /* AVFILTER_VMAFX_SYNC_H */
