# llama.cpp as static libraries: llama, llama-common, mtmd. Without its programs, and without TLS.
set(LLAMA_BUILD_COMMON ON CACHE BOOL "" FORCE)
set(LLAMA_BUILD_MTMD ON CACHE BOOL "" FORCE)
foreach(part TESTS TOOLS EXAMPLES SERVER APP UI)
    set(LLAMA_BUILD_${part} OFF CACHE BOOL "" FORCE)
endforeach()
set(LLAMA_OPENSSL OFF CACHE BOOL "" FORCE)
set(LLAMA_SUBPROCESS OFF CACHE BOOL "" FORCE)
set(MTMD_VIDEO OFF CACHE BOOL "" FORCE)
set(GGML_CCACHE OFF CACHE BOOL "" FORCE) # CMakeLists.txt sets ccache for every target

# Use ggml's own thread pool: OpenMP's barriers spin, and become very slow as soon as another process wants a core.
set(GGML_OPENMP OFF CACHE BOOL "" FORCE)

# Layers on other machines. Our own tunnel carries the traffic: no other transport is built in.
set(GGML_RPC ON CACHE BOOL "" FORCE)
set(GGML_RPC_RDMA OFF CACHE BOOL "" FORCE)

set(INGLE_GPU "cpu" CACHE STRING "cpu, cuda, metal or vulkan; build.ts resolves `auto`")
foreach(backend CUDA METAL VULKAN)
    string(TOLOWER ${backend} name)
    if(INGLE_GPU STREQUAL name)
        set(GGML_${backend} ON CACHE BOOL "" FORCE)
    else()
        set(GGML_${backend} OFF CACHE BOOL "" FORCE)
    endif()
endforeach()
set(GGML_METAL_EMBED_LIBRARY ON CACHE BOOL "" FORCE)

# Pairs of key and value types that CUDA's flash attention reads directly when it decodes; it converts others to f16 first.
option(INGLE_KV_QUANTS_ALL "every pair of KV cache types in CUDA's flash attention (a long build)" OFF)
set(INGLE_KV_QUANTS "f16-f16;bf16-bf16;q8_0-q8_0;q8_0-q4_0;q4_0-q4_0")
if(INGLE_KV_QUANTS_ALL)
    set(INGLE_KV_QUANTS all)
endif()
set(GGML_CUDA_FA_QUANTS "${INGLE_KV_QUANTS}" CACHE STRING "" FORCE)

# The processor that ggml's kernels and our loops over whole vocabularies are compiled for.
set(INGLE_CPU "native" CACHE STRING "native, all, or a level of x86-64 for -march; build.ts checks it")
set(INGLE_CPU_OPTIONS "")
set(INGLE_LOADS_BACKENDS OFF)
unset(GGML_NATIVE CACHE) # back to ggml's default, whatever the last build used
if(INGLE_CPU STREQUAL "all")
    include(cmake/all-processors.cmake)
elseif(NOT INGLE_CPU STREQUAL "native")
    # All of ggml's own feature switches are off: only the level decides what may be used.
    set(INGLE_CPU_OPTIONS -march=${INGLE_CPU})
    foreach(feature NATIVE SSE42 AVX AVX_VNNI AVX2 BMI2 FMA F16C AVX512 AVX512_VBMI AVX512_VNNI AVX512_BF16)
        set(GGML_${feature} OFF CACHE BOOL "" FORCE)
    endforeach()
endif()

add_subdirectory(${INGLE_LLAMA_CPP_DIR} llama.cpp EXCLUDE_FROM_ALL)
# Only ggml's registry asks which GPU there is code for: all other files are compiled alike, so that a compiler cache serves the
# builds for every GPU and for none.
get_target_property(definitions ggml INTERFACE_COMPILE_DEFINITIONS)
if(definitions)
    list(REMOVE_ITEM definitions GGML_USE_CUDA GGML_USE_METAL GGML_USE_VULKAN)
    set_property(TARGET ggml PROPERTY INTERFACE_COMPILE_DEFINITIONS ${definitions})
endif()
include(cmake/cold-build.cmake)
if(TARGET ggml-cpu)
    target_compile_options(ggml-cpu PRIVATE ${INGLE_CPU_OPTIONS})
endif()
if(GGML_NATIVE AND NOT MSVC AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(INGLE_CPU_OPTIONS -march=native) # as for ggml's kernels
endif()

# Failed assertions about damaged files are thrown through ggml's C functions (src/llama/backend/assertions.h).
if(NOT MSVC)
    target_compile_options(ggml-base PRIVATE $<$<COMPILE_LANGUAGE:C>:-fexceptions>)
endif()
