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
#include "vmafx_held.h"

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"

/** An output frame that waits for its scores. */
typedef struct HeldFrame {
    AVFrame *frame;
    int64_t pair;               ///< number of its frame pair, -1: has none
} HeldFrame;

AVFifo *ff_vmafx_held_alloc(void)
{
    return av_fifo_alloc2(16, sizeof(HeldFrame), AV_FIFO_FLAG_AUTO_GROW);
}

int ff_vmafx_held_add(AVFifo *held, AVFrame *frame, int64_t pair)
{
    const HeldFrame added = { frame, pair };
    const int ret = av_fifo_write(held, &added, 1);

    if (ret < 0)
        av_frame_free(&frame);
    return ret;
}

AVFrame *ff_vmafx_held_take(AVFifo *held, int64_t pair)
{
    HeldFrame first;

    if (av_fifo_peek(held, &first, 1, 0) < 0 || first.pair != pair)
        return NULL;
    av_fifo_drain2(held, 1);
    return first.frame;
}

void ff_vmafx_held_free(AVFifo **held)
{
    HeldFrame first;

    while (*held && av_fifo_read(*held, &first, 1) >= 0)
        av_frame_free(&first.frame);
    av_fifo_freep2(held);
}

static int set_scores(AVFrame *frame, const VmafxContext *vmafx, const char *prefix, const VmafxScore *scores, size_t n)
{
    int ret;

    for (size_t i = 0; i < n; i++) {
        char value[512], *key;

        if ((ret = vmafx_format_score(vmafx, scores[i].value, value, sizeof(value))) < 0)
            return ret;
        if (!(key = av_asprintf("lavfi.vmafx.%s%s", prefix, scores[i].key)))
            return AVERROR(ENOMEM);
        if ((ret = av_dict_set(&frame->metadata, key, value, AV_DICT_DONT_STRDUP_KEY)) < 0)
            return ret;
    }
    return 0;
}

/** Names the kinds of findings that are sure of the frame, with commas between them. */
static int set_doubts(AVFrame *frame, const char *const *doubts, size_t n)
{
    int ret;

    for (size_t i = 0; i < n; i++) {
        const char *const comma = i ? "," : "";
        char *const added = av_asprintf("%s%s", comma, doubts[i]);

        if (!added)
            return AVERROR(ENOMEM);
        if ((ret = av_dict_set(&frame->metadata, "lavfi.vmafx.doubts", added,
                               AV_DICT_APPEND | AV_DICT_DONT_STRDUP_VAL)) < 0)
            return ret;
    }
    return 0;
}

int ff_vmafx_held_set_scores(AVFrame *frame, const VmafxContext *vmafx, const VmafxFrameResult *result)
{
    const VmafxPoolWindow *window = result->window;
    int ret;

    if ((ret = set_scores(frame, vmafx, "", result->scores, result->n_scores)) < 0 ||
        (ret = set_doubts(frame, result->sure, result->n_sure)) < 0 || !window)
        return ret;
    if ((ret = av_dict_set_int(&frame->metadata, "lavfi.vmafx.window.frames",
                               window->last_frame - window->first_frame + 1, 0)) < 0)
        return ret;
    return set_scores(frame, vmafx, "window.", window->scores, window->n_scores);
}
