// SPDX-License-Identifier: BSD-3-Clause
// Generated: mass matrix of degree 1 on cartesian quadrilaterals, C.
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
static const int run_entries4[4] = {0, 1, 2, 3};
static const double K[2] = {0.21132486540518708, 0.7886751345948129};
void kernel(void* const* arguments, long begin, long end)
{
  vec u0_values[4];
  const double* restrict input_vector_0 = arguments[0];
  const int* restrict run_starts_0 = arguments[1];
  const int* restrict run_permutations_0 = arguments[2];
  const int* restrict permutations_0 = arguments[3];
  const int* restrict num_active_0 = arguments[4];
  const int* restrict is_regular_0 = arguments[5];
  const int* restrict first_touch_0 = arguments[6];
  const double* restrict stored_cell_0 = arguments[7];
  const int* restrict data_rows_0 = arguments[8];
  double* restrict output_vector_0 = arguments[9];
  const int* restrict mode_0 = arguments[10];
  for (long batch = begin; batch < end; ++batch) {
  const long row = (long)data_rows_0[batch];
  if ((long)is_regular_0[batch]) {
   for (long r0 = 0; r0 < 4; ++r0) {
    const ivec s1 = ((const ivec*)run_starts_0)[batch*4+r0];
    for (long n2 = 0; n2 < 1; ++n2) {
     u0_values[(long)run_entries4[r0+n2]] = gather(input_vector_0, (s1 + (int)n2));
    }
   }
  } else {
   for (long r5 = 0; r5 < 4; ++r5) {
    const ivec s6 = ((const ivec*)run_starts_0)[batch*4+r5];
    const ivec m8 = ((const ivec*)run_permutations_0)[batch*4+r5];
    for (long k7 = 0; k7 < 1; ++k7) {
     const ivec p9 = gather_i(permutations_0, (m8 + (int)k7));
     u0_values[(long)run_entries4[r5+k7]] = gather(input_vector_0, (s6 + p9));
    }
   }
  }
  for (long c10 = 0; c10 < 1; ++c10) {
   for (long k11 = 0; k11 < 2; ++k11) {
    const vec u12 = u0_values[c10*4+k11*2],
    u13 = u0_values[c10*4+k11*2+1];
    u0_values[c10*4+k11*2] = K[1]*u12 + K[0]*u13;
    u0_values[c10*4+k11*2+1] = K[0]*u12 + K[1]*u13;
   }
   for (long i14 = 0; i14 < 2; ++i14) {
    const vec u15 = u0_values[c10*4+i14],
    u16 = u0_values[c10*4+i14+2],
    v17 = K[1]*u15 + K[0]*u16,
    v18 = K[0]*u15 + K[1]*u16;
    u0_values[c10*4+i14] = v17;
    u0_values[c10*4+i14+2] = v18;
   }
  }
  const vec t19 = ((const vec*)stored_cell_0)[row];
  for (long q1 = 0; q1 < 2; ++q1) {
   { const long q0 = 0;
    const vec t20 = u0_values[q1*2+q0],
    t21 = t19*t20;
    u0_values[q1*2+q0] = t21;
   }
   { const long q0 = 1;
    const vec t20 = u0_values[q1*2+q0],
    t21 = t19*t20;
    u0_values[q1*2+q0] = t21;
   }
  }
  for (long c22 = 0; c22 < 1; ++c22) {
   for (long i23 = 0; i23 < 2; ++i23) {
    const vec u24 = u0_values[c22*4+i23],
    u25 = u0_values[c22*4+i23+2];
    u0_values[c22*4+i23] = K[1]*u24 + K[0]*u25;
    u0_values[c22*4+i23+2] = K[0]*u24 + K[1]*u25;
   }
  }
  for (long c26 = 0; c26 < 1; ++c26) {
   for (long k27 = 0; k27 < 2; ++k27) {
    const vec u28 = u0_values[c26*4+k27*2],
    u29 = u0_values[c26*4+k27*2+1];
    u0_values[c26*4+k27*2] = K[1]*u28 + K[0]*u29;
    u0_values[c26*4+k27*2+1] = K[0]*u28 + K[1]*u29;
   }
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
    const ivec s33 = ((const ivec*)run_starts_0)[batch*4+r32];
    for (long n34 = 0; n34 < 1; ++n34) {
     { const vec v_ = u0_values[(long)run_entries4[r32+n34]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[(((batch*4+r32)*8) + l_)] + n34)] += v_[l_]; }
    }
   }
  } else {
   for (long r36 = 0; r36 < 4; ++r36) {
    const ivec s37 = ((const ivec*)run_starts_0)[batch*4+r36];
    const ivec m39 = ((const ivec*)run_permutations_0)[batch*4+r36];
    for (long k38 = 0; k38 < 1; ++k38) {
     const ivec p40 = gather_i(permutations_0, (m39 + (int)k38));
     { const vec v_ = u0_values[(long)run_entries4[r36+k38]]; for (long l_ = 0; l_ < (long)num_active_0[batch]; ++l_) output_vector_0[((long)run_starts_0[(((batch*4+r36)*8) + l_)] + (long)permutations_0[((long)run_permutations_0[(((batch*4+r36)*8) + l_)] + k38)])] += v_[l_]; }
    }
   }
  }
  }
}
