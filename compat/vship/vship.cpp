/* Vship's functions. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "compat/vship/abi.h"
#include "compat/vship/devices.h"
#include "compat/vship/features.h"
#include "compat/vship/handlers.h"

namespace {

using vship::Handler;
using vship::Sequence;
using vship::Stills;

vship::Handlers<Stills> ssimu2, butteraugli;
vship::Handlers<Sequence> cvvdp;

/* The last failure of any call, and the device that Init functions without one take. */
std::mutex last_mutex;
std::string last_message;
int last_device = 0;

Vship_Exception keep(Vship_Exception kind, const std::string& message) {
  const std::lock_guard lock(last_mutex);
  if (kind != Vship_NoError) last_message = message;
  return kind;
}

int chosen_device() {
  const std::lock_guard lock(last_mutex);
  return last_device;
}

int write_message(const std::string& message, char* out, int len) {
  if (out && len > 0) {
    const auto length = std::min(message.size(), static_cast<size_t>(len - 1));
    std::memcpy(out, message.data(), length);
    out[length] = '\0';
  }
  return static_cast<int>(message.size()) + 1;
}

const char* words_of(Vship_Exception exception) {
  switch (exception) {
    case Vship_NoError: return "NoError: the call did what it was asked to do";
    case Vship_OutOfVRAM: return "OutOfVRAM: the memory of the GPU is exhausted; open fewer handlers";
    case Vship_OutOfRAM: return "OutOfRAM: memory is exhausted";
    case Vship_HIPError: return "HIPError: the device or the library failed; the detailed message says how";
    case Vship_BadDisplayModel:
      return "BadDisplayModel: the display is not known; the detailed message lists those that are";
    case Vship_DifferingInputType: return "DifferingInputType: these pictures cannot be scored against each other";
    case Vship_NonRGBSInput: return "NonRGBSInput: the pictures could not be converted";
    case Vship_BadPath: return "BadPath: a file cannot be read";
    case Vship_BadJson: return "BadJson: a file does not describe displays";
    case Vship_DeviceCountError: return "DeviceCountError: the devices could not be found out";
    case Vship_NoDeviceDetected: return "NoDeviceDetected: nothing here can compute";
    case Vship_BadDeviceArgument: return "BadDeviceArgument: the number of a device is from 0 to their count less 1";
    case Vship_BadDeviceCode: return "BadDeviceCode: the device does not compute what it should";
    case Vship_BadHandler: return "BadHandler: no Init function returned this handler, or it was freed";
    case Vship_BadPointer: return "BadPointer: a pointer is null, or asks for what the library does not make";
    default: return "BadErrorType: the library does not return this number";
  }
}

/* -- Calls with a handler ------------------------------------------------------------------------------------------ */

template <class T>
Vship_Exception init(vship::Handlers<T>& all, unsigned* id, const Vship_Colorspace_t& ref,
                     const Vship_Colorspace_t& dist, const vship::Choice& choice) {
  try {
    auto handler = std::make_shared<T>(ref, dist);
    const Vship_Exception failure = handler->open(choice);
    const std::string message = handler->message();
    *id = all.add(std::move(handler));
    return keep(failure, message);
  } catch (const std::bad_alloc&) {
    return keep(Vship_OutOfRAM, "memory is exhausted");
  }
}

/* Calls use(handler), whose failure becomes the last one. */
template <class T, class Use>
Vship_Exception with(vship::Handlers<T>& all, unsigned id, Use use) {
  const std::shared_ptr<T> handler = all.find(id);
  if (!handler) return keep(Vship_BadHandler, words_of(Vship_BadHandler));
  try {
    return keep(use(*handler), handler->message());
  } catch (const std::bad_alloc&) {
    return keep(handler->fail(Vship_OutOfRAM, "memory is exhausted"), "memory is exhausted");
  }
}

template <class T>
Vship_Exception free_one(vship::Handlers<T>& all, unsigned id) {
  return all.remove(id) ? Vship_NoError : keep(Vship_BadHandler, words_of(Vship_BadHandler));
}

template <class T>
int detailed(vship::Handlers<T>& all, unsigned id, char* out, int len) {
  const std::shared_ptr<T> handler = all.find(id);
  if (handler) return write_message(handler->message(), out, len);
  keep(Vship_BadHandler, words_of(Vship_BadHandler));
  return 0;
}

Vship_Exception refuse_map(Handler& handler) {
  return handler.fail(Vship_BadPointer, "the library makes no map of distances; pass NULL for it");
}

/* The exception for a display that the library refuses: vmafx.h has no code for it, so its message tells. */
Vship_Exception cause_of(const std::string& message, const std::string& file) {
  if (message.find("there is no display") != std::string::npos) return Vship_BadDisplayModel;
  if (message.find("file of displays") == std::string::npos) return Vship_DifferingInputType;
  return std::ifstream(file) ? Vship_BadJson : Vship_BadPath;
}

}  // namespace

/* -- The library and its devices ----------------------------------------------------------------------------------- */

Vship_Version Vship_GetVersion(void) { return {4, 1, 0, Vship_HIP}; }

Vship_Exception Vship_GetDeviceCount(int* number) {
  *number = static_cast<int>(vship::devices().size());
  return Vship_NoError;
}

Vship_Exception Vship_GPUFullCheck(int gpu_id) {
  const int count = static_cast<int>(vship::devices().size());
  if (gpu_id >= 0 && gpu_id < count) return Vship_NoError;
  return keep(Vship_BadDeviceArgument, "device " + std::to_string(gpu_id) + " does not exist: there are " +
                                           std::to_string(count) + ", from 0 on");
}

Vship_Exception Vship_SetDevice(int gpu_id) {
  if (const auto failure = Vship_GPUFullCheck(gpu_id)) return failure;
  const std::lock_guard lock(last_mutex);
  last_device = gpu_id;
  return Vship_NoError;
}

Vship_Exception Vship_GetDeviceInfo(Vship_DeviceInfo* device_info, int gpu_id) {
  if (const auto failure = Vship_GPUFullCheck(gpu_id)) return failure;
  *device_info = vship::devices()[static_cast<size_t>(gpu_id)];
  return Vship_NoError;
}

/* The library copies what it is given, into memory that suits the device. */
Vship_Exception Vship_PinnedMalloc(void** ptr, uint64_t size) {
  *ptr = std::malloc(size);
  return *ptr ? Vship_NoError : keep(Vship_OutOfRAM, "memory is exhausted");
}

Vship_Exception Vship_PinnedFree(void* ptr) {
  std::free(ptr);
  return Vship_NoError;
}

int Vship_GetErrorMessage(Vship_Exception exception, char* out_message, int len) {
  return write_message(words_of(exception), out_message, len);
}

int Vship_GetDetailedLastError(char* out_message, int len) {
  const std::lock_guard lock(last_mutex);
  return write_message(last_message, out_message, len);
}

/* -- SSIMULACRA 2 -------------------------------------------------------------------------------------------------- */

Vship_Exception Vship_SSIMU2Init2(Vship_SSIMU2Handler* handler, Vship_Colorspace_t src_colorspace,
                                  Vship_Colorspace_t dis_colorspace, int gpu_id) {
  return init(ssimu2, &handler->id, src_colorspace, dis_colorspace, {.features = "name=ssimulacra2", .gpu_id = gpu_id});
}

Vship_Exception Vship_SSIMU2Init(Vship_SSIMU2Handler* handler, Vship_Colorspace_t src_colorspace,
                                 Vship_Colorspace_t dis_colorspace) {
  return Vship_SSIMU2Init2(handler, src_colorspace, dis_colorspace, chosen_device());
}

Vship_Exception Vship_SSIMU2Free(Vship_SSIMU2Handler handler) { return free_one(ssimu2, handler.id); }

Vship_Exception Vship_ComputeSSIMU2(Vship_SSIMU2Handler handler, double* score, const uint8_t* srcp1[3],
                                    const uint8_t* srcp2[3], const int64_t lineSize[3], const int64_t lineSize2[3]) {
  return with(ssimu2, handler.id, [&](Stills& metric) {
    return metric.compute({srcp1, srcp2, lineSize, lineSize2},
                          [&](const std::string&, double value) { *score = value; });
  });
}

int Vship_SSIMU2GetDetailedLastError(Vship_SSIMU2Handler handler, char* out_message, int len) {
  return detailed(ssimu2, handler.id, out_message, len);
}

/* -- Butteraugli --------------------------------------------------------------------------------------------------- */

Vship_Exception Vship_ButteraugliInit2(Vship_ButteraugliHandler* handler, Vship_Colorspace_t src_colorspace,
                                       Vship_Colorspace_t dis_colorspace, int Qnorm, float intensity_multiplier,
                                       int gpu_id) {
  const bool pq = src_colorspace.transferFunction == Vship_TRC_PQ;  // which says the light itself
  return init(butteraugli, &handler->id, src_colorspace, dis_colorspace,
              {.features = vship::butteraugli_features(Qnorm, pq ? 0 : intensity_multiplier), .gpu_id = gpu_id});
}

Vship_Exception Vship_ButteraugliInit(Vship_ButteraugliHandler* handler, Vship_Colorspace_t src_colorspace,
                                      Vship_Colorspace_t dis_colorspace, int Qnorm, float intensity_multiplier) {
  return Vship_ButteraugliInit2(handler, src_colorspace, dis_colorspace, Qnorm, intensity_multiplier, chosen_device());
}

Vship_Exception Vship_ButteraugliFree(Vship_ButteraugliHandler handler) { return free_one(butteraugli, handler.id); }

Vship_Exception Vship_ComputeButteraugli(Vship_ButteraugliHandler handler, Vship_ButteraugliScore* score,
                                         const uint8_t* dstp, int64_t, const uint8_t* srcp1[3], const uint8_t* srcp2[3],
                                         const int64_t lineSize[3], const int64_t lineSize2[3]) {
  return with(butteraugli, handler.id, [&](Stills& metric) {
    if (dstp) return refuse_map(metric);
    vship::ButteraugliScores scores;
    const auto failure = metric.compute({srcp1, srcp2, lineSize, lineSize2},
                                        [&](const std::string& key, double value) { scores.take(key, value); });
    if (!failure) *score = {scores.norm_q(), scores.norm3, scores.norm_inf};
    return failure;
  });
}

int Vship_ButteraugliGetDetailedLastError(Vship_ButteraugliHandler handler, char* out_message, int len) {
  return detailed(butteraugli, handler.id, out_message, len);
}

/* -- CVVDP --------------------------------------------------------------------------------------------------------- */

Vship_Exception Vship_CVVDPInit3(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                 Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                 const char* model_key_cstr, const char* model_config_json_cstr, int gpu_id) {
  const std::string model = model_key_cstr ? model_key_cstr : "";
  const std::string file = model_config_json_cstr ? model_config_json_cstr : "";
  const auto failure = init(cvvdp, &handler->id, src_colorspace, dis_colorspace,
                            {vship::cvvdp_features(model, file), fps, gpu_id, false});
  return with(cvvdp, handler->id, [&](Sequence& metric) {
    if (resizeToDisplay) return metric.fail(Vship_DifferingInputType, vship::kNoResizing);
    return failure == Vship_DifferingInputType ? cause_of(metric.message(), file) : failure;
  });
}

Vship_Exception Vship_CVVDPInit2(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                 Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                 const char* model_key_cstr, const char* model_config_json_cstr) {
  return Vship_CVVDPInit3(handler, src_colorspace, dis_colorspace, fps, resizeToDisplay, model_key_cstr,
                          model_config_json_cstr, chosen_device());
}

Vship_Exception Vship_CVVDPInit(Vship_CVVDPHandler* handler, Vship_Colorspace_t src_colorspace,
                                Vship_Colorspace_t dis_colorspace, float fps, bool resizeToDisplay,
                                const char* model_key_cstr) {
  return Vship_CVVDPInit2(handler, src_colorspace, dis_colorspace, fps, resizeToDisplay, model_key_cstr, nullptr);
}

Vship_Exception Vship_CVVDPFree(Vship_CVVDPHandler handler) { return free_one(cvvdp, handler.id); }

Vship_Exception Vship_CVVDPGetDistmapResolution(Vship_CVVDPHandler handler, int64_t* width, int64_t* height) {
  return with(cvvdp, handler.id, [&](Sequence& metric) {
    *width = metric.width();
    *height = metric.height();
    return Vship_NoError;
  });
}

Vship_Exception Vship_ResetCVVDP(Vship_CVVDPHandler handler) {
  return with(cvvdp, handler.id, [](Sequence& metric) { return metric.reset(); });
}

Vship_Exception Vship_ResetScoreCVVDP(Vship_CVVDPHandler handler) {
  return with(cvvdp, handler.id, [](Sequence& metric) {
    metric.reset_score();
    return Vship_NoError;
  });
}

Vship_Exception Vship_LoadTemporalCVVDP(Vship_CVVDPHandler handler, const uint8_t* srcp1[3], const uint8_t* srcp2[3],
                                        const int64_t lineSize[3], const int64_t lineSize2[3]) {
  return with(cvvdp, handler.id, [&](Sequence& metric) { return metric.load({srcp1, srcp2, lineSize, lineSize2}); });
}

Vship_Exception Vship_ComputeCVVDP(Vship_CVVDPHandler handler, double* score, const uint8_t* dstp, int64_t,
                                   const uint8_t* srcp1[3], const uint8_t* srcp2[3], const int64_t lineSize[3],
                                   const int64_t lineSize2[3]) {
  return with(cvvdp, handler.id, [&](Sequence& metric) {
    return dstp ? refuse_map(metric) : metric.compute({srcp1, srcp2, lineSize, lineSize2}, score);
  });
}

int Vship_CVVDPGetDetailedLastError(Vship_CVVDPHandler handler, char* out_message, int len) {
  return detailed(cvvdp, handler.id, out_message, len);
}
