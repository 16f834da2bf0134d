// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/form/bilinear_parts.hpp>
#include <rafter/form/lowering.hpp>
#include <rafter/form/parser.hpp>

using namespace rafter;
using form::Form;

namespace {

using Space = std::shared_ptr<const form::FieldSpace>;

Space make_space(const std::string& name, int components, int degree) {
  auto space = std::make_shared<form::FieldSpace>();
  space->name = name;
  space->degree = degree;
  space->components = components;
  space->gdim = 2;
  return space;
}

/// The velocity and the pressure of Stokes flow.
struct Fields {
  Space u = make_space("u", 2, 2), p = make_space("p", 0, 1);
  Form parse(const std::string& text) const {
    form::Scope scope(2);
    scope.add_arguments(std::vector<Space>{u, p});
    return form::parse_form(text, scope);
  }
};

bool is_same(const Form& a, const Form& b) { return form::lower(a).signature == form::lower(b).signature; }

bool is_symmetric(const Form& form) { return form::is_symmetric(form::lower(form)); }

} // namespace

TEST(diagonal_block, holds_the_terms_of_one_field) {
  const Fields fields;
  const auto stokes = fields.parse("(2*inner(sym(grad(u)), sym(grad(v_u))) - p*div(v_u) - div(u)*v_p)*dx + "
                                   "3*dot(u, v_u)*ds(1)");
  EXPECT_TRUE(is_same(form::diagonal_block(stokes, fields.u),
                      fields.parse("2*inner(sym(grad(u)), sym(grad(v_u)))*dx + 3*dot(u, v_u)*ds(1)")));
  EXPECT_TRUE(form::diagonal_block(stokes, fields.p).integrals().empty());
  const auto stabilised = fields.parse("(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p - p*v_p/10)*dx");
  EXPECT_TRUE(is_same(form::diagonal_block(stabilised, fields.p), fields.parse("-(p*v_p/10)*dx")));
}

TEST(diagonal_block, finds_its_terms_inside_of_sums_lists_and_branches) {
  const Fields fields;
  EXPECT_TRUE(is_same(form::diagonal_block(fields.parse("dot([u[0] - p, p + u[1]], v_u)*dx"), fields.u),
                      fields.parse("dot([u[0], u[1]], v_u)*dx")));
  EXPECT_TRUE(
      is_same(form::diagonal_block(fields.parse("(p - u[0])*v_u[1]*dx"), fields.u), fields.parse("-u[0]*v_u[1]*dx")));
  EXPECT_TRUE(is_same(form::diagonal_block(fields.parse("conditional(x[0] < 1, p, u[0])*v_p*dx"), fields.p),
                      fields.parse("conditional(x[0] < 1, p, 0)*v_p*dx")));
  EXPECT_TRUE(is_same(form::diagonal_block(fields.parse("dot([p, u[0]], v_u)*dx"), fields.u),
                      fields.parse("dot([0, u[0]], v_u)*dx")));
}

TEST(diagonal_block, takes_bilinear_forms_alone) {
  const Fields fields;
  EXPECT_THROW(form::diagonal_block(fields.parse("v_p*dx"), fields.p), base::InputError);
  EXPECT_THROW(form::symmetric_part(fields.parse("v_p*dx")), base::InputError);
}

TEST(is_symmetric, sees_symmetric_forms) {
  const Fields fields;
  for (const auto* text :
       {"inner(grad(u), grad(v_u))*dx + dot(u, v_u)*ds",
        "(3*div(u)*div(v_u) + 2*inner(sym(grad(u)), sym(grad(v_u))))*dx",
        "(inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p)*dx", "x[0]*(dot(grad(p), grad(v_p)) - 4*p*v_p)*dx"})
    EXPECT_TRUE(is_symmetric(fields.parse(text))) << text;
  for (const auto* text : {"(dot(grad(p), grad(v_p)) + p.dx(0)*v_p)*dx", "(p*div(v_u) - div(u)*v_p)*dx", "p*v_u[0]*dx",
                           "p.dx(0)*v_p.dx(1)*dx"})
    EXPECT_FALSE(is_symmetric(fields.parse(text))) << text;
}

TEST(is_symmetric, sees_that_second_derivatives_of_energies_are) {
  const auto V = make_space("u", 2, 2);
  const auto u = form::field(V, "u"), D = form::identity(2) + grad(u), T = transpose(inv(D));
  const auto v = form::test_function(V);
  const auto stress = D - T + 2 * ln(det(D)) * T;
  EXPECT_TRUE(is_symmetric(form::derivative(inner(stress, grad(v)) * form::dx, u)));
  EXPECT_TRUE(is_symmetric(form::derivative(inner((1 + inner(grad(u), grad(u))) * grad(u), grad(v)) * form::dx, u)));
  EXPECT_FALSE(is_symmetric(form::derivative(inner((1 + u[0]) * stress, grad(v)) * form::dx, u)));
  EXPECT_FALSE(is_symmetric(form::derivative(inner((1 + det(D)) * D, grad(v)) * form::dx, u)));
}

TEST(symmetric_part, is_the_mean_of_a_form_and_its_adjoint) {
  const Fields fields;
  const auto symmetric = fields.parse("inner(grad(u), grad(v_u))*dx");
  EXPECT_EQ(form::symmetric_part(symmetric), symmetric);
  const auto part = form::symmetric_part(fields.parse("(dot(grad(p), grad(v_p)) + p.dx(0)*v_p)*dx"));
  EXPECT_TRUE(is_symmetric(part));
  EXPECT_FALSE(is_same(part, fields.parse("dot(grad(p), grad(v_p))*dx"))); // p.dx(0)*v_p has a part on the boundary
  const auto skew = form::symmetric_part(fields.parse("(p*div(v_u) - div(u)*v_p)*dx"));
  EXPECT_TRUE(form::lower(skew).integrals.empty());
}

TEST(symmetric_part, of_a_lowered_form_needs_no_source) {
  const Fields fields;
  for (const auto* text :
       {"(dot(grad(p), grad(v_p)) + p.dx(0)*v_p)*dx", "(inner(u, v_u) + p*div(v_u) + 3*div(u)*v_p)*dx + p*v_p*ds",
        "(p*div(v_u) - div(u)*v_p)*dx"}) {
    auto bare = form::lower(fields.parse(text));
    const auto expected = form::symmetric_part(bare);
    EXPECT_NE(expected.source, nullptr);
    bare.source = nullptr;
    const auto part = form::symmetric_part(bare);
    EXPECT_TRUE(form::is_symmetric(part)) << text;
    ASSERT_EQ(part.integrals.size(), expected.integrals.size()) << text;
    for (std::size_t i = 0; i < part.integrals.size(); ++i)
      EXPECT_EQ(part.integrals[i].test_terms.size(), expected.integrals[i].test_terms.size()) << text;
    EXPECT_EQ(form::symmetric_part(part).signature, part.signature) << text;
  }
}
