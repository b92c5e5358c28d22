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

#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/thread.h"
#include "vmafx_compat.h"
#include "vmafx_graph.h"

/** The name and the last times of a graph that was freed. */
typedef struct FreedGraph {
    struct FreedGraph *next;
    char *name;
    int64_t seen[VMAFX_MOST_INPUTS];
} FreedGraph;

static AVMutex lock = AV_MUTEX_INITIALIZER;
static FreedGraph *freed_graphs;

/** Takes one of that name out of the list, NULL: there is none. */
static FreedGraph *take_freed(const char *name)
{
    FreedGraph *found = NULL;

    ff_mutex_lock(&lock);
    for (FreedGraph **at = &freed_graphs; *at; at = &(*at)->next) {
        if (!strcmp((*at)->name, name)) {
            found = *at;
            *at   = found->next;
            break;
        }
    }
    ff_mutex_unlock(&lock);
    return found;
}

static void keep_freed(FreedGraph *graph)
{
    ff_mutex_lock(&lock);
    graph->next  = freed_graphs;
    freed_graphs = graph;
    ff_mutex_unlock(&lock);
}

static void forget(FreedGraph *graph)
{
    if (graph)
        av_freep(&graph->name);
    av_free(graph);
}

/* -- Names --------------------------------------------------------------------------------------------------------- */

static int is_input_of_ffmpeg(const AVFilterContext *filter)
{
    return !filter->nb_inputs && av_strstart(filter->name, "graph ", NULL) &&
           strstr(filter->name, " input from stream ");
}

/** @param name  allocated; NULL: ffmpeg has not built the graph */
static int find_name(char **name, const AVFilterContext *ctx)
{
    const AVFilterGraph *graph = ctx->graph;
    int from_ffmpeg = 0;
    AVBPrint text;

    *name = NULL;
    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (unsigned i = 0; i < graph->nb_filters; i++) {
        const AVFilterContext *filter = graph->filters[i];

        from_ffmpeg |= is_input_of_ffmpeg(filter);
        if (!filter->nb_inputs || !filter->nb_outputs)
            av_bprintf(&text, "%s\n", filter->name);
    }
    av_bprintf(&text, "%s", ctx->name);
    return av_bprint_finalize(&text, from_ffmpeg ? name : NULL);
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

static AVFilterLink *find_source(AVFilterLink *link)
{
    while (link->src->nb_inputs)
        link = link->src->inputs[0];
    return link;
}

int ff_vmafx_graph_begin(VMAFXGraph *graph, AVFilterContext *ctx)
{
    FreedGraph *before;
    int ret;

    if ((ret = find_name(&graph->name, ctx)) < 0)
        return ret;
    before = graph->name ? take_freed(graph->name) : NULL;
    graph->nb_inputs = ctx->nb_inputs;
    for (int i = 0; i < graph->nb_inputs; i++) {
        graph->source[i]      = find_source(ctx->inputs[i]);
        graph->seen[i]        = AV_NOPTS_VALUE;
        graph->seen_before[i] = before ? before->seen[i] : AV_NOPTS_VALUE;
    }
    forget(before);
    return 0;
}

int ff_vmafx_graph_follows(const VMAFXGraph *graph)
{
    for (int i = 0; i < graph->nb_inputs; i++)
        if (graph->seen_before[i] != AV_NOPTS_VALUE)
            return 1;
    return 0;
}

int ff_vmafx_graph_goes_on(VMAFXGraph *graph)
{
    int goes_on = 0;

    for (int i = 0; i < graph->nb_inputs; i++) {
        AVFilterLink *source = graph->source[i];
        const int64_t time = VMAFX_LINK(source)->frame_count_out ? VMAFX_LINK(source)->current_pts_us : AV_NOPTS_VALUE;
        const int is_first = graph->seen[i] == AV_NOPTS_VALUE && time != AV_NOPTS_VALUE;

        goes_on |= is_first && graph->seen_before[i] != AV_NOPTS_VALUE && time > graph->seen_before[i];
        graph->seen[i] = time;
    }
    return goes_on;
}

void ff_vmafx_graph_end(VMAFXGraph *graph)
{
    FreedGraph *freed = graph->name ? av_mallocz(sizeof(*freed)) : NULL;

    if (freed) {
        freed->name = graph->name;
        graph->name = NULL;
        /* A graph that no frame has entered stands for the one before it. */
        for (int i = 0; i < graph->nb_inputs; i++)
            freed->seen[i] = graph->seen[i] != AV_NOPTS_VALUE ? graph->seen[i] : graph->seen_before[i];
        keep_freed(freed);
    }
    av_freep(&graph->name);
}
