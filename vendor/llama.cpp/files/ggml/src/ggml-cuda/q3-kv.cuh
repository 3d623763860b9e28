// q3_kv (ggml-q3-kv.h) in CUDA: how flash attention's vector kernels read a block, and the functions that upstream's files call.

#pragma once

#include "common.cuh"
#include "vecdotq.cuh"

static __device__ const int8_t q3_kv_levels_cuda[16] = { -127, -95, -74, -57, -43, -30, -18, -6, 6, 18, 30, 43, 57, 74, 95, 127 };

// Spreads four bits to four bytes.
static __device__ __forceinline__ int q3_kv_spread(const uint32_t bits) {
    return ((bits & 0xF) * 0x00204081) & 0x01010101;
}

// The levels of the values i to i + 3 of a block as four bytes; i is a multiple of 4.
static __device__ __forceinline__ int q3_kv_levels_x4(const block_q3_kv * __restrict__ block, const int i) {
    const int half  = i / 32;
    const int shift = i % 32;

    uint32_t path, level1, level0;
    ggml_cuda_memcpy_1<sizeof(path), 2>(&path, block->path[half]);
    ggml_cuda_memcpy_1<sizeof(level1), 2>(&level1, block->level1[half]);
    ggml_cuda_memcpy_1<sizeof(level0), 2>(&level0, block->level0[half]);

    // bit 8 is the path's bit for value i
    const uint32_t w    = (uint32_t) (((uint64_t) path << 8 | block->start[half]) >> shift);
    const uint32_t bit1 = w ^ w >> 2 ^ w >> 5 ^ w >> 6 ^ w >> 8;
    const uint32_t bit0 = w >> 1 ^ w >> 2 ^ w >> 3 ^ w >> 4 ^ w >> 7;

    const int index = q3_kv_spread(level1 >> shift) << 3 | q3_kv_spread(level0 >> shift) << 2 | q3_kv_spread(bit1) << 1 | q3_kv_spread(bit0);
    return get_int_from_table_16(index, q3_kv_levels_cuda).x;
}

template <int D, int nthreads>
static __device__ __forceinline__ float vec_dot_fattn_vec_KQ_q3_kv(
    const char * __restrict__ K_c, const void * __restrict__ Q_v, const int * __restrict__ Q_q8, const void * __restrict__ Q_ds_v) {

    const block_q3_kv * K_q3_kv = (const block_q3_kv *) K_c;
    const float2 *      Q_ds    = (const float2 *) Q_ds_v;
    GGML_UNUSED(Q_v);

    float sum = 0.0f;

#pragma unroll
    for (int k_KQ_0 = 0; k_KQ_0 < int(D/sizeof(int)); k_KQ_0 += nthreads) {
        const int k_KQ = k_KQ_0 + (nthreads == WARP_SIZE ? threadIdx.x : threadIdx.x % nthreads);

        const block_q3_kv * block = K_q3_kv + k_KQ / (QK3_KV/4);

        const int v = q3_kv_levels_x4(block, 4*(k_KQ % (QK3_KV/4)));
        sum += __half2float(block->d) * Q_ds[k_KQ_0/nthreads].x * ggml_cuda_dp4a(v, Q_q8[k_KQ_0/nthreads], 0);
    }

    return sum;
}

template <typename T, int ne>
static __device__ __forceinline__ void dequantize_V_q3_kv(const void * __restrict__ vx, void * __restrict__ dst, const int64_t i0) {
    static_assert(ne == 4, "bad ne");
    const block_q3_kv * block = (const block_q3_kv *) vx + i0 / QK3_KV;

    const int      levels = q3_kv_levels_x4(block, i0 % QK3_KV);
    const int8_t * q8     = (const int8_t *) &levels;

#ifdef FP16_AVAILABLE
    if constexpr (std::is_same_v<T, half>) {
        const half2 d = __half2half2(block->d);

#pragma unroll
        for (int l = 0; l < ne; l += 2) {
            ((half2 *) dst)[l/2] = d * make_half2(q8[l], q8[l + 1]);
        }
    } else
#endif // FP16_AVAILABLE
    if constexpr (std::is_same_v<T, float>) {
        const float d = block->d;

#pragma unroll
        for (int l = 0; l < ne; ++l) {
            ((float *) dst)[l] = d * q8[l];
        }
    } else {
        static_assert(std::is_same_v<T, void>, "bad type");
    }
}

// Flash attention over keys and values of type q3_kv with heads of this size; nullptr for other sizes than 64, 128 and 256.
typedef void (* ggml_cuda_fattn_q3_kv_t)(ggml_backend_cuda_context & ctx, ggml_tensor * dst);
ggml_cuda_fattn_q3_kv_t ggml_cuda_fattn_q3_kv(int64_t head_size);

void ggml_cuda_op_set_rows_q3_kv(ggml_backend_cuda_context & ctx, ggml_tensor * dst);
