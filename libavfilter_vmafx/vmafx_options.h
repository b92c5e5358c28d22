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
 * The options of each of the filter's names, and what they mean to libvmafx.
 */

#ifndef AVFILTER_VMAFX_OPTIONS_H
#define AVFILTER_VMAFX_OPTIONS_H

#include <vmafx/vmafx.h>

#include "libavutil/buffer.h"
#include "libavutil/log.h"
#include "libavutil/opt.h"
#include "avfilter.h"
#include "vmafx_sync.h"

/** Formats of the pictures that an output for maps sends, by what their samples mean. */
enum VMAFXMapFormat {
    VMAFX_MAP_COLOR,            ///< the value, by a palette from 0 to the end of the scale, half transparent
    VMAFX_MAP_GRAY,             ///< likewise, from black to white
    VMAFX_MAP_VALUES,           ///< the value itself, as a float
};

/** The beginning of a filter's context: offsets of AVOption count from the class. */
typedef struct VMAFXOptions {
    const AVClass *class;

    /* The library's options. */
#define FIELD_TEXT(option, ...) char *option;
#define FIELD_NUMBER(option, ...) int option;
    VMAFX_FILTER_OPTIONS(FIELD_TEXT, FIELD_NUMBER, FIELD_NUMBER)
#undef FIELD_TEXT
#undef FIELD_NUMBER
    int metadata;
    char *map;                  ///< the map that further outputs show; NULL or "": there are none
    int map_format;             ///< enum VMAFXMapFormat
    double map_max;             ///< the value at which the scale of maps ends; 0: what is usual
    VMAFXSync sync;

    /* Options of FFmpeg's libvmaf up to 6.1, under that name only. */
    char *model_path;
    int enable_transform;
    int phone_model;
    int enable_conf_interval;
    int psnr;
    int ssim;
    int ms_ssim;

    char *stats_path;           ///< FFmpeg's xpsnr only: path of its statistics; "-": standard output
} VMAFXOptions;

extern const AVOption ff_vmafx_options[];
extern const AVOption ff_vmafx_libvmaf_options[];
extern const AVOption ff_vmafx_xpsnr_options[];

/** Whether there are outputs for maps: one for each main input. */
static inline int ff_vmafx_options_has_map(const VMAFXOptions *options)
{
    return options->map && *options->map;
}

/**
 * log_path is the first option, so that `vmafx=vmaf_v0.6.1` reads like a model and names a file. libvmaf writes that
 * file; under other names it is an error.
 */
int ff_vmafx_options_check_log_path(AVFilterContext *ctx, const VMAFXOptions *options);

/**
 * Open the library as the options say; its messages go to the log of the filter.
 *
 * @param device  gets references to the device contexts of the inputs, to be kept until the library is closed
 * @return        an error as of vmafx_open()
 */
int ff_vmafx_options_open(VmafxContext **vmafx, AVFilterContext *ctx, const VMAFXOptions *options,
                          AVBufferRef **device);

/** A VmafxLogCallback; the cookie is the filter's context. */
void ff_vmafx_log(void *cookie, enum VmafxLogLevel level, const char *message);

#endif /* AVFILTER_VMAFX_OPTIONS_H */
