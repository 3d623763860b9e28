#include "llama/backend/assertions.h"

#include "../src/llama-ext.h" // no public header exposes a context's graphs
#include "llama/backend/backend.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "ggml-backend.h"

namespace llama {

namespace {

thread_local bool throws_on_this_thread = false;

/// "/path/to/src/llama-model.cpp:1260: GGML_ASSERT(…) failed" without the folders of the machine that built it.
std::string without_path(std::string_view message) {
    const size_t colon = message.find(": ");
    const size_t slash = message.substr(0, colon).find_last_of("/\\");
    return std::string(slash == std::string_view::npos ? message : message.substr(slash + 1));
}

void on_abort(const char* message) {
    if (throws_on_this_thread) throw std::runtime_error(without_path(message));
    std::fprintf(stderr, "%s\n", message); // outside of AssertionsThrow, ggml then ends the process
}

} // namespace

AssertionsThrow::AssertionsThrow() : outer_(std::exchange(throws_on_this_thread, true)) {
    static std::once_flag once;
    std::call_once(once, [] { ggml_set_abort_callback(on_abort); });
}

AssertionsThrow::~AssertionsThrow() {
    throws_on_this_thread = outer_;
}

bool is_on_host(const ggml_tensor& tensor) {
    ggml_backend_buffer_t buffer = tensor.view_src != nullptr ? tensor.view_src->buffer : tensor.buffer;
    return buffer != nullptr && ggml_backend_buffer_is_host(buffer);
}

namespace {

bool is_float(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16 || type == GGML_TYPE_BF16;
}

bool is_f16_or_f32(ggml_type type) {
    return type == GGML_TYPE_F32 || type == GGML_TYPE_F16;
}

/// Whether weights can be stored in this quantized type. Some quantized types exist only for the other factor of a product.
bool is_quantized_weight(ggml_type type) {
    return ggml_is_quantized(type) && ggml_get_type_traits(type)->to_float != nullptr;
}

int32_t parameter(const ggml_tensor& node, size_t at) {
    return node.op_params[at];
}

// Below, whether ggml can compute an operation on the CPU with these operands.

/// Elementwise operations: the second operand has 32 bits, or both operands and the result have the same type.
bool can_combine(const ggml_tensor& node) {
    const ggml_type left = node.src[0]->type;
    const ggml_type right = node.src[1]->type;
    if (!is_float(left) || !is_float(right)) return false;
    if (right == GGML_TYPE_F32) return node.type == left || node.type == GGML_TYPE_F32;
    return left == right && node.type == left;
}

/// Products: ggml converts the second factor to the type that the first one's dot product takes.
bool can_multiply(const ggml_tensor& node) {
    const ggml_type_traits_cpu& left = cpu_type_traits(node.src[0]->type);
    const ggml_type right = node.src[1]->type;
    if (left.vec_dot == nullptr) return false;
    const bool is_convertible =
        right == GGML_TYPE_F32 &&
        (left.vec_dot_type == right || cpu_type_traits(left.vec_dot_type).from_float != nullptr);
    return is_convertible || right == left.vec_dot_type;
}

/// Quantized blocks can only be copied whole, and a transposed tensor has no whole blocks.
bool can_copy(const ggml_tensor& node) {
    const ggml_type from = node.src[0]->type;
    const ggml_type to = node.type;
    if (is_quantized_weight(from))
        return ggml_is_contiguous(node.src[0]) && (to == from || to == GGML_TYPE_F32);
    if (from == GGML_TYPE_I32) return to == from || to == GGML_TYPE_F32;
    if (!is_float(from)) return false;
    return is_float(to) || to == GGML_TYPE_I32 || cpu_type_traits(to).from_float != nullptr;
}

bool can_get_rows(const ggml_tensor& node) {
    const ggml_tensor& table = *node.src[0];
    const ggml_tensor& rows = *node.src[1];
    if (!is_float(table.type) && table.type != GGML_TYPE_I32 && !is_quantized_weight(table.type))
        return false;
    // Row numbers that the graph computes itself are not known yet.
    if (rows.op != GGML_OP_NONE || rows.type != GGML_TYPE_I32 || !is_on_host(rows)) return true;
    const auto count = static_cast<size_t>(ggml_nelements(&rows));
    for (const int32_t row : std::span(static_cast<const int32_t*>(rows.data), count)) {
        if (row < 0 || row >= table.ne[1]) return false;
    }
    return true;
}

bool can_normalize(const ggml_tensor& node, size_t epsilon_at) {
    const float epsilon = reinterpret_cast<const float*>(node.op_params)[epsilon_at];
    return node.src[0]->type == GGML_TYPE_F32 && epsilon >= 0; // false for NaN
}

/// RoPE rotates the first `rotated` numbers of a row in pairs. With M-RoPE, each position component has its own section.
bool can_rotate(const ggml_tensor& node) {
    constexpr size_t kRotatedAt = 1;
    constexpr size_t kModeAt = 2;
    constexpr size_t kSectionsAt = 11;
    constexpr size_t kFirstAt = 15;
    const int64_t width = node.src[0]->ne[0];
    const int64_t rotated = parameter(node, kRotatedAt);
    const int64_t first = parameter(node, kFirstAt);
    const ggml_tensor* factors = node.src[2];
    // With fewer than two, ggml's loop on the CPU would not end.
    if (!is_f16_or_f32(node.src[0]->type) || rotated < 2 || rotated % 2 != 0) return false;
    if (first < 0 || first % 2 != 0 || first + rotated > width) return false;
    if (factors != nullptr && (factors->type != GGML_TYPE_F32 || factors->ne[0] < rotated / 2)) return false;
    if ((parameter(node, kModeAt) & GGML_ROPE_TYPE_MROPE) == 0) return true;
    int64_t together = 0;
    for (size_t i = 0; i < 4; ++i) {
        if (parameter(node, kSectionsAt + i) < 0) return false;
        together += parameter(node, kSectionsAt + i);
    }
    return parameter(node, kSectionsAt + 3) < together && together <= width;
}

/// Whether all operands are 32-bit floats or integers.
bool has_plain_operands(const ggml_tensor& node) {
    return std::ranges::all_of(node.src, [](const ggml_tensor* operand) {
        return operand == nullptr || operand->type == GGML_TYPE_F32 || operand->type == GGML_TYPE_I32;
    });
}

bool can_attend(const ggml_tensor& node) {
    const ggml_type keys = node.src[1]->type;
    const ggml_type values = node.src[2]->type;
    const bool has_keys = cpu_type_traits(keys).vec_dot != nullptr;
    return node.src[0]->type == GGML_TYPE_F32 && has_keys &&
           (values == GGML_TYPE_F32 || ggml_get_type_traits(values)->to_float != nullptr);
}

bool is_computable(const ggml_tensor& node) {
    switch (node.op) {
        case GGML_OP_NONE:
        case GGML_OP_RESHAPE:
        case GGML_OP_VIEW:
        case GGML_OP_PERMUTE:
        case GGML_OP_TRANSPOSE: return true; // nothing is computed
        case GGML_OP_ADD:
        case GGML_OP_SUB:
        case GGML_OP_MUL:
        case GGML_OP_DIV: return can_combine(node);
        case GGML_OP_MUL_MAT:
        case GGML_OP_MUL_MAT_ID: return can_multiply(node);
        case GGML_OP_DUP:
        case GGML_OP_CPY:
        case GGML_OP_CONT: return can_copy(node);
        case GGML_OP_GET_ROWS: return can_get_rows(node);
        case GGML_OP_NORM:
        case GGML_OP_RMS_NORM:
        case GGML_OP_L2_NORM: return can_normalize(node, 0);
        case GGML_OP_GROUP_NORM: return can_normalize(node, 1); // parameter 0 is the number of groups
        case GGML_OP_ROPE: return can_rotate(node);
        case GGML_OP_FLASH_ATTN_EXT: return can_attend(node);
        case GGML_OP_IM2COL: return is_f16_or_f32(node.type);
        case GGML_OP_CONV_2D:
        case GGML_OP_CONV_2D_DW:
        case GGML_OP_CONV_3D:
        case GGML_OP_CONV_TRANSPOSE_1D:
        case GGML_OP_CONV_TRANSPOSE_2D: return is_f16_or_f32(node.src[0]->type);
        case GGML_OP_UNARY:
        case GGML_OP_GLU:
        case GGML_OP_CLAMP:
        case GGML_OP_SOFT_MAX:
        case GGML_OP_SQR:
        case GGML_OP_SQRT:
        case GGML_OP_LOG:
        case GGML_OP_SIN:
        case GGML_OP_COS: return is_float(node.src[0]->type);
        case GGML_OP_ADD_ID:
        case GGML_OP_SCALE:
        case GGML_OP_SUM_ROWS:
        case GGML_OP_CUMSUM:
        case GGML_OP_MEAN:
        case GGML_OP_ARGMAX:
        case GGML_OP_ARGSORT:
        case GGML_OP_TOP_K:
        case GGML_OP_PAD:
        case GGML_OP_ROLL:
        case GGML_OP_TRI:
        case GGML_OP_UPSCALE:
        case GGML_OP_SSM_CONV:
        case GGML_OP_SSM_SCAN:
        case GGML_OP_RWKV_WKV6:
        case GGML_OP_RWKV_WKV7:
        case GGML_OP_GATED_LINEAR_ATTN:
        case GGML_OP_GATED_DELTA_NET:
        case GGML_OP_SOLVE_TRI: return has_plain_operands(node);
        default: return true; // these operands' types do not depend on the file
    }
}

std::optional<std::string> first_reason(ggml_cgraph* graph) {
    if (graph == nullptr) return "unable to allocate memory for its computation";
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        if (auto reason = not_computable(*ggml_graph_node(graph, i))) return reason;
    }
    return std::nullopt;
}

} // namespace

std::optional<std::string> not_computable(const ggml_tensor& node) {
    if (is_computable(node)) return std::nullopt;
    const auto shown = [](const ggml_tensor* operand) {
        return std::string(ggml_get_name(operand)) + " (" + ggml_type_name(operand->type) + ")";
    };
    return std::string(ggml_op_desc(&node)) + " cannot be computed from " + shown(node.src[0]) +
           (node.src[1] == nullptr ? "" : " and " + shown(node.src[1]));
}

std::optional<std::string> not_computable(llama_context* context, uint32_t outputs) {
    const uint32_t sequences = llama_n_seq_max(context);
    const uint32_t tokens = std::min(llama_n_ctx(context), llama_n_ubatch(context));
    try {
        auto reason = first_reason(llama_graph_reserve(context, sequences, sequences, sequences));
        if (reason) return reason;
        // The larger graph comes last, so that the context's reservation stays as it was.
        return first_reason(llama_graph_reserve(context, tokens, sequences, std::min(tokens, outputs)));
    } catch (const std::exception& error) {
        return error.what();
    }
}

} // namespace llama
