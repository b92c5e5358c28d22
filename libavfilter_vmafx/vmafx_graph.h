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
 * Whether a graph goes on where another one broke off.
 *
 * When an input changes its size or format in mid-stream, ffmpeg frees the graph and builds it anew with the same text.
 * The filter that comes then sees the rest of the stream only, and would report on it as if it were the whole. Nothing
 * in libavfilter outlives the graph; so what is needed to know it again is kept beside it, for each filter of each
 * graph.
 *
 * A graph is known by the names that ffmpeg gives its ends ("graph 0 input from stream 0:0", "out_0_0"), which are
 * those of one graph in one run only, and by the time of the frames that enter it: in a graph that was built anew, the
 * frames of an input are later than those before; in another run in the same process they start again. How much time
 * passes in between does not matter. Graphs of other programs, whose ends have other names, are never taken for one
 * another.
 */

#ifndef AVFILTER_VMAFX_GRAPH_H
#define AVFILTER_VMAFX_GRAPH_H

#include "avfilter.h"

#define VMAFX_MOST_INPUTS 17    ///< inputs of the filter

typedef struct VMAFXGraph {
    char *name;                 ///< made of the graph's ends and this filter; NULL: ffmpeg has not built it
    int nb_inputs;              ///< inputs of the filter
    AVFilterLink *source[VMAFX_MOST_INPUTS];    ///< links by which the inputs' frames enter the graph
    int64_t seen[VMAFX_MOST_INPUTS];            ///< time of the last frame that entered there, in microseconds
    int64_t seen_before[VMAFX_MOST_INPUTS];     ///< the same, in the graph before this one
} VMAFXGraph;

/** To be called when the graph is configured. */
int ff_vmafx_graph_begin(VMAFXGraph *graph, AVFilterContext *ctx);

/** Whether there was a graph of that name before. */
int ff_vmafx_graph_follows(const VMAFXGraph *graph);

/**
 * Take notice of the frames that have entered the graph. To be called at each activation.
 *
 * @return  whether they follow those of an earlier graph, which was freed before its end
 */
int ff_vmafx_graph_goes_on(VMAFXGraph *graph);

/** To be called when the filter is freed; keeps what was seen for the next graph of the name. */
void ff_vmafx_graph_end(VMAFXGraph *graph);

#endif /* AVFILTER_VMAFX_GRAPH_H */
