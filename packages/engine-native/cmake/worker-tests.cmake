# The C++ tests of what a worker refuses, a program that vitest runs (test/cpp.test.ts). It plays the peer of ggml's RPC server
# byte by byte. It needs only ggml, so that it builds quickly with a sanitizer too.
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test OR NOT UNIX)
    return() # a published package has no tests
endif()

add_executable(
    ingle_worker_tests EXCLUDE_FROM_ALL
    test/main.cpp
    test/worker_fuzz_test.cpp
    test/worker_peer.cpp
    test/worker_refusals_test.cpp
)
target_compile_features(ingle_worker_tests PRIVATE cxx_std_23)
target_compile_options(ingle_worker_tests PRIVATE ${INGLE_WARNINGS})
target_include_directories(ingle_worker_tests PRIVATE src test)
# SYSTEM: our warnings do not apply to upstream's headers.
target_include_directories(
    ingle_worker_tests SYSTEM PRIVATE $<TARGET_PROPERTY:ggml,INTERFACE_INCLUDE_DIRECTORIES>
)
target_link_libraries(ingle_worker_tests PRIVATE ggml)
# `$<1:…>` keeps multi-configuration generators from adding a folder per configuration.
set_target_properties(
    ingle_worker_tests PROPERTIES CXX_EXTENSIONS OFF
                                  RUNTIME_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/tests>
)
