/* Vship's C interface, version 4.1.0: the names, values, layouts and calls of its VshipAPI.h and VshipColor.h.
 *
 * Programs are compiled with Vship's own headers; this one is for the sources of this library and for tests, in C, too.
 * Functions return Vship_NoError or another Vship_Exception, unless they say otherwise. */
#ifndef COMPAT_VSHIP_ABI_H
#define COMPAT_VSHIP_ABI_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __GNUC__
#define VSHIP_API __attribute__((visibility("default")))
#else
#define VSHIP_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { Vship_HIP = 0, Vship_Cuda = 1 } Vship_Backend;

typedef enum {
  Vship_NoError = 0,
  Vship_OutOfVRAM = 1,
  Vship_OutOfRAM = 2,
  Vship_BadDisplayModel = 3,
  Vship_DifferingInputType = 4,
  Vship_NonRGBSInput = 5,
  Vship_DeviceCountError = 6,
  Vship_NoDeviceDetected = 7,
  Vship_BadDeviceArgument = 8,
  Vship_BadDeviceCode = 9,
  Vship_BadHandler = 10,
  Vship_BadPointer = 11,
  Vship_HIPError = 12,
  Vship_BadPath = 13,
  Vship_BadJson = 14,
  Vship_BadErrorType = 15,
} Vship_Exception;

/* -- Pictures ------------------------------------------------------------------------------------------------------ */

typedef enum {
  Vship_SampleFLOAT = 0,
  Vship_SampleHALF = 1,
  Vship_SampleUINT8 = 2,
  Vship_SampleUINT9 = 3,
  Vship_SampleUINT10 = 5,
  Vship_SampleUINT12 = 7,
  Vship_SampleUINT14 = 9,
  Vship_SampleUINT16 = 11,
} Vship_Sample_t;

typedef enum { Vship_RangeLimited = 0, Vship_RangeFull = 1 } Vship_Range_t;
typedef enum { Vship_ColorYUV = 0, Vship_ColorRGB = 1 } Vship_ColorFamily_t;
typedef enum {
  Vship_ChromaLoc_Left = 0,
  Vship_ChromaLoc_Center = 1,
  Vship_ChromaLoc_TopLeft = 2,
  Vship_ChromaLoc_Top = 3,
} Vship_ChromaLocation_t;

/* Code points of ITU-T H.273. */
typedef enum {
  Vship_MATRIX_RGB = 0,
  Vship_MATRIX_BT709 = 1,
  Vship_MATRIX_BT470_BG = 5,
  Vship_MATRIX_ST170_M = 6,
  Vship_MATRIX_BT2020_NCL = 9,
  Vship_MATRIX_BT2020_CL = 10,
  Vship_MATRIX_BT2100_ICTCP = 14,
} Vship_YUVMatrix_t;
typedef enum {
  Vship_TRC_BT709 = 1,
  Vship_TRC_BT470_M = 4,
  Vship_TRC_BT470_BG = 5,
  Vship_TRC_BT601 = 6,
  Vship_TRC_ST240_M = 7,
  Vship_TRC_Linear = 8,
  Vship_TRC_sRGB = 13,
  Vship_TRC_PQ = 16,
  Vship_TRC_ST428 = 17,
  Vship_TRC_HLG = 18,
} Vship_TransferFunction_t;
typedef enum {
  Vship_PRIMARIES_INTERNAL = -1,
  Vship_PRIMARIES_BT709 = 1,
  Vship_PRIMARIES_BT470_M = 4,
  Vship_PRIMARIES_BT470_BG = 5,
  Vship_PRIMARIES_ST170_M = 6,
  Vship_PRIMARIES_ST240_M = 7,
  Vship_PRIMARIES_BT2020 = 9,
} Vship_Primaries_t;

typedef struct {
  int subw, subh; /* the binary logarithms of how many luma samples have one chroma sample */
} Vship_ChromaSubsample_t;
typedef struct {
  int top, bottom, left, right;
} Vship_CropRectangle_t;

typedef struct {
  int64_t width, height;
  int64_t target_width, target_height; /* before the crop; -1: those of the picture */
  Vship_Sample_t sample;
  Vship_Range_t range;
  Vship_ChromaSubsample_t subsampling;
  Vship_ChromaLocation_t chromaLocation;
  Vship_ColorFamily_t colorFamily;
  Vship_YUVMatrix_t YUVMatrix;
  Vship_TransferFunction_t transferFunction;
  Vship_Primaries_t primaries;
  Vship_CropRectangle_t crop;
} Vship_Colorspace_t;

/* -- The library and its devices ----------------------------------------------------------------------------------- */

typedef struct {
  int major, minor, minorMinor;
  Vship_Backend backend;
} Vship_Version;

typedef struct {
  char name[256];
  uint64_t VRAMSize; /* bytes */
  int integrated;
  int MultiProcessorCount;
  int WarpSize;
} Vship_DeviceInfo;

VSHIP_API Vship_Version Vship_GetVersion(void);
VSHIP_API Vship_Exception Vship_GetDeviceCount(int* number);
VSHIP_API Vship_Exception Vship_SetDevice(int gpu_id);
VSHIP_API Vship_Exception Vship_GetDeviceInfo(Vship_DeviceInfo* device_info, int gpu_id);
VSHIP_API Vship_Exception Vship_GPUFullCheck(int gpu_id);
VSHIP_API Vship_Exception Vship_PinnedMalloc(void** ptr, uint64_t size);
VSHIP_API Vship_Exception Vship_PinnedFree(void* ptr);

/* The functions of messages return the bytes that a message needs, with its final zero, and write what `len` allows. */
VSHIP_API int Vship_GetErrorMessage(Vship_Exception exception, char* out_message, int len);
VSHIP_API int Vship_GetDetailedLastError(char* out_message, int len);

/* -- The metrics --------------------------------------------------------------------------------------------------- */

typedef struct {
  unsigned int id;
} Vship_SSIMU2Handler;
typedef struct {
  unsigned int id;
} Vship_ButteraugliHandler;
typedef struct {
  unsigned int id;
} Vship_CVVDPHandler;
typedef struct {
  double normQ, norm3, norminf;
} Vship_ButteraugliScore;

VSHIP_API Vship_Exception Vship_SSIMU2Init(Vship_SSIMU2Handler* handler, Vship_Colorspace_t src_colorspace,
                                           Vship_Colorspace_t dis_colorspace);
VSHIP_API Vship_Exception Vship_SSIMU2Init2(Vship_SSIMU2Handler* handler, Vship_Colorspace_t src_colorspace,
                                            Vship_Colorspace_t dis_colorspace, int gpu_id);
VSHIP_API Vship_Exception Vship_SSIMU2Free(Vship_SSIMU2Handler handler);
VSHIP_API Vship_Exception Vship_ComputeSSIMU2(Vship_SSIMU2Handler handler, double* score, const uint8_t* srcp1[3],
                                              const uint8_t* srcp2[3], const int64_t lineSize[3],
                                              const int64_t lineSize2[3]);
VSHIP_API int Vship_SSIMU2GetDetailedLastError(Vship_SSIMU2Handler handler, char* out_message, int len);

VSHIP_API Vship_Exception Vship_ButteraugliInit(Vship_ButteraugliHandler* handler, Vship_Colorspace_t src_colorspace,
                                                Vship_Colorspace_t dis_colorspace, int Qnorm,
                                                float intensity_multiplier);
VSHIP_API Vship_Exception Vship_ButteraugliInit2(Vship_ButteraugliHandler* handler, Vship_Colorspace_t src_colorspace,
                                                 Vship_Colorspace_t dis_colorspace, int Qnorm,
                                                 float intensity_multiplier, int gpu_id);
VSHIP_API Vship_Exception Vship_ButteraugliFree(Vship_ButteraugliHandler handler);
VSHIP_API Vship_Exception Vship_ComputeButteraugli(Vship_ButteraugliHandler handler, Vship_ButteraugliScore* score,
                                                   const uint8_t* dstp, int64_t dststride, const uint8_t* srcp1[3],
                                                   const uint8_t* srcp2[3], const int64_t lineSize[3],
                                                   const int64_t lineSize2[3]);
VSHIP_API int Vship_ButteraugliGetDetailedLastError(Vship_ButteraugliHandler handler, char* out_message, int len);

VSHIP_API Vship_Exception Vship_CVVDPInit(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                          Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                          const char* model_key_cstr);
VSHIP_API Vship_Exception Vship_CVVDPInit2(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                           Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                           const char* model_key_cstr, const char* model_config_json_cstr);
VSHIP_API Vship_Exception Vship_CVVDPInit3(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                           Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                           const char* model_key_cstr, const char* model_config_json_cstr, int gpu_id);
VSHIP_API Vship_Exception Vship_CVVDPFree(Vship_CVVDPHandler handler);
VSHIP_API Vship_Exception Vship_CVVDPGetDistmapResolution(Vship_CVVDPHandler handler, int64_t* width, int64_t* height);
VSHIP_API Vship_Exception Vship_ResetCVVDP(Vship_CVVDPHandler handler);
VSHIP_API Vship_Exception Vship_ResetScoreCVVDP(Vship_CVVDPHandler handler);
VSHIP_API Vship_Exception Vship_LoadTemporalCVVDP(Vship_CVVDPHandler handler, const uint8_t* srcp1[3],
                                                  const uint8_t* srcp2[3], const int64_t lineSize[3],
                                                  const int64_t lineSize2[3]);
VSHIP_API Vship_Exception Vship_ComputeCVVDP(Vship_CVVDPHandler handler, double* score, const uint8_t* dstp,
                                             int64_t dststride, const uint8_t* srcp1[3], const uint8_t* srcp2[3],
                                             const int64_t lineSize[3], const int64_t lineSize2[3]);
VSHIP_API int Vship_CVVDPGetDetailedLastError(Vship_CVVDPHandler handler, char* out_message, int len);

#ifdef __cplusplus
}
#endif

#endif
