// SPDX-License-Identifier: BSD-3-Clause
// Generated: mass matrix of degree 1 on cartesian quadrilaterals, C.
enum { LANES = 8 };
typedef double vec __attribute__((vector_size(64), may_alias));
typedef double uvec __attribute__((vector_size(64), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size(32), may_alias));
static const ivec lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
static inline vec splat(double a) { return a - (vec){0}; }
static inline ivec isplat(long a) { return (int)a - (ivec){0}; }
static inline ivec vmin_i(ivec a, ivec b) { const ivec m = a < b; return (a & m) | (b & ~m); }
static inline ivec gather_i(const int* p, ivec i) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
#if defined(__AVX512F__)
typedef double gather_vec __attribute__((vector_size(64)));
typedef int gather_ivec __attribute__((vector_size(32)));
static inline vec gather(const double* p, ivec i) { return (vec)__builtin_ia32_gathersiv8df((gather_vec){0}, p, (gather_ivec)i, -1, 8); }
#else
static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
#endif
static const int run_entries3[4] = {0, 1, 2, 3};
static const double K[2] = {0.7886751345948129, 0.21132486540518708};
void kernel(void* const* arguments, long begin, long end)
{
  vec a0_u0_dofs[4];
  const double* restrict input_vector_0 = arguments[0];
  const int* restrict pattern_numbers_0 = arguments[1];
  const int* restrict run_starts_0 = arguments[2];
  const int* restrict unpatterned_numbers_0 = arguments[3];
  const int* restrict unpatterned_entries_0 = arguments[4];
  const int* restrict first_touch_0 = arguments[5];
  const double* restrict stored_cell_0 = arguments[6];
  const int* restrict data_rows_0 = arguments[7];
  double* restrict output_vector_0 = arguments[8];
  const int* restrict mode_0 = arguments[9];
  const int* restrict num_active_0 = arguments[10];
  for (long batch = begin; batch < end; ++batch) {
  const long row = (long)data_rows_0[batch];
  const long p0 = (long)pattern_numbers_0[batch];
  if (p0) {
   for (long r1 = 0; r1 < 4; ++r1) {
    const ivec s2 = ((const ivec*)run_starts_0)[batch*4+r1];
    for (long n4 = 0; n4 < 1; ++n4) {
     a0_u0_dofs[(long)run_entries3[r1+n4]] = gather(input_vector_0, (s2 + (int)n4));
    }
   }
  } else {
   const long b6 = (long)unpatterned_numbers_0[batch];
   for (long i7 = 0; i7 < 4; ++i7) {
    const ivec s8 = ((const ivec*)unpatterned_entries_0)[b6*4+i7];
    for (long n9 = 0; n9 < 1; ++n9) {
     a0_u0_dofs[(long)run_entries3[i7+n9]] = gather(input_vector_0, (s8 + (int)n9));
    }
   }
  }
  for (long c11 = 0; c11 < 1; ++c11) {
   for (long i12 = 0; i12 < 2; ++i12) {
    const vec u13 = a0_u0_dofs[c11*4+i12*2],
    u14 = a0_u0_dofs[c11*4+i12*2+1];
    a0_u0_dofs[c11*4+i12*2] = K[0]*u13 + K[1]*u14;
    a0_u0_dofs[c11*4+i12*2+1] = K[1]*u13 + K[0]*u14;
   }
   for (long i15 = 0; i15 < 2; ++i15) {
    const vec u16 = a0_u0_dofs[c11*4+i15],
    u17 = a0_u0_dofs[c11*4+i15+2];
    a0_u0_dofs[c11*4+i15] = K[0]*u16 + K[1]*u17;
    a0_u0_dofs[c11*4+i15+2] = K[1]*u16 + K[0]*u17;
   }
  }
  const vec t18 = ((const vec*)stored_cell_0)[row];
  for (long q1 = 0; q1 < 2; ++q1) {
   { const long q0 = 0;
    const vec t19 = a0_u0_dofs[q1*2+q0],
    t20 = t18*t19;
    a0_u0_dofs[q1*2+q0] = t20;
   }
   { const long q0 = 1;
    const vec t19 = a0_u0_dofs[q1*2+q0],
    t20 = t18*t19;
    a0_u0_dofs[q1*2+q0] = t20;
   }
  }
  for (long i21 = 0; i21 < 2; ++i21) {
   const vec u22 = a0_u0_dofs[i21],
   u23 = a0_u0_dofs[i21+2];
   a0_u0_dofs[i21] = K[0]*u22 + K[1]*u23;
   a0_u0_dofs[i21+2] = K[1]*u22 + K[0]*u23;
  }
  for (long i24 = 0; i24 < 2; ++i24) {
   const vec u25 = a0_u0_dofs[i24*2],
   u26 = a0_u0_dofs[i24*2+1];
   a0_u0_dofs[i24*2] = K[0]*u25 + K[1]*u26;
   a0_u0_dofs[i24*2+1] = K[1]*u25 + K[0]*u26;
  }
  if ((long)mode_0[0]==0) {
   const long z27 = (long)first_touch_0[batch*2];
   for (long z28 = 0; z28 < (long)first_touch_0[batch*2+1]-z27; ++z28) {
    output_vector_0[z27+z28] = 0.0;
   }
  } else {
  }
  const long p29 = (long)pattern_numbers_0[batch];
  if (p29) {
   for (long r30 = 0; r30 < 4; ++r30) {
    const ivec s31 = ((const ivec*)run_starts_0)[batch*4+r30];
    for (long n32 = 0; n32 < 1; ++n32) {
     { const vec v_ = a0_u0_dofs[(long)run_entries3[r30+n32]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[(((batch*4+r30)*8) + l_)] + n32)] += v_[l_]; }
    }
   }
  } else {
   const long b34 = (long)unpatterned_numbers_0[batch];
   if ((long)num_active_0[batch]==8) {
    for (long i35 = 0; i35 < 4; ++i35) {
     const ivec s36 = ((const ivec*)unpatterned_entries_0)[b34*4+i35];
     for (long n37 = 0; n37 < 1; ++n37) {
      { const vec v_ = a0_u0_dofs[(long)run_entries3[i35+n37]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)unpatterned_entries_0[(((b34*4+i35)*8) + l_)] + n37)] += v_[l_]; }
     }
    }
   } else {
    for (long i39 = 0; i39 < 4; ++i39) {
     const ivec s40 = ((const ivec*)unpatterned_entries_0)[b34*4+i39];
     { const vec v_ = a0_u0_dofs[(long)run_entries3[i39]]; for (long l_ = 0; l_ < (long)num_active_0[batch]; ++l_) output_vector_0[(long)unpatterned_entries_0[(((b34*4+i39)*8) + l_)]] += v_[l_]; }
    }
   }
  }
  }
}
