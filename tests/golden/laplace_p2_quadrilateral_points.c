// SPDX-License-Identifier: BSD-3-Clause
// Generated: Laplacian of degree 2 on cartesian quadrilaterals, points in lanes, C.
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
static const vec columns47[3] = {
  {(-1.9364916731037085), (-0.6454972243679028), 0.6454972243679028, 0.0},
  {2.581988897471611, 0.0, (-2.581988897471611), 0.0},
  {(-0.6454972243679028), 0.6454972243679028, 1.9364916731037085, 0.0}};
static const vec columns51[3] = {
  {(-1.9364916731037083), 1.6137430609197572, (-0.6454972243679028), 0.0},
  {(-1.0327955589886444), 0.0, 1.0327955589886444, 0.0},
  {0.6454972243679028, (-1.6137430609197572), 1.9364916731037083, 0.0}};
static const vec columns68[3] = {
  {0.3818324081226343, 0.22222222222222224, (-0.048499074789300954), 0.0},
  {(-4.9343245538895844e-17), 0.8888888888888888, (-4.9343245538895844e-17), 0.0},
  {(-0.048499074789300954), 0.22222222222222224, 0.3818324081226343, 0.0}};
static const int cell_starts71[4] = {0, 12, 24, 36};
static const int line_entries72[12] = {0, 1, 2, 9, 3, 4, 5, 9, 6, 7, 8, 9};
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
    t33 = map_0[(row*6+5)*8+group*4+cell],
    t34 = t32*t33,
    t35 = 1.0/t34,
    t36 = t33*t35,
    t37 = t32*t35;
    for (long q1 = 0; q1 < 3; ++q1) {
     const double u44 = ((const double*)u0_values)[q1*4],
     u45 = ((const double*)u0_values)[q1*4+1],
     u46 = ((const double*)u0_values)[q1*4+2];
     u0_line[0] = columns47[0]*u44 + columns47[1]*u45 + columns47[2]*u46;
     { const long q0 = 0;
      const vec t38 = u0_line[q0],
      t39 = t36*t38,
      t40 = t33*t39,
      t41 = u0_last[q1+q0],
      t42 = t41*t37,
      t43 = t32*t42;
      u0_out_line[q0] = t40;
      u0_last[q1+q0] = t43;
     }
     const double u48 = ((const double*)u0_out_line)[0],
     u49 = ((const double*)u0_out_line)[1],
     u50 = ((const double*)u0_out_line)[2];
     u0_values[q1] = columns51[0]*u48 + columns51[1]*u49 + columns51[2]*u50;
    }
    for (long c52 = 0; c52 < 1; ++c52) {
     for (long i53 = 0; i53 < 1; ++i53) {
      const vec u54 = u0_last[c52*3+i53],
      u55 = u0_last[c52*3+i53+1],
      u56 = u0_last[c52*3+i53+2],
      u57 = u0_values[c52*3+i53],
      u58 = u0_values[c52*3+i53+1],
      u59 = u0_values[c52*3+i53+2],
      r60 = u57 + ((-K[7])*u54 + (-K[6])*u55 + K[3]*u56),
      r61 = u58 + (K[8]*u54 + (-K[8])*u56),
      r62 = u59 + ((-K[3])*u54 + K[6]*u55 + K[7]*u56);
      u0_last[c52*3+i53] = K[11]*r60 + (-K[10])*r61 + (-K[9])*r62;
      u0_last[c52*3+i53+1] = K[12]*r60 + K[13]*r61 + K[12]*r62;
      u0_last[c52*3+i53+2] = (-K[9])*r60 + (-K[10])*r61 + K[11]*r62;
     }
    }
    for (long c63 = 0; c63 < 1; ++c63) {
     for (long k64 = 0; k64 < 3; ++k64) {
      const double u65 = ((const double*)u0_last)[(c63*3+k64)*4],
      u66 = ((const double*)u0_last)[(c63*3+k64)*4+1],
      u67 = ((const double*)u0_last)[(c63*3+k64)*4+2];
      u0_turned[cell*3+c63*3+k64] = columns68[0]*u65 + columns68[1]*u66 + columns68[2]*u67;
     }
    }
   }
   for (long t69 = 0; t69 < 3; ++t69) {
    load_run4(u0_dofs, line_entries72 + t69*4, ((double*)u0_turned), cell_starts71, t69*4);
   }
   if ((long)mode_0[0]==0) {
    if (group==0) {
     const long z73 = (long)first_touch_0[batch*2];
     for (long z74 = 0; z74 < (long)first_touch_0[batch*2+1]-z73; ++z74) {
      output_vector_0[z73+z74] = 0.0;
     }
    } else {
    }
   } else {
   }
   if ((long)is_regular_0[batch]) {
    for (long r75 = 0; r75 < 8; ++r75) {
     const ivec s76 = ((const ivec*)run_starts_0)[(batch*8+r75)*2+group];
     for (long n77 = 0; n77 < 1; ++n77) {
      { const vec v_ = u0_dofs[(long)run_entries4[r75+n77]]; for (long l_ = 0; l_ < LANES; ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r75)*2+group)*4) + l_)] + n77)] += v_[l_]; }
     }
    }
   } else {
    for (long r79 = 0; r79 < 8; ++r79) {
     const ivec s80 = ((const ivec*)run_starts_0)[(batch*8+r79)*2+group];
     const ivec m82 = ((const ivec*)run_permutations_0)[(batch*8+r79)*2+group];
     for (long k81 = 0; k81 < 1; ++k81) {
      const ivec p83 = gather_i(permutations_0, (m82 + (int)k81));
      { const vec v_ = u0_dofs[(long)run_entries4[r79+k81]]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((long)run_starts_0[((((batch*8+r79)*2+group)*4) + l_)] + (long)permutations_0[((long)run_permutations_0[((((batch*8+r79)*2+group)*4) + l_)] + k81)])] += v_[l_]; }
     }
    }
   }
   if ((long)mode_0[0]==0) {
    if ((long)num_active_0[batch]==8) {
     const long s84 = (long)interior_starts_0[batch];
     for (long i85 = 0; i85 < 1; ++i85) {
      const long d86 = (long)interior_dofs11[i85];
      *(uvec*)(output_vector_0 + s84+i85*8+group*4) = u0_dofs[d86];
     }
    } else {
     const long s87 = (long)interior_starts_0[batch];
     const long n88 = (long)num_active_0[batch];
     const ivec l89 = vmin_i(((int)(group*4) + lane_numbers), isplat(n88-1));
     for (long i90 = 0; i90 < 1; ++i90) {
      const long d91 = (long)interior_dofs11[i90];
      { const vec v_ = u0_dofs[d91]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((s87+i90*n88) + (((group*4) + l_) < (n88-1) ? ((group*4) + l_) : (n88-1)))] = v_[l_]; }
     }
    }
   } else {
    if ((long)num_active_0[batch]==8) {
     const long s92 = (long)interior_starts_0[batch];
     for (long i93 = 0; i93 < 1; ++i93) {
      const long d94 = (long)interior_dofs11[i93];
      *(uvec*)(output_vector_0 + s92+i93*8+group*4) += u0_dofs[d94];
     }
    } else {
     const long s95 = (long)interior_starts_0[batch];
     const long n96 = (long)num_active_0[batch];
     const ivec l97 = vmin_i(((int)(group*4) + lane_numbers), isplat(n96-1));
     for (long i98 = 0; i98 < 1; ++i98) {
      const long d99 = (long)interior_dofs11[i98];
      { const vec v_ = u0_dofs[d99]; for (long l_ = 0; l_ < ((long)num_active_0[batch]-group*4 < 4 ? (long)num_active_0[batch]-group*4 : 4); ++l_) output_vector_0[((s95+i98*n96) + (((group*4) + l_) < (n96-1) ? ((group*4) + l_) : (n96-1)))] += v_[l_]; }
     }
    }
   }
  }
  }
}
