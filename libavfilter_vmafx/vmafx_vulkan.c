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
 * Copies of Vulkan frames in buffers that the library imports. All functions of Vulkan come from FFmpeg's device.
 */

#include <stdatomic.h>
#include <string.h>

#include "vmafx_compat.h"
#include "vmafx_pads.h"
#include "vmafx_vulkan.h"

#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavutil/thread.h"

static AVMutex vulkan_lock = AV_MUTEX_INITIALIZER;

void ff_vmafx_vulkan_lock(int lock)
{
    if (VMAFX_VULKAN_HAS_LOCKS)
        return;
    if (lock)
        ff_mutex_lock(&vulkan_lock);
    else
        ff_mutex_unlock(&vulkan_lock);
}

#if CONFIG_VULKAN

#include <unistd.h>

enum {
    MOST_COPIES   = 64,                 ///< at a time; the library holds fewer
    ROW_ALIGNMENT = 256,                ///< bytes; what GPUs copy and read fast
    LAST_WAIT_MS  = 10000,              ///< for copies that nobody waited for
};

#define OPAQUE_FD VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
#define SEMAPHORE_FD VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT

#define INSTANCE_FUNCTIONS(X) \
    X(EnumerateDeviceExtensionProperties) X(GetPhysicalDeviceExternalBufferProperties) \
    X(GetPhysicalDeviceExternalSemaphoreProperties) X(GetPhysicalDeviceMemoryProperties) \
    X(GetPhysicalDeviceProperties2) X(GetDeviceProcAddr)
#define DEVICE_FUNCTIONS(X) \
    X(AllocateCommandBuffers) X(AllocateMemory) X(BeginCommandBuffer) X(BindBufferMemory) X(CmdCopyImageToBuffer) \
    X(CmdPipelineBarrier) X(CreateBuffer) X(CreateCommandPool) X(CreateSemaphore) X(DestroyBuffer) \
    X(DestroyCommandPool) X(DestroySemaphore) X(EndCommandBuffer) X(FreeCommandBuffers) X(FreeMemory) \
    X(GetBufferMemoryRequirements) X(GetDeviceQueue2) X(GetMemoryFdKHR) X(QueueSubmit) X(WaitSemaphores)

/** A buffer for copies. */
typedef struct Slot {
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;                  ///< of the allocation
    int fd;
    uint64_t id;
    VkCommandBuffer commands;
    uint64_t done;                      ///< value of the semaphore after the last copy; 0: there was none
    int used;                           ///< somebody reads the copy
} Slot;

struct VMAFXVulkan {
    AVFilterContext *ctx;
    const char *input;                  ///< its name
    AVBufferRef *device_ref;
    AVHWDeviceContext *device;
    const AVVulkanDeviceContext *hwctx;

#define MEMBER(name) PFN_vk##name name;
    INSTANCE_FUNCTIONS(MEMBER)
    DEVICE_FUNCTIONS(MEMBER)
    PFN_vkGetSemaphoreFdKHR GetSemaphoreFdKHR;  ///< NULL: the semaphore is not exported

    char pci_address[24];               ///< "": unknown
    uint8_t uuid[VK_UUID_SIZE];
    int queue_family;
    VkQueue queue;
    VkCommandPool pool;
    VkSemaphore semaphore;              ///< counts the copies that are done
    int semaphore_fd;                   ///< -1: it is not exported
    uint64_t submitted;                 ///< copies so far
    int failed;                         ///< no more copies are made

    AVMutex lock;                       ///< of Slot.used
    int has_lock;
    Slot slot[MOST_COPIES];
    int nb_slots;
};

/** Places of the planes in a buffer. */
typedef struct Layout {
    VkDeviceSize offset[3];
    int stride[3], texel[3], w[3], h[3];
    VkDeviceSize size;
} Layout;

/* -- What the device can do ---------------------------------------------------------------------------------------- */

/** @return  the name of a function that the device lacks, or NULL */
static const char *load_functions(VMAFXVulkan *v)
{
    const AVVulkanDeviceContext *hwctx = v->hwctx;

#define LOAD_OF_INSTANCE(name) \
    if (!(v->name = (PFN_vk##name)hwctx->get_proc_addr(hwctx->inst, "vk" #name))) \
        return "vk" #name;
#define LOAD_OF_DEVICE(name) \
    if (!(v->name = (PFN_vk##name)v->GetDeviceProcAddr(hwctx->act_dev, "vk" #name))) \
        return "vk" #name;
    INSTANCE_FUNCTIONS(LOAD_OF_INSTANCE)
    DEVICE_FUNCTIONS(LOAD_OF_DEVICE)
    return NULL;
}

static int exports_buffers(const VMAFXVulkan *v)
{
    const VkPhysicalDeviceExternalBufferInfo info = {
        .sType      = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO,
        .usage      = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .handleType = OPAQUE_FD,
    };
    VkExternalBufferProperties properties = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES };
    VkExternalMemoryFeatureFlags features;

    v->GetPhysicalDeviceExternalBufferProperties(v->hwctx->phys_dev, &info, &properties);
    features = properties.externalMemoryProperties.externalMemoryFeatures;
    return features & VK_EXTERNAL_MEMORY_FEATURE_EXPORTABLE_BIT &&
           !(features & VK_EXTERNAL_MEMORY_FEATURE_DEDICATED_ONLY_BIT);
}

static int exports_timelines(const VMAFXVulkan *v)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType         = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkPhysicalDeviceExternalSemaphoreInfo info = {
        .sType      = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_SEMAPHORE_INFO,
        .pNext      = &type,
        .handleType = SEMAPHORE_FD,
    };
    VkExternalSemaphoreProperties properties = { .sType = VK_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_PROPERTIES };

    v->GetPhysicalDeviceExternalSemaphoreProperties(v->hwctx->phys_dev, &info, &properties);
    return !!(properties.externalSemaphoreFeatures & VK_EXTERNAL_SEMAPHORE_FEATURE_EXPORTABLE_BIT);
}

static int has_extension(const VMAFXVulkan *v, const char *name)
{
    VkExtensionProperties *all;
    uint32_t n = 0;
    int found = 0;

    if (v->EnumerateDeviceExtensionProperties(v->hwctx->phys_dev, NULL, &n, NULL) != VK_SUCCESS ||
        !(all = av_calloc(n + 1, sizeof(*all))))
        return 0;
    if (v->EnumerateDeviceExtensionProperties(v->hwctx->phys_dev, NULL, &n, all) == VK_SUCCESS)
        for (uint32_t i = 0; i < n && !found; i++)
            found = !strcmp(all[i].extensionName, name);
    av_free(all);
    return found;
}

static void identify_device(VMAFXVulkan *v)
{
    VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
    };
    const int has_pci = has_extension(v, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
    VkPhysicalDeviceIDProperties id = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
        .pNext = has_pci ? &pci : NULL,
    };
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
        .pNext = &id,
    };

    v->GetPhysicalDeviceProperties2(v->hwctx->phys_dev, &properties);
    memcpy(v->uuid, id.deviceUUID, sizeof(v->uuid));
    if (has_pci)
        snprintf(v->pci_address, sizeof(v->pci_address), "%04x:%02x:%02x.%x", (unsigned)pci.pciDomain,
                 (unsigned)pci.pciBus, (unsigned)pci.pciDevice, (unsigned)pci.pciFunction);
}

/* -- Set-up -------------------------------------------------------------------------------------------------------- */

static VkResult create_semaphore(VMAFXVulkan *v)
{
    const int exported = vmafx_vulkan_enables(v->hwctx, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME) &&
                         exports_timelines(v);
    const VkExportSemaphoreCreateInfo export = {
        .sType       = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
        .handleTypes = SEMAPHORE_FD,
    };
    const VkSemaphoreTypeCreateInfo type = {
        .sType         = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .pNext         = exported ? &export : NULL,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo create = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type };
    VkSemaphoreGetFdInfoKHR get = { .sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR, .handleType = SEMAPHORE_FD };
    const VkResult ret = v->CreateSemaphore(v->hwctx->act_dev, &create, v->hwctx->alloc, &v->semaphore);

    if (ret != VK_SUCCESS || !exported)
        return ret;
    v->GetSemaphoreFdKHR =
        (PFN_vkGetSemaphoreFdKHR)v->GetDeviceProcAddr(v->hwctx->act_dev, "vkGetSemaphoreFdKHR");
    get.semaphore = v->semaphore;
    if (v->GetSemaphoreFdKHR && v->GetSemaphoreFdKHR(v->hwctx->act_dev, &get, &v->semaphore_fd) != VK_SUCCESS)
        v->semaphore_fd = -1;           /* the host waits */
    return VK_SUCCESS;
}

static VkResult create_queue(VMAFXVulkan *v)
{
    const int family = vmafx_vulkan_transfer_family(v->hwctx);
    const VkDeviceQueueInfo2 queue = {
        .sType            = VK_STRUCTURE_TYPE_DEVICE_QUEUE_INFO_2,
        .flags            = vmafx_vulkan_queue_flags(v->hwctx),
        .queueFamilyIndex = family,
    };
    const VkCommandPoolCreateInfo pool = {
        .sType            = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags            = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = family,
    };

    if (family < 0)
        return VK_ERROR_FEATURE_NOT_PRESENT;
    v->queue_family = family;
    v->GetDeviceQueue2(v->hwctx->act_dev, &queue, &v->queue);
    return v->queue ? v->CreateCommandPool(v->hwctx->act_dev, &pool, v->hwctx->alloc, &v->pool) :
                      VK_ERROR_FEATURE_NOT_PRESENT;
}

/** Why frames of the device cannot be copied into memory that others read, or NULL. */
static const char *begin(VMAFXVulkan *v)
{
    const char *missing;

    if (!vmafx_vulkan_enables(v->hwctx, VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME))
        return VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME " is not enabled on the device";
    if ((missing = load_functions(v)))
        return missing;
    if (!exports_buffers(v))
        return "the driver exports no buffers as opaque descriptors";
    identify_device(v);
    if (create_queue(v) != VK_SUCCESS || create_semaphore(v) != VK_SUCCESS)
        return "no queue, command pool or semaphore could be made";
    return NULL;
}

int ff_vmafx_vulkan_alloc(VMAFXVulkan **vulkan, AVFilterContext *ctx, AVFilterLink *link)
{
    const AVBufferRef *frames = VMAFX_LINK(link)->hw_frames_ctx;
    const char *reason;
    VMAFXVulkan *v;

    if (*vulkan || link->format != AV_PIX_FMT_VULKAN || !frames)
        return 0;
    if (!(v = av_mallocz(sizeof(*v))))
        return AVERROR(ENOMEM);
    *vulkan         = v;
    v->ctx          = ctx;
    v->input        = ff_vmafx_input_name(ctx, FF_INLINK_IDX(link));
    v->semaphore_fd = -1;
    v->device_ref   = av_buffer_ref(((AVHWFramesContext *)frames->data)->device_ref);
    v->has_lock     = !ff_mutex_init(&v->lock, NULL);
    if (!v->device_ref || !v->has_lock) {
        ff_vmafx_vulkan_free(vulkan);
        return AVERROR(ENOMEM);
    }
    v->device = (AVHWDeviceContext *)v->device_ref->data;
    v->hwctx  = v->device->hwctx;
    if ((reason = begin(v))) {
        av_log(ctx, AV_LOG_INFO, "The Vulkan frames of the %s input cannot be copied on their device: %s\n",
               v->input, reason);
        ff_vmafx_vulkan_free(vulkan);
    }
    return 0;
}

void ff_vmafx_vulkan_memory(VmafxFormat *format, const VMAFXVulkan *vulkan)
{
    format->memory      = VMAFX_MEMORY_OPAQUE;
    format->pci_address = vulkan->pci_address[0] ? vulkan->pci_address : NULL;
    format->device_uuid = vulkan->uuid;
}

/* -- Buffers ------------------------------------------------------------------------------------------------------- */

static int wait_for(const VMAFXVulkan *v, uint64_t value, int timeout_ms)
{
    const VkSemaphoreWaitInfo info = {
        .sType          = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores    = &v->semaphore,
        .pValues        = &value,
    };
    const VkResult ret = value ? v->WaitSemaphores(v->hwctx->act_dev, &info, timeout_ms * UINT64_C(1000000)) :
                                 VK_SUCCESS;

    return ret == VK_SUCCESS ? 0 : ret == VK_TIMEOUT ? AVERROR(ETIMEDOUT) : AVERROR(EIO);
}

static void free_slot(VMAFXVulkan *v, Slot *slot)
{
    const AVVulkanDeviceContext *hwctx = v->hwctx;

    if (slot->commands)
        v->FreeCommandBuffers(hwctx->act_dev, v->pool, 1, &slot->commands);
    if (slot->buffer)
        v->DestroyBuffer(hwctx->act_dev, slot->buffer, hwctx->alloc);
    if (slot->memory)
        v->FreeMemory(hwctx->act_dev, slot->memory, hwctx->alloc);
    if (slot->fd >= 0)
        close(slot->fd);
    *slot = (Slot) { .fd = -1 };
}

/** The type of memory for a buffer: on the device if there is one. -1: there is none at all. */
static int memory_type(const VMAFXVulkan *v, uint32_t allowed)
{
    VkPhysicalDeviceMemoryProperties properties;
    int any = -1;

    v->GetPhysicalDeviceMemoryProperties(v->hwctx->phys_dev, &properties);
    for (int i = 0; i < properties.memoryTypeCount; i++) {
        if (!(allowed >> i & 1))
            continue;
        if (properties.memoryTypes[i].propertyFlags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT)
            return i;
        if (any < 0)
            any = i;
    }
    return any;
}

static VkResult fill_slot(VMAFXVulkan *v, Slot *slot, VkDeviceSize size)
{
    const AVVulkanDeviceContext *hwctx = v->hwctx;
    const VkExternalMemoryBufferCreateInfo external = {
        .sType       = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = OPAQUE_FD,
    };
    const VkBufferCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = &external,
        .size  = size,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    const VkExportMemoryAllocateInfo export = {
        .sType       = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
        .handleTypes = OPAQUE_FD,
    };
    VkMemoryAllocateInfo allocate = { .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .pNext = &export };
    VkCommandBufferAllocateInfo commands = {
        .sType              = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool        = v->pool,
        .level              = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    VkMemoryGetFdInfoKHR get = { .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .handleType = OPAQUE_FD };
    VkMemoryRequirements needed;
    VkResult ret;
    int type;

    if ((ret = v->CreateBuffer(hwctx->act_dev, &create, hwctx->alloc, &slot->buffer)) != VK_SUCCESS)
        return ret;
    v->GetBufferMemoryRequirements(hwctx->act_dev, slot->buffer, &needed);
    if ((type = memory_type(v, needed.memoryTypeBits)) < 0)
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    allocate.allocationSize  = slot->size = needed.size;
    allocate.memoryTypeIndex = type;
    if ((ret = v->AllocateMemory(hwctx->act_dev, &allocate, hwctx->alloc, &slot->memory)) != VK_SUCCESS ||
        (ret = v->BindBufferMemory(hwctx->act_dev, slot->buffer, slot->memory, 0)) != VK_SUCCESS)
        return ret;
    get.memory = slot->memory;
    if ((ret = v->GetMemoryFdKHR(hwctx->act_dev, &get, &slot->fd)) != VK_SUCCESS) {
        slot->fd = -1;
        return ret;
    }
    return v->AllocateCommandBuffers(hwctx->act_dev, &commands, &slot->commands);
}

/** The number of a buffer that nobody uses, now taken, with a place for `size` bytes perhaps. -1: all are in use. */
static int take_slot(VMAFXVulkan *v, VkDeviceSize size)
{
    int taken = -1;

    ff_mutex_lock(&v->lock);
    for (int i = 0; i < v->nb_slots && taken < 0; i++)
        if (!v->slot[i].used)
            taken = i;
    if (taken < 0 && v->nb_slots < MOST_COPIES) {
        taken = v->nb_slots++;
        v->slot[taken] = (Slot) { .fd = -1 };
    }
    if (taken >= 0)
        v->slot[taken].used = 1;
    ff_mutex_unlock(&v->lock);
    return taken;
}

static void give_slot_back(VMAFXVulkan *v, int slot)
{
    ff_mutex_lock(&v->lock);
    v->slot[slot].used = 0;
    ff_mutex_unlock(&v->lock);
}

/** Has a taken slot a buffer of at least `size` bytes, that no earlier copy still writes to. */
static VkResult prepare_slot(VMAFXVulkan *v, int number, VkDeviceSize size)
{
    static atomic_uint_least64_t ids = 1;
    Slot *slot = &v->slot[number];
    VkResult ret;

    if (wait_for(v, slot->done, LAST_WAIT_MS) < 0)
        return VK_TIMEOUT;
    if (slot->size >= size)
        return VK_SUCCESS;
    free_slot(v, slot);
    if ((ret = fill_slot(v, slot, size)) != VK_SUCCESS)
        free_slot(v, slot);
    slot->used = 1;
    slot->id   = atomic_fetch_add(&ids, 1);
    return ret;
}

/* -- Copies -------------------------------------------------------------------------------------------------------- */

static Layout lay_out(const AVHWFramesContext *frames)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(frames->sw_format);
    const int planes = av_pix_fmt_count_planes(frames->sw_format);
    Layout layout = { .size = 0 };

    for (int i = 0; i < desc->nb_components; i++)
        layout.texel[desc->comp[i].plane] = desc->comp[i].step;
    for (int i = 0; i < planes; i++) {
        layout.w[i]      = i ? AV_CEIL_RSHIFT(frames->width, desc->log2_chroma_w) : frames->width;
        layout.h[i]      = i ? AV_CEIL_RSHIFT(frames->height, desc->log2_chroma_h) : frames->height;
        layout.stride[i] = FFALIGN(layout.w[i] * layout.texel[i], ROW_ALIGNMENT);
        layout.offset[i] = layout.size;
        layout.size     += (VkDeviceSize)layout.stride[i] * layout.h[i];
    }
    return layout;
}

static int count_images(const AVVkFrame *frame)
{
    int n = 0;

    while (n < FF_ARRAY_ELEMS(frame->img) && frame->img[n])
        n++;
    return n;
}

/** Has the images wait for whoever wrote them, in the layout that copies read. */
static void record_barriers(const VMAFXVulkan *v, VkCommandBuffer commands, const AVVkFrame *frame, int images)
{
    VkImageMemoryBarrier barrier[AV_NUM_DATA_POINTERS];

    for (int i = 0; i < images; i++)
        barrier[i] = (VkImageMemoryBarrier) {
            .sType               = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
            .srcAccessMask       = 0,   /* the semaphore made it visible */
            .dstAccessMask       = VK_ACCESS_TRANSFER_READ_BIT,
            .oldLayout           = frame->layout[i],
            .newLayout           = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
            .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
            .image               = frame->img[i],
            .subresourceRange    = { VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1 },
        };
    v->CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0,
                          0, NULL, 0, NULL, images, barrier);
}

/** @param planes  a bit mask */
static void record_copies(const VMAFXVulkan *v, const Slot *slot, const AVVkFrame *frame, int images,
                          const Layout *layout, unsigned planes)
{
    static const VkImageAspectFlagBits aspects[] = {
        VK_IMAGE_ASPECT_PLANE_0_BIT, VK_IMAGE_ASPECT_PLANE_1_BIT, VK_IMAGE_ASPECT_PLANE_2_BIT
    };
    const int several = layout->texel[1] > 0;

    for (int i = 0; i < 3; i++) {
        const VkBufferImageCopy region = {
            .bufferOffset      = layout->offset[i],
            .bufferRowLength   = layout->texel[i] ? layout->stride[i] / layout->texel[i] : 0,
            .bufferImageHeight = layout->h[i],
            .imageSubresource  = { several && images == 1 ? aspects[i] : VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1 },
            .imageExtent       = { layout->w[i], layout->h[i], 1 },
        };

        if (planes >> i & 1 && layout->texel[i])
            v->CmdCopyImageToBuffer(slot->commands, frame->img[images == 1 ? 0 : i],
                                    VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, slot->buffer, 1, &region);
    }
}

static VkResult record(const VMAFXVulkan *v, const Slot *slot, const AVVkFrame *frame, int images,
                       const Layout *layout, unsigned planes)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const VkBufferMemoryBarrier to_others = {
        .sType               = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
        .srcAccessMask       = VK_ACCESS_TRANSFER_WRITE_BIT,
        .srcQueueFamilyIndex = v->queue_family,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_EXTERNAL,
        .buffer              = slot->buffer,
        .size                = VK_WHOLE_SIZE,
    };
    const VkResult ret = v->BeginCommandBuffer(slot->commands, &begin);

    if (ret != VK_SUCCESS)
        return ret;
    record_barriers(v, slot->commands, frame, images);
    record_copies(v, slot, frame, images, layout, planes);
    v->CmdPipelineBarrier(slot->commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, 0,
                          0, NULL, 1, &to_others, 0, NULL);
    return v->EndCommandBuffer(slot->commands);
}

/** Submits a copy, after the work on the frame so far and before all later work on it. */
static VkResult submit(VMAFXVulkan *v, Slot *slot, AVVkFrame *frame, int images)
{
    VkPipelineStageFlags stages[AV_NUM_DATA_POINTERS];
    VkSemaphore semaphores[AV_NUM_DATA_POINTERS + 1];
    uint64_t before[AV_NUM_DATA_POINTERS], after[AV_NUM_DATA_POINTERS + 1];
    VkTimelineSemaphoreSubmitInfo timeline = {
        .sType                  = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .pWaitSemaphoreValues   = before,
        .pSignalSemaphoreValues = after,
    };
    VkSubmitInfo info = {
        .sType              = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext              = &timeline,
        .pWaitSemaphores    = semaphores,
        .pWaitDstStageMask  = stages,
        .commandBufferCount = 1,
        .pCommandBuffers    = &slot->commands,
        .pSignalSemaphores  = semaphores,
    };
    VkResult ret;
    int n = 0;

    for (int i = 0; i < images; i++) {
        if (!frame->sem[i])             /* images of one imported memory share one */
            continue;
        stages[n]     = VK_PIPELINE_STAGE_TRANSFER_BIT;
        semaphores[n] = frame->sem[i];
        before[n]     = frame->sem_value[i];
        after[n++]    = frame->sem_value[i] + 1;
    }
    semaphores[n] = v->semaphore;
    after[n]      = v->submitted + 1;
    timeline.waitSemaphoreValueCount   = info.waitSemaphoreCount   = n;
    timeline.signalSemaphoreValueCount = info.signalSemaphoreCount = n + 1;
    vmafx_vulkan_lock_queue(v->device, v->queue_family, 1);
    ret = v->QueueSubmit(v->queue, 1, &info, VK_NULL_HANDLE);
    vmafx_vulkan_lock_queue(v->device, v->queue_family, 0);
    if (ret != VK_SUCCESS)
        return ret;
    slot->done = ++v->submitted;
    for (int i = 0; i < images; i++) {
        frame->sem_value[i] += !!frame->sem[i];
        frame->layout[i]     = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
        frame->access[i]     = VK_ACCESS_TRANSFER_READ_BIT;
    }
    return VK_SUCCESS;
}

static VkResult copy_into(VMAFXVulkan *v, int number, const AVFrame *frame, const Layout *layout, unsigned planes)
{
    AVHWFramesContext *frames = (AVHWFramesContext *)frame->hw_frames_ctx->data;
    AVVkFrame *image = (AVVkFrame *)frame->data[0];
    const int images = count_images(image);
    Slot *slot = &v->slot[number];
    VkResult ret = prepare_slot(v, number, layout->size);

    if (ret != VK_SUCCESS)
        return ret;
    if (images != 1 && images != av_pix_fmt_count_planes(frames->sw_format))
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    ff_vmafx_vulkan_lock(1);
    vmafx_vulkan_lock_frame(frames, image, 1);
    if ((ret = record(v, slot, image, images, layout, planes)) == VK_SUCCESS)
        ret = submit(v, slot, image, images);
    vmafx_vulkan_lock_frame(frames, image, 0);
    ff_vmafx_vulkan_lock(0);
    return ret;
}

static void describe(VMAFXVulkanCopy *copy, VmafxPicture *pic, const Layout *layout)
{
    const VMAFXVulkan *v = copy->vulkan;
    const Slot *slot = &v->slot[copy->slot];

    pic->n_objects = 1;
    pic->object[0] = (VmafxObject) { .fd = slot->fd, .size = slot->size, .id = slot->id };
    for (int i = 0; i < 3; i++) {
        pic->plane_object[i] = 0;
        pic->plane_offset[i] = layout->offset[i];
        pic->stride[i]       = layout->stride[i];
    }
    copy->semaphore = (VmafxSemaphore) { .fd = v->semaphore_fd, .id = 1, .value = slot->done };
    if (v->semaphore_fd >= 0)
        pic->semaphore = &copy->semaphore;
}

void ff_vmafx_vulkan_copy(VMAFXVulkanCopy *copy, VmafxPicture *pic, VMAFXVulkan *vulkan, const AVFrame *frame,
                          unsigned planes)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)frame->hw_frames_ctx->data;
    const Layout layout = lay_out(frames);
    const int slot = vulkan->failed ? -1 : take_slot(vulkan, layout.size);
    VkResult ret;

    if (slot < 0)
        return;
    if (av_pix_fmt_count_planes(frames->sw_format) == 2 && planes & 6)
        planes |= 2;
    if ((ret = copy_into(vulkan, slot, frame, &layout, planes)) != VK_SUCCESS) {
        av_log(vulkan->ctx, AV_LOG_WARNING, "Vulkan cannot copy a frame of the %s input on its device (VkResult %d).\n",
               vulkan->input, ret);
        vulkan->failed = 1;
        give_slot_back(vulkan, slot);
        return;
    }
    copy->vulkan = vulkan;
    copy->slot   = slot;
    describe(copy, pic, &layout);
}

int ff_vmafx_vulkan_wait(const VMAFXVulkanCopy *copy, int timeout_ms)
{
    return copy->vulkan ? wait_for(copy->vulkan, copy->semaphore.value, timeout_ms) : 0;
}

void ff_vmafx_vulkan_release(VMAFXVulkanCopy *copy)
{
    if (copy->vulkan)
        give_slot_back(copy->vulkan, copy->slot);
    copy->vulkan = NULL;
}

void ff_vmafx_vulkan_free(VMAFXVulkan **vulkan)
{
    VMAFXVulkan *v = *vulkan;

    if (!v)
        return;
    if (v->semaphore)
        wait_for(v, v->submitted, LAST_WAIT_MS);
    for (int i = 0; i < v->nb_slots; i++)
        free_slot(v, &v->slot[i]);
    if (v->semaphore_fd >= 0)
        close(v->semaphore_fd);
    if (v->semaphore)
        v->DestroySemaphore(v->hwctx->act_dev, v->semaphore, v->hwctx->alloc);
    if (v->pool)
        v->DestroyCommandPool(v->hwctx->act_dev, v->pool, v->hwctx->alloc);
    if (v->has_lock)
        ff_mutex_destroy(&v->lock);
    av_buffer_unref(&v->device_ref);
    av_freep(vulkan);
}

#else /* CONFIG_VULKAN */

int ff_vmafx_vulkan_alloc(VMAFXVulkan **vulkan, AVFilterContext *ctx, AVFilterLink *link)
{
    return 0;
}

void ff_vmafx_vulkan_free(VMAFXVulkan **vulkan)
{
}

void ff_vmafx_vulkan_memory(VmafxFormat *format, const VMAFXVulkan *vulkan)
{
}

void ff_vmafx_vulkan_copy(VMAFXVulkanCopy *copy, VmafxPicture *pic, VMAFXVulkan *vulkan, const AVFrame *frame,
                          unsigned planes)
{
}

int ff_vmafx_vulkan_wait(const VMAFXVulkanCopy *copy, int timeout_ms)
{
    return 0;
}

void ff_vmafx_vulkan_release(VMAFXVulkanCopy *copy)
{
}

#endif /* CONFIG_VULKAN */
