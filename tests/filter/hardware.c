/* Runs the filter on frames in "GPU memory" that no decoder here can make: DRM PRIME frames, each a memory file in
 * place of a dma-buf. Surfaces are used again as soon as nobody refers to their frames any more, as a decoder does it.
 *
 *     hardware FILTER MAIN REFERENCE
 *
 * FILTER is the filter with its options. MAIN and REFERENCE say what each input is: host, drm, tiled (DRM PRIME with a
 * modifier of some GPU), foreign (of a DRM device elsewhere), big (in two objects, with room between the rows). The
 * frames are the same in all of these. cuda: frames of a CUDA context that nobody may use, to see what the filter would
 * do with it. Prints what the filter logs, then one line about the frames that came out and the descriptors that are
 * left. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <dirent.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/frame.h>
/* Two names are all that is needed of CUDA's own header; so it need not be there. */
#define CUDA_VERSION 0
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;

#include <libavutil/hwcontext.h>
#include <libavutil/hwcontext_cuda.h>
#include <libavutil/hwcontext_drm.h>
#include <libavutil/opt.h>

enum { WIDTH = 192, HEIGHT = 108, FRAMES = 12, MOST_SURFACES = 64 };

static const uint64_t tiled_modifier = 0x0200000000000001;

static void die(const char *what) {
  fprintf(stderr, "hardware: %s failed\n", what);
  exit(2);
}

static int checked(int ret, const char *what) {
  if (ret < 0) die(what);
  return ret;
}

/* Stands in for the C library's: /dev/null, number 1:3, seems to belong to a PCI device. libvmafx asks for that. */
ssize_t readlink(const char *path, char *target, size_t size) {
  static const char device[] = "../../../0000:0a:00.0";
  if (strcmp(path, "/sys/dev/char/1:3/device")) return readlinkat(AT_FDCWD, path, target, size);
  memcpy(target, device, sizeof(device) - 1);
  return sizeof(device) - 1;
}

static int open_descriptors(void) {
  DIR *dir = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(dir)) count++;
  closedir(dir);
  return count;
}

/* -- Surfaces ------------------------------------------------------------------------------------------------------ */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int fd, lent;
} surfaces[MOST_SURFACES];
static int n_surfaces;

/* A frame's descriptor, and which surfaces it is on. */
typedef struct Loan {
  AVDRMFrameDescriptor desc;
  int surface[AV_DRM_MAX_PLANES];
} Loan;

static int take_surface(size_t size) {
  int i = 0;
  pthread_mutex_lock(&lock);
  while (i < n_surfaces && surfaces[i].lent) i++;
  if (i == n_surfaces) {
    if (n_surfaces++ == MOST_SURFACES) die("giving surfaces back");
    surfaces[i].fd = checked(memfd_create("surface", MFD_CLOEXEC), "memfd_create");
  }
  surfaces[i].lent = 1;
  pthread_mutex_unlock(&lock);
  checked(ftruncate(surfaces[i].fd, size), "ftruncate");
  return i;
}

static void give_back(void *opaque, uint8_t *data) {
  Loan *loan = (Loan *)data;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < loan->desc.nb_objects; i++) {
    close(loan->desc.objects[i].fd);
    surfaces[loan->surface[i]].lent = 0;
  }
  pthread_mutex_unlock(&lock);
  free(loan);
}

static void write_rows(int fd, size_t offset, size_t pitch, const uint8_t *rows, int stride, int width, int height) {
  for (int y = 0; y < height; y++)
    if (pwrite(fd, rows + y * stride, width, offset + y * pitch) != width) die("pwrite");
}

/* The nv12 frame `host` on surfaces. */
static AVFrame *upload(const AVFrame *host, AVBufferRef *frames, const char *kind) {
  const int big = !strcmp(kind, "big"), objects = big ? 2 : 1, pitch = WIDTH + (big ? 70 : 0);
  const size_t luma = (size_t)pitch * HEIGHT, chroma = luma / 2;
  Loan *loan = calloc(1, sizeof(*loan));
  AVDRMFrameDescriptor *desc = &loan->desc;
  AVFrame *frame = av_frame_alloc();

  desc->nb_objects = objects;
  for (int i = 0; i < objects; i++) {
    loan->surface[i] = take_surface(luma + chroma);
    desc->objects[i].fd = checked(dup(surfaces[loan->surface[i]].fd), "dup");
    desc->objects[i].size = luma + chroma;
    desc->objects[i].format_modifier = strcmp(kind, "tiled") ? 0 : tiled_modifier;
  }
  desc->nb_layers = objects; /* one of two planes, or two of one */
  desc->layers[0].nb_planes = 3 - objects;
  desc->layers[0].planes[0] = (AVDRMPlaneDescriptor){ 0, 0, pitch };
  if (big) {
    desc->layers[1].nb_planes = 1;
    desc->layers[1].planes[0] = (AVDRMPlaneDescriptor){ 1, 0, pitch };
  } else {
    desc->layers[0].planes[1] = (AVDRMPlaneDescriptor){ 0, luma, pitch };
  }
  write_rows(desc->objects[0].fd, 0, pitch, host->data[0], host->linesize[0], WIDTH, HEIGHT);
  write_rows(desc->objects[objects - 1].fd, big ? 0 : luma, pitch, host->data[1], host->linesize[1], WIDTH, HEIGHT / 2);

  frame->format = AV_PIX_FMT_DRM_PRIME;
  frame->width = WIDTH;
  frame->height = HEIGHT;
  frame->pts = host->pts;
  frame->hw_frames_ctx = av_buffer_ref(frames);
  frame->buf[0] = av_buffer_create((uint8_t *)loan, sizeof(*loan), give_back, NULL, 0);
  frame->data[0] = (uint8_t *)desc;
  return frame;
}

/* The frames' context, of a device that is unknown (-1) or /dev/null. */
static AVBufferRef *drm_frames(const char *kind) {
  AVBufferRef *device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_DRM), *ref;
  AVHWFramesContext *frames;

  ((AVDRMDeviceContext *)((AVHWDeviceContext *)device->data)->hwctx)->fd =
      strcmp(kind, "foreign") ? -1 : open("/dev/null", O_RDONLY | O_CLOEXEC);
  checked(av_hwdevice_ctx_init(device), "av_hwdevice_ctx_init");
  ref = av_hwframe_ctx_alloc(device);
  frames = (AVHWFramesContext *)ref->data;
  frames->format = AV_PIX_FMT_DRM_PRIME;
  frames->sw_format = AV_PIX_FMT_NV12;
  frames->width = WIDTH;
  frames->height = HEIGHT;
  checked(av_hwframe_ctx_init(ref), "av_hwframe_ctx_init");
  av_buffer_unref(&device);
  return ref;
}

/* Frames of a CUDA context, without a driver: neither is ever initialized. */
static AVBufferRef *cuda_frames(void) {
  AVBufferRef *device = av_hwdevice_ctx_alloc(AV_HWDEVICE_TYPE_CUDA), *ref;
  AVHWFramesContext *frames;

  if (!device) die("a libavutil without CUDA");
  ((AVCUDADeviceContext *)((AVHWDeviceContext *)device->data)->hwctx)->cuda_ctx = (CUcontext)(uintptr_t)1;
  ref = av_hwframe_ctx_alloc(device);
  frames = (AVHWFramesContext *)ref->data;
  frames->format = AV_PIX_FMT_CUDA;
  frames->sw_format = AV_PIX_FMT_NV12;
  frames->width = WIDTH;
  frames->height = HEIGHT;
  av_buffer_unref(&device);
  return ref;
}

static enum AVPixelFormat format_of(const AVBufferRef *frames) {
  return frames ? ((const AVHWFramesContext *)frames->data)->format : AV_PIX_FMT_NV12;
}

static void close_device(AVBufferRef *frames) {
  const AVDRMDeviceContext *device = ((AVHWFramesContext *)frames->data)->device_ctx->hwctx;
  if (format_of(frames) == AV_PIX_FMT_DRM_PRIME && device->fd >= 0) close(device->fd);
}

/* A frame of such a context, which has no samples. */
static AVFrame *pretend_upload(const AVFrame *host, AVBufferRef *frames) {
  AVFrame *frame = av_frame_alloc();

  frame->format = AV_PIX_FMT_CUDA;
  frame->width = WIDTH;
  frame->height = HEIGHT;
  frame->pts = host->pts;
  frame->hw_frames_ctx = av_buffer_ref(frames);
  frame->buf[0] = av_buffer_alloc(1);
  for (int i = 0; i < 2; i++) {
    frame->data[i] = frame->buf[0]->data;
    frame->linesize[i] = WIDTH;
  }
  return frame;
}

/* -- Frames -------------------------------------------------------------------------------------------------------- */

static AVFrame *make_frame(int n, int distorted) {
  AVFrame *frame = av_frame_alloc();
  frame->format = AV_PIX_FMT_NV12;
  frame->width = WIDTH;
  frame->height = HEIGHT;
  frame->pts = n;
  checked(av_frame_get_buffer(frame, 0), "av_frame_get_buffer");
  for (int y = 0; y < HEIGHT * 3 / 2; y++) {
    uint8_t *row = y < HEIGHT ? frame->data[0] + y * frame->linesize[0]
                              : frame->data[1] + (y - HEIGHT) * frame->linesize[1];
    for (int x = 0; x < WIDTH; x++) {
      const uint32_t texture = (x * 7 + y * 5 + n * 11 + ((x * x + y * n) >> 3)) * 2654435761u >> 24;
      row[x] = distorted ? texture / 60 * 60 : texture;
    }
  }
  return frame;
}

/* -- The graph ----------------------------------------------------------------------------------------------------- */

typedef struct Input {
  const char *name, *kind;
  int distorted;
  AVBufferRef *frames; /* NULL: in host memory */
  AVFilterContext *source;
} Input;

static void open_input(AVFilterGraph *graph, Input *input) {
  AVBufferSrcParameters *par = av_buffersrc_parameters_alloc();
  if (!strcmp(input->kind, "cuda")) input->frames = cuda_frames();
  else if (strcmp(input->kind, "host")) input->frames = drm_frames(input->kind);
  input->source = avfilter_graph_alloc_filter(graph, avfilter_get_by_name("buffer"), input->name);
  par->format = format_of(input->frames);
  par->width = WIDTH;
  par->height = HEIGHT;
  par->time_base = (AVRational){ 1, 25 };
  par->hw_frames_ctx = input->frames;
  checked(av_buffersrc_parameters_set(input->source, par), "av_buffersrc_parameters_set");
  av_free(par);
  checked(avfilter_init_dict(input->source, NULL), "avfilter_init_dict");
}

static void push(Input *input, int n) {
  AVFrame *frame = make_frame(n, input->distorted);
  if (input->frames) {
    AVFrame *host = frame;
    frame =
        strcmp(input->kind, "cuda") ? upload(host, input->frames, input->kind) : pretend_upload(host, input->frames);
    av_frame_free(&host);
  }
  checked(av_buffersrc_add_frame(input->source, frame), "av_buffersrc_add_frame");
  av_frame_free(&frame);
}

/* Takes what has come out, and counts those that are as they went in. */
static int pull(AVFilterContext *sink, const Input *main, int *good) {
  AVFrame *frame = av_frame_alloc();
  int ret;
  while ((ret = av_buffersink_get_frame(sink, frame)) >= 0) {
    *good += frame->format == format_of(main->frames) &&
             !frame->hw_frames_ctx == !main->frames;
    av_frame_unref(frame);
  }
  av_frame_free(&frame);
  return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

static int run(const char *filter, Input inputs[2]) {
  AVFilterGraph *graph = avfilter_graph_alloc();
  AVFilterContext *scorer, *sink;
  char *name = strdup(filter), *options = strchr(name, '=');
  int good = 0, ret;

  if (options) *options++ = 0;
  for (int i = 0; i < 2; i++) open_input(graph, &inputs[i]);
  checked(avfilter_graph_create_filter(&scorer, avfilter_get_by_name(name), "scorer", options, NULL, graph),
          "the filter");
  checked(avfilter_graph_create_filter(&sink, avfilter_get_by_name("buffersink"), "sink", NULL, NULL, graph),
          "buffersink");
  for (int i = 0; i < 2; i++) checked(avfilter_link(inputs[i].source, 0, scorer, i), "avfilter_link");
  checked(avfilter_link(scorer, 0, sink, 0), "avfilter_link");
  ret = avfilter_graph_config(graph, NULL);
  for (int n = 0; n < FRAMES && ret >= 0; n++) {
    for (int i = 0; i < 2; i++) push(&inputs[i], n);
    ret = pull(sink, &inputs[0], &good);
  }
  for (int i = 0; i < 2 && ret >= 0; i++) ret = av_buffersrc_close(inputs[i].source, FRAMES, 0);
  if (ret >= 0) ret = pull(sink, &inputs[0], &good);
  avfilter_graph_free(&graph);
  free(name);
  return ret < 0 ? ret : good;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  Input inputs[2] = { { .name = "main", .kind = argv[2], .distorted = 1 }, { .name = "reference", .kind = argv[3] } };
  const int before = open_descriptors(), result = run(argv[1], inputs);

  for (int i = 0; i < 2; i++) {
    if (!inputs[i].frames) continue;
    close_device(inputs[i].frames);
    av_buffer_unref(&inputs[i].frames);
  }
  for (int i = 0; i < n_surfaces; i++) {
    if (surfaces[i].lent) die("giving a surface back");
    close(surfaces[i].fd);
  }
  if (result < 0) {
    fprintf(stderr, "error: %s\n", av_err2str(result));
    return 1;
  }
  fprintf(stderr, "%d frames came out as they went in, %d descriptors more than before\n", result,
          open_descriptors() - before);
  return 0;
}
