// Validates the messages that a peer sends to a worker. ggml checks the shapes of tensors with assertions that end the process,
// or not at all, because it expects them from the same program; here they come from a network. All checks run before a tensor
// reaches ggml. Included by ggml-rpc.cpp, after the structs of the protocol.
#pragma once

#include "ggml.h"

#include <cstddef>
#include <cstdint>

namespace request_check {

// Bytes of one graph: a model with a hundred layers sends about 3 MB.
static constexpr size_t GRAPH_BYTES_MAX = 256u * 1024 * 1024;
// Bytes of one tensor. More than any machine has, and small enough that sums and small multiples stay within 64 bits.
static constexpr uint64_t TENSOR_BYTES_MAX = uint64_t(1) << 48;
// Buffers that one connection may hold: a model has a handful per device.
static constexpr size_t BUFFERS_MAX = 4096;

static constexpr int REFUSED = -1;

struct operands_of {
    enum ggml_op op;
    int          count;
};

// The operands without which an operation would read a null pointer. Operations that are not listed are refused: those that call
// a function by its address, and training, whose kernels write where inference never does.
static constexpr operands_of OPERANDS[] = {
    {GGML_OP_NONE, 0}, {GGML_OP_ARANGE, 0},
    {GGML_OP_DUP, 1}, {GGML_OP_SQR, 1}, {GGML_OP_SQRT, 1}, {GGML_OP_LOG, 1}, {GGML_OP_SIN, 1}, {GGML_OP_COS, 1},
    {GGML_OP_SUM, 1}, {GGML_OP_SUM_ROWS, 1}, {GGML_OP_CUMSUM, 1}, {GGML_OP_MEAN, 1}, {GGML_OP_ARGMAX, 1},
    {GGML_OP_REPEAT, 1}, {GGML_OP_NORM, 1}, {GGML_OP_RMS_NORM, 1}, {GGML_OP_GROUP_NORM, 1}, {GGML_OP_L2_NORM, 1},
    {GGML_OP_SCALE, 1}, {GGML_OP_CONT, 1}, {GGML_OP_RESHAPE, 1}, {GGML_OP_VIEW, 1}, {GGML_OP_PERMUTE, 1},
    {GGML_OP_TRANSPOSE, 1}, {GGML_OP_DIAG, 1}, {GGML_OP_DIAG_MASK_INF, 1}, {GGML_OP_DIAG_MASK_ZERO, 1},
    {GGML_OP_SOFT_MAX, 1}, {GGML_OP_CLAMP, 1}, {GGML_OP_COL2IM_1D, 1}, {GGML_OP_POOL_1D, 1}, {GGML_OP_POOL_2D, 1},
    {GGML_OP_UPSCALE, 1}, {GGML_OP_PAD, 1}, {GGML_OP_PAD_REFLECT_1D, 1}, {GGML_OP_ROLL, 1},
    {GGML_OP_TIMESTEP_EMBEDDING, 1}, {GGML_OP_ARGSORT, 1}, {GGML_OP_TOP_K, 1}, {GGML_OP_LEAKY_RELU, 1},
    {GGML_OP_TRI, 1}, {GGML_OP_FILL, 1}, {GGML_OP_WIN_PART, 1}, {GGML_OP_WIN_UNPART, 1}, {GGML_OP_GET_REL_POS, 1},
    {GGML_OP_UNARY, 1}, {GGML_OP_GLU, 1},
    {GGML_OP_ADD, 2}, {GGML_OP_ADD1, 2}, {GGML_OP_ACC, 2}, {GGML_OP_SUB, 2}, {GGML_OP_MUL, 2}, {GGML_OP_DIV, 2},
    {GGML_OP_COUNT_EQUAL, 2}, {GGML_OP_CONCAT, 2}, {GGML_OP_MUL_MAT, 2}, {GGML_OP_OUT_PROD, 2}, {GGML_OP_SET, 2},
    {GGML_OP_CPY, 2}, {GGML_OP_GET_ROWS, 2}, {GGML_OP_ROPE, 2}, {GGML_OP_CONV_TRANSPOSE_1D, 2}, {GGML_OP_IM2COL, 2},
    {GGML_OP_IM2COL_3D, 2}, {GGML_OP_CONV_2D, 2}, {GGML_OP_CONV_3D, 2}, {GGML_OP_CONV_2D_DW, 2},
    {GGML_OP_CONV_TRANSPOSE_2D, 2}, {GGML_OP_SSM_CONV, 2}, {GGML_OP_SOLVE_TRI, 2}, {GGML_OP_DSV4_HC_PRE, 2},
    {GGML_OP_ADD_ID, 3}, {GGML_OP_MUL_MAT_ID, 3}, {GGML_OP_SET_ROWS, 3}, {GGML_OP_FLASH_ATTN_EXT, 3},
    {GGML_OP_ADD_REL_POS, 3}, {GGML_OP_DSV4_HC_COMB, 3}, {GGML_OP_DSV4_HC_POST, 3},
    {GGML_OP_LIGHTNING_INDEXER, 4},
    {GGML_OP_GATED_LINEAR_ATTN, 5},
    {GGML_OP_RWKV_WKV6, 6}, {GGML_OP_GATED_DELTA_NET, 6},
    {GGML_OP_RWKV_WKV7, 7}, {GGML_OP_SSM_SCAN, 7},
};

static int operands_needed(uint32_t op) {
    for (const operands_of & each : OPERANDS) {
        if ((uint32_t) each.op == op) {
            return each.count;
        }
    }
    return REFUSED;
}

// Whether an operation computes nothing: its result is a view of its operand.
static bool computes_nothing(uint32_t op) {
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW || op == GGML_OP_PERMUTE ||
           op == GGML_OP_TRANSPOSE;
}

// Adds b to a; false if the sum exceeds TENSOR_BYTES_MAX. Each is at most that, or a product of two 32-bit numbers.
static bool add_bytes(uint64_t & sum, uint64_t bytes) {
    if (bytes > TENSOR_BYTES_MAX || sum > TENSOR_BYTES_MAX - bytes) {
        return false;
    }
    sum += bytes;
    return true;
}

// The extent of a tensor in bytes, as ggml_nbytes() computes it; false if it is too large.
static bool span_of(const rpc_tensor & tensor, uint64_t & bytes) {
    const auto type = (enum ggml_type) tensor.type;
    const uint64_t block = ggml_blck_size(type);
    bytes = 0;
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (tensor.ne[i] == 0) {
            return true;
        }
    }
    const uint64_t first = block == 1 ? ggml_type_size(type) + uint64_t(tensor.ne[0] - 1) * tensor.nb[0]
                                      : uint64_t(tensor.ne[0]) * tensor.nb[0] / block;
    if (!add_bytes(bytes, first)) {
        return false;
    }
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        if (!add_bytes(bytes, uint64_t(tensor.ne[i] - 1) * tensor.nb[i])) {
            return false;
        }
    }
    return true;
}

// Bytes of all elements stored contiguously: buffers for intermediate results have this size, whatever the strides are.
static bool is_countable(const rpc_tensor & tensor) {
    uint64_t bytes = ggml_type_size((enum ggml_type) tensor.type);
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (tensor.ne[i] == 0) {
            return true;
        }
        if (bytes > TENSOR_BYTES_MAX / tensor.ne[i]) {
            return false;
        }
        bytes *= tensor.ne[i];
    }
    return true;
}

// What is wrong with a tensor, looked at alone, or nullptr.
static const char * fault_of(const rpc_tensor & tensor) {
    if (tensor.type >= GGML_TYPE_COUNT) {
        return "unknown type";
    }
    const auto type = (enum ggml_type) tensor.type;
    if (ggml_blck_size(type) == 0 || ggml_type_size(type) == 0) {
        return "a type that nothing is stored in";
    }
    if (tensor.ne[0] % ggml_blck_size(type) != 0) {
        return "rows that are no whole number of blocks";
    }
    uint64_t bytes = 0;
    if (!is_countable(tensor) || !span_of(tensor, bytes)) {
        return "more bytes than any memory has";
    }
    if (operands_needed(tensor.op) == REFUSED) {
        return "an operation that workers do not run";
    }
    if (tensor.op == GGML_OP_UNARY && (uint32_t) tensor.op_params[0] >= GGML_UNARY_OP_COUNT) {
        return "an unknown unary operation";
    }
    if (tensor.op == GGML_OP_GLU && (uint32_t) tensor.op_params[0] >= GGML_GLU_OP_COUNT) {
        return "an unknown gated operation";
    }
    return nullptr;
}

// Whether [data, data + bytes) lies in the buffer [base, base + size).
static bool lies_in(uint64_t data, uint64_t bytes, uint64_t base, uint64_t size) {
    return data >= base && data - base <= size && bytes <= size - (data - base);
}

} // namespace request_check
