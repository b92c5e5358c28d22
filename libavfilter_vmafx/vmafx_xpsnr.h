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
 * The output of FFmpeg's filter xpsnr: a line in the log, statistics, metadata.
 *
 * FFmpeg has that filter since 7.1. In earlier releases vf_vmafx.c answers to its name, and everything here is as there
 * (libavfilter/vf_xpsnr.c of 8.0), but that of RGB each component has its own value. There, lines have the values in
 * the order of planes, that of G under `r`.
 */

#ifndef AVFILTER_VMAFX_XPSNR_H
#define AVFILTER_VMAFX_XPSNR_H

#include <stdint.h>
#include <stdio.h>

#include <vmafx/vmafx.h>

#include "libavutil/pixfmt.h"
#include "avfilter.h"

typedef struct VMAFXXpsnr {
    const char *stats_path;
    FILE *stats;                ///< NULL: there are none
    AVFilterContext *ctx;
    char names[3];              ///< the components': y, u, v or r, g, b
    int planes[3];              ///< the library's numbers of their planes
    int nb;
} VMAFXXpsnr;

/**
 * Whether statistics may go to a file, before anything is opened: what is there must be statistics, too, or empty, or
 * no regular file.
 *
 * @param stats_path  as of ff_vmafx_xpsnr_open()
 * @param overwrite   not 0: any file may be replaced
 * @return            AVERROR(EEXIST), which was logged
 */
int ff_vmafx_xpsnr_check_file(AVFilterContext *ctx, const char *stats_path, int overwrite);

/**
 * @param stats_path  where statistics go, "-": standard output, NULL: nowhere; not copied
 * @param format      of the samples
 */
int ff_vmafx_xpsnr_open(VMAFXXpsnr *xpsnr, AVFilterContext *ctx, const char *stats_path, enum AVPixelFormat format);

/** @param frame  gets the scores of its pair as metadata; NULL: there is none any more */
int ff_vmafx_xpsnr_frame(VMAFXXpsnr *xpsnr, AVFrame *frame, const VmafxFrameResult *result);

/** The lines at the end. Programs read what follows "minimum: " in that of the log. */
int ff_vmafx_xpsnr_end(VMAFXXpsnr *xpsnr, const VmafxContext *vmafx, int64_t frames);

void ff_vmafx_xpsnr_close(VMAFXXpsnr *xpsnr);

#endif /* AVFILTER_VMAFX_XPSNR_H */
