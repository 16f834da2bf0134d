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
static const vec columns41[3] = {
  {(-1.9364916731037085), (-0.6454972243679028), 0.6454972243679028, 0.0},
  {2.581988897471611, 0.0, (-2.581988897471611), 0.0},
  {(-0.6454972243679028), 0.6454972243679028, 1.9364916731037085, 0.0}};
static const vec columns51[3] = {
  {(-1.9364916731037083), 1.6137430609197572, (-0.6454972243679028), 0.0},
  {(-1.0327955589886444), 0.0, 1.0327955589886444, 0.0},
  {0.6454972243679028, (-1.6137430609197572), 1.9364916731037083, 0.0}};
static const vec columns65[3] = {
  {0.3818324081226343, 0.22222222222222224, (-0.048499074789300954), 0.0},
  {(-4.9343245538895844e-17), 0.8888888888888888, (-4.9343245538895844e-17), 0.0},
  {(-0.048499074789300954), 0.22222222222222224, 0.3818324081226343, 0.0}};
static const int cell_starts68[4] = {0, 12, 24, 36};
static const int line_entries69[12] = {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9};
static const double K[14] = {0.6872983346207417, 0.08729833462074171, 5.551115123125783e-17, 1.9364916731037085, 2.581988897471611, 0.6454972243679028, 1.9364916731037083, 1.0327955589886444, 1.6137430609197572, 0.3818324081226343, 4.9343245538895844e-17, 0.048499074789300954,
  0.22222222222222224, 0.8888888888888888};
void kernel(void* const* arguments, long begin, long end)
{
  vec a1_u0_0[3];
  vec a3_u0_d0[1];
  vec a4_u0_d1[3];
  vec dofs0[10];
  vec by_cells0[12];
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
      dofs0[(long)run_entries3[r1+n4]] = gather(input_vector_0, (s2 + (int)n4));
     }
    }
   } else {
    const long b6 = (long)unpatterned_numbers_0[batch];
    for (long i7 = 0; i7 < 8; ++i7) {
     const ivec s8 = ((const ivec*)unpatterned_entries_0)[(b6*8+i7)*2+pass];
     for (long n9 = 0; n9 < 1; ++n9) {
      dofs0[(long)run_entries3[i7+n9]] = gather(input_vector_0, (s8 + (int)n9));
     }
    }
   }
   if ((long)num_active_0[batch]==8) {
    const long s11 = (long)interior_starts_0[batch];
    for (long i13 = 0; i13 < 1; ++i13) {
     const long d14 = (long)interior_dofs12[i13];
     dofs0[d14] = (vec)*(const uvec*)(input_vector_0 + s11+i13*8+pass*4);
    }
   } else {
    const long s15 = (long)interior_starts_0[batch];
    const long n16 = (long)num_active_0[batch];
    const ivec l17 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n16-1));
    for (long i18 = 0; i18 < 1; ++i18) {
     const long d19 = (long)interior_dofs12[i18];
     dofs0[d19] = gather(input_vector_0, ((int)(s15+i18*n16) + l17));
    }
   }
   for (long cell = 0; cell < 4; ++cell) {
    for (long c20 = 0; c20 < 1; ++c20) {
     for (long i21 = 0; i21 < 3; ++i21) {
      const double u22 = ((const double*)dofs0)[(c20*9+i21*3)*4+cell],
      u23 = ((const double*)dofs0)[(c20*9+i21*3+1)*4+cell],
      u24 = ((const double*)dofs0)[(c20*9+i21*3+2)*4+cell];
      a1_u0_0[c20*3+i21] = columns25[0]*u22 + columns25[1]*u23 + columns25[2]*u24;
     }
     const vec u26 = a1_u0_0[c20*3],
     u27 = a1_u0_0[c20*3+1],
     u28 = a1_u0_0[c20*3+2],
     v29 = K[0]*u26 + 0.4*u27 + (-K[1])*u28,
     v30 = (-K[2])*u26 + 1.0*u27 + (-K[2])*u28,
     v31 = (-K[1])*u26 + 0.4*u27 + K[0]*u28;
     a1_u0_0[c20*3] = v29;
     a1_u0_0[c20*3+1] = v30;
     a1_u0_0[c20*3+2] = v31;
     a4_u0_d1[c20*3] = (-K[3])*v29 + K[4]*v30 + (-K[5])*v31;
     a4_u0_d1[c20*3+1] = (-K[5])*v29 + K[5]*v31;
     a4_u0_d1[c20*3+2] = K[5]*v29 + (-K[4])*v30 + K[3]*v31;
    }
    const double t32 = map_0[(row*6+2)*8+pass*4+cell],
    t33 = map_0[(row*6+5)*8+pass*4+cell],
    t34 = t32*t33,
    t35 = 1.0/t34,
    t36 = t33*t35,
    t37 = t32*t35;
    for (long q1 = 0; q1 < 3; ++q1) {
     const double u38 = ((const double*)a1_u0_0)[q1*4],
     u39 = ((const double*)a1_u0_0)[q1*4+1],
     u40 = ((const double*)a1_u0_0)[q1*4+2];
     a3_u0_d0[0] = columns41[0]*u38 + columns41[1]*u39 + columns41[2]*u40;
     { const long q0 = 0;
      const vec t42 = a3_u0_d0[q0],
      t43 = t36*t42,
      t44 = t33*t43,
      t45 = a4_u0_d1[q1+q0],
      t46 = t45*t37,
      t47 = t32*t46;
      a3_u0_d0[q0] = t44;
      a4_u0_d1[q1+q0] = t47;
     }
     const double u48 = ((const double*)a3_u0_d0)[0],
     u49 = ((const double*)a3_u0_d0)[1],
     u50 = ((const double*)a3_u0_d0)[2];
     a1_u0_0[q1] = columns51[0]*u48 + columns51[1]*u49 + columns51[2]*u50;
    }
    const vec u52 = a4_u0_d1[0],
    u53 = a4_u0_d1[1],
    u54 = a4_u0_d1[2],
    u55 = a1_u0_0[0],
    u56 = a1_u0_0[1],
    u57 = a1_u0_0[2],
    v58 = u55 + ((-K[6])*u52 + (-K[7])*u53 + K[5]*u54),
    v59 = u56 + (K[8]*u52 + (-K[8])*u54),
    v60 = u57 + ((-K[5])*u52 + K[7]*u53 + K[6]*u54);
    a4_u0_d1[0] = K[9]*v58 + (-K[10])*v59 + (-K[11])*v60;
    a4_u0_d1[1] = K[12]*v58 + K[13]*v59 + K[12]*v60;
    a4_u0_d1[2] = (-K[11])*v58 + (-K[10])*v59 + K[9]*v60;
    for (long i61 = 0; i61 < 3; ++i61) {
     const double u62 = ((const double*)a4_u0_d1)[i61*4],
     u63 = ((const double*)a4_u0_d1)[i61*4+1],
     u64 = ((const double*)a4_u0_d1)[i61*4+2];
     by_cells0[cell*3+i61] = columns65[0]*u62 + columns65[1]*u63 + columns65[2]*u64;
    }
   }
   for (long t66 = 0; t66 < 3; ++t66) {
    load_run4(dofs0, line_entries69 + t66*4, ((double*)by_cells0), cell_starts68, t66*4);
   }
   if ((long)mode_0[0]==0) {
    if (pass==0) {
     const long z70 = (long)first_touch_0[batch*2];
     for (long z71 = 0; z71 < (long)first_touch_0[batch*2+1]-z70; ++z71) {
      output_vector_0[z70+z71] = 0.0;
     }
    } else {
    }
   } else {
   }
   const long p72 = (long)pattern_numbers_0[batch];
   if (p72) {
    for (long r73 = 0; r73 < 8; ++r73) {
     const ivec s74 = ((const ivec*)run_starts_0)[(batch*8+r73)*2+pass];
     for (long n75 = 0; n75 < 1; ++n75) {
      { const vec v_ = dofs0[(long)run_entries3[r73+n75]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r73)*2+pass)*4) + l_)] + n75)] += v_[l_]; }
     }
    }
   } else {
    const long b77 = (long)unpatterned_numbers_0[batch];
    if ((long)num_active_0[batch]==8) {
     for (long i78 = 0; i78 < 8; ++i78) {
      const ivec s79 = ((const ivec*)unpatterned_entries_0)[(b77*8+i78)*2+pass];
      for (long n80 = 0; n80 < 1; ++n80) {
       { const vec v_ = dofs0[(long)run_entries3[i78+n80]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)unpatterned_entries_0[((((b77*8+i78)*2+pass)*4) + l_)] + n80)] += v_[l_]; }
      }
     }
    } else {
     for (long i82 = 0; i82 < 8; ++i82) {
      const ivec s83 = ((const ivec*)unpatterned_entries_0)[(b77*8+i82)*2+pass];
      { const vec v_ = dofs0[(long)run_entries3[i82]]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[(long)unpatterned_entries_0[((((b77*8+i82)*2+pass)*4) + l_)]] += v_[l_]; }
     }
    }
   }
   if ((long)mode_0[0]==0) {
    if ((long)num_active_0[batch]==8) {
     const long s84 = (long)interior_starts_0[batch];
     for (long i85 = 0; i85 < 1; ++i85) {
      const long d86 = (long)interior_dofs12[i85];
      *(uvec*)(output_vector_0 + s84+i85*8+pass*4) = dofs0[d86];
     }
    } else {
     const long s87 = (long)interior_starts_0[batch];
     const long n88 = (long)num_active_0[batch];
     const ivec l89 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n88-1));
     for (long i90 = 0; i90 < 1; ++i90) {
      const long d91 = (long)interior_dofs12[i90];
      { const vec v_ = dofs0[d91]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[((s87+i90*n88) + (((pass*4) + l_) < (n88-1) ? ((pass*4) + l_) : (n88-1)))] = v_[l_]; }
     }
    }
   } else {
    if ((long)num_active_0[batch]==8) {
     const long s92 = (long)interior_starts_0[batch];
     for (long i93 = 0; i93 < 1; ++i93) {
      const long d94 = (long)interior_dofs12[i93];
      *(uvec*)(output_vector_0 + s92+i93*8+pass*4) += dofs0[d94];
     }
    } else {
     const long s95 = (long)interior_starts_0[batch];
     const long n96 = (long)num_active_0[batch];
     const ivec l97 = vmin_i(((int)(pass*4) + lane_numbers), isplat(n96-1));
     for (long i98 = 0; i98 < 1; ++i98) {
      const long d99 = (long)interior_dofs12[i98];
      { const vec v_ = dofs0[d99]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-pass*4 < 4 ? (long)num_active_0[batch]-pass*4 : 4); ++l_) output_vector_0[((s95+i98*n96) + (((pass*4) + l_) < (n96-1) ? ((pass*4) + l_) : (n96-1)))] += v_[l_]; }
     }
    }
   }
  }
  }
}
