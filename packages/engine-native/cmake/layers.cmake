# ingle_layer(NAME SOURCES … [SEES target…]): the object library ingle_NAME of src/NAME. It compiles with our warnings
# as errors, and sees the headers of the given targets without linking them: only the addon links. Up to 20 files share a
# translation unit, except with a sanitizer, so that a missing #include is noticed.
set(INGLE_UNITY ON)
if(INGLE_SANITIZE)
    set(INGLE_UNITY OFF)
endif()
set(INGLE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror)
if(MSVC)
    set(INGLE_WARNINGS /W3)
endif()

function(ingle_layer NAME)
    cmake_parse_arguments(LAYER "" "" "SOURCES;SEES" ${ARGN})
    if(NOT LAYER_SOURCES)
        return() # headers only
    endif()
    add_library(ingle_${NAME} OBJECT ${LAYER_SOURCES})
    target_compile_features(ingle_${NAME} PRIVATE cxx_std_23)
    target_compile_options(ingle_${NAME} PRIVATE ${INGLE_WARNINGS})
    set_target_properties(
        ingle_${NAME} PROPERTIES CXX_VISIBILITY_PRESET hidden CXX_EXTENSIONS OFF UNITY_BUILD ${INGLE_UNITY} UNITY_BUILD_BATCH_SIZE 20
    )
    target_include_directories(ingle_${NAME} PRIVATE src)
    foreach(seen ${LAYER_SEES})
        # SYSTEM: our warnings do not apply to upstream's headers.
        target_include_directories(
            ingle_${NAME} SYSTEM PRIVATE $<TARGET_PROPERTY:${seen},INTERFACE_INCLUDE_DIRECTORIES>
                                         $<TARGET_PROPERTY:ggml,INTERFACE_INCLUDE_DIRECTORIES>
        )
    endforeach()
endfunction()
