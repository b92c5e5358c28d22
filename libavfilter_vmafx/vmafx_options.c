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

#include <limits.h>
#include <float.h>
#include <stddef.h>
#include <string.h>

#include "config.h"

#include "vmafx_compat.h"
#include "vmafx_hw.h"
#include "vmafx_name.h"
#include "vmafx_options.h"

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/macros.h"

/* -- Tables -------------------------------------------------------------------------------------------------------- */

#define OFFSET(x) offsetof(VMAFXOptions, x)
#define FLAGS AV_OPT_FLAG_FILTERING_PARAM|AV_OPT_FLAG_VIDEO_PARAM
#define DEPRECATED FLAGS|AV_OPT_FLAG_DEPRECATED

/** The library's options, as VMAFX_OPTIONS declares them. */
#define OPTION_TEXT(option, value, help) \
    { #option, help, OFFSET(option), AV_OPT_TYPE_STRING, { .str = value }, 0, 0, FLAGS },
#define OPTION_INT(option, value, least, most, help) \
    { #option, help, OFFSET(option), AV_OPT_TYPE_INT, { .i64 = value }, least, most, FLAGS },
#define OPTION_FLAG(option, value, help) \
    { #option, help, OFFSET(option), AV_OPT_TYPE_BOOL, { .i64 = value }, 0, 1, FLAGS },

/** Options of the names vmafx and libvmaf. */
#define OPTIONS(default_sync_mode) \
    VMAFX_FILTER_OPTIONS(OPTION_TEXT, OPTION_INT, OPTION_FLAG) \
    { "threads", "same as n_threads", OFFSET(n_threads), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, INT_MAX, FLAGS }, \
    { "subsample", "same as n_subsample", OFFSET(n_subsample), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, INT_MAX, FLAGS }, \
    { "metadata", "put the scores on the output frames as lavfi.vmafx.*", \
      OFFSET(metadata), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS }, \
    SYNC_OPTIONS(default_sync_mode)

/** The options of pairing are framesync's, said here because the default of one differs. */
#define SYNC_OPTIONS(default_sync_mode) \
    { "eof_action", "what to do when the reference ends before main", \
      OFFSET(sync.eof_action), AV_OPT_TYPE_INT, { .i64 = EOF_ACTION_REPEAT }, \
      EOF_ACTION_REPEAT, EOF_ACTION_PASS, FLAGS, .unit = "eof_action" }, \
        { "repeat", "repeat its last frame", \
          0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_REPEAT }, .flags = FLAGS, .unit = "eof_action" }, \
        { "endall", "end", 0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_ENDALL }, .flags = FLAGS, .unit = "eof_action" }, \
        { "pass", "pass main on without scores", \
          0, AV_OPT_TYPE_CONST, { .i64 = EOF_ACTION_PASS }, .flags = FLAGS, .unit = "eof_action" }, \
    { "shortest", "end when the shorter input ends", \
      OFFSET(sync.shortest), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS }, \
    { "repeatlast", "repeat the last frame of the reference after its end", \
      OFFSET(sync.repeatlast), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS }, \
    { "ts_sync_mode", "which reference frame belongs to a main frame", \
      OFFSET(sync.mode), AV_OPT_TYPE_INT, { .i64 = default_sync_mode }, \
      VMAFX_SYNC_DEFAULT, VMAFX_SYNC_NEAREST, FLAGS, .unit = "ts_sync_mode" }, \
        { "default", "the last one that is not later, but for the rounding of containers", \
          0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_SYNC_DEFAULT }, .flags = FLAGS, .unit = "ts_sync_mode" }, \
        { "nearest", "the nearest in time", \
          0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_SYNC_NEAREST }, .flags = FLAGS, .unit = "ts_sync_mode" },

#if CONFIG_VMAFX_FILTER
const AVOption ff_vmafx_options[] = {
    OPTIONS(VMAFX_SYNC_NEAREST)
    { "map", "one more output for each main input, with this map of its frames (vmaf, vif_scale0, ...) as pictures",
      OFFSET(map), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "map_format", "what the pictures of map show",
      OFFSET(map_format), AV_OPT_TYPE_INT, { .i64 = VMAFX_MAP_COLOR },
      VMAFX_MAP_COLOR, VMAFX_MAP_VALUES, FLAGS, .unit = "map_format" },
        { "color", "colors, half transparent, to be laid over main", 0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_MAP_COLOR },
          .flags = FLAGS, .unit = "map_format" },
        { "gray", "gray, from black to white", 0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_MAP_GRAY },
          .flags = FLAGS, .unit = "map_format" },
        { "values", "the values themselves, as floats", 0, AV_OPT_TYPE_CONST, { .i64 = VMAFX_MAP_VALUES },
          .flags = FLAGS, .unit = "map_format" },
    { "map_max", "value at which the scale of map ends, 0: 100 points for maps of models",
      OFFSET(map_max), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, DBL_MAX, FLAGS },
    { NULL }
};
#endif

#if CONFIG_LIBVMAF_FILTER && !CONFIG_LIBVMAF
const AVOption ff_vmafx_libvmaf_options[] = {
    OPTIONS(VMAFX_SYNC_DEFAULT)
    { "model_path", "use model='path=...'", OFFSET(model_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, DEPRECATED },
    { "enable_transform", "use model='enable_transform=true'",
      OFFSET(enable_transform), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "phone_model", "use model='enable_transform=true'",
      OFFSET(phone_model), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "enable_conf_interval", "use a model that has one: model='version=vmaf_b_v0.6.3'",
      OFFSET(enable_conf_interval), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "psnr", "use feature='name=psnr'", OFFSET(psnr), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "ssim", "use feature='name=float_ssim'", OFFSET(ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { "ms_ssim", "use feature='name=float_ms_ssim'",
      OFFSET(ms_ssim), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, DEPRECATED },
    { NULL }
};
#endif

#if VMAFX_XPSNR
const AVOption ff_vmafx_xpsnr_options[] = {
    { "stats_file", "write the XPSNR of each frame to this file, - is standard output",
      OFFSET(stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "f", "same as stats_file", OFFSET(stats_path), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    SYNC_OPTIONS(VMAFX_SYNC_DEFAULT)
    OPTION_INT(n_threads, 0, 0, INT_MAX, "number of threads, 0: as many as the process may use")
    VMAFX_DEVICE_OPTIONS(OPTION_TEXT, OPTION_INT, OPTION_FLAG)
    OPTION_FLAG(overwrite, 0, "replace the statistics file whatever it is, not only statistics")
    { NULL }
};
#endif

/* -- The library --------------------------------------------------------------------------------------------------- */

void ff_vmafx_log(void *cookie, enum VmafxLogLevel level, const char *message)
{
    static const int levels[] = {
        [VMAFX_LOG_ERROR]   = AV_LOG_ERROR,
        [VMAFX_LOG_WARNING] = AV_LOG_WARNING,
        [VMAFX_LOG_INFO]    = AV_LOG_INFO,
        [VMAFX_LOG_VERBOSE] = AV_LOG_VERBOSE,
        [VMAFX_LOG_DEBUG]   = AV_LOG_DEBUG,
    };

    av_log(cookie, levels[level], "%s\n", message);
}

int ff_vmafx_options_check_log_path(AVFilterContext *ctx, const VMAFXOptions *options)
{
    const char *name;

    for (int i = 0; options->log_path && (name = vmafx_builtin_model(i)); i++) {
        if (strcmp(options->log_path, name))
            continue;
        av_log(ctx, ff_vmafx_is_libvmaf(ctx) ? AV_LOG_WARNING : AV_LOG_ERROR,
               "The report's name, log_path=%s, is that of a model: model=%s scores with it. "
               "(log_path is the first option; a report of that name is log_path=./%s.)\n",
               name, name, name);
        return ff_vmafx_is_libvmaf(ctx) ? 0 : AVERROR(EINVAL);
    }
    return 0;
}

/** NULL: the library goes by the ending of log_path. */
static const char *report_format(AVFilterContext *ctx, const VMAFXOptions *options)
{
    const char *ending = options->log_path ? strrchr(options->log_path, '.') : NULL;

    if ((options->log_fmt && *options->log_fmt) || !ff_vmafx_is_libvmaf(ctx) || !options->log_path)
        return options->log_fmt;
    if (ending && av_match_name(ending + 1, "json,csv,sub,ndjson"))
        av_log(ctx, AV_LOG_WARNING,
               "The report %s will hold XML, as libvmaf writes it unless asked otherwise: log_fmt=%s.\n",
               options->log_path, ending + 1);
    return "xml";
}

/** The models, with what libvmaf's old options say of them. */
static void describe_models(AVBPrint *text, AVFilterContext *ctx, const VMAFXOptions *options)
{
    const int by_path   = options->model_path && *options->model_path;
    const int transform = options->enable_transform || options->phone_model;
    const char *rest    = options->model ? options->model : "";
    const int is_default = av_opt_is_set_to_default_by_name(ctx->priv, "model", 0) > 0;

    if (by_path && is_default) {
        av_bprintf(text, "path=");
        av_bprint_escape(text, options->model_path, ":", AV_ESCAPE_MODE_BACKSLASH, 0);
        av_bprintf(text, "%s", transform ? ":enable_transform=true" : "");
        return;
    }
    if (by_path)
        av_log(ctx, AV_LOG_WARNING, "model_path=%s is ignored: model=%s is given, too, and takes precedence.\n",
               options->model_path, options->model);
    while (*rest) {
        const int size = strcspn(rest, "|");
        const char *found = strstr(rest, "enable_transform");

        av_bprintf(text, "%.*s", size, rest);
        if (transform && size && (!found || found > rest + size))
            av_bprintf(text, ":enable_transform=true");
        rest += size;
        if (*rest)
            av_bprint_chars(text, *rest++, 1);
    }
}

/** The features, and those that libvmaf's old options stand for. */
static void describe_features(AVBPrint *text, const VMAFXOptions *options)
{
    const struct { int wanted; const char *feature; } old[] = {
        { options->psnr,    "name=psnr:enable_chroma=false" },
        { options->ssim,    "name=float_ssim" },
        { options->ms_ssim, "name=float_ms_ssim" },
    };

    av_bprintf(text, "%s", options->feature ? options->feature : "");
    for (int i = 0; i < FF_ARRAY_ELEMS(old); i++)
        if (old[i].wanted)
            av_bprintf(text, "|%s", old[i].feature);
}

/** The value of the library's option: under the name libvmaf, warnings alone. The name xpsnr, which takes main for the
 * original, does not look, because what is seen would be said of the wrong input. */
static const char *check_of(AVFilterContext *ctx, const VMAFXOptions *options)
{
    if (VMAFX_IS_XPSNR(ctx))
        return "off";
    return ff_vmafx_is_libvmaf(ctx) && strcmp(options->check, "off") ? "log" : options->check;
}

/** Set the library's options: those that the filter has under its name, and those that depend on the name. */
static int set_options(VmafxOptions *to, AVFilterContext *ctx, const VMAFXOptions *options,
                       const char *model, const char *feature)
{
    const int is_libvmaf = ff_vmafx_is_libvmaf(ctx);
    int ret = 0;

#define SET_TEXT(option, ...) \
    if (ret >= 0 && av_opt_find(ctx->priv, #option, NULL, 0, 0)) \
        ret = vmafx_options_set(to, #option, options->option);
#define SET_NUMBER(option, ...) \
    if (ret >= 0 && av_opt_find(ctx->priv, #option, NULL, 0, 0)) \
        ret = vmafx_options_set_int(to, #option, options->option);
    VMAFX_FILTER_OPTIONS(SET_TEXT, SET_NUMBER, SET_NUMBER)
    if (ret < 0 ||
        (ret = vmafx_options_set(to, "model", model)) < 0 ||
        (ret = vmafx_options_set(to, "feature", feature)) < 0 ||
        (ret = vmafx_options_set(to, "log_fmt", report_format(ctx, options))) < 0 ||
        (ret = vmafx_options_set(to, "check", check_of(ctx, options))) < 0 ||
        (ret = vmafx_options_set_int(to, "report_times", !is_libvmaf)) < 0 ||
        (ret = vmafx_options_set_int(to, "early_doubts", options->metadata)) < 0 ||
        (ret = vmafx_options_set_int(to, "result_maps", ff_vmafx_options_has_map(options))) < 0 ||
        (ret = vmafx_options_set_int(to, "summary", !is_libvmaf && !VMAFX_IS_XPSNR(ctx))) < 0)
        return ret;
    return vmafx_options_set_int(to, "ignore_unknown", is_libvmaf);
}

static av_cold int open_with(VmafxContext **vmafx, AVFilterContext *ctx, const VMAFXOptions *options,
                             AVBufferRef **device, const char *model, const char *feature)
{
    VmafxOptions *to = vmafx_options_new();
    int ret, has_context = 0;

    if (!to)
        return AVERROR(ENOMEM);
    vmafx_options_set_log(to, ff_vmafx_log, ctx);
    ret = set_options(to, ctx, options, model, feature);
    for (unsigned i = 0; ret >= 0 && i < ctx->nb_inputs; i++) {
        ret = ff_vmafx_hw_keep_device(&device[i], ctx->inputs[i]);
        if (ret >= 0 && !has_context)
            has_context = ff_vmafx_hw_context(to, ctx->inputs[i]);
    }
    if (ret >= 0)
        ret = vmafx_open(vmafx, to);
    vmafx_options_free(&to);
    return ret;
}

av_cold int ff_vmafx_options_open(VmafxContext **vmafx, AVFilterContext *ctx, const VMAFXOptions *options,
                                  AVBufferRef **device)
{
    AVBPrint model, feature;
    int ret = AVERROR(ENOMEM);

    if (VMAFX_IS_XPSNR(ctx))
        return open_with(vmafx, ctx, options, device, "", "name=xpsnr");
    av_bprint_init(&model, 0, AV_BPRINT_SIZE_UNLIMITED);
    av_bprint_init(&feature, 0, AV_BPRINT_SIZE_UNLIMITED);
    describe_models(&model, ctx, options);
    describe_features(&feature, options);
    if (av_bprint_is_complete(&model) && av_bprint_is_complete(&feature))
        ret = open_with(vmafx, ctx, options, device, model.str, feature.str);
    av_bprint_finalize(&model, NULL);
    av_bprint_finalize(&feature, NULL);
    if (ret >= 0 && options->enable_conf_interval)
        av_log(ctx, AV_LOG_WARNING,
               "enable_conf_interval does nothing: the report has a confidence interval when the model has one; use "
               "model='version=vmaf_b_v0.6.3'.\n");
    return ret;
}
