# A program that draws texts from grammars, for the tests of structured output (packages/engine/test/judge). The addon's build makes
# it too, because two builds of tests in one folder would get in each other's way.
if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/test)
    return() # a published package has no tests
endif()

add_executable(
    ingle_grammar_walks
    test/grammar_walks.cpp
    src/grammar/automaton.cpp
    src/grammar/gbnf.cpp
    src/grammar/gbnf_rules.cpp
    src/grammar/grammar.cpp
    src/grammar/mask_walk.cpp
    src/grammar/pieces.cpp
    src/grammar/stack_set.cpp
    src/grammar/token_trie.cpp
)
target_compile_features(ingle_grammar_walks PRIVATE cxx_std_23)
target_compile_options(ingle_grammar_walks PRIVATE ${INGLE_WARNINGS})
if(MSVC)
    target_compile_options(ingle_grammar_walks PRIVATE /utf-8)
endif()
target_include_directories(ingle_grammar_walks PRIVATE src)
# `$<1:…>` keeps multi-configuration generators from adding a folder per configuration.
set_target_properties(
    ingle_grammar_walks PROPERTIES CXX_EXTENSIONS OFF RUNTIME_OUTPUT_DIRECTORY $<1:${CMAKE_CURRENT_BINARY_DIR}/tests>
)
