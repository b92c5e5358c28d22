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

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "config.h"

#include "vmafx_compat.h"
#include "vmafx_xpsnr.h"

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/pixdesc.h"

/** How the library calls them, of a frame and with an a before of the stream, by plane. */
static const char *const keys[] = { "axpsnr_y", "axpsnr_cb", "axpsnr_cr" };

static int report_failure(const VMAFXXpsnr *xpsnr, const char *verb)
{
    const int ret = AVERROR(errno ? errno : EIO);

    av_log(xpsnr->ctx, AV_LOG_ERROR, "Could not %s statistics file %s: %s\n", verb, xpsnr->stats_path, av_err2str(ret));
    return ret;
}

/* -- Files --------------------------------------------------------------------------------------------------------- */

#if HAVE_PTHREADS && defined(SIGXFSZ)
/** While it is held, a write beyond the limit of `ulimit -f` fails in this thread and does not end the process. */
typedef struct SizeSignal {
    sigset_t signal, before;
    int was_pending;
} SizeSignal;

static void hold_size_signal(SizeSignal *held)
{
    sigset_t pending;

    sigemptyset(&held->signal);
    sigaddset(&held->signal, SIGXFSZ);
    held->was_pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &held->signal, &held->before);
}

static void release_size_signal(SizeSignal *held)
{
    const struct timespec at_once = { 0 };
    const int kept = errno;

    while (!held->was_pending && sigtimedwait(&held->signal, NULL, &at_once) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = kept;
}
#else
typedef int SizeSignal;

static void hold_size_signal(SizeSignal *held) { *held = 0; }
static void release_size_signal(SizeSignal *held) { *held = 0; }
#endif

/** Whether a file begins as statistics do: "n:    1  XPSNR y: 41.3". */
static int is_statistics(const char *path)
{
    char text[64] = "";
    FILE *file = avpriv_fopen_utf8(path, "rb");
    int number, end = 0;

    if (!file)
        return 0;
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    return sscanf(text, "n: %d  XPSNR %n", &number, &end) == 1 && end > 0;
}

int ff_vmafx_xpsnr_check_file(AVFilterContext *ctx, const char *stats_path, int overwrite)
{
    struct stat info;

    if (!stats_path || overwrite || !strcmp(stats_path, "-") || stat(stats_path, &info) || !S_ISREG(info.st_mode) ||
        !info.st_size || is_statistics(stats_path))
        return 0;
    av_log(ctx, AV_LOG_ERROR, "stats_file=%s: this file exists and does not hold statistics of xpsnr, so it stays: "
           "name another file, or set overwrite=1 to replace it\n", stats_path);
    return AVERROR(EEXIST);
}

/* -- Statistics ---------------------------------------------------------------------------------------------------- */

int ff_vmafx_xpsnr_open(VMAFXXpsnr *xpsnr, AVFilterContext *ctx, const char *stats_path, enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int is_rgb = !!(desc->flags & AV_PIX_FMT_FLAG_RGB);

    xpsnr->ctx        = ctx;
    xpsnr->stats_path = stats_path;
    xpsnr->nb         = FFMIN(desc->nb_components, 3);
    for (int i = 0; i < xpsnr->nb; i++) {
        xpsnr->names[i]  = is_rgb ? "rgb"[i] : "yuv"[i];
        xpsnr->planes[i] = is_rgb ? desc->comp[i].plane : i;
    }
    if (!stats_path)
        return 0;
    xpsnr->stats = strcmp(stats_path, "-") ? avpriv_fopen_utf8(stats_path, "w") : stdout;
    return xpsnr->stats ? 0 : report_failure(xpsnr, "open");
}

static double score_of(const VmafxFrameResult *result, const char *key)
{
    for (size_t i = 0; i < result->n_scores; i++)
        if (!strcmp(result->scores[i].key, key))
            return result->scores[i].value;
    return NAN;
}

/** Floats, as in FFmpeg's filter. */
static int set_metadata(AVFrame *frame, char name, float score)
{
    char key[32], value[64];

    snprintf(key, sizeof(key), "lavfi.xpsnr.xpsnr.%c", name);
    snprintf(value, sizeof(value), "%f", score);
    return av_dict_set(&frame->metadata, key, value, 0);
}

static int tell_frame(VMAFXXpsnr *xpsnr, AVFrame *frame, const VmafxFrameResult *result)
{
    int ret;

    if (xpsnr->stats)
        fprintf(xpsnr->stats, "n: %4"PRId64, result->frame + 1);
    for (int i = 0; i < xpsnr->nb; i++) {
        const double score = score_of(result, keys[xpsnr->planes[i]] + 1);

        if (frame && (ret = set_metadata(frame, xpsnr->names[i], score)) < 0)
            return ret;
        if (xpsnr->stats)
            fprintf(xpsnr->stats, "  XPSNR %c: %3.4f", xpsnr->names[i], score);
    }
    if (xpsnr->stats)
        fprintf(xpsnr->stats, "\n");
    return 0;
}

int ff_vmafx_xpsnr_frame(VMAFXXpsnr *xpsnr, AVFrame *frame, const VmafxFrameResult *result)
{
    SizeSignal held;
    int ret;

    hold_size_signal(&held);
    ret = tell_frame(xpsnr, frame, result);
    release_size_signal(&held);
    return ret;
}

static int score_of_stream(const VmafxContext *vmafx, const char *key, double *score)
{
    const char *name;
    int ret;

    for (int i = 0; (ret = vmafx_aggregate(vmafx, i, &name, score)) >= 0; i++)
        if (!strcmp(name, key))
            break;
    return ret;
}

/** On standard output FFmpeg's filter writes the first component alone, and no end of the line. */
static int end_stats(const VMAFXXpsnr *xpsnr, int64_t frames, const char *scores, int size_of_first)
{
    const int size = xpsnr->stats == stdout ? size_of_first : strlen(scores);
    SizeSignal held;
    int ret;

    errno = 0;
    hold_size_signal(&held);
    fprintf(xpsnr->stats, "\nXPSNR average, %"PRId64" frames%.*s", frames, size, scores);
    ret = fflush(xpsnr->stats) || ferror(xpsnr->stats) ? report_failure(xpsnr, "write") : 0;
    release_size_signal(&held);
    return ret;
}

int ff_vmafx_xpsnr_end(VMAFXXpsnr *xpsnr, const VmafxContext *vmafx, int64_t frames)
{
    char scores[256] = "";
    double score, least;
    int size_of_first, ret;

    for (int i = 0; i < xpsnr->nb; i++) {
        if ((ret = score_of_stream(vmafx, keys[xpsnr->planes[i]], &score)) < 0)
            return ret;
        av_strlcatf(scores, sizeof(scores), "  %c: %3.4f", xpsnr->names[i], score);
        size_of_first = i ? size_of_first : strlen(scores);
        least         = i ? FFMIN(least, score) : score;
    }
    if (xpsnr->nb > 1)
        av_strlcatf(scores, sizeof(scores), "  (minimum: %3.4f)", least);
    av_strlcatf(scores, sizeof(scores), "\n");

    if (xpsnr->stats && (ret = end_stats(xpsnr, frames, scores, size_of_first)) < 0)
        return ret;
    av_log(xpsnr->ctx, AV_LOG_INFO, "XPSNR%s", scores);
    return 0;
}

void ff_vmafx_xpsnr_close(VMAFXXpsnr *xpsnr)
{
    SizeSignal held;

    hold_size_signal(&held);
    if (xpsnr->stats && xpsnr->stats != stdout)
        fclose(xpsnr->stats);
    release_size_signal(&held);
    xpsnr->stats = NULL;
}
