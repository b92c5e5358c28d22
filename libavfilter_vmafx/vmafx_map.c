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

#include <math.h>
#include <string.h>

#include "vmafx_compat.h"
#include "vmafx_held.h"
#include "vmafx_map.h"

#include "libavutil/bprint.h"
#include "libavutil/error.h"
#include "libavutil/imgutils.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"

/** The end of the scale of a model's map, in points: a picture that has them in all blocks would score 0. */
#define MODEL_MAX 100

/** Opacity of the colors (255 hides the picture below), so that the picture stays visible. */
#define OPACITY 128

/** The palette cividis (Nunez, Anderton and Renslow, 2018, PLoS ONE 13(7) e0199239), which people without color vision
 *  see as others do, as 0xRRGGBB. The values are those of Matplotlib, rounded to 8 bits; its data is in the public
 *  domain (CC0). */
static const uint32_t cividis[256] = {
    0x00224e, 0x00234f, 0x002451, 0x002553, 0x002554, 0x002656, 0x002758, 0x002859, 0x00285b, 0x00295d,
    0x002a5f, 0x002a61, 0x002b62, 0x002c64, 0x002c66, 0x002d68, 0x002e6a, 0x002e6c, 0x002f6d, 0x00306f,
    0x003070, 0x003170, 0x003171, 0x013271, 0x053371, 0x083370, 0x0c3470, 0x0f3570, 0x123570, 0x143670,
    0x163770, 0x18376f, 0x1a386f, 0x1c396f, 0x1e3a6f, 0x203a6f, 0x213b6e, 0x233c6e, 0x243c6e, 0x263d6e,
    0x273e6e, 0x293f6e, 0x2a3f6d, 0x2b406d, 0x2d416d, 0x2e416d, 0x2f426d, 0x31436d, 0x32436d, 0x33446d,
    0x34456c, 0x35456c, 0x36466c, 0x38476c, 0x39486c, 0x3a486c, 0x3b496c, 0x3c4a6c, 0x3d4a6c, 0x3e4b6c,
    0x3f4c6c, 0x404c6c, 0x414d6c, 0x424e6c, 0x434e6c, 0x444f6c, 0x45506c, 0x46516c, 0x47516c, 0x48526c,
    0x49536c, 0x4a536c, 0x4b546c, 0x4c556c, 0x4d556c, 0x4e566c, 0x4f576c, 0x50576c, 0x51586d, 0x52596d,
    0x535a6d, 0x545a6d, 0x555b6d, 0x555c6d, 0x565c6d, 0x575d6d, 0x585e6d, 0x595e6e, 0x5a5f6e, 0x5b606e,
    0x5c616e, 0x5d616e, 0x5e626e, 0x5e636f, 0x5f636f, 0x60646f, 0x61656f, 0x62656f, 0x636670, 0x646770,
    0x656870, 0x656870, 0x666970, 0x676a71, 0x686a71, 0x696b71, 0x6a6c71, 0x6b6d72, 0x6c6d72, 0x6c6e72,
    0x6d6f72, 0x6e6f73, 0x6f7073, 0x707173, 0x717274, 0x727274, 0x727374, 0x737475, 0x747475, 0x757575,
    0x767676, 0x777776, 0x777777, 0x787877, 0x797977, 0x7a7a78, 0x7b7a78, 0x7c7b78, 0x7d7c78, 0x7e7c78,
    0x7e7d78, 0x7f7e78, 0x807f78, 0x817f78, 0x828079, 0x838179, 0x848279, 0x858279, 0x868379, 0x878478,
    0x888578, 0x898578, 0x8a8678, 0x8b8778, 0x8c8878, 0x8d8878, 0x8e8978, 0x8f8a78, 0x908b78, 0x918b78,
    0x928c78, 0x928d78, 0x938e78, 0x948e77, 0x958f77, 0x969077, 0x979177, 0x989277, 0x999277, 0x9a9376,
    0x9b9476, 0x9c9576, 0x9d9576, 0x9e9676, 0x9f9775, 0xa09875, 0xa19975, 0xa29975, 0xa39a74, 0xa49b74,
    0xa59c74, 0xa69c74, 0xa79d73, 0xa89e73, 0xa99f73, 0xaaa073, 0xaba072, 0xaca172, 0xada272, 0xaea371,
    0xafa471, 0xb0a571, 0xb1a570, 0xb3a670, 0xb4a76f, 0xb5a86f, 0xb6a96f, 0xb7a96e, 0xb8aa6e, 0xb9ab6d,
    0xbaac6d, 0xbbad6d, 0xbcae6c, 0xbdae6c, 0xbeaf6b, 0xbfb06b, 0xc0b16a, 0xc1b26a, 0xc2b369, 0xc3b369,
    0xc4b468, 0xc5b568, 0xc6b667, 0xc7b767, 0xc8b866, 0xc9b965, 0xcbb965, 0xccba64, 0xcdbb63, 0xcebc63,
    0xcfbd62, 0xd0be62, 0xd1bf61, 0xd2c060, 0xd3c05f, 0xd4c15f, 0xd5c25e, 0xd6c35d, 0xd7c45c, 0xd9c55c,
    0xdac65b, 0xdbc75a, 0xdcc859, 0xddc858, 0xdec958, 0xdfca57, 0xe0cb56, 0xe1cc55, 0xe2cd54, 0xe4ce53,
    0xe5cf52, 0xe6d051, 0xe7d150, 0xe8d24f, 0xe9d34e, 0xead34c, 0xebd44b, 0xedd54a, 0xeed649, 0xefd748,
    0xf0d846, 0xf1d945, 0xf2da44, 0xf3db42, 0xf5dc41, 0xf6dd3f, 0xf7de3e, 0xf8df3c, 0xf9e03a, 0xfbe138,
    0xfce236, 0xfde334, 0xfee434, 0xfee535, 0xfee636, 0xfee838,
};

int ff_vmafx_map_alloc(VMAFXMap *map)
{
    map->waiting = ff_vmafx_held_alloc();
    return map->waiting ? 0 : AVERROR(ENOMEM);
}

void ff_vmafx_map_free(VMAFXMap *map)
{
    ff_vmafx_held_free(&map->waiting);
    av_frame_free(&map->last);
}

enum AVPixelFormat ff_vmafx_map_pix_fmt(const VMAFXOptions *options)
{
    switch (options->map_format) {
    case VMAFX_MAP_GRAY:   return AV_PIX_FMT_GRAY8;
    case VMAFX_MAP_VALUES: return AV_PIX_FMT_GRAYF32;
    default:               return AV_PIX_FMT_RGBA;
    }
}

int ff_vmafx_map_expect(VMAFXMap *map, const AVFrame *frame, int64_t pair)
{
    AVFrame *of_time = av_frame_alloc();
    int ret;

    if (!of_time)
        return AVERROR(ENOMEM);
    if ((ret = av_frame_copy_props(of_time, frame)) < 0) {
        av_frame_free(&of_time);
        return ret;
    }
    return ff_vmafx_held_add(map->waiting, of_time, pair);
}

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

/** Gives a picture the time of the frame that it belongs to, which is freed. */
static int set_time(AVFrame *picture, AVFrame *of_time)
{
    const int ret = av_frame_copy_props(picture, of_time);

    av_frame_free(&of_time);
    picture->color_range = AVCOL_RANGE_JPEG;
    picture->colorspace  = picture->format == AV_PIX_FMT_RGBA ? AVCOL_SPC_RGB : AVCOL_SPC_UNSPECIFIED;
    return ret;
}

static AVFrame *new_picture(AVFilterLink *outlink)
{
    return ff_get_video_buffer(outlink, outlink->w, outlink->h);
}

/** A picture without a map: transparent, or zeros. NULL: out of memory. */
static AVFrame *empty_picture(AVFilterLink *outlink)
{
    AVFrame *picture = new_picture(outlink);
    const int bytes = av_image_get_linesize(outlink->format, outlink->w, 0);

    for (int y = 0; picture && y < picture->height; y++)
        memset(picture->data[0] + y * picture->linesize[0], 0, bytes);
    return picture;
}

/** Writes the samples of one row of blocks. */
static void draw_row(uint8_t *row, enum AVPixelFormat fmt, int w, const VmafxMap *map, const double *values, double max)
{
    for (int x = 0; x < w; x++) {
        const double value = values[FFMIN(x / map->block_width, map->width - 1)];
        const int shade    = value > 0 ? lrint(255 * FFMIN(value / max, 1)) : 0;

        if (fmt == AV_PIX_FMT_GRAYF32)
            ((float *)row)[x] = value;
        else if (fmt == AV_PIX_FMT_GRAY8)
            row[x] = shade;
        else
            AV_WB32(row + 4 * x, cividis[shade] << 8 | OPACITY);
    }
}

static AVFrame *map_picture(AVFilterLink *outlink, const VmafxMap *map, double max)
{
    AVFrame *picture = new_picture(outlink);
    const int bytes = av_image_get_linesize(outlink->format, outlink->w, 0);

    for (int y = 0; picture && y < picture->height; y++) {
        uint8_t *row    = picture->data[0] + y * picture->linesize[0];
        const int block = FFMIN(y / map->block_height, map->height - 1);

        if (y && block == FFMIN((y - 1) / map->block_height, map->height - 1))
            memcpy(row, row - picture->linesize[0], bytes);
        else
            draw_row(row, outlink->format, picture->width, map, map->values + block * map->width, max);
    }
    return picture;
}

/* -- Maps ---------------------------------------------------------------------------------------------------------- */

static const VmafxMap *find_map(void *log, const char *name, const VmafxFrameResult *result)
{
    AVBPrint names;

    for (size_t i = 0; i < result->n_maps; i++)
        if (!strcmp(result->maps[i].name, name))
            return &result->maps[i];
    av_bprint_init(&names, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (size_t i = 0; i < result->n_maps; i++)
        av_bprintf(&names, "%s%s", i ? ", " : "", result->maps[i].name);
    av_log(log, AV_LOG_ERROR, "map=%s: there is no such map; there are %s.\n", name, names.str);
    av_bprint_finalize(&names, NULL);
    return NULL;
}

/** The value at which the scale ends. 0: it is not known. */
static double scale_max(void *log, const VMAFXOptions *options, const VmafxMap *map)
{
    double highest = 0;

    if (options->map_max > 0 || options->map_format == VMAFX_MAP_VALUES)
        return FFMAX(options->map_max, 1);
    if (!strcmp(map->unit, "points"))
        return MODEL_MAX;
    for (int i = 0; i < map->width * map->height; i++)
        highest = FFMAX(highest, map->values[i]);
    av_log(log, AV_LOG_ERROR, "map=%s has no usual scale: say with map_max which value is shown as its end. "
           "The highest value of the first frame is %g (%s).\n", map->name, highest, map->unit);
    return 0;
}

int ff_vmafx_map_take_empty(VMAFXMap *map, AVFilterLink *outlink, AVFrame **picture)
{
    AVFrame *of_time = ff_vmafx_held_take(map->waiting, -1);

    *picture = NULL;
    if (!of_time)
        return 0;
    if ((*picture = empty_picture(outlink)))
        return set_time(*picture, of_time);
    av_frame_free(&of_time);
    return AVERROR(ENOMEM);
}

int ff_vmafx_map_draw(VMAFXMap *map, AVFilterLink *outlink, const VMAFXOptions *options, const VmafxFrameResult *result,
                      AVFrame **picture)
{
    AVFrame *of_time = ff_vmafx_held_take(map->waiting, result->frame);

    *picture = NULL;
    if (!of_time)
        return AVERROR_BUG;
    if (result->n_maps) {
        const VmafxMap *drawn = find_map(outlink->src, options->map, result);
        const double max = drawn ? scale_max(outlink->src, options, drawn) : 0;

        if (!max) {
            av_frame_free(&of_time);
            return AVERROR(EINVAL);
        }
        av_frame_free(&map->last);
        map->last = map_picture(outlink, drawn, max);
    } else if (!map->last) {
        map->last = empty_picture(outlink);
    }
    if (map->last && (*picture = av_frame_clone(map->last)))
        return set_time(*picture, of_time);
    av_frame_free(&of_time);
    return AVERROR(ENOMEM);
}
