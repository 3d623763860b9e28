# The C++ tests of process, grammar, sampling and llama, a program that vitest runs (test/cpp.test.ts). It sees llama.cpp's headers and compares with
# llama.cpp's own code.
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test)
    return() # a published package has no tests
endif()

add_executable(
    ingle_llama_tests EXCLUDE_FROM_ALL
    test/main.cpp
    test/computable_test.cpp
    test/constraint_test.cpp
    test/cuts_test.cpp
    test/dry_test.cpp
    test/form_or_calls_test.cpp
    test/grammar_test.cpp
    test/mask_test.cpp
    test/kv_rows_test.cpp
    test/lfm2_vl_tokens_test.cpp
    test/ordered_attention_test.cpp
    test/q3_kv_test.cpp
    test/sampler_bench_test.cpp
    test/filler_rows_test.cpp
    test/sampler_likeliest_test.cpp
    test/sampler_order_test.cpp
    test/sampler_softmax_test.cpp
    test/sampler_test.cpp
    test/template_bounds_test.cpp
    test/template_values_test.cpp
    test/template_work_test.cpp
    test/verify_test.cpp
    test/weight_floats_test.cpp
    test/weight_panels_test.cpp
    test/weight_products_test.cpp
    $<TARGET_OBJECTS:ingle_llama>
    $<TARGET_OBJECTS:ingle_sampling>
    $<TARGET_OBJECTS:ingle_grammar>
    $<TARGET_OBJECTS:ingle_process>
)
if(UNIX)
    target_sources(ingle_llama_tests PRIVATE test/lost_device_test.cpp) # it forks
    target_sources(ingle_llama_tests PRIVATE test/weight_bounds_test.cpp) # it protects pages
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
    target_sources(ingle_llama_tests PRIVATE test/confinement_test.cpp) # where system calls are filtered
endif()
target_compile_features(ingle_llama_tests PRIVATE cxx_std_23)
target_compile_options(ingle_llama_tests PRIVATE ${INGLE_WARNINGS})
target_compile_definitions(
    ingle_llama_tests PRIVATE INGLE_KNOWN_TEMPLATES="${INGLE_LLAMA_CPP_DIR}/models/templates"
                              INGLE_JINJA_FIXTURES="${CMAKE_CURRENT_SOURCE_DIR}/test/__fixtures__/jinja"
)
target_include_directories(ingle_llama_tests PRIVATE src test)
# SYSTEM: our warnings do not apply to upstream's headers.
target_include_directories(
    ingle_llama_tests SYSTEM PRIVATE $<TARGET_PROPERTY:llama,INTERFACE_INCLUDE_DIRECTORIES>
                                     $<TARGET_PROPERTY:llama-common,INTERFACE_INCLUDE_DIRECTORIES>
                                     $<TARGET_PROPERTY:mtmd,INTERFACE_INCLUDE_DIRECTORIES>
                                     $<TARGET_PROPERTY:ggml,INTERFACE_INCLUDE_DIRECTORIES>
)
target_link_libraries(ingle_llama_tests PRIVATE llama-common mtmd llama)
# `$<1:…>` keeps multi-configuration generators from adding a folder per configuration.
set_target_properties(
    ingle_llama_tests PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD ${INGLE_UNITY} UNITY_BUILD_BATCH_SIZE 12 RUNTIME_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/tests>
)
