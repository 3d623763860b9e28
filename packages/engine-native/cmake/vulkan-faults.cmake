# A Vulkan layer that makes the device run out of memory, or loses it, for the tests of a build for Vulkan (pnpm test:gpu).
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test OR NOT INGLE_GPU STREQUAL "vulkan" OR NOT UNIX)
    return() # a published package has no tests
endif()

add_library(ingle_vulkan_faults MODULE EXCLUDE_FROM_ALL test/vulkan_faults.cpp)
target_compile_features(ingle_vulkan_faults PRIVATE cxx_std_20)
target_compile_options(ingle_vulkan_faults PRIVATE ${INGLE_WARNINGS})
set_target_properties(
    ingle_vulkan_faults PROPERTIES PREFIX "" CXX_EXTENSIONS OFF LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/tests
)
# The Vulkan loader finds layers by such files.
file(
    WRITE ${CMAKE_CURRENT_BINARY_DIR}/tests/ingle_vulkan_faults.json
    [[{
  "file_format_version": "1.2.0",
  "layer": {
    "name": "VK_LAYER_INGLE_faults",
    "type": "GLOBAL",
    "library_path": "./ingle_vulkan_faults.so",
    "api_version": "1.3.0",
    "implementation_version": "1",
    "description": "A device that runs out of memory or is lost, for tests"
  }
}
]]
)
