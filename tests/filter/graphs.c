/* Builds graphs with the filter one after the other in one process, as programs other than ffmpeg do, or under the
 * names that ffmpeg gives the ends of its graphs.
 *
 *     graphs FILTER STEP…
 *
 * FILTER is the filter with its options. Steps, in order:
 *     own:WIDTHxHEIGHT      frees the graph, if there is one, and builds one for pictures of that size
 *     ffmpeg:WIDTHxHEIGHT   the same, with ends that are called as in ffmpeg's graph 0
 *     frames:FIRST:COUNT    sends both inputs COUNT pictures, the first at that 25th of a second, and takes what comes
 *                           out
 *     end                   ends both inputs and takes what comes out
 * The last graph is freed at the end. Prints what the filter logs; exits with 1 at the first step that fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>

static const char *const names[2][3] = {
  { "main", "reference", "out" },
  { "graph 0 input from stream 0:0", "graph 0 input from stream 1:0", "out_0_0" },
};

static AVFilterGraph *graph;
static AVFilterContext *source[2], *sink;
static int width, height;

static int build(const char *filter, int as_ffmpeg, int w, int h) {
  char *name = strdup(filter), *options = strchr(name, '='), size[64];
  AVFilterContext *scorer;
  int ret = 0;

  avfilter_graph_free(&graph);
  graph = avfilter_graph_alloc();
  width = w;
  height = h;
  if (options) *options++ = 0;
  snprintf(size, sizeof(size), "video_size=%dx%d:pix_fmt=0:time_base=1/25", w, h);
  for (int i = 0; i < 2 && ret >= 0; i++)
    ret = avfilter_graph_create_filter(&source[i], avfilter_get_by_name("buffer"), names[as_ffmpeg][i], size, NULL,
                                       graph);
  if (ret >= 0) ret = avfilter_graph_create_filter(&scorer, avfilter_get_by_name(name), "scorer", options, NULL, graph);
  if (ret >= 0)
    ret =
        avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), names[as_ffmpeg][2], NULL, NULL, graph);
  for (int i = 0; i < 2 && ret >= 0; i++) ret = avfilter_link(source[i], 0, scorer, i);
  if (ret >= 0) ret = avfilter_link(scorer, 0, sink, 0);
  if (ret >= 0) ret = avfilter_graph_config(graph, NULL);
  free(name);
  return ret;
}

static int push(int input, int n) {
  AVFrame *frame = av_frame_alloc();
  int ret;

  frame->format = AV_PIX_FMT_YUV420P;
  frame->width = width;
  frame->height = height;
  frame->pts = n;
  if ((ret = av_frame_get_buffer(frame, 0)) >= 0) {
    for (int plane = 0; plane < 3; plane++)
      for (int y = 0; y < (plane ? (height + 1) / 2 : height); y++)
        for (int x = 0; x < (plane ? (width + 1) / 2 : width); x++)
          frame->data[plane][y * frame->linesize[plane] + x] = (x * 3 + y * 5 + n * 7) & (input ? 255 : 240);
    ret = av_buffersrc_add_frame_flags(source[input], frame, AV_BUFFERSRC_FLAG_PUSH);
  }
  av_frame_free(&frame);
  return ret;
}

static int pull(void) {
  AVFrame *frame = av_frame_alloc();
  int ret;

  while ((ret = av_buffersink_get_frame(sink, frame)) >= 0) av_frame_unref(frame);
  av_frame_free(&frame);
  return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

static int send(int first, int count) {
  int ret = pull();

  for (int n = first; n < first + count && ret >= 0; n++) {
    for (int i = 0; i < 2 && ret >= 0; i++) ret = push(i, n);
    if (ret >= 0) ret = pull();
  }
  return ret;
}

static int end(void) {
  int ret = 0;

  for (int i = 0; i < 2 && ret >= 0; i++) ret = av_buffersrc_close(source[i], AV_NOPTS_VALUE, AV_BUFFERSRC_FLAG_PUSH);
  return ret < 0 ? ret : pull();
}

static int run(const char *filter, const char *step) {
  int a, b;

  if (sscanf(step, "own:%dx%d", &a, &b) == 2) return build(filter, 0, a, b);
  if (sscanf(step, "ffmpeg:%dx%d", &a, &b) == 2) return build(filter, 1, a, b);
  if (sscanf(step, "frames:%d:%d", &a, &b) == 2) return send(a, b);
  return strcmp(step, "end") ? AVERROR(EINVAL) : end();
}

int main(int argc, char **argv) {
  int ret = 0;

  for (int i = 2; i < argc && ret >= 0; i++)
    if ((ret = run(argv[1], argv[i])) < 0) fprintf(stderr, "%s failed: %s\n", argv[i], av_err2str(ret));
  avfilter_graph_free(&graph);
  return ret < 0;
}
