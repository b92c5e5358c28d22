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
 * By which of its names the filter goes: vmafx, or libvmaf or xpsnr, as filters are called that programs know.
 */

#ifndef AVFILTER_VMAFX_NAME_H
#define AVFILTER_VMAFX_NAME_H

#include <string.h>

#include "vmafx_compat.h"

/** Whether the filter goes by the name that programs know which were written for libvmaf. */
static inline int ff_vmafx_is_libvmaf(const AVFilterContext *ctx)
{
    return !strcmp(ctx->filter->name, "libvmaf");
}

/** Whether it goes by the name of FFmpeg's own filter, in releases that do not have that one. A macro: where it is 0,
 *  compilers leave out, without optimization, too, what would need vmafx_xpsnr.o. */
#define VMAFX_IS_XPSNR(ctx) (VMAFX_XPSNR && !strcmp((ctx)->filter->name, "xpsnr"))

#endif /* AVFILTER_VMAFX_NAME_H */
