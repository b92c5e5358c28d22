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
 * ts_sync_mode=nearest on top of a framesync that does not know it.
 */

#ifndef AVFILTER_VMAFX_SYNC_H
#define AVFILTER_VMAFX_SYNC_H

#include "framesync.h"

/**
 * Of the two reference frames around the current event, the one nearest in time; the earlier one if both are as near,
 * as the framesync of FFmpeg 6.1 and later decides it.
 *
 * To be called from on_event of a dual-input framesync that runs in its default mode.
 *
 * @param main  the current main frame, owned by framesync
 * @return  the reference frame, owned by framesync, or NULL if there is none yet or any more
 */
AVFrame *ff_vmafx_nearest_reference(const FFFrameSync *fs, const AVFrame *main);

#endif /* AVFILTER_VMAFX_SYNC_H */
