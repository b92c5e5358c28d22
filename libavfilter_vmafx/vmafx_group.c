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
#include "vmafx_group.h"
#include "vmafx_hw.h"

#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

static void release_frame(void *opaque)
{
    AVFrame *frame = opaque;

    av_frame_free(&frame);
}

/**
 * @param input  number of the input that the frame is of
 * @param role   what the frame is to the library: its bit in vmafx_imports()
 */
static int make_picture(const VMAFXGroup *group, VmafxPicture *pic, int input, unsigned role, const AVFrame *frame)
{
    AVFrame *clone;

    if (ff_vmafx_is_hw(frame->format))
        return ff_vmafx_hw_picture(pic, frame, !!(vmafx_imports(group->vmafx) & role), group->vulkan[input],
                                   vmafx_planes_read(group->vmafx));
    if (!(clone = av_frame_clone(frame)))
        return AVERROR(ENOMEM);
    *pic = (VmafxPicture) { .release = release_frame, .opaque = clone };
    for (int i = 0; i < av_pix_fmt_count_planes(clone->format); i++) {
        pic->data[i]   = clone->data[i];
        pic->stride[i] = clone->linesize[i];
    }
    return 0;
}

static unsigned role_of_main(const VMAFXGroup *group, int encode)
{
    return group->main_is_original ? 1 : 2u << encode;
}

static unsigned role_of_reference(const VMAFXGroup *group)
{
    return group->main_is_original ? 2 : 1;
}

/* -- Pairs --------------------------------------------------------------------------------------------------------- */

int ff_vmafx_group_submit(VMAFXGroup *group)
{
    const VmafxPicture *main[VMAFX_MOST_ENCODES] = { NULL }, *original;
    VmafxPicture ref;
    int ret;

    if (!group->ref)
        return 0;
    if ((ret = make_picture(group, &ref, group->encodes, role_of_reference(group), group->ref)) < 0)
        return ret;
    for (int i = 0; i < group->encodes; i++) {
        if (group->has[i])
            main[i] = &group->main[i];
        group->has[i] = 0;
    }
    av_frame_free(&group->ref);
    original = &ref;
    if (group->main_is_original)
        FFSWAP(const VmafxPicture *, original, main[0]);
    return vmafx_submit_encodes(group->vmafx, original, main, group->encodes);
}

/** Whether a frame of the reference is the one that the group waits with. The group holds it, so its memory is no
 * other's. */
static int is_of_group(const VMAFXGroup *group, const AVFrame *ref)
{
    return group->ref && group->ref->pts == ref->pts && group->ref->data[0] == ref->data[0] &&
           group->ref->data[3] == ref->data[3];
}

int ff_vmafx_group_add(VMAFXGroup *group, int encode, const AVFrame *main, const AVFrame *ref, double time)
{
    VmafxPicture *pic = &group->main[encode];
    int ret;

    if ((group->has[encode] || !is_of_group(group, ref)) && (ret = ff_vmafx_group_submit(group)) < 0)
        return ret;
    if (!group->ref && !(group->ref = av_frame_clone(ref)))
        return AVERROR(ENOMEM);
    if ((ret = make_picture(group, pic, encode, role_of_main(group, encode), main)) < 0)
        return ret;
    group->has[encode] = 1;
    pic->has_time = 1;
    pic->time     = time;
    pic->keyframe = VMAFX_IS_KEYFRAME(main);
    return group->encodes == 1 ? ff_vmafx_group_submit(group) : 0;
}

void ff_vmafx_group_free(VMAFXGroup *group)
{
    for (int i = 0; i < group->encodes; i++)
        if (group->has[i])
            group->main[i].release(group->main[i].opaque);
    av_frame_free(&group->ref);
}
