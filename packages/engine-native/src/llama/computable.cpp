#include "llama/computable.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "ggml-backend.h"
#include "ggml-cpu.h"

namespace llama_rt {

namespace {

bool is_on_host(const ggml_tensor& tensor) {
    ggml_backend_buffer_t buffer = tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer;
    return buffer != nullptr && ggml_backend_buffer_is_host(buffer);
}

bool is_float(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

bool is_f16_or_f32(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16;
}

/// Adding, multiplying and so on, number by number: the second operand is of 32 bits, or all three are alike.
bool are_pointwise(const ggml_tensor& node) {
    const ggml_type left = node.src[0]->type;
    const ggml_type right = node.src[1]->type;
    if (!is_float(left) || !is_float(right)) return false;
    if (right == GGML_TYPE_F32) return node.type == left || node.type == GGML_TYPE_F32;
    return left == right && node.type == left;
}

/// The second one is made into what the first one is multiplied with.
bool are_multiplied(const ggml_tensor& node) {
    const ggml_type_traits_cpu& left = *ggml_get_type_traits_cpu(node.src[0]->type);
    const ggml_type right = node.src[1]->type;
    return left.vec_dot != nullptr && (right == GGML_TYPE_F32 || right == left.vec_dot_type);
}

/// Blocks of quantized numbers can be copied one after the other only: turned over, they are none.
bool is_copied(const ggml_tensor& node) {
    const ggml_type type = node.src[0]->type;
    if (is_float(type) || type == GGML_TYPE_I32) return true;
    return ggml_is_quantized(type) && ggml_is_contiguous(node.src[0]);
}

bool has_rows(const ggml_tensor& node) {
    const ggml_tensor& table = *node.src[0];
    const ggml_tensor& rows = *node.src[1];
    if (!is_float(table.type) && table.type != GGML_TYPE_I32 && !ggml_is_quantized(table.type)) return false;
    // What the graph itself computes is not there yet.
    if (rows.op != GGML_OP_NONE || rows.type != GGML_TYPE_I32 || !is_on_host(rows)) return true;
    const auto count = static_cast<size_t>(ggml_nelements(&rows));
    for (const int32_t row : std::span(static_cast<const int32_t*>(rows.data), count)) {
        if (row < 0 || row >= table.ne[1]) return false;
    }
    return true;
}

bool is_norm(const ggml_tensor& node, size_t epsilon_at) {
    const float epsilon = reinterpret_cast<const float*>(node.op_params)[epsilon_at];
    return node.src[0]->type == GGML_TYPE_F32 && epsilon >= 0; // false for what is no number
}

bool is_computable(const ggml_tensor& node) {
    switch (node.op) {
        case GGML_OP_ADD:
        case GGML_OP_SUB:
        case GGML_OP_MUL:
        case GGML_OP_DIV: return are_pointwise(node);
        case GGML_OP_MUL_MAT:
        case GGML_OP_MUL_MAT_ID: return are_multiplied(node);
        case GGML_OP_DUP:
        case GGML_OP_CPY:
        case GGML_OP_CONT: return is_copied(node);
        case GGML_OP_GET_ROWS: return has_rows(node);
        case GGML_OP_NORM:
        case GGML_OP_RMS_NORM:
        case GGML_OP_L2_NORM: return is_norm(node, 0);
        case GGML_OP_GROUP_NORM: return is_norm(node, 1); // behind the number of groups
        case GGML_OP_IM2COL: return is_f16_or_f32(node.type);
        case GGML_OP_CONV_2D:
        case GGML_OP_CONV_2D_DW:
        case GGML_OP_CONV_3D:
        case GGML_OP_CONV_TRANSPOSE_1D:
        case GGML_OP_CONV_TRANSPOSE_2D: return is_f16_or_f32(node.src[0]->type);
        case GGML_OP_UPSCALE: return node.src[0]->type == GGML_TYPE_F32;
        default: return true; // what comes of other operations alone
    }
}

} // namespace

std::optional<std::string> not_computable(const ggml_tensor& node) {
    if (!is_on_host(node) || is_computable(node)) return std::nullopt;
    return std::string(ggml_op_desc(&node)) + " cannot be computed from " + ggml_get_name(node.src[0]) +
           (node.src[1] == nullptr ? "" : std::string(" and ") + ggml_get_name(node.src[1]));
}

} // namespace llama_rt
