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
 * Frames in a GPU's memory: CUDA frames by their addresses; Vulkan frames by copies on their device; DRM PRIME frames,
 * and VAAPI frames mapped to such, by their objects. All of them can be downloaded.
 */

#include "vmafx_compat.h"
#include "vmafx_hw.h"

/* Two names are all that is needed of CUDA's own header; so it need not be there. */
#ifndef CUDA_VERSION
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
#endif

#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda.h"
#include "libavutil/hwcontext_drm.h"
#include "libavutil/pixdesc.h"

const enum AVPixelFormat ff_vmafx_hw_formats[] = {
    AV_PIX_FMT_CUDA, AV_PIX_FMT_DRM_PRIME, AV_PIX_FMT_VAAPI, AV_PIX_FMT_VULKAN, AV_PIX_FMT_NONE
};

/** The frames that a picture holds on to. */
typedef struct HeldHardware {
    AVFrame *frame;
    AVFrame *drm;               ///< the same, mapped to DRM PRIME, or NULL
    VMAFXVulkanCopy copy;       ///< a copy of a Vulkan frame, if there is one
} HeldHardware;

int ff_vmafx_is_hw(enum AVPixelFormat fmt)
{
    for (int i = 0; ff_vmafx_hw_formats[i] != AV_PIX_FMT_NONE; i++)
        if (ff_vmafx_hw_formats[i] == fmt)
            return 1;
    return 0;
}

/* -- Links --------------------------------------------------------------------------------------------------------- */

static const AVHWFramesContext *frames_context(AVFilterLink *link)
{
    const AVBufferRef *ref = VMAFX_LINK(link)->hw_frames_ctx;

    return ref ? (const AVHWFramesContext *)ref->data : NULL;
}

enum AVPixelFormat ff_vmafx_sample_format(AVFilterLink *link)
{
    const AVHWFramesContext *frames = frames_context(link);

    if (!ff_vmafx_is_hw(link->format))
        return link->format;
    return frames ? frames->sw_format : AV_PIX_FMT_NONE;
}

const char *ff_vmafx_format_name(AVFilterLink *link, char *buf, size_t size)
{
    const char *samples = av_get_pix_fmt_name(ff_vmafx_sample_format(link));

    if (ff_vmafx_is_hw(link->format))
        snprintf(buf, size, "%s (%s)", av_get_pix_fmt_name(link->format), samples ? samples : "of unknown samples");
    else
        snprintf(buf, size, "%s", samples);
    return buf;
}

void ff_vmafx_hw_memory(VmafxFormat *format, AVFilterLink *link, const VMAFXVulkan *vulkan)
{
    const AVHWFramesContext *frames = frames_context(link);

    if (!ff_vmafx_is_hw(link->format))
        return;
    format->drm_fd = -1;
    if (link->format == AV_PIX_FMT_CUDA) {
        format->memory = VMAFX_MEMORY_DEVICE;
        format->device_context = ((const AVCUDADeviceContext *)frames->device_ctx->hwctx)->cuda_ctx;
    } else if (vulkan) {
        ff_vmafx_vulkan_memory(format, vulkan);
    } else {
        format->memory = VMAFX_MEMORY_DMABUF;
        if (frames->device_ctx->type == AV_HWDEVICE_TYPE_DRM)
            format->drm_fd = ((const AVDRMDeviceContext *)frames->device_ctx->hwctx)->fd;
    }
}

int ff_vmafx_hw_keep_device(AVBufferRef **device, AVFilterLink *link)
{
    if (!ff_vmafx_is_hw(link->format))
        return 0;
    *device = av_buffer_ref(frames_context(link)->device_ref);
    return *device ? 0 : AVERROR(ENOMEM);
}

int ff_vmafx_hw_context(VmafxOptions *options, AVFilterLink *link)
{
    const AVHWFramesContext *frames = frames_context(link);

    if (link->format != AV_PIX_FMT_CUDA)
        return 0;
    vmafx_options_set_device_context(options, VMAFX_PLATFORM_CUDA,
                                     ((const AVCUDADeviceContext *)frames->device_ctx->hwctx)->cuda_ctx);
    return 1;
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

int ff_vmafx_hw_same_kind(AVFilterLink *link, const AVFrame *frame)
{
    const AVHWFramesContext *announced = frames_context(link), *frames;

    if (!ff_vmafx_is_hw(link->format))
        return 1;
    if (!frame->hw_frames_ctx)
        return 0;
    frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
    return frames->sw_format == announced->sw_format && frames->device_ctx == announced->device_ctx;
}

static void release_hardware(void *opaque)
{
    HeldHardware *held = opaque;

    ff_vmafx_vulkan_release(&held->copy);
    av_frame_free(&held->drm);
    av_frame_free(&held->frame);
    av_free(held);
}

static void release_copy(void *opaque)
{
    AVFrame *copy = opaque;

    av_frame_free(&copy);
}

static int transfer(AVFrame *copy, const AVFrame *frame)
{
    const int is_vulkan = frame->format == AV_PIX_FMT_VULKAN;
    int ret;

    if (is_vulkan)
        ff_vmafx_vulkan_lock(1);
    ret = av_hwframe_transfer_data(copy, frame, 0);
    if (is_vulkan)
        ff_vmafx_vulkan_lock(0);
    return ret;
}

/** VmafxPicture.download */
static int download(void *opaque, VmafxPicture *pic)
{
    const HeldHardware *held = opaque;
    const AVHWFramesContext *frames = (const AVHWFramesContext *)held->frame->hw_frames_ctx->data;
    AVFrame *copy = av_frame_alloc();
    int ret;

    if (!copy)
        return AVERROR(ENOMEM);
    copy->format = frames->sw_format;
    if ((ret = transfer(copy, held->frame)) < 0) {
        av_frame_free(&copy);
        return ret;
    }
    *pic = (VmafxPicture) { .release = release_copy, .opaque = copy };
    for (int i = 0; i < av_pix_fmt_count_planes(copy->format); i++) {
        pic->data[i]   = copy->data[i];
        pic->stride[i] = copy->linesize[i];
    }
    return 0;
}

/** VmafxPicture.wait */
static int wait_for_copy(void *opaque, int timeout_ms)
{
    const HeldHardware *held = opaque;

    return ff_vmafx_vulkan_wait(&held->copy, timeout_ms);
}

/** The planes in the order of the layers, as libavutil maps them. More than three, or none: the picture has no
 * objects. */
static void describe_objects(VmafxPicture *pic, const AVDRMFrameDescriptor *desc)
{
    int planes = 0;

    for (int i = 0; i < desc->nb_layers; i++) {
        for (int j = 0; j < desc->layers[i].nb_planes; j++, planes++) {
            const AVDRMPlaneDescriptor *plane = &desc->layers[i].planes[j];

            if (planes == FF_ARRAY_ELEMS(pic->plane_object))
                return;
            pic->plane_object[planes] = plane->object_index;
            pic->plane_offset[planes] = plane->offset;
            pic->stride[planes]       = plane->pitch;
        }
    }
    if (!planes || desc->nb_objects > FF_ARRAY_ELEMS(pic->object))
        return;
    pic->n_objects = desc->nb_objects;
    for (int i = 0; i < desc->nb_objects; i++)
        pic->object[i] = (VmafxObject) {
            .fd       = desc->objects[i].fd,
            .size     = desc->objects[i].size,
            .modifier = desc->objects[i].format_modifier,
        };
}

/** The frame as DRM PRIME, or NULL: it cannot be had as such, and is downloaded. */
static AVFrame *map_to_drm(const AVFrame *frame)
{
    AVFrame *drm = av_frame_alloc();

    if (!drm)
        return NULL;
    drm->format = AV_PIX_FMT_DRM_PRIME;
    if (av_hwframe_map(drm, frame, AV_HWFRAME_MAP_READ | AV_HWFRAME_MAP_DIRECT) < 0)
        av_frame_free(&drm);
    return drm;
}

static void describe_cuda(VmafxPicture *pic, const AVFrame *frame)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;

    for (int i = 0; i < av_pix_fmt_count_planes(frames->sw_format); i++) {
        pic->data[i]   = frame->data[i];
        pic->stride[i] = frame->linesize[i];
    }
    pic->stream = ((const AVCUDADeviceContext *)frames->device_ctx->hwctx)->stream;
}

int ff_vmafx_hw_picture(VmafxPicture *pic, const AVFrame *frame, int imported, VMAFXVulkan *vulkan, unsigned planes)
{
    HeldHardware *held = av_mallocz(sizeof(*held));

    if (!held)
        return AVERROR(ENOMEM);
    if (!(held->frame = av_frame_clone(frame))) {
        av_free(held);
        return AVERROR(ENOMEM);
    }
    *pic = (VmafxPicture) { .release = release_hardware, .opaque = held, .download = download };
    if (!imported)
        return 0;
    if (frame->format == AV_PIX_FMT_CUDA) {
        describe_cuda(pic, frame);
    } else if (vulkan) {
        pic->wait = wait_for_copy;
        ff_vmafx_vulkan_copy(&held->copy, pic, vulkan, held->frame, planes);
    } else if (frame->format == AV_PIX_FMT_DRM_PRIME) {
        describe_objects(pic, (const AVDRMFrameDescriptor *)held->frame->data[0]);
    } else if ((held->drm = map_to_drm(held->frame))) {
        describe_objects(pic, (const AVDRMFrameDescriptor *)held->drm->data[0]);
    }
    return 0;
}
