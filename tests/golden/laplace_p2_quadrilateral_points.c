// SPDX-License-Identifier: BSD-3-Clause
// Generated: Laplacian of degree 2 on affine quadrilaterals, points in lanes, C.
enum { LANES = 4 };
typedef double vec __attribute__((vector_size(32), may_alias));
typedef double uvec __attribute__((vector_size(32), aligned(8), may_alias));
typedef int ivec __attribute__((vector_size(16), may_alias));
static const ivec lane_numbers = {0, 1, 2, 3};
static inline vec splat(double a) { vec r; for (int l = 0; l < LANES; ++l) r[l] = a; return r; }
static inline ivec isplat(long a) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = (int)a; return r; }
static inline ivec vmin_i(ivec a, ivec b) { ivec r; for (int l = 0; l < LANES; ++l) r[l] = a[l] < b[l] ? a[l] : b[l]; return r; }
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
static const int run_entries4[8] = {0, 2, 6, 8, 1, 3, 5, 7};
static const int interior_dofs11[1] = {4};
static const vec columns24[3] = {
  {0.6872983346207417, (-5.551115123125783e-17), (-0.08729833462074171), 0.0},
  {0.4, 1.0, 0.4, 0.0},
  {(-0.08729833462074171), (-5.551115123125783e-17), 0.6872983346207417, 0.0}};
static const vec columns61[3] = {
  {(-1.9364916731037085), (-0.6454972243679028), 0.6454972243679028, 0.0},
  {2.581988897471611, 0.0, (-2.581988897471611), 0.0},
  {(-0.6454972243679028), 0.6454972243679028, 1.9364916731037085, 0.0}};
static const vec columns65[3] = {
  {(-1.9364916731037083), 1.6137430609197572, (-0.6454972243679028), 0.0},
  {(-1.0327955589886444), 0.0, 1.0327955589886444, 0.0},
  {0.6454972243679028, (-1.6137430609197572), 1.9364916731037083, 0.0}};
static const vec columns82[3] = {
  {0.3818324081226343, 0.22222222222222224, (-0.048499074789300954), 0.0},
  {(-4.9343245538895844e-17), 0.8888888888888888, (-4.9343245538895844e-17), 0.0},
  {(-0.048499074789300954), 0.22222222222222224, 0.3818324081226343, 0.0}};
static const int cell_starts85[4] = {0, 12, 24, 36};
static const int line_entries86[12] = {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9};
static const double K[14] = {0.08729833462074171, 0.6872983346207417, 5.551115123125783e-17, 0.6454972243679028, 2.581988897471611, 1.9364916731037085, 1.0327955589886444, 1.9364916731037083, 1.6137430609197572, 0.048499074789300954, 4.9343245538895844e-17, 0.3818324081226343,
  0.22222222222222224, 0.8888888888888888};
void kernel(void* const* arguments, long begin, long end)
{
  vec u0_values[3];
  vec u0_dofs[10];
  vec u0_last[3];
  vec u0_line[1];
  vec u0_turned[12];
  vec u0_out_line[1];
  const double* restrict input_vector_0 = arguments[0];
  const int* restrict run_starts_0 = arguments[1];
  const int* restrict run_permutations_0 = arguments[2];
  const int* restrict permutations_0 = arguments[3];
  const int* restrict num_active_0 = arguments[4];
  const int* restrict is_regular_0 = arguments[5];
  const int* restrict interior_starts_0 = arguments[6];
  const int* restrict first_touch_0 = arguments[7];
  const double* restrict map_0 = arguments[8];
  double* restrict output_vector_0 = arguments[9];
  const int* restrict mode_0 = arguments[10];
  const int* restrict data_rows_0 = arguments[11];
  for (long batch = begin; batch < end; ++batch) {
  const long row = (long)data_rows_0[batch];
  for (long group = 0; group < 2; ++group) {
   if ((long)is_regular_0[batch]) {
    for (long r0 = 0; r0 < 8; ++r0) {
     const ivec s1 = ((const ivec*)run_starts_0)[(batch*8+r0)*2+group];
     for (long n2 = 0; n2 < 1; ++n2) {
      u0_dofs[(long)run_entries4[r0+n2]] = gather(input_vector_0, (s1 + (int)n2));
     }
    }
   } else {
    for (long r5 = 0; r5 < 8; ++r5) {
     const ivec s6 = ((const ivec*)run_starts_0)[(batch*8+r5)*2+group];
     const ivec m8 = ((const ivec*)run_permutations_0)[(batch*8+r5)*2+group];
     for (long k7 = 0; k7 < 1; ++k7) {
      const ivec p9 = gather_i(permutations_0, (m8 + (int)k7));
      u0_dofs[(long)run_entries4[r5+k7]] = gather(input_vector_0, (s6 + p9));
     }
    }
   }
   if ((long)num_active_0[batch]==8) {
    const long s10 = (long)interior_starts_0[batch];
    for (long i12 = 0; i12 < 1; ++i12) {
     const long d13 = (long)interior_dofs11[i12];
     u0_dofs[d13] = (vec)*(const uvec*)(input_vector_0 + s10+i12*8+group*4);
    }
   } else {
    const long s14 = (long)interior_starts_0[batch];
    const long n15 = (long)num_active_0[batch];
    const ivec l16 = vmin_i(((int)(group*4) + lane_numbers), isplat(n15-1));
    for (long i17 = 0; i17 < 1; ++i17) {
     const long d18 = (long)interior_dofs11[i17];
     u0_dofs[d18] = gather(input_vector_0, ((int)(s14+i17*n15) + l16));
    }
   }
   for (long cell = 0; cell < 4; ++cell) {
    for (long c19 = 0; c19 < 1; ++c19) {
     for (long k20 = 0; k20 < 3; ++k20) {
      const double u21 = ((const double*)u0_dofs)[(c19*3+k20)*3*4+cell],
      u22 = ((const double*)u0_dofs)[((c19*3+k20)*3+1)*4+cell],
      u23 = ((const double*)u0_dofs)[((c19*3+k20)*3+2)*4+cell];
      u0_last[c19*3+k20] = columns24[0]*u21 + columns24[1]*u22 + columns24[2]*u23;
     }
     for (long i25 = 0; i25 < 1; ++i25) {
      const vec u26 = u0_last[c19*3+i25],
      u27 = u0_last[c19*3+i25+1],
      u28 = u0_last[c19*3+i25+2],
      v29 = K[1]*u26 + 0.4*u27 + (-K[0])*u28,
      v30 = (-K[2])*u26 + 1.0*u27 + (-K[2])*u28,
      v31 = (-K[0])*u26 + 0.4*u27 + K[1]*u28;
      u0_values[c19*3+i25] = v29;
      u0_values[c19*3+i25+1] = v30;
      u0_values[c19*3+i25+2] = v31;
      u0_last[c19*3+i25] = (-K[5])*v29 + K[4]*v30 + (-K[3])*v31;
      u0_last[c19*3+i25+1] = (-K[3])*v29 + K[3]*v31;
      u0_last[c19*3+i25+2] = K[3]*v29 + (-K[4])*v30 + K[5]*v31;
     }
    }
    const double t32 = map_0[(row*6+2)*8+group*4+cell],
    t33 = map_0[(row*6+4)*8+group*4+cell],
    t34 = map_0[(row*6+3)*8+group*4+cell],
    t35 = map_0[(row*6+5)*8+group*4+cell],
    t36 = t33*t34,
    t37 = t32*t35,
    t38 = t37 - t36,
    t39 = 1.0/t38,
    t40 = t35*t39,
    t41 = t34*t39,
    t42 = t33*t39,
    t43 = t32*t39;
    for (long q1 = 0; q1 < 3; ++q1) {
     const double u58 = ((const double*)u0_values)[q1*4],
     u59 = ((const double*)u0_values)[q1*4+1],
     u60 = ((const double*)u0_values)[q1*4+2];
     u0_line[0] = columns61[0]*u58 + columns61[1]*u59 + columns61[2]*u60;
     { const long q0 = 0;
      const vec t44 = u0_line[q0],
      t45 = t40*t44,
      t46 = u0_last[q1+q0],
      t47 = t41*t46,
      t48 = t45 - t47,
      t49 = t35*t48,
      t50 = t44*t42,
      t51 = t46*t43,
      t52 = t51 - t50,
      t53 = t33*t52,
      t54 = t49 - t53,
      t55 = t34*t48,
      t56 = t32*t52,
      t57 = t56 - t55;
      u0_out_line[q0] = t54;
      u0_last[q1+q0] = t57;
     }
     const double u62 = ((const double*)u0_out_line)[0],
     u63 = ((const double*)u0_out_line)[1],
     u64 = ((const double*)u0_out_line)[2];
     u0_values[q1] = columns65[0]*u62 + columns65[1]*u63 + columns65[2]*u64;
    }
    for (long c66 = 0; c66 < 1; ++c66) {
     for (long i67 = 0; i67 < 1; ++i67) {
      const vec u68 = u0_last[c66*3+i67],
      u69 = u0_last[c66*3+i67+1],
      u70 = u0_last[c66*3+i67+2],
      u71 = u0_values[c66*3+i67],
      u72 = u0_values[c66*3+i67+1],
      u73 = u0_values[c66*3+i67+2],
      r74 = u71 + ((-K[7])*u68 + (-K[6])*u69 + K[3]*u70),
      r75 = u72 + (K[8]*u68 + (-K[8])*u70),
      r76 = u73 + ((-K[3])*u68 + K[6]*u69 + K[7]*u70);
      u0_last[c66*3+i67] = K[11]*r74 + (-K[10])*r75 + (-K[9])*r76;
      u0_last[c66*3+i67+1] = K[12]*r74 + K[13]*r75 + K[12]*r76;
      u0_last[c66*3+i67+2] = (-K[9])*r74 + (-K[10])*r75 + K[11]*r76;
     }
    }
    for (long c77 = 0; c77 < 1; ++c77) {
     for (long k78 = 0; k78 < 3; ++k78) {
      const double u79 = ((const double*)u0_last)[(c77*3+k78)*4],
      u80 = ((const double*)u0_last)[(c77*3+k78)*4+1],
      u81 = ((const double*)u0_last)[(c77*3+k78)*4+2];
      u0_turned[cell*3+c77*3+k78] = columns82[0]*u79 + columns82[1]*u80 + columns82[2]*u81;
     }
    }
   }
   for (long t83 = 0; t83 < 3; ++t83) {
    load_run4(u0_dofs, line_entries86 + t83*4, ((double*)u0_turned), cell_starts85, t83*4);
   }
   if ((long)mode_0[0]==0) {
    if (group==0) {
     const long z87 = (long)first_touch_0[batch*2];
     for (long z88 = 0; z88 < (long)first_touch_0[batch*2+1]-z87; ++z88) {
      output_vector_0[z87+z88] = 0.0;
     }
    } else {
    }
   } else {
   }
   if ((long)is_regular_0[batch]) {
    for (long r89 = 0; r89 < 8; ++r89) {
     const ivec s90 = ((const ivec*)run_starts_0)[(batch*8+r89)*2+group];
     for (long n91 = 0; n91 < 1; ++n91) {
      { const vec v_ = u0_dofs[(long)run_entries4[r89+n91]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r89)*2+group)*4) + l_)] + n91)] += v_[l_]; }
     }
    }
   } else {
    for (long r93 = 0; r93 < 8; ++r93) {
     const ivec s94 = ((const ivec*)run_starts_0)[(batch*8+r93)*2+group];
     const ivec m96 = ((const ivec*)run_permutations_0)[(batch*8+r93)*2+group];
     for (long k95 = 0; k95 < 1; ++k95) {
      const ivec p97 = gather_i(permutations_0, (m96 + (int)k95));
      { const vec v_ = u0_dofs[(long)run_entries4[r93+k95]]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r93)*2+group)*4) + l_)] + (long)permutations_0[((long)run_permutations_0[((((batch*8+r93)*2+group)*4) + l_)] + k95)])] += v_[l_]; }
     }
    }
   }
   if ((long)mode_0[0]==0) {
    if ((long)num_active_0[batch]==8) {
     const long s98 = (long)interior_starts_0[batch];
     for (long i99 = 0; i99 < 1; ++i99) {
      const long d100 = (long)interior_dofs11[i99];
      *(uvec*)(output_vector_0 + s98+i99*8+group*4) = u0_dofs[d100];
     }
    } else {
     const long s101 = (long)interior_starts_0[batch];
     const long n102 = (long)num_active_0[batch];
     const ivec l103 = vmin_i(((int)(group*4) + lane_numbers), isplat(n102-1));
     for (long i104 = 0; i104 < 1; ++i104) {
      const long d105 = (long)interior_dofs11[i104];
      { const vec v_ = u0_dofs[d105]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((s101+i104*n102) + (((group*4) + l_) < (n102-1) ? ((group*4) + l_) : (n102-1)))] = v_[l_]; }
     }
    }
   } else {
    if ((long)num_active_0[batch]==8) {
     const long s106 = (long)interior_starts_0[batch];
     for (long i107 = 0; i107 < 1; ++i107) {
      const long d108 = (long)interior_dofs11[i107];
      *(uvec*)(output_vector_0 + s106+i107*8+group*4) += u0_dofs[d108];
     }
    } else {
     const long s109 = (long)interior_starts_0[batch];
     const long n110 = (long)num_active_0[batch];
     const ivec l111 = vmin_i(((int)(group*4) + lane_numbers), isplat(n110-1));
     for (long i112 = 0; i112 < 1; ++i112) {
      const long d113 = (long)interior_dofs11[i112];
      { const vec v_ = u0_dofs[d113]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((s109+i112*n110) + (((group*4) + l_) < (n110-1) ? ((group*4) + l_) : (n110-1)))] += v_[l_]; }
     }
    }
   }
  }
  }
}
