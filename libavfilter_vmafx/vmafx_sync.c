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

#include "vmafx_compat.h"
#include "vmafx_sync.h"

#if VMAFX_OWN_TS_SYNC

/*
 * In its default mode framesync holds, at an event, the last reference frame not later than the main frame and the one
 * after that: an event is ready only when each input has shown its next frame or its end. So both candidates are here,
 * and picking one needs no state. A frame picked early becomes framesync's current frame when its own time comes.
 */
AVFrame *ff_vmafx_nearest_reference(const FFFrameSync *fs, const AVFrame *main)
{
    const FFFrameSyncIn *ref = &fs->in[1];

    /* Before its first frame the reference has no match, however near that frame is; and at its end no next one. */
    if (!ref->frame || !ref->have_next || !ref->frame_next)
        return ref->frame;
    return ref->pts_next - main->pts < main->pts - ref->pts ? ref->frame_next : ref->frame;
}

#endif
