// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>
#include <vector>

#include <rafter/form/form.hpp>
#include <rafter/form/scope.hpp>

/// These forms must work; they are texts, together with the names that they use.
namespace rafter::form::test {

inline std::shared_ptr<const FieldSpace> make_space(std::string name, int components, int gdim, int degree = 2,
                                                    bool is_simplex = false) {
  auto space = std::make_shared<FieldSpace>();
  space->name = std::move(name);
  space->components = components;
  space->gdim = gdim;
  space->degree = degree;
  space->is_simplex = is_simplex;
  return space;
}

struct NamedForm {
  std::string name, text;
};

/// Returns a scope with a given vector field w, unknowns u (vector) and p (scalar), and coefficients; gdim is 2 or 3.
inline Scope make_scope(int gdim) {
  const std::vector<std::shared_ptr<const FieldSpace>> spaces{make_space("u", gdim, gdim), make_space("p", 0, gdim, 1)};
  Scope scope(gdim);
  scope.add_arguments(spaces);
  scope.add("v", test_function(spaces[0], "v"));
  scope.add("q", test_function(spaces[1], "q"));
  scope.add("w", field(spaces[0], "w"));
  scope.add("dw", trial_function(spaces[0], "dw"));
  scope.add("r", field(spaces[1], "r"));
  scope.add("lmbda", by_tag("lmbda", {{"1", 50.0}, {"soft", 1.0}}));
  scope.add("mu", by_tag("mu", {{"1", 50.0}, {"soft", 1.0}}));
  scope.add("alpha", constant("alpha", 2.5));
  scope.add("k", constant("k", {gdim, gdim}, std::vector<double>(static_cast<std::size_t>(gdim * gdim), 0.25)));
  scope.add("b", constant("b", {gdim}, std::vector<double>(static_cast<std::size_t>(gdim), 0.5)));
  scope.define("eps(a)", "sym(grad(a))");
  scope.define("sigma(a)", "lmbda*tr(eps(a))*Identity(len(a)) + 2*mu*eps(a)");
  scope.define("F", "Identity(len(w)) + grad(w)");
  scope.define("E", "0.5*(F.T*F - Identity(len(w)))");
  scope.define("S", "lmbda*tr(E)*Identity(len(w)) + 2*mu*E");
  scope.define("svk", "inner(F*S, grad(v))*dx - inner(b, v)*ds(2)");
  scope.define("svk_energy", "0.5*inner(S, E)*dx");
  scope.define("neo_hookean_energy", "(0.5*mu*(tr(F.T*F) - len(w)) - mu*ln(det(F)) + 0.5*lmbda*ln(det(F))**2)*dx");
  return scope;
}

inline std::vector<NamedForm> corpus() {
  return {
      {"mass", "p*q*dx"},
      {"vector mass", "inner(u, v)*dx"},
      {"laplace", "inner(grad(p), grad(q))*dx"},
      {"vector laplace", "inner(grad(u), grad(v))*dx"},
      {"helmholtz", "(exp(x[0])*inner(grad(p), grad(q)) + (1 + x[1]**2)*p*q)*dx"},
      {"vector helmholtz", "lmbda*inner(grad(u), grad(v))*dx + alpha*inner(u, v)*dx"},
      {"elasticity", "inner(sigma(u), eps(v))*dx"},
      {"elasticity, variable",
       "inner((1 + x[0])*div(u)*Identity(len(u)) + 2*(2 + sin(x[1]))*sym(grad(u)), sym(grad(v)))*dx"},
      {"traction", "inner(b, v)*ds(2) + inner(as_vector([x[0]]*1)[0]*b, v)*dx"},
      {"svk", "svk"},
      {"svk derivative", "derivative(svk, w, dw)"},
      {"svk by energy", "derivative(svk_energy, w, v)"},
      {"svk second derivative", "derivative(derivative(svk_energy, w, v), w, dw)"},
      {"neo-hookean", "derivative(neo_hookean_energy, w, v)"},
      {"neo-hookean derivative", "derivative(derivative(neo_hookean_energy, w, v), w, dw)"},
      {"convection-diffusion-reaction", "(dot(k*grad(p), grad(q)) + dot(b, grad(p))*q + alpha*p*q)*dx"},
      {"mixed poisson", "(dot(u, v) + p*div(v) + div(u)*q)*dx"},
      {"stokes", "inner(grad(u), grad(v))*dx - p*div(v)*dx - q*div(u)*dx"},
      {"robin", "inner(grad(p), grad(q))*dx + alpha*p*q*ds(1) + dot(n, b)*p*q*ds((\"wall\", 3))"},
      {"neumann", "alpha*q*ds(1) - 2*q*(ds(2) + ds(3)) + x[0]*q*dx(\"soft\")"},
      {"nonlinear diffusion", "(1 + r**2)*dot(grad(r), grad(q))*dx - exp(-r)*q*dx"},
      {"conditional", "conditional(And(x[0] < 0.5, Not(ge(r, 1))), r, -r**2)*q*dx"},
      {"navier-stokes convection", "(inner(grad(u)*w, v) + inner(grad(w)*u, v))*dx - 0*inner(u, v)*dx"},
      {"functional", "0.5*inner(sigma(w), eps(w))*dx + r*ds(1)"},
      {"quadrature", "p*q*dx(degree=3) + p*q*dx(1, degree=2)"},
      {"division", "-p*q/(1 + r)/2*dx - (-2)**2*p*q*dx*0.5 + 2**-x[0]**2*p*q*ds"},
  };
}

} // namespace rafter::form::test
