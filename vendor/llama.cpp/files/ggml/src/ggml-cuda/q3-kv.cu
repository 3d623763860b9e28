// The parts of q3_kv that are compiled once: encoding (the same as ggml-q3-kv-impl.h), and attention's kernels.

#include "fattn-vec.cuh"
#include "q3-kv.cuh"

#define Q3_KV_LARGEST   134.0f
#define Q3_KV_VALUE_MAX 3.0e6f
#define Q3_KV_VALUE_MIN 1.0e-8f
#define Q3_KV_SCALE_MAX 65504.0f
#define Q3_KV_ERROR_MAX 2047.0f
#define Q3_KV_THREADS   256 // one per two states of each half block

// State of the search; the two halves of a block are searched at the same time.
struct q3_kv_search {
    float    x[QK3_KV];
    float    level_x[QK3_KV];             // products of values and their levels
    uint16_t error[4][QK3_KV];
    uint8_t  level[4][QK3_KV];
    uint32_t total[2][2][256];
    uint8_t  from[2][32][256];
    uint32_t best[2];                     // least total error; the state is in the low byte
    float    squares;
    float    largest;
};

static __device__ void q3_kv_search_errors(q3_kv_search & search, const float v, const int i) {
    float best[4];
    for (int s = 0; s < 4; ++s) {
        best[s] = FLT_MAX;
        for (int u = 0; u < 4; ++u) {
            const float e = v - q3_kv_levels_cuda[4*u + s];
            if (e*e < best[s]) {
                best[s] = e*e;
                search.level[s][i] = u;
            }
        }
    }
    const float least = fminf(fminf(best[0], best[1]), fminf(best[2], best[3]));
    for (int s = 0; s < 4; ++s) {
        search.error[s][i] = (uint16_t) fminf(best[s] - least, Q3_KV_ERROR_MAX);
    }
}

// One step of the Viterbi algorithm for the states `state` and `state + 128`.
static __device__ void q3_kv_search_step(q3_kv_search & search, const int half, const int state, const int i) {
    const int bit1 = (state >> 1 ^ state >> 2 ^ state >> 5) & 1;
    const int bit0 = (state ^ state >> 3 ^ state >> 4 ^ state >> 5 ^ state >> 6) & 1;

    const uint32_t same  = search.error[2*bit1 + bit0][32*half + i];
    const uint32_t other = search.error[2*(1 - bit1) + bit0][32*half + i];
    const uint32_t a     = search.total[i % 2][half][state];
    const uint32_t b     = search.total[i % 2][half][state + 128];

    uint32_t * next = search.total[1 - i % 2][half];
    next[2*state]     = min(a + same, b + other);
    next[2*state + 1] = min(a + other, b + same);
    search.from[half][i][2*state]     = b + other < a + same;
    search.from[half][i][2*state + 1] = b + same < a + other;
}

// Traces back the best path; one thread per half.
static __device__ void q3_kv_search_end(q3_kv_search & search, const int half, block_q3_kv * __restrict__ block) {
    uint32_t state = search.best[half] & 0xFF;
    uint32_t path = 0, level1 = 0, level0 = 0;
    for (int i = 31; i >= 0; --i) {
        const uint32_t w = state | (uint32_t) search.from[half][i][state] << 8;
        const uint32_t s = ((w ^ w >> 2 ^ w >> 3 ^ w >> 6 ^ w >> 8) & 1) << 1 | ((w >> 1 ^ w >> 4 ^ w >> 5 ^ w >> 6 ^ w >> 7) & 1);
        const uint32_t u = search.level[s][32*half + i];
        path    |= (w & 1) << i;
        level1 |= (u >> 1) << i;
        level0 |= (u & 1) << i;
        state   = w >> 1;
        search.level_x[32*half + i] = search.x[32*half + i] * q3_kv_levels_cuda[4*u + s];
    }
    block->start[half] = __brev(state) >> 24;
    for (int byte = 0; byte < 4; ++byte) {
        block->path[half][byte]    = path    >> 8*byte;
        block->level1[half][byte] = level1 >> 8*byte;
        block->level0[half][byte] = level0 >> 8*byte;
    }
}

static __device__ float q3_kv_sum(const float * values) {
    return warp_reduce_sum<32>(values[threadIdx.x] + values[threadIdx.x + 32]);
}

static __device__ void q3_kv_encode(q3_kv_search & search, const float * __restrict__ values, block_q3_kv * __restrict__ block) {
    const int tid   = threadIdx.x;
    const int half  = tid / 128;
    const int state = tid % 128;

    if (tid < QK3_KV) {
        const float cut = fminf(fmaxf(values[tid], -Q3_KV_VALUE_MAX), Q3_KV_VALUE_MAX);
        search.x[tid] = isnan(values[tid]) ? 0.0f : cut;
        search.level_x[tid] = search.x[tid] * search.x[tid];
    }
    search.total[0][half][2*state]     = 0;
    search.total[0][half][2*state + 1] = 0;
    if (state == 0) {
        search.best[half] = 0xFFFFFFFF;
    }
    __syncthreads();

    if (tid < 32) {
        const float squares = q3_kv_sum(search.level_x);
        const float largest = warp_reduce_max<32>(fmaxf(fabsf(search.x[tid]), fabsf(search.x[tid + 32])));
        if (tid == 0) {
            search.squares = squares;
            search.largest = largest;
        }
    }
    __syncthreads();

    const bool is_zero = search.largest < Q3_KV_VALUE_MIN;
    if (tid < QK3_KV) {
        q3_kv_search_errors(search, is_zero ? 0.0f : search.x[tid] * (Q3_KV_LARGEST / search.largest), tid);
    }
    __syncthreads();

    for (int i = 0; i < 32; ++i) {
        q3_kv_search_step(search, half, state, i);
        __syncthreads();
    }
    atomicMin(&search.best[half], search.total[0][half][2*state] << 8 | (2*state));
    atomicMin(&search.best[half], search.total[0][half][2*state + 1] << 8 | (2*state + 1));
    __syncthreads();

    if (state == 0) {
        q3_kv_search_end(search, half, block);
    }
    __syncthreads();

    if (tid < 32) {
        const float scale = search.squares / q3_kv_sum(search.level_x);
        if (tid == 0) {
            block->d = __float2half(is_zero ? 0.0f : fminf(scale, Q3_KV_SCALE_MAX));
        }
    }
}

template <typename idx_t>
__launch_bounds__(Q3_KV_THREADS, 1)
static __global__ void k_set_rows_q3_kv(
        const float * __restrict__ src0, const idx_t * __restrict__ src1, char * __restrict__ dst,
        const int64_t s01, const int64_t s02, const int64_t s03,
        const int64_t s10, const int64_t s11, const int64_t s12,
        const int64_t ne02, const int64_t ne11, const int64_t ne12,
        const int64_t nb1, const int64_t nb2, const int64_t nb3) {
    __shared__ q3_kv_search search;

    // each thread block encodes one block of values
    const int64_t i01 = blockIdx.y;
    const int64_t i02 = blockIdx.z % ne02;
    const int64_t i03 = blockIdx.z / ne02;

    const int64_t row = src1[i01*s10 + (i02 % ne11)*s11 + (i03 % ne12)*s12];

    block_q3_kv * blocks = (block_q3_kv *) (dst + row*nb1 + i02*nb2 + i03*nb3);
    q3_kv_encode(search, src0 + i01*s01 + i02*s02 + i03*s03 + int64_t(blockIdx.x)*QK3_KV, blocks + blockIdx.x);
}

template <typename idx_t>
static void set_rows_q3_kv(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {
    const ggml_tensor * src0 = dst->src[0];
    const ggml_tensor * src1 = dst->src[1];
    GGML_TENSOR_BINARY_OP_LOCALS
    GGML_ASSERT(ne00 % QK3_KV == 0);

    // grids are limited to 65535 in y
    for (int64_t first = 0; first < ne01; first += 32768) {
        const dim3 grid(ne00/QK3_KV, std::min<int64_t>(ne01 - first, 32768), ne02*ne03);
        k_set_rows_q3_kv<idx_t><<<grid, Q3_KV_THREADS, 0, ctx.stream()>>>(
            (const float *) src0->data + first*(nb01/sizeof(float)),
            (const idx_t *) src1->data + first*(nb10/sizeof(idx_t)), (char *) dst->data,
            nb01/sizeof(float), nb02/sizeof(float), nb03/sizeof(float),
            nb10/sizeof(idx_t), nb11/sizeof(idx_t), nb12/sizeof(idx_t), ne02, ne11, ne12, nb1, nb2, nb3);
    }
}

void ggml_cuda_op_set_rows_q3_kv(ggml_backend_cuda_context & ctx, ggml_tensor * dst) {
    if (ggml_nelements(dst->src[0]) == 0) {
        return;
    }
    if (dst->src[1]->type == GGML_TYPE_I64) {
        set_rows_q3_kv<int64_t>(ctx, dst);
    } else {
        set_rows_q3_kv<int32_t>(ctx, dst);
    }
}

ggml_cuda_fattn_q3_kv_t ggml_cuda_fattn_q3_kv(const int64_t head_size) {
    switch (head_size) {
        case 64:
            return ggml_cuda_flash_attn_ext_vec_case<64, GGML_TYPE_Q3_KV, GGML_TYPE_Q3_KV>;
        case 128:
            return ggml_cuda_flash_attn_ext_vec_case<128, GGML_TYPE_Q3_KV, GGML_TYPE_Q3_KV>;
        case 256:
            return ggml_cuda_flash_attn_ext_vec_case<256, GGML_TYPE_Q3_KV, GGML_TYPE_Q3_KV>;
        default:
            return nullptr;
    }
}
