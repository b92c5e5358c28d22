/* A Vulkan layer under the filter: it counts what is made on the device, makes a call fail, and says where the device
 * is. Variables of the environment:
 *
 *     VULKAN_FAIL=NAME[:K]   the K-th call of that function fails (vkAllocateMemory, vkGetMemoryFdKHR, vkCreateBuffer,
 *                            vkCreateSemaphore, vkCreateCommandPool, vkAllocateCommandBuffers, vkQueueSubmit,
 *                            vkBeginCommandBuffer); calls that are not the filter's count, too
 *     VULKAN_PCI=DDDD:BB:DD.F  the device has VK_EXT_pci_bus_info, and is there
 *     VULKAN_NO_EXPORT=1     buffers are not exported
 *
 * When the device goes, prints "vulkan: N of NAME left" for each kind of thing that is left on it, and
 * "vulkan: N copies to the host, M on the device": buffers that images were copied to, exported ones apart. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

#define EXPORT __attribute__((visibility("default")))

/* One instance and one device, as ffmpeg has them. */
static PFN_vkGetInstanceProcAddr next_instance;
static PFN_vkGetDeviceProcAddr next_device;
static VkInstance instance;
/* Asked for while the instance is made: later the loader may answer with the first layer's, which is this one's. */
static PFN_vkGetPhysicalDeviceProperties2 next_properties;
static PFN_vkEnumerateDeviceExtensionProperties next_extensions;
static PFN_vkGetPhysicalDeviceExternalBufferProperties next_external_buffers;
static VkDevice device;
static atomic_int buffers, memories, semaphores, pools, to_host, on_device;
static VkBuffer exported[4096];
static atomic_int n_exported;

/* -- Failures ------------------------------------------------------------------------------------------------------ */

static int fails(const char* name) {
  static atomic_int calls;
  const char *plan = getenv("VULKAN_FAIL"), *number = plan ? strchr(plan, ':') : NULL;
  const size_t length = number ? (size_t)(number - plan) : plan ? strlen(plan) : 0;
  if (!plan || length != strlen(name) || strncmp(plan, name, length)) return 0;
  return atomic_fetch_add(&calls, 1) + 1 == (number ? atoi(number + 1) : 1);
}

#define NEXT(name) ((PFN_##name)next_device(device, #name))
#define FAIL(name) \
  if (fails(#name)) return VK_ERROR_OUT_OF_DEVICE_MEMORY

/* -- Things on the device ------------------------------------------------------------------------------------------ */

static VKAPI_ATTR VkResult VKAPI_CALL create_buffer(VkDevice d, const VkBufferCreateInfo* info,
                                                    const VkAllocationCallbacks* alloc, VkBuffer* buffer) {
  FAIL(vkCreateBuffer);
  const VkResult ret = NEXT(vkCreateBuffer)(d, info, alloc, buffer);
  const VkBaseInStructure* next = info->pNext;
  if (ret) return ret;
  buffers++;
  for (; next; next = next->pNext)
    if (next->sType == VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO &&
        ((const VkExternalMemoryBufferCreateInfo*)next)->handleTypes & VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT)
      exported[n_exported++ % 4096] = *buffer;
  return ret;
}

static VKAPI_ATTR void VKAPI_CALL destroy_buffer(VkDevice d, VkBuffer buffer, const VkAllocationCallbacks* alloc) {
  if (buffer) buffers--;
  for (int i = 0; i < n_exported && i < 4096; i++)
    if (exported[i] == buffer) exported[i] = VK_NULL_HANDLE;
  NEXT(vkDestroyBuffer)(d, buffer, alloc);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice d, const VkMemoryAllocateInfo* info,
                                                      const VkAllocationCallbacks* alloc, VkDeviceMemory* memory) {
  FAIL(vkAllocateMemory);
  const VkResult ret = NEXT(vkAllocateMemory)(d, info, alloc, memory);
  memories += !ret;
  return ret;
}

static VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice d, VkDeviceMemory memory, const VkAllocationCallbacks* alloc) {
  if (memory) memories--;
  NEXT(vkFreeMemory)(d, memory, alloc);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_semaphore(VkDevice d, const VkSemaphoreCreateInfo* info,
                                                       const VkAllocationCallbacks* alloc, VkSemaphore* semaphore) {
  FAIL(vkCreateSemaphore);
  const VkResult ret = NEXT(vkCreateSemaphore)(d, info, alloc, semaphore);
  semaphores += !ret;
  return ret;
}

static VKAPI_ATTR void VKAPI_CALL destroy_semaphore(VkDevice d, VkSemaphore semaphore,
                                                    const VkAllocationCallbacks* alloc) {
  if (semaphore) semaphores--;
  NEXT(vkDestroySemaphore)(d, semaphore, alloc);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_pool(VkDevice d, const VkCommandPoolCreateInfo* info,
                                                  const VkAllocationCallbacks* alloc, VkCommandPool* pool) {
  FAIL(vkCreateCommandPool);
  const VkResult ret = NEXT(vkCreateCommandPool)(d, info, alloc, pool);
  pools += !ret;
  return ret;
}

static VKAPI_ATTR void VKAPI_CALL destroy_pool(VkDevice d, VkCommandPool pool, const VkAllocationCallbacks* alloc) {
  if (pool) pools--;
  NEXT(vkDestroyCommandPool)(d, pool, alloc);
}

/* -- Calls that only fail, or are counted -------------------------------------------------------------------------- */

static VKAPI_ATTR VkResult VKAPI_CALL get_memory_fd(VkDevice d, const VkMemoryGetFdInfoKHR* info, int* fd) {
  FAIL(vkGetMemoryFdKHR);
  return NEXT(vkGetMemoryFdKHR)(d, info, fd);
}

static VKAPI_ATTR VkResult VKAPI_CALL allocate_commands(VkDevice d, const VkCommandBufferAllocateInfo* info,
                                                        VkCommandBuffer* commands) {
  FAIL(vkAllocateCommandBuffers);
  return NEXT(vkAllocateCommandBuffers)(d, info, commands);
}

static VKAPI_ATTR VkResult VKAPI_CALL begin_commands(VkCommandBuffer commands, const VkCommandBufferBeginInfo* info) {
  FAIL(vkBeginCommandBuffer);
  return NEXT(vkBeginCommandBuffer)(commands, info);
}

static VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t n, const VkSubmitInfo* info, VkFence fence) {
  FAIL(vkQueueSubmit);
  return NEXT(vkQueueSubmit)(queue, n, info, fence);
}

static VKAPI_ATTR void VKAPI_CALL copy_image(VkCommandBuffer commands, VkImage image, VkImageLayout layout,
                                             VkBuffer buffer, uint32_t n, const VkBufferImageCopy* regions) {
  int is_exported = 0;
  for (int i = 0; i < n_exported && i < 4096; i++) is_exported |= exported[i] == buffer;
  if (is_exported) on_device++;
  else to_host++;
  NEXT(vkCmdCopyImageToBuffer)(commands, image, layout, buffer, n, regions);
}

/* -- Facts of the device ------------------------------------------------------------------------------------------- */

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice gpu, VkPhysicalDeviceProperties2* properties) {
  const char* place = getenv("VULKAN_PCI");
  VkBaseOutStructure* next = properties->pNext;
  next_properties(gpu, properties);
  for (; place && next; next = next->pNext) {
    VkPhysicalDevicePCIBusInfoPropertiesEXT* pci = (void*)next;
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT)
      sscanf(place, "%x:%x:%x.%x", &pci->pciDomain, &pci->pciBus, &pci->pciDevice, &pci->pciFunction);
  }
}

/* Without the extension by which FFmpeg 5.1 uploads from where samples lie: on llvmpipe some first frames come out
 * wrong by it, downloaded by FFmpeg itself, too. With the place, if there is one. */
static VKAPI_ATTR VkResult VKAPI_CALL list_extensions(VkPhysicalDevice gpu, const char* layer, uint32_t* n,
                                                      VkExtensionProperties* all) {
  VkExtensionProperties found[512];
  uint32_t n_found = 511, kept = 0;
  const VkResult ret = next_extensions(gpu, layer, &n_found, found);
  if (ret != VK_SUCCESS) return ret;
  for (uint32_t i = 0; i < n_found; i++)
    if (strcmp(found[i].extensionName, VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) found[kept++] = found[i];
  if (getenv("VULKAN_PCI") && !layer) found[kept++] = (VkExtensionProperties){VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, 2};
  if (all) {
    kept = kept < *n ? kept : *n;
    memcpy(all, found, kept * sizeof(*all));
  }
  *n = kept;
  return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL get_external_buffers(VkPhysicalDevice gpu,
                                                       const VkPhysicalDeviceExternalBufferInfo* info,
                                                       VkExternalBufferProperties* properties) {
  next_external_buffers(gpu, info, properties);
  if (getenv("VULKAN_NO_EXPORT")) properties->externalMemoryProperties.externalMemoryFeatures = 0;
}

/* -- The chain ----------------------------------------------------------------------------------------------------- */

/* The loader's link to the next layer, and out of the chain with it. */
static void* link_of(const void* chain, VkStructureType type) {
  const VkLayerInstanceCreateInfo* info = chain; /* that of a device begins alike */
  while (info && (info->sType != type || info->function != VK_LAYER_LINK_INFO)) info = info->pNext;
  return (void*)info;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                                      const VkAllocationCallbacks* alloc, VkInstance* made) {
  VkLayerInstanceCreateInfo* link = link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
  next_instance = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult ret = ((PFN_vkCreateInstance)next_instance(NULL, "vkCreateInstance"))(info, alloc, made);
  if (ret) return ret;
  instance = *made;
#define FIND(function, name) function = (PFN_##name)next_instance(instance, #name)
  FIND(next_properties, vkGetPhysicalDeviceProperties2);
  FIND(next_extensions, vkEnumerateDeviceExtensionProperties);
  FIND(next_external_buffers, vkGetPhysicalDeviceExternalBufferProperties);
  return ret;
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice gpu, const VkDeviceCreateInfo* info,
                                                    const VkAllocationCallbacks* alloc, VkDevice* made) {
  VkLayerDeviceCreateInfo* link = link_of(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
  next_device = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
  const PFN_vkGetInstanceProcAddr next = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
  link->u.pLayerInfo = link->u.pLayerInfo->pNext;
  const VkResult ret = ((PFN_vkCreateDevice)next(instance, "vkCreateDevice"))(gpu, info, alloc, made);
  device = *made;
  return ret;
}

static void tell(const char* name, int left) {
  if (left) fprintf(stderr, "vulkan: %d of %s left\n", left, name);
}

static VKAPI_ATTR void VKAPI_CALL destroy_device(VkDevice d, const VkAllocationCallbacks* alloc) {
  tell("buffers", buffers);
  tell("memories", memories);
  tell("semaphores", semaphores);
  tell("command pools", pools);
  fprintf(stderr, "vulkan: %d copies to the host, %d on the device\n", to_host, on_device);
  NEXT(vkDestroyDevice)(d, alloc);
}

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_get_instance(VkInstance of, const char* name);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL layer_get_device(VkDevice of, const char* name);

static PFN_vkVoidFunction own(const char* name) {
  static const struct {
    const char* name;
    PFN_vkVoidFunction function;
  } all[] = {
#define OWN(name, function) {#name, (PFN_vkVoidFunction)function}
      OWN(vkGetInstanceProcAddr, layer_get_instance),
      OWN(vkGetDeviceProcAddr, layer_get_device),
      OWN(vkCreateInstance, create_instance),
      OWN(vkCreateDevice, create_device),
      OWN(vkDestroyDevice, destroy_device),
      OWN(vkGetPhysicalDeviceProperties2, get_properties),
      OWN(vkEnumerateDeviceExtensionProperties, list_extensions),
      OWN(vkGetPhysicalDeviceExternalBufferProperties, get_external_buffers),
      OWN(vkCreateBuffer, create_buffer),
      OWN(vkDestroyBuffer, destroy_buffer),
      OWN(vkAllocateMemory, allocate_memory),
      OWN(vkFreeMemory, free_memory),
      OWN(vkCreateSemaphore, create_semaphore),
      OWN(vkDestroySemaphore, destroy_semaphore),
      OWN(vkCreateCommandPool, create_pool),
      OWN(vkDestroyCommandPool, destroy_pool),
      OWN(vkGetMemoryFdKHR, get_memory_fd),
      OWN(vkAllocateCommandBuffers, allocate_commands),
      OWN(vkBeginCommandBuffer, begin_commands),
      OWN(vkQueueSubmit, queue_submit),
      OWN(vkCmdCopyImageToBuffer, copy_image),
  };
  for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
    if (!strcmp(all[i].name, name)) return all[i].function;
  return NULL;
}

PFN_vkVoidFunction layer_get_instance(VkInstance of, const char* name) {
  const PFN_vkVoidFunction function = own(name);
  return function || !next_instance ? function : next_instance(of, name);
}

PFN_vkVoidFunction layer_get_device(VkDevice of, const char* name) {
  const PFN_vkVoidFunction function = own(name);
  return function ? function : next_device(of, name);
}
