/* Runs a graph whose filters may fail, as a program does that goes on after an error: it asks for more until the graph
 * has ended, or failed too often.
 *
 *     failing_graph GRAPH
 *
 * GRAPH has its sources and its buffersinks. Prints what the filters log, and a line for each error; exits with 1 if
 * there was one. */
#include <stdio.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>

enum { kMostErrors = 20 };

int main(int argc, char **argv) {
  AVFilterGraph *graph = avfilter_graph_alloc();
  AVFilterInOut *inputs = NULL, *outputs = NULL;
  AVFrame *frame = av_frame_alloc();
  int ret = AVERROR(EINVAL), errors = 0, ended = 0, sinks = 0;

  if (argc == 2) ret = avfilter_graph_parse2(graph, argv[1], &inputs, &outputs);
  if (ret >= 0) ret = avfilter_graph_config(graph, NULL);
  if (ret < 0) return fprintf(stderr, "error: %s\n", av_err2str(ret)), 1;
  for (unsigned i = 0; i < graph->nb_filters; i++) sinks += graph->filters[i]->nb_outputs == 0;
  while (errors < kMostErrors && ended < sinks) {
    ended = 0;
    for (unsigned i = 0; i < graph->nb_filters; i++) {
      if (graph->filters[i]->nb_outputs) continue;
      ret = av_buffersink_get_frame(graph->filters[i], frame);
      av_frame_unref(frame);
      if (ret == AVERROR_EOF) ended++;
      else if (ret < 0) errors += fprintf(stderr, "error: %s\n", av_err2str(ret)) > 0;
    }
  }
  av_frame_free(&frame);
  avfilter_graph_free(&graph);
  return errors > 0;
}
