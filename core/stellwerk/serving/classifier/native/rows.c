/* Products of a sparse matrix, by rows, with two columns at once: what training spends its time on. */

#include <stddef.h>
#include <stdint.h>

#define API __attribute__((visibility("default")))

/* out[row] = sum of values * weights[column]; weights and out have two floats each. */
API void sw_rows_dot(uint64_t rows, const int64_t *start, const int32_t *columns, const float *values,
                     const float *weights, float *out) {
    for (uint64_t row = 0; row < rows; row++) {
        double first = 0, second = 0;
        for (int64_t i = start[row]; i < start[row + 1]; i++) {
            const float *weight = weights + 2 * (ptrdiff_t)columns[i];
            first += values[i] * weight[0];
            second += values[i] * weight[1];
        }
        out[2 * row] = (float)first;
        out[2 * row + 1] = (float)second;
    }
}

/* out[column] += sum of values * errors[row]; errors and out have two floats each. */
API void sw_rows_dot_transposed(uint64_t rows, const int64_t *start, const int32_t *columns, const float *values,
                                const float *errors, float *out) {
    for (uint64_t row = 0; row < rows; row++) {
        float first = errors[2 * row], second = errors[2 * row + 1];
        for (int64_t i = start[row]; i < start[row + 1]; i++) {
            float *sum = out + 2 * (ptrdiff_t)columns[i];
            sum[0] += values[i] * first;
            sum[1] += values[i] * second;
        }
    }
}
