# Makes a build from nothing fast: compiles less of llama.cpp, parses the same headers less often, and optimizes less where
# nothing is hot. docs/decisions/2026-11-23-cold-build.md has the figures.

# Of llama.cpp's common code, leaves out what only its programs need: arguments, downloads, sampling and speculation.
get_target_property(sources llama-common SOURCES)
string(
    JOIN
    "|"
    programs
    "arg|console|debug|download|fit|hf-cache|llguidance|ngram-[a-z]+|preset|reasoning-budget|sampling|speculative"
    "subproc"
)
list(FILTER sources EXCLUDE REGEX "(^|/)(${programs})\\.cpp$")
set_property(TARGET llama-common PROPERTY SOURCES ${sources})
target_compile_definitions(llama-common PRIVATE COMMON_ONLY_TEXT)
foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
    get_target_property(libraries llama-common ${property})
    list(FILTER libraries EXCLUDE REGEX cpp-httplib)
    set_property(TARGET llama-common PROPERTY ${property} ${libraries})
endforeach()

# Moves the sources of TARGET that match REGEX to an object library of their own, optimized for a short build.
function(ingle_compile_cold TARGET REGEX)
    if(MSVC)
        return()
    endif()
    get_target_property(sources ${TARGET} SOURCES)
    get_target_property(folder ${TARGET} SOURCE_DIR)
    set(cold "")
    foreach(source ${sources})
        if(source MATCHES "${REGEX}")
            list(REMOVE_ITEM sources ${source})
            get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
            list(APPEND cold "${source}")
        endif()
    endforeach()
    set_property(TARGET ${TARGET} PROPERTY SOURCES ${sources})
    add_library(${TARGET}-cold OBJECT ${cold})
    target_include_directories(${TARGET}-cold PRIVATE $<TARGET_PROPERTY:${TARGET},INCLUDE_DIRECTORIES>)
    target_compile_definitions(${TARGET}-cold PRIVATE $<TARGET_PROPERTY:${TARGET},COMPILE_DEFINITIONS>)
    target_compile_options(${TARGET}-cold PRIVATE $<TARGET_PROPERTY:${TARGET},COMPILE_OPTIONS> -O1)
    target_compile_features(${TARGET}-cold PRIVATE cxx_std_17)
    target_sources(${TARGET} PRIVATE $<TARGET_OBJECTS:${TARGET}-cold>)
endfunction()

# Loading, converting, graphs that are built once for each shape, and the caches of single architectures, which pass most of their
# work on. llama.cpp's own sampler and grammars are not used.
string(
    JOIN
    "|"
    cold
    "models/[^/]+"
    "unicode-data"
    "llama(-adapter|-arch|-chat|-cparams|-grammar|-hparams|-impl|-io|-mmap|-model|-model-loader|-model-saver|-quant|-sampler)?"
    "llama-(memory|kv-cache-)[^/]*"
)
ingle_compile_cold(llama "(^|/)(${cold})\\.cpp$")
# What is done once for a request or a template. Rendering templates (jinja) and parsing replies (peg-parser) are hot.
string(
    JOIN
    "|"
    cold
    "parsers/[^/]+"
    "(chat|json)[^/]*"
    "common|imatrix-loader|log"
)
ingle_compile_cold(llama-common "(^|/)(${cold})\\.cpp$")
ingle_compile_cold(mtmd "(models/[^/]+|clip|mtmd-helper|mtmd-helper-gen)\\.cpp$")

# Files that cannot share a translation unit with their neighbours: they define the same names.
set(INGLE_APART llama-kv-cache-dsv4.cpp json.cpp value.cpp mtmd-helper.cpp mtmd-helper-gen.cpp)
foreach(target llama llama-common mtmd llama-cold llama-common-cold mtmd-cold)
    if(NOT TARGET ${target})
        continue()
    endif()
    set_target_properties(
        ${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 48
                             UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef FILENAME"
    )
    get_target_property(sources ${target} SOURCES)
    get_target_property(folder ${target} SOURCE_DIR)
    foreach(source ${sources})
        get_filename_component(name "${source}" NAME)
        get_filename_component(source "${source}" ABSOLUTE BASE_DIR "${folder}")
        set(is_apart OFF)
        if(name IN_LIST INGLE_APART)
            set(is_apart ON)
        endif()
        set_source_files_properties(
            "${source}" TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ${is_apart}
        )
    endforeach()
endforeach()
