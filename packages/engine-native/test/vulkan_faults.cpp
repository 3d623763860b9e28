// A Vulkan layer for the tests of GPU builds: it makes a device as small as a test wants, and loses it. The folder in
// INGLE_VULKAN_FAULTS says what happens, and may change at any time:
//   memory   holds a number: the device has so many bytes, and fails allocations beyond them
//   lost     holds a number, 0 if it is empty: after so many more submissions the device is lost. Every submission to a queue, and
//            every wait, then fails as it does after a driver's reset. A second number is that of the only process that loses it
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include <unistd.h>
#include <vulkan/vk_layer.h>
#include <vulkan/vulkan.h>

namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

std::filesystem::path folder() {
    const char* name = std::getenv("INGLE_VULKAN_FAULTS");
    return name == nullptr ? "" : name;
}

uint64_t memory_bytes() {
    std::ifstream file(folder() / "memory");
    uint64_t bytes = 0;
    return file >> bytes ? bytes : kUnlimited;
}

// One instance and one device at a time is all that ggml has.
PFN_vkGetInstanceProcAddr next_instance_proc = nullptr;
PFN_vkGetDeviceProcAddr next_device_proc = nullptr;
PFN_vkGetPhysicalDeviceMemoryProperties2 next_memory_properties = nullptr;
VkInstance the_instance = VK_NULL_HANDLE;
VkDevice the_device = VK_NULL_HANDLE;

std::mutex mutex;
std::unordered_map<VkDeviceMemory, uint64_t> allocated; // guarded by mutex
uint64_t used = 0;                                      // guarded by mutex

/// The function that the layer's own stands for.
template <class Function>
Function next(const char* name) {
    const auto proc = the_device != VK_NULL_HANDLE ? next_device_proc(the_device, name)
                                                   : next_instance_proc(the_instance, name);
    return reinterpret_cast<Function>(proc);
}

template <class Function>
Function next_of_instance(const char* name) {
    return reinterpret_cast<Function>(next_instance_proc(the_instance, name));
}

std::atomic<uint64_t> submissions = 0; // since there has been a file named `lost`

/// `is_submission`: of commands, which count.
bool is_lost(bool is_submission = false) {
    std::ifstream file(folder() / "lost");
    if (!file) {
        submissions = 0;
        return false;
    }
    uint64_t computed = 0;
    pid_t process = 0;
    file >> computed;
    if (file >> process && process != getpid()) return false;
    if ((is_submission ? submissions++ : submissions.load()) < computed) return false;
    // Nothing runs on a lost device, and what it used may be freed.
    next<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(the_device);
    return true;
}

/// The element of a chain that tells a layer what is below it.
template <class Info>
Info* link_info(const void* chain, VkStructureType type) {
    for (auto* info = static_cast<const Info*>(chain); info != nullptr;
         info = static_cast<const Info*>(info->pNext)) {
        if (info->sType == type && info->function == VK_LAYER_LINK_INFO) return const_cast<Info*>(info);
    }
    std::abort();
}

VKAPI_ATTR VkResult VKAPI_CALL create_instance(const VkInstanceCreateInfo* info,
                                               const VkAllocationCallbacks* allocator, VkInstance* instance) {
    auto* link =
        link_info<VkLayerInstanceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO);
    next_instance_proc = link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const auto create =
        reinterpret_cast<PFN_vkCreateInstance>(next_instance_proc(VK_NULL_HANDLE, "vkCreateInstance"));
    const VkResult result = create(info, allocator, instance);
    if (result != VK_SUCCESS) return result;
    the_instance = *instance;
    // Asked for later, the loader names its own entry, which calls this layer again.
    next_memory_properties =
        next_of_instance<PFN_vkGetPhysicalDeviceMemoryProperties2>("vkGetPhysicalDeviceMemoryProperties2");
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                             const VkAllocationCallbacks* allocator, VkDevice* device) {
    auto* link = link_info<VkLayerDeviceCreateInfo>(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO);
    next_device_proc = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    const VkResult result =
        next_of_instance<PFN_vkCreateDevice>("vkCreateDevice")(physical, info, allocator, device);
    if (result == VK_SUCCESS) the_device = *device;
    return result;
}

VKAPI_ATTR void VKAPI_CALL memory_properties(VkPhysicalDevice physical,
                                             VkPhysicalDeviceMemoryProperties2* properties) {
    next_memory_properties(physical, properties);
    const uint64_t most = memory_bytes();
    if (most == kUnlimited) return;
    std::lock_guard lock(mutex);
    VkPhysicalDeviceMemoryProperties& memory = properties->memoryProperties;
    for (uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) memory.memoryHeaps[heap].size = most;
    for (auto* more = static_cast<VkBaseOutStructure*>(properties->pNext); more != nullptr;
         more = more->pNext) {
        if (more->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT) continue;
        auto* budget = reinterpret_cast<VkPhysicalDeviceMemoryBudgetPropertiesEXT*>(more);
        for (uint32_t heap = 0; heap < memory.memoryHeapCount; ++heap) {
            budget->heapBudget[heap] = most;
            budget->heapUsage[heap] = used;
        }
    }
}

VKAPI_ATTR VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                               const VkAllocationCallbacks* allocator,
                                               VkDeviceMemory* memory) {
    std::lock_guard lock(mutex);
    const uint64_t bytes = info->allocationSize;
    const uint64_t most = memory_bytes();
    if (used > most || bytes > most - used) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    const VkResult result = next<PFN_vkAllocateMemory>("vkAllocateMemory")(device, info, allocator, memory);
    if (result == VK_SUCCESS) {
        allocated[*memory] = bytes;
        used += bytes;
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                                       const VkAllocationCallbacks* allocator) {
    std::lock_guard lock(mutex);
    if (const auto found = allocated.find(memory); found != allocated.end()) {
        used -= found->second;
        allocated.erase(found);
    }
    next<PFN_vkFreeMemory>("vkFreeMemory")(device, memory, allocator);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_submit(VkQueue queue, uint32_t count, const VkSubmitInfo* submits,
                                            VkFence fence) {
    if (is_lost(true)) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkQueueSubmit>("vkQueueSubmit")(queue, count, submits, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL wait_for_fences(VkDevice device, uint32_t count, const VkFence* fences,
                                               VkBool32 all, uint64_t timeout) {
    if (is_lost()) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkWaitForFences>("vkWaitForFences")(device, count, fences, all, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL fence_status(VkDevice device, VkFence fence) {
    if (is_lost()) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkGetFenceStatus>("vkGetFenceStatus")(device, fence);
}

VKAPI_ATTR VkResult VKAPI_CALL wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo* info,
                                               uint64_t timeout) {
    if (is_lost()) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkWaitSemaphores>("vkWaitSemaphores")(device, info, timeout);
}

VKAPI_ATTR VkResult VKAPI_CALL device_wait_idle(VkDevice device) {
    if (is_lost()) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(device);
}

VKAPI_ATTR VkResult VKAPI_CALL queue_wait_idle(VkQueue queue) {
    if (is_lost()) return VK_ERROR_DEVICE_LOST;
    return next<PFN_vkQueueWaitIdle>("vkQueueWaitIdle")(queue);
}

PFN_vkVoidFunction device_proc(VkDevice device, const char* name);
PFN_vkVoidFunction instance_proc(VkInstance instance, const char* name);

/// The layer's own function of this name; nullptr if it has none.
PFN_vkVoidFunction own(std::string_view name) {
#define OWN(vulkan, ours)                                                                                    \
    if (name == (vulkan)) return reinterpret_cast<PFN_vkVoidFunction>(ours)
    OWN("vkGetInstanceProcAddr", instance_proc);
    OWN("vkGetDeviceProcAddr", device_proc);
    OWN("vkCreateInstance", create_instance);
    OWN("vkCreateDevice", create_device);
    OWN("vkGetPhysicalDeviceMemoryProperties2", memory_properties);
    OWN("vkAllocateMemory", allocate_memory);
    OWN("vkFreeMemory", free_memory);
    OWN("vkQueueSubmit", queue_submit);
    OWN("vkWaitForFences", wait_for_fences);
    OWN("vkGetFenceStatus", fence_status);
    OWN("vkWaitSemaphores", wait_semaphores);
    OWN("vkDeviceWaitIdle", device_wait_idle);
    OWN("vkQueueWaitIdle", queue_wait_idle);
#undef OWN
    return nullptr;
}

PFN_vkVoidFunction device_proc(VkDevice device, const char* name) {
    const auto ours = own(name);
    return ours != nullptr ? ours : next_device_proc(device, name);
}

PFN_vkVoidFunction instance_proc(VkInstance instance, const char* name) {
    const auto ours = own(name);
    return ours != nullptr ? ours : next_instance_proc(instance, name);
}

} // namespace

extern "C" VKAPI_ATTR VkResult VKAPI_CALL
vkNegotiateLoaderLayerInterfaceVersion(VkNegotiateLayerInterface* versions) {
    versions->loaderLayerInterfaceVersion = 2;
    versions->pfnGetInstanceProcAddr = instance_proc;
    versions->pfnGetDeviceProcAddr = device_proc;
    versions->pfnGetPhysicalDeviceProcAddr = nullptr;
    return VK_SUCCESS;
}
