// SPDX-License-Identifier: BSD-3-Clause
// Generated: Laplacian of degree 2 on cartesian quadrilaterals, points in lanes, C.
enum { LANES = 4 };
typedef double vec __attribute__((vector_size(32), may_alias));
typedef double uvec __attribute__((vector_size(32), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size(16), may_alias));
static const ivec lane_numbers = {0, 1, 2, 3};
static inline vec splat(double a) { return a - (vec){0}; }
static inline ivec isplat(long a) { return (int)a - (ivec){0}; }
static inline ivec vmin_i(ivec a, ivec b) { const ivec m = a < b; return (a & m) | (b & ~m); }
static inline ivec gather_i(const int* p, ivec i) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
static inline vec gather(const double* p, ivec i) { vec r; for (int l = 0; l < LANES; ++l) r[l] = p[i[l]]; return r; }
#define exchange1(a, b) { const vec t_ = __builtin_shufflevector(a, b, 0, 4, 2, 6); b = __builtin_shufflevector(a, b, 1, 5, 3, 7); a = t_; }
#define exchange2(a, b) { const vec t_ = __builtin_shufflevector(a, b, 0, 1, 4, 5); b = __builtin_shufflevector(a, b, 2, 3, 6, 7); a = t_; }
typedef double run4 __attribute__((vector_size(32), aligned(8), may_alias));
static inline void load_run4(vec* w, const int* n, const double* x, const int* s, long o) {
  x += o;
  vec r0 = *(const run4*)(x + s[0]);
  vec r1 = *(const run4*)(x + s[1]);
  vec r2 = *(const run4*)(x + s[2]);
  vec r3 = *(const run4*)(x + s[3]);
  exchange1(r0, r1) exchange1(r2, r3)
  exchange2(r0, r2) exchange2(r1, r3)
  w[n[0]] = r0;
  w[n[1]] = r1;
  w[n[2]] = r2;
  w[n[3]] = r3;
}
static const int run_entries3[8] = {0, 2, 6, 8, 1, 3, 5, 7};
static const int interior_dofs12[1] = {4};
static const vec columns25[3] = {
  {0.6872983346207417, (-5.551115123125783e-17), (-0.08729833462074171), 0.0},
  {0.4, 1.0, 0.4, 0.0},
  {(-0.08729833462074171), (-5.551115123125783e-17), 0.6872983346207417, 0.0}};
static const vec columns48[3] = {
  {(-1.9364916731037085), (-0.6454972243679028), 0.6454972243679028, 0.0},
  {2.581988897471611, 0.0, (-2.581988897471611), 0.0},
  {(-0.6454972243679028), 0.6454972243679028, 1.9364916731037085, 0.0}};
static const vec columns52[3] = {
  {(-1.9364916731037083), 1.6137430609197572, (-0.6454972243679028), 0.0},
  {(-1.0327955589886444), 0.0, 1.0327955589886444, 0.0},
  {0.6454972243679028, (-1.6137430609197572), 1.9364916731037083, 0.0}};
static const vec columns69[3] = {
  {0.3818324081226343, 0.22222222222222224, (-0.048499074789300954), 0.0},
  {(-4.9343245538895844e-17), 0.8888888888888888, (-4.9343245538895844e-17), 0.0},
  {(-0.048499074789300954), 0.22222222222222224, 0.3818324081226343, 0.0}};
static const int cell_starts72[4] = {0, 12, 24, 36};
static const int line_entries73[12] = {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9};
static const double K[14] = {0.6872983346207417, 0.08729833462074171, 5.551115123125783e-17, 1.9364916731037085, 2.581988897471611, 0.6454972243679028, 1.9364916731037083, 1.0327955589886444, 1.6137430609197572, 0.3818324081226343, 4.9343245538895844e-17, 0.048499074789300954,
  0.22222222222222224, 0.8888888888888888};
void kernel(void* const* arguments, long begin, long end)
{
  vec u0_values[3];
  vec u0_dofs[10];
  vec u0_last[3];
  vec u0_line[1];
  vec u0_transposed[12];
  vec u0_out_line[1];
  const double* restrict input_vector_0 = arguments[0];
  const int* restrict pattern_numbers_0 = arguments[1];
  const int* restrict run_starts_0 = arguments[2];
  const int* restrict unpatterned_numbers_0 = arguments[3];
  const int* restrict unpatterned_entries_0 = arguments[4];
  const int* restrict interior_starts_0 = arguments[5];
  const int* restrict num_active_0 = arguments[6];
  const int* restrict first_touch_0 = arguments[7];
  const double* restrict map_0 = arguments[8];
  double* restrict output_vector_0 = arguments[9];
  const int* restrict mode_0 = arguments[10];
  const int* restrict data_rows_0 = arguments[11];
  for (long batch = begin; batch < end; ++batch) {
  const long row = (long)data_rows_0[batch];
  for (long pass = 0; pass < 2; ++pass) {
   const long p0 = (long)pattern_numbers_0[batch];
   if (p0) {
    for (long r1 = 0; r1 < 8; ++r1) {
     const ivec s2 = ((const ivec*)run_starts_0)[(batch*8+r1)*2+pass];
     for (long n4 = 0; n4 < 1; ++n4) {
      u0_dofs[(long)run_entries3[r1+n4]] = gather(input_vector_0, (s2 + (int)n4));
     }
    }
   } else {
    const long b6 = (long)unpatterned_numbers_0[batch];
    for (long i7 = 0; i7 < 8; ++i7) {
     const ivec s8 = ((const ivec*)unpatterned_entries_0)[(b6*8+i7)*2+pass];
     for (long n9 = 0; n9 < 1; ++n9) {
      u0_dofs[(long)run_entries3[i7+n9]] = gather(input_vector_0, (s8 + (int)n9));
     }
    }
   }
   if ((long)num_active_0[batch]==8) {
    const long s11 = (long)interior_starts_0[batch];
    for (long i13 = 0; i13 < 1; ++i13) {
     const long d14 = (long)interior_dofs12[i13];
     u0_dofs[d14] = (vec)*(const uvec*)(input_vector_0 + s11+i13*8+pass*4);
    }
   } else {
    const long s15 = (long)interior_starts_0[batch];
    const long n16 = (long)num_active_0[batch];
    const ivec l17 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n16-1));
    for (long i18 = 0; i18 < 1; ++i18) {
     const long d19 = (long)interior_dofs12[i18];
     u0_dofs[d19] = gather(input_vector_0, ((int)(s15+i18*n16) + l17));
    }
   }
   for (long cell = 0; cell < 4; ++cell) {
    for (long c20 = 0; c20 < 1; ++c20) {
     for (long k21 = 0; k21 < 3; ++k21) {
      const double u22 = ((const double*)u0_dofs)[(c20*3+k21)*3*4+cell],
      u23 = ((const double*)u0_dofs)[((c20*3+k21)*3+1)*4+cell],
      u24 = ((const double*)u0_dofs)[((c20*3+k21)*3+2)*4+cell];
      u0_last[c20*3+k21] = columns25[0]*u22 + columns25[1]*u23 + columns25[2]*u24;
     }
     for (long i26 = 0; i26 < 1; ++i26) {
      const vec u27 = u0_last[c20*3+i26],
      u28 = u0_last[c20*3+i26+1],
      u29 = u0_last[c20*3+i26+2],
      v30 = K[0]*u27 + 0.4*u28 + (-K[1])*u29,
      v31 = (-K[2])*u27 + 1.0*u28 + (-K[2])*u29,
      v32 = (-K[1])*u27 + 0.4*u28 + K[0]*u29;
      u0_values[c20*3+i26] = v30;
      u0_values[c20*3+i26+1] = v31;
      u0_values[c20*3+i26+2] = v32;
      u0_last[c20*3+i26] = (-K[3])*v30 + K[4]*v31 + (-K[5])*v32;
      u0_last[c20*3+i26+1] = (-K[5])*v30 + K[5]*v32;
      u0_last[c20*3+i26+2] = K[5]*v30 + (-K[4])*v31 + K[3]*v32;
     }
    }
    const double t33 = map_0[(row*6+2)*8+pass*4+cell],
    t34 = map_0[(row*6+5)*8+pass*4+cell],
    t35 = t33*t34,
    t36 = 1.0/t35,
    t37 = t34*t36,
    t38 = t33*t36;
    for (long q1 = 0; q1 < 3; ++q1) {
     const double u45 = ((const double*)u0_values)[q1*4],
     u46 = ((const double*)u0_values)[q1*4+1],
     u47 = ((const double*)u0_values)[q1*4+2];
     u0_line[0] = columns48[0]*u45 + columns48[1]*u46 + columns48[2]*u47;
     { const long q0 = 0;
      const vec t39 = u0_line[q0],
      t40 = t37*t39,
      t41 = t34*t40,
      t42 = u0_last[q1+q0],
      t43 = t42*t38,
      t44 = t33*t43;
      u0_out_line[q0] = t41;
      u0_last[q1+q0] = t44;
     }
     const double u49 = ((const double*)u0_out_line)[0],
     u50 = ((const double*)u0_out_line)[1],
     u51 = ((const double*)u0_out_line)[2];
     u0_values[q1] = columns52[0]*u49 + columns52[1]*u50 + columns52[2]*u51;
    }
    for (long c53 = 0; c53 < 1; ++c53) {
     for (long i54 = 0; i54 < 1; ++i54) {
      const vec u55 = u0_last[c53*3+i54],
      u56 = u0_last[c53*3+i54+1],
      u57 = u0_last[c53*3+i54+2],
      u58 = u0_values[c53*3+i54],
      u59 = u0_values[c53*3+i54+1],
      u60 = u0_values[c53*3+i54+2],
      r61 = u58 + ((-K[6])*u55 + (-K[7])*u56 + K[5]*u57),
      r62 = u59 + (K[8]*u55 + (-K[8])*u57),
      r63 = u60 + ((-K[5])*u55 + K[7]*u56 + K[6]*u57);
      u0_last[c53*3+i54] = K[9]*r61 + (-K[10])*r62 + (-K[11])*r63;
      u0_last[c53*3+i54+1] = K[12]*r61 + K[13]*r62 + K[12]*r63;
      u0_last[c53*3+i54+2] = (-K[11])*r61 + (-K[10])*r62 + K[9]*r63;
     }
    }
    for (long c64 = 0; c64 < 1; ++c64) {
     for (long k65 = 0; k65 < 3; ++k65) {
      const double u66 = ((const double*)u0_last)[(c64*3+k65)*4],
      u67 = ((const double*)u0_last)[(c64*3+k65)*4+1],
      u68 = ((const double*)u0_last)[(c64*3+k65)*4+2];
      u0_transposed[cell*3+c64*3+k65] = columns69[0]*u66 + columns69[1]*u67 + columns69[2]*u68;
     }
    }
   }
   for (long t70 = 0; t70 < 3; ++t70) {
    load_run4(u0_dofs, line_entries73 + t70*4, ((double*)u0_transposed), cell_starts72, t70*4);
   }
   if ((long)mode_0[0]==0) {
    if (pass==0) {
     const long z74 = (long)first_touch_0[batch*2];
     for (long z75 = 0; z75 < (long)first_touch_0[batch*2+1]-z74; ++z75) {
      output_vector_0[z74+z75] = 0.0;
     }
    } else {
    }
   } else {
   }
   const long p76 = (long)pattern_numbers_0[batch];
   if (p76) {
    for (long r77 = 0; r77 < 8; ++r77) {
     const ivec s78 = ((const ivec*)run_starts_0)[(batch*8+r77)*2+pass];
     for (long n79 = 0; n79 < 1; ++n79) {
      { const vec v_ = u0_dofs[(long)run_entries3[r77+n79]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r77)*2+pass)*4) + l_)] + n79)] += v_[l_]; }
     }
    }
   } else {
    const long b81 = (long)unpatterned_numbers_0[batch];
    if ((long)num_active_0[batch]==8) {
     for (long i82 = 0; i82 < 8; ++i82) {
      const ivec s83 = ((const ivec*)unpatterned_entries_0)[(b81*8+i82)*2+pass];
      for (long n84 = 0; n84 < 1; ++n84) {
       { const vec v_ = u0_dofs[(long)run_entries3[i82+n84]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)unpatterned_entries_0[((((b81*8+i82)*2+pass)*4) + l_)] + n84)] += v_[l_]; }
      }
     }
    } else {
     for (long i86 = 0; i86 < 8; ++i86) {
      const ivec s87 = ((const ivec*)unpatterned_entries_0)[(b81*8+i86)*2+pass];
      { const vec v_ = u0_dofs[(long)run_entries3[i86]]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[(long)unpatterned_entries_0[((((b81*8+i86)*2+pass)*4) + l_)]] += v_[l_]; }
     }
    }
   }
   if ((long)mode_0[0]==0) {
    if ((long)num_active_0[batch]==8) {
     const long s88 = (long)interior_starts_0[batch];
     for (long i89 = 0; i89 < 1; ++i89) {
      const long d90 = (long)interior_dofs12[i89];
      *(uvec*)(output_vector_0 + s88+i89*8+pass*4) = u0_dofs[d90];
     }
    } else {
     const long s91 = (long)interior_starts_0[batch];
     const long n92 = (long)num_active_0[batch];
     const ivec l93 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n92-1));
     for (long i94 = 0; i94 < 1; ++i94) {
      const long d95 = (long)interior_dofs12[i94];
      { const vec v_ = u0_dofs[d95]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[((s91+i94*n92) + (((pass*4) + l_) < (n92-1) ? ((pass*4) + l_) : (n92-1)))] = v_[l_]; }
     }
    }
   } else {
    if ((long)num_active_0[batch]==8) {
     const long s96 = (long)interior_starts_0[batch];
     for (long i97 = 0; i97 < 1; ++i97) {
      const long d98 = (long)interior_dofs12[i97];
      *(uvec*)(output_vector_0 + s96+i97*8+pass*4) += u0_dofs[d98];
     }
    } else {
     const long s99 = (long)interior_starts_0[batch];
     const long n100 = (long)num_active_0[batch];
     const ivec l101 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n100-1));
     for (long i102 = 0; i102 < 1; ++i102) {
      const long d103 = (long)interior_dofs12[i102];
      { const vec v_ = u0_dofs[d103]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[((s99+i102*n100) + (((pass*4) + l_) < (n100-1) ? ((pass*4) + l_) : (n100-1)))] += v_[l_]; }
     }
    }
   }
  }
  }
}
