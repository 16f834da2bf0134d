// SPDX-License-Identifier: BSD-3-Clause
// Generated: mass matrix of degree 1 on affine quadrilaterals, C.
enum { LANES = 8 };
typedef double vec __attribute__((vector_size(64), may_alias));
typedef double uvec __attribute__((vector_size(64), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size(32), may_alias));
static const ivec lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
static inline vec splat(double a) { vec r; for (int l = 0; l < LANES; ++l) r[l] = a; return r; }
static inline ivec isplat(long a) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = (int)a; return r; }
static inline ivec vmin_i(ivec a, ivec b) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = a[l] < b[l] ? a[l] : b[l]; return r; }
static inline ivec gather_i(const int* p, ivec i) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
#if defined(__AVX512F__)
typedef double gather_vec __attribute__((vector_size(64)));
typedef int gather_ivec __attribute__((vector_size(32)));
static inline vec gather(const double* p, ivec i) { return (vec)__builtin_ia32_gathersiv8df((gather_vec){0}, p, (gather_ivec)i, -1, 8); }
#else
static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
#endif
static const int run_dofs0[4] = {0, 1, 2, 3};
static const double K[2] = {0.21132486540518708, 0.7886751345948129};
void kernel(void* const* arguments, long begin, long end)
{
  vec u0_values[4];
  vec u0_dofs[4];
  vec u0_partial[4];
  const double* restrict input_vector_0 = arguments[0];
  const int* restrict run_starts_0 = arguments[1];
  const int* restrict run_permutations_0 = arguments[2];
  const int* restrict permutations_0 = arguments[3];
  const int* restrict num_active_0 = arguments[4];
  const int* restrict is_regular_0 = arguments[5];
  const double* restrict stored_cell_0 = arguments[6];
  double* restrict output_vector_0 = arguments[7];
  const int* restrict mode_0 = arguments[8];
  const int* restrict first_touch_0 = arguments[9];
  for (long batch = begin; batch < end; ++batch) {
  if ((long)is_regular_0[batch]) {
   for (long r1 = 0; r1 < 4; ++r1) {
    const ivec s3 = ((const ivec*)run_starts_0)[batch*4+r1];
    for (long k2 = 0; k2 < 1; ++k2) {
     const long d4 = (long)run_dofs0[r1+k2];
     u0_dofs[d4] = gather(input_vector_0, (s3 + (int)k2));
    }
   }
  } else {
   for (long r5 = 0; r5 < 4; ++r5) {
    const ivec s7 = ((const ivec*)run_starts_0)[batch*4+r5];
    const ivec m8 = ((const ivec*)run_permutations_0)[batch*4+r5];
    for (long k6 = 0; k6 < 1; ++k6) {
     const ivec p9 = gather_i(permutations_0, (m8 + (int)k6));
     const long d10 = (long)run_dofs0[r5+k6];
     u0_dofs[d10] = gather(input_vector_0, (s7 + p9));
    }
   }
  }
  for (long c11 = 0; c11 < 1; ++c11) {
   for (long k12 = 0; k12 < 2; ++k12) {
    const vec u13 = u0_dofs[(c11*2+k12)*2],
    u14 = u0_dofs[(c11*2+k12)*2+1];
    u0_partial[(c11*2+k12)*2] = K[1]*u13 + K[0]*u14;
    u0_partial[(c11*2+k12)*2+1] = K[0]*u13 + K[1]*u14;
   }
   for (long i15 = 0; i15 < 2; ++i15) {
    const vec u16 = u0_partial[c11*4+i15],
    u17 = u0_partial[c11*4+i15+2],
    v18 = K[1]*u16 + K[0]*u17,
    v19 = K[0]*u16 + K[1]*u17;
    u0_values[c11*4+i15] = v18;
    u0_values[c11*4+i15+2] = v19;
   }
  }
  const vec t20 = ((const vec*)stored_cell_0)[batch];
  for (long q1 = 0; q1 < 2; ++q1) {
   { const long q0 = 0;
    const vec t21 = u0_values[q1*2+q0],
    t22 = t20*t21;
    u0_values[q1*2+q0] = t22;
   }
   { const long q0 = 1;
    const vec t21 = u0_values[q1*2+q0],
    t22 = t20*t21;
    u0_values[q1*2+q0] = t22;
   }
  }
  for (long c23 = 0; c23 < 1; ++c23) {
   for (long i24 = 0; i24 < 2; ++i24) {
    const vec u25 = u0_values[c23*4+i24],
    u26 = u0_values[c23*4+i24+2];
    u0_partial[c23*4+i24] = K[1]*u25 + K[0]*u26;
    u0_partial[c23*4+i24+2] = K[0]*u25 + K[1]*u26;
   }
  }
  for (long k27 = 0; k27 < 2; ++k27) {
   const vec u28 = u0_partial[k27*2],
   u29 = u0_partial[k27*2+1];
   u0_dofs[k27*2] = K[1]*u28 + K[0]*u29;
   u0_dofs[k27*2+1] = K[0]*u28 + K[1]*u29;
  }
  if ((long)mode_0[0]==0) {
   const long z30 = (long)first_touch_0[batch*2];
   for (long z31 = 0; z31 < (long)first_touch_0[batch*2+1]-z30; ++z31) {
    output_vector_0[z30+z31] = 0.0;
   }
  } else {
  }
  if ((long)is_regular_0[batch]) {
   for (long r32 = 0; r32 < 4; ++r32) {
    const ivec s34 = ((const ivec*)run_starts_0)[batch*4+r32];
    for (long k33 = 0; k33 < 1; ++k33) {
     const long d35 = (long)run_dofs0[r32+k33];
     { const vec v_ = u0_dofs[d35]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[(((batch*4+r32)*8) + l_)] + k33)] += v_[l_]; }
    }
   }
  } else {
   for (long r36 = 0; r36 < 4; ++r36) {
    const ivec s38 = ((const ivec*)run_starts_0)[batch*4+r36];
    const ivec m39 = ((const ivec*)run_permutations_0)[batch*4+r36];
    for (long k37 = 0; k37 < 1; ++k37) {
     const ivec p40 = gather_i(permutations_0, (m39 + (int)k37));
     const long d41 = (long)run_dofs0[r36+k37];
     { const vec v_ = u0_dofs[d41]; for (long l_ = 0; l_ < (long)num_active_0[batch]; ++l_) output_vector_0[((long)run_starts_0[(((batch*4+r36)*8) + l_)] + (long)permutations_0[((long)run_permutations_0[(((batch*4+r36)*8) + l_)] + k37)])] += v_[l_]; }
    }
   }
  }
  }
}
