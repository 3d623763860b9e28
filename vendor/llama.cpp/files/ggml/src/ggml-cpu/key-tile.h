// Rows of a KV cache as floats: values as they are, keys with a column for each cell, so that a score is a sum in the order of a
// key's numbers, however many queries it is computed for.

#pragma once

#include "kv-rows.h"
#include "simd-mappings.h"
#include "vec.h"

#include <cstdint>
#include <cstring>

// Columns are written in groups of this many.
constexpr int64_t key_group = 16;

// Dequantizes a row: the key or the value of a cell.
inline void read_kv_row(ggml_type type, const char * row, float * numbers, int64_t count) {
    if (const ggml_kv_mad_t mad = ggml_kv_mad(type)) {
        memset(numbers, 0, count*sizeof(float));
        mad((int) count, numbers, row, 1.0f);
    } else if (type == GGML_TYPE_F16) {
        ggml_cpu_fp16_to_fp32((const ggml_fp16_t *) row, numbers, count);
    } else if (type == GGML_TYPE_F32) {
        memcpy(numbers, row, count*sizeof(float));
    } else {
        ggml_get_type_traits(type)->to_float(row, numbers, count);
    }
}

// Transposes the 16 x 16 numbers at `rows`, `stride` numbers apart, into `columns`, `width` numbers apart.
#if defined(__AVX512F__)

inline void transpose_16(const float * rows, int64_t stride, float * columns, int64_t width) {
    __m512 a[16];
    __m512 b[16];
    for (int i = 0; i < 16; i++) {
        a[i] = _mm512_loadu_ps(rows + i*stride);
    }
    for (int i = 0; i < 16; i += 2) {
        b[i]     = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    const auto pair_low  = [](__m512 x, __m512 y) {
        return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
    };
    const auto pair_high = [](__m512 x, __m512 y) {
        return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x), _mm512_castps_pd(y)));
    };
    for (int i = 0; i < 16; i += 4) {
        a[i]     = pair_low(b[i], b[i + 2]);
        a[i + 1] = pair_high(b[i], b[i + 2]);
        a[i + 2] = pair_low(b[i + 1], b[i + 3]);
        a[i + 3] = pair_high(b[i + 1], b[i + 3]);
    }
    // a[4*r + c] has in its quarter q the numbers c + 4*q of the rows from 4*r on
    for (int c = 0; c < 4; c++) {
        const __m512 top_low     = _mm512_shuffle_f32x4(a[c], a[c + 4], 0x88);
        const __m512 top_high    = _mm512_shuffle_f32x4(a[c], a[c + 4], 0xdd);
        const __m512 bottom_low  = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0x88);
        const __m512 bottom_high = _mm512_shuffle_f32x4(a[c + 8], a[c + 12], 0xdd);
        _mm512_storeu_ps(columns + (c + 0)*width, _mm512_shuffle_f32x4(top_low, bottom_low, 0x88));
        _mm512_storeu_ps(columns + (c + 4)*width, _mm512_shuffle_f32x4(top_high, bottom_high, 0x88));
        _mm512_storeu_ps(columns + (c + 8)*width, _mm512_shuffle_f32x4(top_low, bottom_low, 0xdd));
        _mm512_storeu_ps(columns + (c + 12)*width, _mm512_shuffle_f32x4(top_high, bottom_high, 0xdd));
    }
}

#elif defined(__AVX__)

inline void transpose_8(const float * rows, int64_t stride, float * columns, int64_t width) {
    __m256 a[8];
    __m256 b[8];
    for (int i = 0; i < 8; i++) {
        a[i] = _mm256_loadu_ps(rows + i*stride);
    }
    for (int i = 0; i < 8; i += 2) {
        b[i]     = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        a[i]     = _mm256_shuffle_ps(b[i], b[i + 2], 0x44);
        a[i + 1] = _mm256_shuffle_ps(b[i], b[i + 2], 0xee);
        a[i + 2] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44);
        a[i + 3] = _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee);
    }
    for (int c = 0; c < 4; c++) {
        _mm256_storeu_ps(columns + c*width, _mm256_permute2f128_ps(a[c], a[c + 4], 0x20));
        _mm256_storeu_ps(columns + (c + 4)*width, _mm256_permute2f128_ps(a[c], a[c + 4], 0x31));
    }
}

inline void transpose_16(const float * rows, int64_t stride, float * columns, int64_t width) {
    transpose_8(rows, stride, columns, width);
    transpose_8(rows + 8, stride, columns + 8*width, width);
    transpose_8(rows + 8*stride, stride, columns + 8, width);
    transpose_8(rows + 8*stride + 8, stride, columns + 8*width + 8, width);
}

#else

inline void transpose_16(const float * rows, int64_t stride, float * columns, int64_t width) {
    for (int64_t column = 0; column < 16; column++) {
        for (int64_t row = 0; row < 16; row++) {
            columns[column*width + row] = rows[row*stride + column];
        }
    }
}

#endif

// Writes the columns of a group of cells; `rows` has `count` numbers for each of them.
inline void write_key_columns(const float * rows, int64_t count, float * columns, int64_t width) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        transpose_16(rows + i, count, columns + i*width, width);
    }
    for (; i < count; i++) {
        for (int64_t cell = 0; cell < key_group; cell++) {
            columns[i*width + cell] = rows[cell*count + i];
        }
    }
}
