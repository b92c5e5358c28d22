/* A program that is made for Vship: client METRIC WIDTH HEIGHT SAMPLE SUBW SUBH RGB FPS FRAMES REF DIST scores raw
 * files and prints a line for each frame; client errors checks what wrong calls return. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/vship/abi.h"

#define assert(holds) \
  if (!(holds)) fprintf(stderr, "line %d: not true: %s\n", __LINE__, #holds), exit(1)

struct Clip {
  Vship_Colorspace_t color;
  long frames, frame_bytes, plane_bytes[3];
  int64_t stride[3];
  unsigned char* data;
};

static Vship_Colorspace_t color_of(char** words) {
  Vship_Colorspace_t color = {0};
  color.width = atoi(words[0]);
  color.height = atoi(words[1]);
  color.target_width = color.target_height = -1;
  color.sample = (Vship_Sample_t)atoi(words[2]);
  color.subsampling.subw = atoi(words[3]);
  color.subsampling.subh = atoi(words[4]);
  color.colorFamily = atoi(words[5]) ? Vship_ColorRGB : Vship_ColorYUV;
  color.range = atoi(words[5]) ? Vship_RangeFull : Vship_RangeLimited;
  color.YUVMatrix = Vship_MATRIX_BT709;
  color.transferFunction = Vship_TRC_BT709;
  color.primaries = Vship_PRIMARIES_BT709;
  return color;
}

static struct Clip read_clip(Vship_Colorspace_t color, long frames, const char* path) {
  struct Clip clip = {color, frames, 0, {0}, {0}, NULL};
  const int bytes = color.sample == Vship_SampleFLOAT ? 4 : color.sample == Vship_SampleUINT8 ? 1 : 2;
  for (int p = 0; p < 3; p++) {
    clip.stride[p] = (color.width >> (p ? color.subsampling.subw : 0)) * bytes;
    clip.plane_bytes[p] = clip.stride[p] * (color.height >> (p ? color.subsampling.subh : 0));
    clip.frame_bytes += clip.plane_bytes[p];
  }
  FILE* file = fopen(path, "rb");
  assert(file);
  assert(!Vship_PinnedMalloc((void**)&clip.data, clip.frame_bytes * frames));
  assert(fread(clip.data, clip.frame_bytes, frames, file) == (size_t)frames);
  fclose(file);
  return clip;
}

static void planes_of(const struct Clip* clip, long frame, const uint8_t* planes[3]) {
  planes[0] = clip->data + frame * clip->frame_bytes;
  planes[1] = planes[0] + clip->plane_bytes[0];
  planes[2] = planes[1] + clip->plane_bytes[1];
}

static void check(Vship_Exception error) {
  char words[1024];
  if (!error) return;
  Vship_GetDetailedLastError(words, sizeof(words));
  fprintf(stderr, "%d: %s\n", error, words);
  exit(1);
}

static void score_ssimu2(const struct Clip* ref, const struct Clip* dist) {
  Vship_SSIMU2Handler handler;
  check(Vship_SSIMU2Init(&handler, ref->color, dist->color));
  for (long n = 0; n < ref->frames; n++) {
    const uint8_t *a[3], *b[3];
    double score;
    planes_of(ref, n, a);
    planes_of(dist, n, b);
    check(Vship_ComputeSSIMU2(handler, &score, a, b, ref->stride, dist->stride));
    printf("%.17g\n", score);
  }
  check(Vship_SSIMU2Free(handler));
}

static void score_butteraugli(const struct Clip* ref, const struct Clip* dist) {
  Vship_ButteraugliHandler handler;
  check(Vship_ButteraugliInit2(&handler, ref->color, dist->color, 2, 203, 0));
  for (long n = 0; n < ref->frames; n++) {
    const uint8_t *a[3], *b[3];
    Vship_ButteraugliScore score;
    planes_of(ref, n, a);
    planes_of(dist, n, b);
    check(Vship_ComputeButteraugli(handler, &score, NULL, 0, a, b, ref->stride, dist->stride));
    printf("%.17g %.17g %.17g\n", score.normQ, score.norm3, score.norminf);
  }
  check(Vship_ButteraugliFree(handler));
}

static void score_cvvdp(const struct Clip* ref, const struct Clip* dist, float fps) {
  Vship_CVVDPHandler handler;
  check(Vship_CVVDPInit(&handler, ref->color, dist->color, fps, false, "standard_fhd"));
  for (int pass = 0; pass < 2; pass++) {
    for (long n = 0; n < ref->frames; n++) {
      const uint8_t *a[3], *b[3];
      double score;
      planes_of(ref, n, a);
      planes_of(dist, n, b);
      if (pass && n < 6) {
        check(Vship_LoadTemporalCVVDP(handler, a, b, ref->stride, dist->stride));
        continue;
      }
      check(Vship_ComputeCVVDP(handler, &score, NULL, 0, a, b, ref->stride, dist->stride));
      printf("%.17g\n", score);
    }
    check(Vship_ResetCVVDP(handler));
  }
  check(Vship_CVVDPFree(handler));
}

static void check_devices(void) {
  int count = 0;
  Vship_DeviceInfo info;
  const Vship_Version version = Vship_GetVersion();
  assert(version.major == 4 && version.minor == 1 && version.minorMinor == 0);
  assert(!Vship_GetDeviceCount(&count) && count > 0);
  assert(!Vship_GPUFullCheck(0) && !Vship_SetDevice(0));
  assert(!Vship_GetDeviceInfo(&info, 0) && info.name[0]);
  assert(Vship_GPUFullCheck(count) == Vship_BadDeviceArgument && Vship_SetDevice(-1) == Vship_BadDeviceArgument);
}

static void check_words(void) {
  char words[1024] = "", few[5];
  const int needed = Vship_GetErrorMessage(Vship_BadHandler, NULL, 0);
  assert(Vship_GetErrorMessage(Vship_BadHandler, words, sizeof(words)) == needed && (int)strlen(words) == needed - 1);
  assert(Vship_GetErrorMessage(Vship_BadHandler, few, 5) == needed && !strncmp(few, words, 4) && few[4] == 0);
  for (int error = 0; error <= 15; error++) assert(Vship_GetErrorMessage((Vship_Exception)error, words, 1024) > 10);
}

static void check_errors(void) {
  char* words[] = {"64", "64", "2", "1", "1", "0"};
  const Vship_Colorspace_t color = color_of(words);
  Vship_Colorspace_t other = color;
  Vship_SSIMU2Handler handler;
  Vship_CVVDPHandler cvvdp;
  char text[1024];
  other.width = 62;
  assert(Vship_SSIMU2Init(&handler, color, other) == Vship_DifferingInputType);
  assert(Vship_SSIMU2GetDetailedLastError(handler, text, sizeof(text)) > 1 && strstr(text, "62"));
  assert(!Vship_SSIMU2Free(handler) && Vship_SSIMU2Free(handler) == Vship_BadHandler);
  assert(Vship_SSIMU2GetDetailedLastError(handler, text, sizeof(text)) == 0);
  other = color;
  other.target_width = 128;
  assert(Vship_SSIMU2Init(&handler, color, other) == Vship_DifferingInputType);
  Vship_GetDetailedLastError(text, sizeof(text));
  assert(strstr(text, "does not resize"));
  assert(Vship_CVVDPInit(&cvvdp, color, color, 24, false, "a_wall") == Vship_BadDisplayModel);
  assert(Vship_CVVDPInit2(&cvvdp, color, color, 24, false, "a_wall", "/nowhere/file.json") == Vship_BadPath);
  assert(Vship_CVVDPInit(&cvvdp, color, color, 24, true, "standard_fhd") == Vship_DifferingInputType);
}

/* A crop leaves the samples that a program would have had to copy. */
static void check_crop(void) {
  static uint8_t samples[64 * 64], others[64 * 64];
  char* words[] = {"64", "64", "2", "0", "0", "0"};
  Vship_Colorspace_t whole = color_of(words), cropped = whole;
  const uint8_t *a[3] = {samples, samples, samples}, *b[3] = {others, others, others};
  const uint8_t *c[3], *d[3];
  const int64_t stride[3] = {64, 64, 64};
  Vship_SSIMU2Handler handler;
  double by_crop, by_pointer;
  for (int i = 0; i < 64 * 64; i++) samples[i] = 40 + i * 7 % 150, others[i] = samples[i] / 9 * 9;
  cropped.crop = (Vship_CropRectangle_t){8, 4, 16, 2};
  check(Vship_SSIMU2Init(&handler, cropped, cropped));
  check(Vship_ComputeSSIMU2(handler, &by_crop, a, b, stride, stride));
  check(Vship_SSIMU2Free(handler));
  whole.width = 64 - 18;
  whole.height = 64 - 12;
  for (int p = 0; p < 3; p++) c[p] = a[p] + 8 * 64 + 16, d[p] = b[p] + 8 * 64 + 16;
  check(Vship_SSIMU2Init(&handler, whole, whole));
  check(Vship_ComputeSSIMU2(handler, &by_pointer, c, d, stride, stride));
  check(Vship_SSIMU2Free(handler));
  assert(by_crop == by_pointer && by_crop < 100);
}

int main(int argc, char** argv) {
  if (argc == 2 && !strcmp(argv[1], "errors")) {
    check_devices();
    check_words();
    check_errors();
    check_crop();
    return 0;
  }
  assert(argc == 12);
  const Vship_Colorspace_t color = color_of(argv + 2);
  const long frames = atol(argv[9]);
  const struct Clip ref = read_clip(color, frames, argv[10]), dist = read_clip(color, frames, argv[11]);
  if (!strcmp(argv[1], "ssimu2")) score_ssimu2(&ref, &dist);
  else if (!strcmp(argv[1], "butteraugli")) score_butteraugli(&ref, &dist);
  else score_cvvdp(&ref, &dist, (float)atof(argv[8]));
  assert(!Vship_PinnedFree(ref.data) && !Vship_PinnedFree(dist.data));
  return 0;
}
