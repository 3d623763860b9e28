// src/llama/embedding/embedder.cpp with the calls of llama_faults.h put between it and llama.cpp. Linked instead of it.
#include "llama_faults.h"

// Before the names below are taken over, so that llama.cpp's declarations keep theirs.
#include "llama-cpp.h"
#include "llama.h"

#define llama_decode test::decode
#define llama_set_abort_callback test::set_abort_callback

#include "llama/embedding/embedder.cpp" // NOLINT: the point of this file
