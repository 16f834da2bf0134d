// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>
#include <rafter/form/printer.hpp>
#include <tests/property/form_corpus.hpp>

/// Lowered forms agree with the same integrands written by hand with plain loops, at random point values.
namespace rafter::form {
namespace {

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

/// Fields and arguments have these values at one point.
struct PointValues {
  Vector u, v, w, x, n, b;
  Matrix grad_u, grad_v, grad_w, k;
  double p, q, r, lmbda, mu, alpha;
  Vector grad_p, grad_q, grad_r;
};

PointValues random_values(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(-0.4, 0.4);
  PointValues values;
  for (auto* vector : {&values.u, &values.v, &values.w, &values.x, &values.n, &values.b, &values.grad_p, &values.grad_q,
                       &values.grad_r})
    for (auto& entry : *vector) entry = uniform(generator);
  for (auto* matrix : {&values.grad_u, &values.grad_v, &values.grad_w, &values.k})
    for (auto& row : *matrix)
      for (auto& entry : row) entry = uniform(generator);
  for (auto* scalar : {&values.p, &values.q, &values.r, &values.lmbda, &values.mu, &values.alpha})
    *scalar = uniform(generator);
  return values;
}

double entry(const Vector& value, const Matrix& gradient, const Atom& atom) {
  const auto component = static_cast<std::size_t>(atom.b);
  return atom.c < 0 ? value[component] : gradient[component][static_cast<std::size_t>(atom.c)];
}
double entry(double value, const Vector& gradient, const Atom& atom) {
  return atom.c < 0 ? value : gradient[static_cast<std::size_t>(atom.c)];
}

double atom_value(const LoweredForm& form, const PointValues& values, const Atom& atom) {
  const auto a = static_cast<std::size_t>(atom.a);
  const auto of_coefficient = [&](const CoefficientComponent& c) {
    const auto component = static_cast<std::size_t>(c.component);
    const std::string& name = c.coefficient->name;
    const std::size_t gdim = form.test_spaces.empty() ? 3 : static_cast<std::size_t>(form.test_spaces[0]->gdim);
    if (name == "lmbda") return values.lmbda;
    if (name == "mu") return values.mu;
    if (name == "alpha") return values.alpha;
    if (name == "b") return values.b[component];
    return values.k[component / gdim][component % gdim];
  };
  switch (atom.kind) {
  case AtomKind::parameter:
    return of_coefficient(form.parameters[a]);
  case AtomKind::cell_coefficient:
    return of_coefficient(form.cell_coefficients[a]);
  case AtomKind::coordinate:
    return values.x[a];
  case AtomKind::normal:
    return values.n[a];
  case AtomKind::field:
    return form.field_names[a] == "w" ? entry(values.w, values.grad_w, atom) : entry(values.r, values.grad_r, atom);
  case AtomKind::test:
    return form.test_spaces[a]->name == "u" ? entry(values.v, values.grad_v, atom)
                                            : entry(values.q, values.grad_q, atom);
  case AtomKind::trial:
    return form.trial_spaces[a]->name == "u" ? entry(values.u, values.grad_u, atom)
                                             : entry(values.p, values.grad_p, atom);
  default:
    throw std::logic_error("not a physical atom");
  }
}

/// Returns the sum of the integrands of all integrals, which are all evaluated at the same point.
double evaluate(const LoweredForm& form, const PointValues& values) {
  double sum = 0;
  for (const auto& integral : form.integrals) {
    const auto value = [&](const Atom& atom) { return atom_value(form, values, atom); };
    if (form.rank == 0) sum += integral.graph->evaluate(std::array{integral.integrand}, value)[0];
    for (const auto& term : integral.test_terms)
      sum += integral.graph->evaluate(std::array{term.coefficient}, value)[0] *
             value({AtomKind::test, term.field, term.component, term.derivative});
  }
  return sum;
}

double evaluate(const std::string& text, int gdim, const PointValues& values) {
  return evaluate(lower(parse_form(text, test::make_scope(gdim))), values);
}

Matrix identity_matrix() { return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}; }

/// Returns the sum of f(i, j) over i, j < n.
template <class F> double sum2(std::size_t n, const F& f) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) sum += f(i, j);
  return sum;
}

double dot_product(std::size_t n, const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// The residual of St Venant-Kirchhoff is inner(F S, grad v) - inner(b, v).
double svk_residual(std::size_t n, const PointValues& values) {
  Matrix f = identity_matrix();
  Matrix e{}, s{}, stress{};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) f[i][j] += values.grad_w[i][j];
  double trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t k = 0; k < n; ++k) e[i][j] += 0.5 * f[k][i] * f[k][j];
      if (i == j) e[i][j] -= 0.5;
    }
    trace += e[i][i];
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) s[i][j] = (i == j ? values.lmbda * trace : 0) + 2 * values.mu * e[i][j];
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) stress[i][j] += f[i][k] * s[k][j];
  return sum2(n, [&](auto i, auto j) { return stress[i][j] * values.grad_v[i][j]; }) -
         dot_product(n, values.b, values.v);
}

struct HandWritten {
  std::string text;
  std::function<double(std::size_t, const PointValues&)> value;
};

std::vector<HandWritten> hand_written() {
  return {
      {"p*q*dx", [](std::size_t, const PointValues& a) { return a.p * a.q; }},
      {"inner(u, v)*dx", [](std::size_t n, const PointValues& a) { return dot_product(n, a.u, a.v); }},
      {"inner(grad(p), grad(q))*dx",
       [](std::size_t n, const PointValues& a) { return dot_product(n, a.grad_p, a.grad_q); }},
      {"inner(grad(u), grad(v))*dx",
       [](std::size_t n, const PointValues& a) {
         return sum2(n, [&](auto i, auto j) { return a.grad_u[i][j] * a.grad_v[i][j]; });
       }},
      {"(exp(x[0])*inner(grad(p), grad(q)) + (1 + x[1]**2)*p*q)*dx",
       [](std::size_t n, const PointValues& a) {
         return std::exp(a.x[0]) * dot_product(n, a.grad_p, a.grad_q) + (1 + a.x[1] * a.x[1]) * a.p * a.q;
       }},
      {"inner(sigma(u), eps(v))*dx",
       [](std::size_t n, const PointValues& a) {
         double div_u = 0;
         double div_v = 0;
         for (std::size_t i = 0; i < n; ++i) {
           div_u += a.grad_u[i][i];
           div_v += a.grad_v[i][i];
         }
         const auto eps = [](const Matrix& g, std::size_t i, std::size_t j) { return 0.5 * (g[i][j] + g[j][i]); };
         return a.lmbda * div_u * div_v +
                2 * a.mu * sum2(n, [&](auto i, auto j) { return eps(a.grad_u, i, j) * eps(a.grad_v, i, j); });
       }},
      {"svk", svk_residual},
      {"(dot(k*grad(p), grad(q)) + dot(b, grad(p))*q + alpha*p*q)*dx",
       [](std::size_t n, const PointValues& a) {
         return sum2(n, [&](auto i, auto j) { return a.grad_q[i] * a.k[i][j] * a.grad_p[j]; }) +
                dot_product(n, a.b, a.grad_p) * a.q + a.alpha * a.p * a.q;
       }},
      {"(dot(u, v) + p*div(v) + div(u)*q)*dx",
       [](std::size_t n, const PointValues& a) {
         double sum = dot_product(n, a.u, a.v);
         for (std::size_t i = 0; i < n; ++i) sum += a.p * a.grad_v[i][i] + a.grad_u[i][i] * a.q;
         return sum;
       }},
      {"alpha*p*q*ds(1) + dot(n, b)*p*q*ds((\"wall\", 3))",
       [](std::size_t n, const PointValues& a) { return a.alpha * a.p * a.q + dot_product(n, a.n, a.b) * a.p * a.q; }},
      {"(inner(grad(u)*w, v) + inner(dot(u, nabla_grad(w)), v))*dx",
       [](std::size_t n, const PointValues& a) {
         return sum2(n, [&](auto i, auto j) { return a.v[i] * (a.grad_u[i][j] * a.w[j] + a.u[j] * a.grad_w[i][j]); });
       }},
  };
}

TEST(Lowering, AgreesWithIntegrandsWrittenByHand) {
  const auto cases = hand_written();
  for (const int gdim : {2, 3})
    for (const auto& [text, by_hand] : cases)
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const PointValues values = random_values(seed);
        EXPECT_NEAR(evaluate(text, gdim, values), by_hand(static_cast<std::size_t>(gdim), values), 1e-14) << text;
      }
}

/// Returns d/dt of f(w + t u, r + t p) at t = 0 by central differences, extrapolated to fourth order.
double difference_quotient(const LoweredForm& form, const PointValues& values) {
  const auto moved = [&](double t) {
    PointValues m = values;
    m.r += t * values.p;
    for (std::size_t i = 0; i < 3; ++i) {
      m.w[i] += t * values.u[i];
      m.grad_r[i] += t * values.grad_p[i];
      for (std::size_t j = 0; j < 3; ++j) m.grad_w[i][j] += t * values.grad_u[i][j];
    }
    return evaluate(form, m);
  };
  const auto central = [&](double h) { return (moved(h) - moved(-h)) / (2 * h); };
  constexpr double h = 1e-3;
  return (4 * central(h / 2) - central(h)) / 3;
}

TEST(Lowering, DerivativesAgreeWithDifferenceQuotients) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"svk", "derivative(svk, w, u)"},
      {"derivative(neo_hookean_energy, w, v)", "derivative(derivative(neo_hookean_energy, w, v), w, u)"},
      {"(1 + r**2)*dot(grad(r), grad(q))*dx - exp(-r)*q*dx",
       "derivative((1 + r**2)*dot(grad(r), grad(q))*dx - exp(-r)*q*dx, r, p)"},
      {"sqrt(2 + inner(grad(w), grad(w)))*q*dx", "derivative(sqrt(2 + inner(grad(w), grad(w)))*q*dx, w, u)"},
      {"inner(inv(F), grad(v))*det(F)**-1.5*dx", "derivative(inner(inv(F), grad(v))*det(F)**-1.5*dx, w, u)"},
      {"(atan2(r, 2) + tanh(r)*cosh(r)/(2 + sinh(r)) + asin(r) - acos(r)*atan(r) + 2**r + tan(r)*ln(2 + r))*q*dx",
       "derivative((atan2(r, 2) + tanh(r)*cosh(r)/(2 + sinh(r)) + asin(r) - acos(r)*atan(r) + 2**r + tan(r)*ln(2 + "
       "r))*q*dx, r, p)"},
      {"(abs(r)*r + max_value(r, 3*r) - min_value(r**3, r) + conditional(r < 0, r**2, -r)*cos(r))*q*dx",
       "derivative((abs(r)*r + max_value(r, 3*r) - min_value(r**3, r) + conditional(r < 0, r**2, -r)*cos(r))*q*dx, r, "
       "p)"},
  };
  for (const int gdim : {2, 3})
    for (const auto& [text, derived] : cases)
      for (unsigned seed = 1; seed <= 5; ++seed) {
        const PointValues values = random_values(seed);
        const double expected = difference_quotient(lower(parse_form(text, test::make_scope(gdim))), values);
        EXPECT_NEAR(evaluate(derived, gdim, values), expected, 1e-9) << derived;
      }
}

TEST(Lowering, DerivativeOfTheEnergyIsTheResidual) {
  for (const int gdim : {2, 3})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      const PointValues values = random_values(seed);
      const double residual = svk_residual(static_cast<std::size_t>(gdim), values) +
                              dot_product(static_cast<std::size_t>(gdim), values.b, values.v);
      EXPECT_NEAR(evaluate("derivative(svk_energy, w, v)", gdim, values), residual, 1e-14);
      EXPECT_NEAR(evaluate("derivative(svk_energy, w)", gdim, values), residual, 1e-14);
    }
}

TEST(Lowering, ActionPutsTheFieldInPlaceOfTheTrialFunction) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    PointValues values = random_values(seed);
    const double expected = evaluate("inner(sigma(w), eps(v))*dx + b[0]*dot(w, v)*ds", 3, values);
    EXPECT_NEAR(evaluate("action(inner(sigma(u), eps(v))*dx + b[0]*dot(u, v)*ds, w)", 3, values), expected, 1e-14);
    EXPECT_NEAR(evaluate("action((dot(u, v) + p*div(v) + div(u)*q)*dx, w, r)", 3, values),
                evaluate("(dot(w, v) + r*div(v) + div(w)*q)*dx", 3, values), 1e-14);
    // The derivative of a form that is linear in the field is its action on the direction.
    EXPECT_NEAR(evaluate("derivative(action(inner(sigma(u), eps(v))*dx, w), w, u)", 3, values),
                evaluate("inner(sigma(u), eps(v))*dx", 3, values), 1e-14);
  }
}

TEST(Lowering, AdjointExchangesTheArguments) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    PointValues values = random_values(seed);
    const double expected = evaluate("dot(b, grad(p))*q*dx", 3, values);
    std::swap(values.p, values.q);
    std::swap(values.grad_p, values.grad_q);
    EXPECT_NEAR(evaluate("adjoint(dot(b, grad(p))*q*dx)", 3, values), expected, 1e-15);
  }
}

/// Each expression is zero whatever the fields are.
TEST(Lowering, TensorIdentitiesHold) {
  const std::vector<std::pair<int, std::string>> cases{
      {2, "inner(inv(F)*F - Identity(2), outer(b, b))"},
      {3, "inner(inv(F)*F - Identity(3), outer(b, b))"},
      {3, "inner(F*inv(F) - Identity(3), k)"},
      {2, "det(F.T*F) - det(F)**2"},
      {3, "det(F.T*F) - det(F)**2"},
      {3, "det(k*F) - det(k)*det(F)"},
      {3, "inner(cofac(F) - det(F)*inv(F).T, k)"},
      {2, "inner(cofac(F) - det(F)*inv(F).T, k)"},
      {3, "tr(dev(F))"},
      {2, "tr(dev(F))"},
      {3, "inner(sym(F) + skew(F) - F, k)"},
      {3, "inner(sym(F), skew(k))"},
      {3, "dot(cross(w, b), w)"},
      {3, "dot(cross(w, b), k*w) - dot(w, cross(b, k*w))"},
      {3, "inner(outer(w, b), k) - dot(w, k*b)"},
      {3, "tr(outer(w, b)) - dot(w, b)"},
      {3, "dot(curl(w), b) - (b[0]*(w.dx(1)[2] - w.dx(2)[1]) + b[1]*(w.dx(2)[0] - w.dx(0)[2]) + b[2]*(w.dx(0)[1] - "
          "w.dx(1)[0]))"},
      {2, "curl(w) - (w[1].dx(0) - w[0].dx(1))"},
      {2, "dot(curl(r), grad(r))"},
      {3, "div(r*w) - dot(grad(r), w) - r*div(w)"},
      {3, "inner(grad(dot(w, b)), b) - dot(b, grad(w)*b)"},
      {3, "dot(div(outer(w, w)), b) - dot(grad(w)*w + div(w)*w, b)"},
      {3, "dot(nabla_div(outer(w, w)) - div(w)*w - grad(w)*w, b)"},
      {3, "inner(nabla_grad(w), k) - inner(grad(w), k.T)"},
      {3, "div(x) - 3"},
      {3, "inner(grad(x) - Identity(3), k)"},
      {3, "as_matrix([w, b, w])[1, 2]*grad(w)[:, 1][0] - b[2]*grad(w)[0][1]"},
      {3, "inner(as_tensor([k, F]), as_tensor([F, k])) - 2*inner(k, F)"},
      {3, "inner(elem_mult(k, F), k) - inner(elem_mult(k, k), F)"},
      {2, "dot(perp(w), w)"},
      {3, "tr(F*k/alpha)*alpha - inner(F, k.T)"},
      {3, "sin(r)**2 + cos(r)**2 - 1"},
      {3, "conditional(r > 0, r, -r) - abs(r)"},
      {3, "sign(r)*abs(r) - r"},
      {3, "conditional(Or(eq(r, 0), ne(r, r)), 1, 0)"},
  };
  for (const auto& [gdim, text] : cases)
    for (unsigned seed = 1; seed <= 3; ++seed)
      EXPECT_NEAR(evaluate("(" + text + ")*dx", gdim, random_values(seed)), 0, 1e-13) << text;
}

TEST(Lowering, SpatialDerivativesAgreeWithDifferenceQuotients) {
  const Scope scope(2);
  for (const std::string text :
       {"sin(pi*x[0])*exp(-x[1])", "sqrt(1 + x[0]**2)/(2 + x[1])", "x[0]**3*x[1]**0.5",
        "tan(x[0]*x[1]) + atan2(x[1], 1 + x[0])", "ln(x[0] + x[1])**2", "tanh(x[0]) + sinh(x[1])*cosh(x[0])",
        "asin(x[0]/2)*acos(x[1]/2)*atan(x[0])", "abs(x[0] - 2)*x[1]", "conditional(x[0] < 0.5, x[0]**2, x[1]**2)",
        "det(as_matrix([[x[0], x[1]], [x[1]**2, 1 + x[0]]]))",
        "inner(x, x)*inv(as_matrix([[1 + x[0], x[1]], [0, 2]]))[0, 1]", "x[0]**x[1]",
        "max_value(x[0], x[1])*min_value(x[0], 2)"}) {
    const PointEvaluator value(parse_expression(text, scope));
    const PointEvaluator gradient(parse_expression("grad(" + text + ")", scope));
    for (const std::array<double, 2> point : {std::array{0.3, 0.7}, std::array{0.9, 0.2}}) {
      std::array<double, 2> derived{};
      gradient(point, derived);
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const auto moved = [&](double t) {
          std::array<double, 2> place = point;
          place[axis] += t;
          double result = 0;
          value(place, {&result, 1});
          return result;
        };
        constexpr double h = 1e-3;
        const double expected = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
        EXPECT_NEAR(derived[axis], expected, 1e-9) << text;
      }
    }
  }
}

TEST(Lowering, SizeOfMaterialTangentsIsModest) {
  // Tangents by differentiation need at most a few times the operations per quadrature point of those written by hand.
  const auto num_nodes = [](const std::string& text) {
    const LoweredForm form = lower(parse_form(text, test::make_scope(3)));
    std::vector<NodeId> roots;
    for (const auto& term : form.integrals[0].test_terms) roots.push_back(term.coefficient);
    return form.integrals[0].graph->reachable(roots).size();
  };
  EXPECT_LT(num_nodes("inner(sigma(u), eps(v))*dx"), 50U);
  EXPECT_LT(num_nodes("derivative(svk, w, u)"), 350U);
  EXPECT_LT(num_nodes("derivative(derivative(neo_hookean_energy, w, v), w, u)"), 1000U);
}

TEST(Lowering, SignatureIgnoresNamesAndValuesOnly) {
  const auto signature = [](const std::string& name, int degree, double value, const std::string& text) {
    const std::vector<std::shared_ptr<const FieldSpace>> spaces{test::make_space(name, 0, 2, degree)};
    Scope scope(2);
    scope.add_arguments(spaces);
    scope.add("c", constant("c", value));
    std::string replaced;
    for (const char letter : text) replaced += letter == '@' ? name : std::string(1, letter);
    return lower(parse_form(replaced, scope)).signature;
  };
  const std::string reference = signature("u", 2, 1.0, "c*@*v*dx");
  EXPECT_EQ(signature("u", 2, 7.0, "c*@*v*dx"), reference);
  EXPECT_EQ(signature("T", 2, 1.0, "c*@*v*dx"), reference);
  EXPECT_NE(signature("u", 3, 1.0, "c*@*v*dx"), reference);
  EXPECT_NE(signature("u", 2, 1.0, "c*@*v*ds"), reference);
  EXPECT_NE(signature("u", 2, 1.0, "c*@*v*dx(1)"), reference);
  EXPECT_NE(signature("u", 2, 1.0, "2*@*v*dx"), reference);
  EXPECT_NE(signature("u", 2, 1.0, "c*@.dx(0)*v*dx"), reference);
}

} // namespace
} // namespace rafter::form
