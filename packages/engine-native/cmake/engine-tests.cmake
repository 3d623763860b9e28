# The C++ tests of the engine, a program that vitest runs (test/cpp.test.ts). It computes with tiny models and injects failures
# into llama.cpp.
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test)
    return() # a published package has no tests
endif()

add_executable(
    ingle_engine_tests EXCLUDE_FROM_ALL
    test/embedder_test.cpp
    test/engine_adapters_reference_test.cpp
    test/engine_audio_test.cpp
    test/engine_cancel_test.cpp
    test/engine_embedding_test.cpp
    test/engine_fault_test.cpp
    test/engine_grammar_test.cpp
    test/engine_harness.cpp
    test/engine_images_reference_test.cpp
    test/engine_images_test.cpp
    test/engine_host_tier_test.cpp
    test/engine_likeliest_test.cpp
    test/engine_slots_test.cpp
    test/engine_prompt_logprobs_test.cpp
    test/engine_speculation_test.cpp
    test/engine_state_test.cpp
    test/engine_streams_test.cpp
    test/faulty_available_memory.cpp # in place of src/llama/backend/available_memory.cpp
    test/faulty_context.cpp # in place of src/llama/context/context.cpp and draft_context.cpp
    test/faulty_embedder.cpp # in place of src/llama/embedding/embedder.cpp
    test/main.cpp
    test/kv_types_test.cpp
    test/recurrent_rollback_test.cpp
    test/speculator_reference_test.cpp
    test/short_memory.cpp # its operator new in place of the library's
    test/state_file_test.cpp
    $<FILTER:$<FILTER:$<FILTER:$<TARGET_OBJECTS:ingle_llama>,EXCLUDE,context\\.cpp>,EXCLUDE,/embedder\\.cpp>,EXCLUDE,/available_memory\\.cpp>
    $<TARGET_OBJECTS:ingle_engine>
    $<TARGET_OBJECTS:ingle_sampling>
    $<TARGET_OBJECTS:ingle_grammar>
    $<TARGET_OBJECTS:ingle_process>
    $<TARGET_OBJECTS:ingle_sched>
)
target_compile_features(ingle_engine_tests PRIVATE cxx_std_23)
target_compile_options(ingle_engine_tests PRIVATE ${INGLE_WARNINGS})
target_include_directories(ingle_engine_tests PRIVATE src test)
# SYSTEM: our warnings do not apply to upstream's headers.
target_include_directories(
    ingle_engine_tests SYSTEM PRIVATE $<TARGET_PROPERTY:llama,INTERFACE_INCLUDE_DIRECTORIES>
                                      $<TARGET_PROPERTY:mtmd,INTERFACE_INCLUDE_DIRECTORIES>
                                      $<TARGET_PROPERTY:llama-common,INTERFACE_INCLUDE_DIRECTORIES>
                                      $<TARGET_PROPERTY:ggml,INTERFACE_INCLUDE_DIRECTORIES>
)
target_link_libraries(ingle_engine_tests PRIVATE llama-common mtmd llama Threads::Threads)
# These have macros before their headers, or functions in place of a library's.
set_source_files_properties(
    test/faulty_available_memory.cpp test/faulty_context.cpp test/faulty_embedder.cpp test/main.cpp test/short_memory.cpp
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
)
# `$<1:…>` keeps multi-configuration generators from adding a folder per configuration.
set_target_properties(
    ingle_engine_tests PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD ${INGLE_UNITY} UNITY_BUILD_BATCH_SIZE 12 RUNTIME_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/tests>
)
