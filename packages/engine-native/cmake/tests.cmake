# The C++ unit tests of base, sched and the parts of engine that do not use llama.cpp: a program that vitest runs
# (test/cpp.test.ts). Not part of the addon's build.
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test)
    return() # a published package has no tests
endif()

find_package(Threads REQUIRED)
add_executable(
    ingle_tests EXCLUDE_FROM_ALL
    test/bounded_queue_test.cpp
    test/check_test.cpp
    test/image_tokens_test.cpp
    test/kv_blocks_test.cpp
    test/main.cpp
    test/ngram_drafter_test.cpp
    test/prefill_budget_test.cpp
    test/prefix_tree_test.cpp
    test/scheduler_background_test.cpp
    test/scheduler_drafts_test.cpp
    test/scheduler_images_test.cpp
    test/scheduler_random_test.cpp
    test/scheduler_sharing_test.cpp
    test/scheduler_shift_test.cpp
    test/scheduler_test.cpp
    test/sequence_test.cpp
    test/sip_hash_test.cpp
    test/slow_sampling_test.cpp
    test/speculation_test.cpp
    test/host_tier_test.cpp
    test/text_stream_random_test.cpp
    test/text_stream_test.cpp
    test/text_tree_test.cpp
    test/thought_test.cpp
    test/thread_checker_test.cpp
    test/context_shift_test.cpp
    test/step_cost_test.cpp
    test/waiting_queue_test.cpp
    src/engine/ngram_drafter.cpp
    src/engine/ngram_table.cpp
    src/engine/slow_sampling.cpp
    src/engine/speculation.cpp
    src/engine/text_stream.cpp
    src/engine/thought.cpp
    src/engine/step_cost.cpp
    $<TARGET_OBJECTS:ingle_sched>
)
if(UNIX)
    target_sources(ingle_tests PRIVATE test/assertions_test.cpp) # it forks
endif()
target_compile_features(ingle_tests PRIVATE cxx_std_23)
target_compile_options(ingle_tests PRIVATE ${INGLE_WARNINGS})
if(MSVC)
    target_compile_options(ingle_tests PRIVATE /utf-8) # the texts in text_stream_test.cpp
endif()
target_include_directories(ingle_tests PRIVATE src test)
target_link_libraries(ingle_tests PRIVATE Threads::Threads)
# `$<1:…>` keeps multi-configuration generators from adding a folder per configuration.
set_target_properties(
    ingle_tests PROPERTIES CXX_EXTENSIONS OFF UNITY_BUILD ${INGLE_UNITY} UNITY_BUILD_BATCH_SIZE 12 RUNTIME_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/tests>
)
