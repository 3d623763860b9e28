# INGLE_CPU=all: ggml as shared libraries, with its kernels compiled for each kind of processor. The addon loads the best one for its
# processor, and the GPU's code if its driver is there (src/llama/backend/backend.cpp). Everything else is linked into the addon.
set(GGML_NATIVE OFF CACHE BOOL "" FORCE)
set(GGML_BACKEND_DL ON CACHE BOOL "" FORCE)
set(GGML_CPU_ALL_VARIANTS ON CACHE BOOL "" FORCE)
# Not loaded at run time, but linked: the addon calls more of it than ggml's registry has.
set(GGML_RPC OFF CACHE BOOL "" FORCE)
# llama.cpp's defaults, which ggml has only below llama.cpp.
set(GGML_LLAMAFILE ON CACHE BOOL "" FORCE)
set(GGML_CUDA_GRAPHS ON CACHE BOOL "" FORCE)

set(INGLE_LOADS_BACKENDS ON)
# Our loops over whole vocabularies: compiled for three kinds of processors, of which the dynamic linker chooses one.
include(CheckCXXSourceCompiles)
set(INGLE_CLONES "gnu::target_clones(\"avx512f\",\"avx2\",\"default\")")
check_cxx_source_compiles("[[${INGLE_CLONES}]] int twice(int x) { return 2 * x; } int main() { return twice(0); }" INGLE_HAS_CLONES)
if(INGLE_HAS_CLONES)
    set(INGLE_CPU_OPTIONS "-DINGLE_PER_PROCESSOR=[[${INGLE_CLONES}]]")
endif()

# All files in the addon's folder, where they find each other.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH $<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>)
set(CMAKE_MACOSX_RPATH ON)
if(UNIX AND NOT APPLE)
    # Older systems have an older C++ library: bring our own, and hide it from the process's other libraries.
    add_link_options(-static-libstdc++ -static-libgcc LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--gc-sections)
endif()

set(BUILD_SHARED_LIBS ON)
add_subdirectory(${INGLE_LLAMA_CPP_DIR}/ggml ggml EXCLUDE_FROM_ALL)
set(BUILD_SHARED_LIBS OFF)
# Packages cannot hold the links that versions need.
foreach(library ggml ggml-base)
    set_property(TARGET ${library} PROPERTY VERSION)
    set_property(TARGET ${library} PROPERTY SOVERSION)
endforeach()

add_library(ggml-rpc STATIC ${INGLE_LLAMA_CPP_DIR}/ggml/src/ggml-rpc/ggml-rpc.cpp
                            ${INGLE_LLAMA_CPP_DIR}/ggml/src/ggml-rpc/transport.cpp)
target_include_directories(ggml-rpc PRIVATE ${INGLE_LLAMA_CPP_DIR}/ggml/src)
target_link_libraries(ggml-rpc PRIVATE ggml-base $<$<PLATFORM_ID:Windows>:ws2_32>)
target_compile_features(ggml-rpc PRIVATE cxx_std_17)
