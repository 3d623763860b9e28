# INGLE_CPU=all: ggml as shared libraries, with its kernels compiled for each kind of processor. The addon loads the best one for its
# processor, and the GPU's code if its driver is there (src/llama/backend/backend.cpp). Everything else is linked into the addon.
set(GGML_NATIVE OFF)
set(GGML_BACKEND_DL ON)
set(GGML_CPU_ALL_VARIANTS ON)
# Not loaded at run time, but linked: the addon calls more of it than ggml's registry has.
set(GGML_RPC OFF)
# llama.cpp's defaults, which ggml has only below llama.cpp.
set(GGML_LLAMAFILE ON)
set(GGML_CUDA_GRAPHS ON)

set(INGLE_LOADS_BACKENDS ON)
# Our loops over whole vocabularies: compiled for three kinds of processors, of which the dynamic linker chooses one.
include(CheckCXXSourceCompiles)
set(INGLE_CLONES "gnu::target_clones(\"avx512f\",\"avx2\",\"default\")")
check_cxx_source_compiles("[[${INGLE_CLONES}]] int twice(int x) { return 2 * x; } int main() { return twice(0); }" INGLE_HAS_CLONES)
if(INGLE_HAS_CLONES)
    set(INGLE_CPU_OPTIONS "-DINGLE_PER_PROCESSOR=[[${INGLE_CLONES}]]")
endif()

# All files in the addon's folder, where they find each other.
if(NOT WIN32) # where cmake-js sets it
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
endif()
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH $<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>)
set(CMAKE_MACOSX_RPATH ON)
if(UNIX AND NOT APPLE)
    # Older systems have an older C++ library: bring our own, and hide it from the process's other libraries. libgcc stays theirs:
    # it is as old as Node's, and ours would need glibc 2.35.
    # nvcc, which links CUDA's code, only passes it on.
    add_link_options($<IF:$<LINK_LANGUAGE:CUDA>,-Xcompiler=-static-libstdc++,-static-libstdc++>)
    add_link_options(LINKER:--exclude-libs,ALL LINKER:--as-needed LINKER:--gc-sections)
    # Node exports templates of the C++ library, such as those of std::regex. A library must call its own: Node's pass what they get to
    # another C++ library, and Node 26 then aborts when it exits.
    add_link_options(LINKER:-Bsymbolic)
endif()

set(BUILD_SHARED_LIBS ON)
add_subdirectory(${INGLE_LLAMA_CPP_DIR}/ggml ggml EXCLUDE_FROM_ALL)
set(BUILD_SHARED_LIBS OFF)
# GCC before 14 does not know ARM's SME, for which the kernels have no code of their own anyway.
if(TARGET ggml-cpu-armv9.2_1)
    include(CheckCXXCompilerFlag)
    check_cxx_compiler_flag(-march=armv8.2-a+sme INGLE_HAS_SME)
    foreach(library ggml-cpu-armv9.2_1 ggml-cpu-armv9.2_2)
        get_target_property(options ${library} COMPILE_OPTIONS)
        if(NOT INGLE_HAS_SME)
            string(REGEX REPLACE "armv9.2-a(.*)[+]sme" "armv8.6-a\\1" options "${options}")
        endif()
        set_target_properties(${library} PROPERTIES COMPILE_OPTIONS "${options}")
    endforeach()
endif()
# Packages cannot hold the links that versions need.
foreach(library ggml ggml-base)
    set_property(TARGET ${library} PROPERTY VERSION)
    set_property(TARGET ${library} PROPERTY SOVERSION)
endforeach()

if(NOT WIN32)
    # llama.cpp's files are compiled as in a build for one processor, so that a compiler cache serves both. What they no longer see
    # matters to Windows alone.
    set(is_llama "$<IN_LIST:$<TARGET_PROPERTY:NAME>,llama;llama-common;llama-common-base;mtmd>")
    set_property(
        TARGET ggml-base PROPERTY INTERFACE_COMPILE_DEFINITIONS "$<$<NOT:${is_llama}>:GGML_BACKEND_DL>"
                                  "$<$<NOT:${is_llama}>:GGML_SHARED>"
    )
    set_property(
        TARGET ggml PROPERTY INTERFACE_COMPILE_DEFINITIONS "$<$<NOT:${is_llama}>:GGML_SHARED>"
                             "$<${is_llama}:GGML_USE_CPU>" "$<${is_llama}:GGML_USE_RPC>"
    )
endif()

add_library(ggml-rpc STATIC ${INGLE_LLAMA_CPP_DIR}/ggml/src/ggml-rpc/ggml-rpc.cpp
                            ${INGLE_LLAMA_CPP_DIR}/ggml/src/ggml-rpc/transport.cpp)
target_include_directories(ggml-rpc PRIVATE ${INGLE_LLAMA_CPP_DIR}/ggml/src)
target_link_libraries(ggml-rpc PRIVATE ggml-base $<$<PLATFORM_ID:Windows>:ws2_32>)
target_compile_features(ggml-rpc PRIVATE cxx_std_17)
