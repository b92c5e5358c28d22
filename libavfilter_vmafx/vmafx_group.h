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
 * Frame pairs, as pictures for libvmafx: those with one frame of the reference go to it together.
 */

#ifndef AVFILTER_VMAFX_GROUP_H
#define AVFILTER_VMAFX_GROUP_H

#include <vmafx/vmafx.h>

#include "libavutil/frame.h"
#include "vmafx_vulkan.h"

/** Pairs that share a frame of the reference and wait to be submitted together. */
typedef struct VMAFXGroup {
    VmafxContext *vmafx;
    int encodes;                ///< number of main inputs
    VMAFXVulkan *const *vulkan; ///< by input: what copies its frames, or NULL
    int main_is_original;       ///< the library is given main as the reference, and the reference as what it scores
    AVFrame *ref;               ///< NULL: there are none
    VmafxPicture main[VMAFX_MOST_ENCODES];
    int has[VMAFX_MOST_ENCODES];                ///< whether `main` has a picture of this encode
} VMAFXGroup;

/**
 * Add a pair. Encodes whose times a container rounded meet the same frame of the reference one after the other; when
 * another frame of it comes, the pairs before are sent. That of the only encode is sent at once.
 *
 * @param encode  number of the main input
 * @param time    of the pair, in seconds
 */
int ff_vmafx_group_add(VMAFXGroup *group, int encode, const AVFrame *main, const AVFrame *ref, double time);

/** Send the pairs that wait. */
int ff_vmafx_group_submit(VMAFXGroup *group);

/** Release the pairs that wait, unsent. */
void ff_vmafx_group_free(VMAFXGroup *group);

#endif /* AVFILTER_VMAFX_GROUP_H */
