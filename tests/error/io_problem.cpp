// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include <rafter/base/error.hpp>
#include <rafter/io/problem.hpp>
#include <tests/support/io_problems.hpp>
#include <tests/support/messages.hpp>

using namespace rafter;
using namespace rafter::test;

namespace {

std::string message_of(const std::string& text, std::vector<std::string> overrides = {}) {
  try {
    io::parse_problem(text, "p.toml", "", overrides);
  } catch (const base::InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// A case is a problem with one error, and the parts that the message must have.
struct Case {
  std::string set; ///< an assignment as for --set
  std::vector<std::string> parts;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.set; }

class WrongValue : public testing::TestWithParam<Case> {};

TEST_P(WrongValue, IsRefusedWithPlaceFindingAndAlternative) {
  ASSERT_EQ(message_of(beam_problem), "accepted");
  const auto message = message_of(beam_problem, {GetParam().set});
  EXPECT_TRUE(contains(message, "--set") || contains(message, "p.toml:")) << message;
  for (const auto& part : GetParam().parts) EXPECT_TRUE(contains(message, part)) << message << "\nlacks: " << part;
}

INSTANTIATE_TEST_SUITE_P(
    Keys, WrongValue,
    testing::Values(
        Case{"title=5", {"key title", "integer 5", "string"}},
        Case{"mash.file='x'", {"unknown key 'mash'", "did you mean 'mesh'"}},
        Case{"mesh.refine=11", {"key mesh.refine", "11", "0 to 10"}}, Case{"mesh.refine=-1", {"mesh.refine"}},
        Case{"mesh.refine=1.5", {"mesh.refine", "1.5", "integer"}}, Case{"mesh.refine='two'", {"mesh.refine", "two"}},
        Case{"mesh.degree=0", {"mesh.degree"}}, Case{"mesh.degree=13", {"mesh.degree", "1 to 12"}},
        Case{"mesh.file='x.msh'", {"mesh.box", "one of them"}},
        Case{"mesh.bax=1", {"unknown key 'bax'", "[mesh]", "did you mean 'box'"}},
        Case{"mesh.box=3", {"mesh.box", "a table"}}, Case{"mesh.box.cells=[0,1,1]", {"mesh.box.cells", "integer 0"}},
        Case{"mesh.box.cells=[]", {"1 to 3"}}, Case{"mesh.box.cells=[1,1,1,1]", {"1 to 3"}},
        Case{"mesh.box.cells=[8,8]", {"mesh.box.size", "list of 2"}},
        Case{"mesh.box.cells=[1000000,1000000,1000000]", {"cells after 2 refinements", "at most"}},
        Case{"mesh.box.size=[1,-1,1]", {"mesh.box.size", "positive"}},
        Case{"mesh.box.size=[1,inf,1]", {"mesh.box.size"}},
        Case{"mesh.box.shape='hexahedrn'", {"did you mean 'hexahedron'"}},
        Case{"mesh.box.shape='triangle'", {"dimension 3", "tetrahedron", "mixed"}},
        Case{"periodic=1", {"periodic", "[[periodic]]"}},
        Case{"periodic=[{to=1}]", {"periodic[0].from", "missing", "a tag"}},
        Case{"periodic=[{from=1}]", {"periodic[0].to", "missing", "a tag"}},
        Case{"periodic=[{from=1,to=[]}]", {"periodic[0].to", "at least one tag"}},
        Case{"periodic=[{from=1,to=[2,2]}]", {"periodic[0].to", "tag 2 is given twice"}},
        Case{"periodic=[{from=1.5,to=2}]", {"periodic[0].from", "1.5"}},
        Case{"periodic=[{from=1,to=2,tolerance=0}]", {"periodic[0].tolerance", "0"}},
        Case{"periodic=[{from=1,too=2}]", {"unknown key 'too'", "did you mean 'to'"}},
        Case{"numerics.quadrature='gaus'", {"did you mean 'gauss'"}}, Case{"numerics.points=0", {"numerics.points"}},
        Case{"numerics.points='q+1'", {"numerics.points", "p+2"}}, Case{"numerics.points='p+99'", {"numerics.points"}},
        Case{"numerics.points='p+-1'", {"numerics.points"}}, Case{"numerics.points=1", {"2 to 30"}},
        Case{"numerics.degree=4", {"numerics.degree", "together with numerics.points"}},
        Case{"numerics.max_degree=61", {"numerics.max_degree", "60"}}, Case{"fields={}", {"no field"}},
        Case{"fields.u.degree=0", {"fields.u.degree", "1 to 12"}},
        Case{"fields.u.initial=[0,0]", {"fields.u.initial", "list of 3"}},
        Case{"fields.u.initial=[0,0,0]", {"fields.u.initial", "forms.F"}},
        Case{"fields.u.initial={file='no.vtkhdf',field='u'}", {"fields.u.initial.file", "no such file"}},
        Case{"fields.u.initial={file='/dev/null',field='u',degree=1}", {"unknown key 'degree'"}},
        Case{"fields.u.initial={file='/dev/null',field='u'}", {"fields.u.initial", "forms.F"}},
        Case{"newton={}", {"newton", "forms.F"}}, Case{"fields.u.degree=13", {"fields.u.degree", "1 to 12"}},
        Case{"fields.u.components=0", {"fields.u.components"}}, Case{"fields.u.famly='DG'", {"did you mean 'family'"}},
        Case{"time={end=1}", {"time.step", "missing", "length of a time step"}},
        Case{"time={step=0,end=1}", {"time.step", "integer 0", "above 0"}},
        Case{"time={step=-0.1,end=1}", {"time.step", "-0.1", "above 0"}},
        Case{"time={step=nan,end=1}", {"time.step", "nan"}}, Case{"time={step=0.1}", {"time.end", "missing"}},
        Case{"time={step=0.1,end=-1}", {"time.end", "after time.start = 0"}},
        Case{"time={step=0.1,start=2,end=1}", {"time.end", "after time.start = 2"}},
        Case{"time={step=1e-12,end=1}", {"key time", "too many"}},
        Case{"time={step=0.1,end=1,theta=1.5}", {"time.theta", "1.5", "0.5 that of Crank and Nicolson"}},
        Case{"time={step=0.1,end=1,theta='euler'}", {"time.theta", "euler", "implicit Euler"}},
        Case{"time={step=0.1,end=1,scheme='bdf2'}", {"unknown key 'scheme'", "theta"}},
        Case{"time={step=0.1,end=1,start=0,restart='a'}", {"time.start", "time.restart"}},
        Case{"output.every=2", {"output.every", "no [time]"}},
        Case{"fields.u.family='lagrange'", {"did you mean 'Lagrange'"}},
        Case{"fields.u.family='BDM'", {"not available in this version", "Lagrange"}},
        Case{"fields.u.family='modal'", {"not available in this version"}},
        Case{"fields.v_u.degree=1", {"test function"}}, Case{"fields.max_l2_error.degree=1", {"[check]"}},
        Case{"coefficients.v=1", {"test function"}}, Case{"fields.grad.degree=1", {"'grad' has a meaning"}},
        Case{"fields.\"a b\".degree=1", {"'a b' is not a name"}}, Case{"fields.x.degree=1", {"'x' has a meaning"}},
        Case{"coefficients.u=1", {"'u' is the name of a field"}},
        Case{"coefficients.k=nan", {"coefficients.k", "nan", "finite"}}, Case{"coefficients.k=inf", {"coefficients.k"}},
        Case{"coefficients.k=true", {"coefficients.k", "boolean true"}}, Case{"coefficients.k=[]", {"at least one"}},
        Case{"coefficients.k=''", {"coefficients.k", "expression"}},
        Case{"coefficients.k=[[1,2],[3]]", {"coefficients.k[1]", "list of 2"}},
        Case{"coefficients.k=[1,[2]]", {"coefficients.k[1]"}},
        Case{"coefficients.k={bytag={1=1}}", {"did you mean 'by_tag'"}},
        Case{"coefficients.k={}", {"coefficients.k", "by_tag = {", "file = ", "value = "}},
        Case{"coefficients.k={file='no.vtkhdf',field='k'}", {"coefficients.k.file", "no such file \"no.vtkhdf\""}},
        Case{"coefficients.k={file='/dev/null'}", {"coefficients.k", "missing", "name of a field"}},
        Case{"coefficients.k={file='/dev/null',field=1}", {"coefficients.k.field", "integer 1"}},
        Case{"coefficients.k={file='/dev/null',field='k',value='x[0]'}", {"unknown key 'file'"}},
        Case{"coefficients.k={file='/dev/null',field='k',degree=13}", {"coefficients.k.degree", "1 to 12"}},
        Case{"coefficients.k={file='/dev/null',field='k',components=10}", {"coefficients.k.components", "1 to 9"}},
        Case{"coefficients.k={value=[[1,2]],degree=1}", {"coefficients.k.value", "a scalar or a vector"}},
        Case{"coefficients.k={value='x[0]',by_tag={1=1}}", {"unknown key 'value'"}},
        Case{"coefficients.k={value='x[0]',components=2}", {"unknown key 'components'"}},
        Case{"coefficients.k={by_tag={}}", {"at least one tag"}},
        Case{"coefficients.k={by_tag={1=1,01=2}}", {"tag 1 is given twice"}},
        Case{"coefficients.k={by_tag={1='x[0]'}}", {"by_tag.1", "numbers"}},
        Case{"coefficients.k={by_tag={1=1,2=[1,2]}}", {"by_tag.2", "same shape"}},
        Case{"coefficients.k={by_tag={99999999999=1}}", {"no tag"}}, Case{"coefficients.k=1979-05-27", {"date"}},
        Case{"definitions.\"f(\"='1'", {"parenthesis"}}, Case{"definitions.\"f(a,a)\"='1'", {"'a' is given twice"}},
        Case{"definitions.\"f(1)\"='1'", {"'1' is not a parameter"}},
        Case{"definitions.mu='1'", {"'mu' is the name of a coefficient"}},
        Case{"forms.a=3", {"forms.a", "integer 3", "form as text"}}, Case{"forms.a=' '", {"forms.a"}},
        Case{"forms.b='u'", {"unknown key 'b'"}}, Case{"forms.F='u*v*dx'", {"forms.F", "stands beside forms.a"}},
        Case{"dirichlet=1", {"dirichlet", "[[dirichlet]]"}},
        Case{"dirichlet.0.field='w'", {"dirichlet[0].field", "accepted: u"}},
        Case{"dirichlet.0.tags=[]", {"at least one tag"}}, Case{"dirichlet.0.tags=[1,1]", {"tag 1 is given twice"}},
        Case{"dirichlet.0.tags=[1.5]", {"dirichlet[0].tags", "1.5"}}, Case{"dirichlet.0.tags=[-1]", {"integer -1"}},
        Case{"dirichlet.0.value=0", {"dirichlet[0].value", "integer 0", "list of 3"}},
        Case{"dirichlet.0.value=[0,0]", {"list of 3"}}, Case{"dirichlet.0.value=[0,0,nan]", {"value[2]", "nan"}},
        Case{"dirichlet.1.components=[3]", {"0 to 2"}},
        Case{"dirichlet.1.components=[0,0]", {"component 0 is given twice"}},
        Case{"dirichlet.1.components=[]", {"components"}},
        Case{"dirichlet.7.value=1", {"'7' is not an index of a list of 2"}},
        Case{"dirichlet.0.vale=1", {"unknown key 'vale'", "did you mean 'value'"}},
        Case{"constraint=1", {"constraint", "[[constraint]]"}},
        Case{"constraint.0.field='w'", {"constraint[0].field", "accepted: u"}},
        Case{"constraint.0.mean=[0,0,0]", {"constraint[0].point", "found beside mean", "mean, point, rigid_modes"}},
        Case{"constraint.0.rigid_modes=true", {"constraint[0].rigid_modes", "found beside point"}},
        Case{"constraint.0.point=3", {"constraint[0].point", "1 to 3 coordinates"}},
        Case{"constraint.0.point=[0,0,0,0]", {"constraint[0].point", "list of 4"}},
        Case{"constraint.0.point=[0,0,'x']", {"constraint[0].point[2]", "finite number"}},
        Case{"constraint.0.value=0.5", {"constraint[0].value", "0.5", "list of 3 numbers"}},
        Case{"constraint.0.value=[0,inf,0]", {"constraint[0].value[1]", "finite"}},
        Case{"constraint.0.rigid_mode=true", {"unknown key 'rigid_mode'", "did you mean 'rigid_modes'"}},
        Case{"constraint.0.components=[3]", {"constraint[0].components", "0 to 2"}},
        Case{"constraint.0.components=[1,1]", {"component 1 is given twice"}},
        Case{"constraint.0.components=[1]", {"constraint[0].value", "a list of 1 number, one per component"}},
        Case{"constraint.1.mean=0", {"'1' is not an index of a list of 1"}},
        Case{"solver.method='newton'", {"solver.method", "forms.F", "cg, gmres, minres, bicgstab or direct"}},
        Case{"solver.method='cq'", {"did you mean 'cg'"}}, Case{"solver.method=1", {"solver.method", "a string"}},
        Case{"solver.preconditioner='ilu'", {"solver.preconditioner", "amg"}},
        Case{"solver.preconditioner='block'", {"solver.preconditioner", "needs solver.blocks", "u = \"jacobi\""}},
        Case{"solver.blocks='jacobi'", {"solver.blocks", "preconditioner of each field"}},
        Case{"solver.blocks={w='jacobi'}", {"unknown key 'w'", "solver.blocks"}},
        Case{"solver.blocks={}", {"solver.blocks.u", "missing"}},
        Case{"solver.blocks.u='jakobi'", {"solver.blocks.u", "did you mean 'jacobi'"}},
        Case{"solver.blocks.u='direct'", {"solver.blocks.u", "accepted: none, jacobi, chebyshev, multigrid, amg"}},
        Case{"solver.blocks.u='block'", {"solver.blocks.u", "blocks are not made of blocks"}},
        Case{"forms.preconditioner=1", {"forms.preconditioner", "a form as text"}},
        Case{"solver.multigrid.smoother='line'", {"solver.multigrid.smoother", "not available in this version"}},
        Case{"solver.multigrid.coarse='hypre'", {"solver.multigrid.coarse", "amg"}},
        Case{"solver.multigrid.amg='hypre'", {"solver.multigrid.amg", "smoothed-aggregation, boomeramg"}},
        Case{"solver.multigrid={coarse='direct',amg='boomeramg'}",
             {"solver.multigrid.amg", "which is \"direct\" here"}},
        Case{"solver.multigrid.boomeramg={strong_threshold=0.5}",
             {"solver.multigrid.boomeramg", "for amg = \"boomeramg\""}},
        Case{"solver.multigrid={amg='boomeramg',boomeramg={strong_threshold=1}}",
             {"solver.multigrid.boomeramg.strong_threshold"}},
        Case{"solver.multigrid={amg='boomeramg',boomeramg={interpolation='classical'}}",
             {"solver.multigrid.boomeramg.interpolation", "components, rigid-modes"}},
        Case{"solver.multigrid={amg='boomeramg',boomeramg={levels=3}}", {"unknown key 'levels'"}},
        Case{"solver.multigrid.coarse_iterations=5", {"solver.multigrid.coarse_iterations", "chebyshev"}},
        Case{"solver.multigrid.precision='float'", {"solver.multigrid.precision", "double, single"}},
        Case{"solver.multigrid.precision=32", {"solver.multigrid.precision", "string"}},
        Case{"solver.multigrid.cycle='F'", {"solver.multigrid.cycle", "V, W"}},
        Case{"solver.multigrid.coarsening='p,q'", {"solver.multigrid.coarsening", "\"h,p\""}},
        Case{"solver.multigrid.semicoarsening='no'", {"solver.multigrid.semicoarsening", "true or false"}},
        Case{"solver.multigrid.coarsening=['p','H']", {"solver.multigrid.coarsening", "\"h,p\""}},
        Case{"solver.multigrid.coarsening='p,h,p'", {"solver.multigrid.coarsening", "\"h,p\""}},
        Case{"solver.multigrid.coarsening=['p,h']", {"solver.multigrid.coarsening", "list of steps"}},
        Case{"solver.multigrid.coarsening='low-order'", {"solver.multigrid.coarsening", "\"lor\""}},
        Case{"solver.multigrid.start='half'", {"solver.multigrid.start", "zero, full"}},
        Case{"solver.multigrid.coarsening=[]", {"solver.multigrid.coarsening", "list of steps"}},
        Case{"solver.multigrid.coarsening=2", {"solver.multigrid.coarsening", "list of steps"}},
        Case{"solver.multigrid.degrees=[4,4]", {"solver.multigrid.degrees", "1 to 3"}},
        Case{"solver.multigrid.degrees=[1,1]", {"solver.multigrid.degrees", "none below 1"}},
        Case{"solver.multigrid.pre=0", {"solver.multigrid.pre"}},
        Case{"solver.multigrid={pre=1,post=2}", {"solver.multigrid.post", "equal numbers"}},
        Case{"solver.multigrid.smoother_degree=51", {"solver.multigrid.smoother_degree"}},
        Case{"solver.multigrid.coarse_iterations=0", {"solver.multigrid.coarse_iterations"}},
        Case{"solver.multigrid.depth=1", {"unknown key 'depth'"}}, Case{"solver.rtol=0", {"solver.rtol", "(0, 1)"}},
        Case{"solver.rtol=1", {"solver.rtol"}}, Case{"solver.rtol=nan", {"solver.rtol", "nan"}},
        Case{"solver.rtol='1e-6'", {"string \"1e-6\"", "number in (0, 1)"}}, Case{"solver.atol=-1", {"solver.atol"}},
        Case{"solver.max_iterations=0", {"solver.max_iterations"}},
        Case{"solver.max_iterations=99999999999", {"solver.max_iterations"}},
        Case{"solver.stagnation_window=0", {"solver.stagnation_window"}},
        Case{"solver.norm=\"residuals\"", {"solver.norm", "did you mean 'residual'"}},
        Case{"solver.norm=\"preconditioned\"", {"solver.norm", "method = \"cg\"", "found \"gmres\""}},
        Case{"output.on_failure=1", {"output.on_failure"}}, Case{"solver.fused=1", {"solver.fused", "true or false"}},
        Case{"solver.restart=0", {"solver.restart"}}, Case{"solver.side='up'", {"right, left"}},
        Case{"solver.chebyshev.degree=51", {"solver.chebyshev.degree", "1 to 50"}},
        Case{"solver.chebyshev=4", {"a table"}},
        Case{"solver.rtoll=1", {"unknown key 'rtoll' in [solver]", "did you mean 'rtol'"}},
        Case{"functionals.e=1", {"functionals.e"}}, Case{"check.u=1", {"check.u", "list of 3"}},
        Case{"check.w='x'", {"unknown key 'w' in [check]"}}, Case{"check.max_l2_error=0", {"check.max_l2_error"}},
        Case{"check={max_l2_error=1}", {"no exact solution"}},
        Case{"output.file='beam.vtk'", {"output.file", ".vtkhdf"}}, Case{"output={}", {"output.file", "missing"}}));

TEST(ProblemErrors, PlacesAreFileLineColumn) {
  std::string text = beam_problem;
  text.replace(text.find("refine = 2"), 10, "refine = x");
  EXPECT_TRUE(contains(message_of(text), "p.toml:5:")) << message_of(text);
  text = beam_problem;
  text.replace(text.find("refine = 2"), 10, "refine = 99");
  EXPECT_EQ(message_of(text),
            "p.toml:5:10: key mesh.refine: found the integer 99, accepted is an integer from 0 to 10");
  text.replace(text.find("refine = 99"), 11, "rafine = 1");
  EXPECT_TRUE(contains(message_of(text), "p.toml:5:1: unknown key 'rafine'")) << message_of(text);
}

TEST(ProblemErrors, ConstraintsSayOneThingOncePerField) {
  const auto message = [](const std::string& keys) {
    return message_of(std::string(small_problem) + "[[constraint]]\n" + keys);
  };
  EXPECT_EQ(message("mean = 0.5"), "accepted");
  EXPECT_TRUE(contains(message(""), "p.toml:6:1: key constraint[0]: missing is one of mean = 0.0")) << message("");
  EXPECT_TRUE(contains(message("point = [0, 0]"), "constraint[0].value: missing")) << message("point = [0, 0]");
  EXPECT_TRUE(contains(message("mean = 0\nvalue = 1"), "value: found without a point"))
      << message("mean = 0\nvalue = 1");
  EXPECT_TRUE(contains(message("mean = [0]"), "finite number"));
  EXPECT_TRUE(contains(message("mean = \"x[0]\""), "finite number"));
  EXPECT_TRUE(contains(message("rigid_modes = false"), "accepted is true"));
  EXPECT_TRUE(contains(message("rigid_modes = true\ncomponents = [0]"), "components: found beside rigid_modes"));
  EXPECT_TRUE(contains(message("mean = 0\n[[constraint]]\nmean = 1"), "has a constraint already"));
}

TEST(ProblemErrors, MissingSectionsAreNamed) {
  EXPECT_TRUE(contains(message_of(""), "empty"));
  EXPECT_TRUE(contains(message_of("# nothing\n"), "no keys"));
  EXPECT_TRUE(contains(message_of("title = \"t\""), "mesh"));
  EXPECT_TRUE(contains(message_of("[mesh]\n"), "mesh.file") || contains(message_of("[mesh]\n"), "key file"));
  EXPECT_TRUE(contains(message_of("[mesh]\nbox={cells=[1]}"), "fields"));
  EXPECT_TRUE(contains(message_of("[mesh]\nbox={cells=[1]}\n[fields.u]"), "forms"));
  EXPECT_TRUE(contains(message_of("[mesh]\nbox={cells=[1]}\n[fields.u]\n[forms]\nL='v*dx'"), "forms.a"));
  EXPECT_TRUE(contains(message_of("[mesh]\nbox={}\n[fields.u]\n[forms]\na='u*v*dx'"), "mesh.box.cells"));
}

TEST(ProblemErrors, ResidualFormsStandAlone) {
  const std::string text = "[mesh]\nbox={cells=[2]}\n[fields.u]\n[forms]\nF='u*u*v*dx'\n[newton]\n";
  EXPECT_EQ(message_of(text), "accepted");
  EXPECT_TRUE(contains(message_of(text, {"forms.L='v*dx'"}), "stands beside forms.L"));
  EXPECT_TRUE(contains(message_of(text, {"newton.rtol=0"}), "newton.rtol"));
  EXPECT_TRUE(contains(message_of(text, {"newton.atol=-1"}), "newton.atol"));
  EXPECT_TRUE(contains(message_of(text, {"newton.max_iterations=0"}), "newton.max_iterations"));
  EXPECT_TRUE(contains(message_of(text, {"newton.line_search=1"}), "true or false"));
  EXPECT_TRUE(contains(message_of(text, {"newton.load_steps=0"}), "newton.load_steps"));
  EXPECT_TRUE(contains(message_of(text, {"newton.linesearch=true"}), "did you mean 'line_search'"));
  EXPECT_TRUE(contains(message_of(text, {"coefficients.load_factor=2"}), "share of the loads"));
}

TEST(ProblemErrors, MeshFilesThatCannotBeReadAreNamed) {
  const std::string rest = "\n[fields.u]\n[forms]\na='u*v*dx'\n";
  EXPECT_TRUE(contains(message_of("[mesh]\nfile='no/such.msh'" + rest), "no such file \"no/such.msh\""));
  EXPECT_TRUE(contains(message_of("[mesh]\nfile='part.step'" + rest), "not available in this version"));
  EXPECT_TRUE(contains(message_of("[mesh]\nfile='part.geo'" + rest), "not available in this version"));
  EXPECT_TRUE(contains(message_of("[mesh]\nfile='x'\ndegree=2" + rest), "mesh.degree"));
  EXPECT_TRUE(contains(message_of("[mesh]\nfile=''" + rest), "mesh.file"));
}

TEST(ProblemErrors, SecondFieldNeedsNamesInConditions) {
  const std::string two =
      "[mesh]\nbox={cells=[2]}\n[fields.a]\n[fields.b]\n[forms]\na='a*v_a*dx'\n[[dirichlet]]\ntags='all'\nvalue=0\n";
  EXPECT_TRUE(contains(message_of(two), "dirichlet[0].field: missing")) << message_of(two);
  EXPECT_TRUE(contains(message_of(two, {"coefficients.v_b=1"}), "dirichlet") ||
              contains(message_of(two, {"coefficients.v_b=1"}), "test function"));
}

TEST(ProblemErrors, OutputsMayNotClimbOutOfTheFolder) {
  const std::string text = small_problem + "[output]\nfile = \"../../home/x.vtkhdf\"\n";
  EXPECT_TRUE(contains(message_of(text), "p.toml:7:9: key output.file")) << message_of(text);
  EXPECT_EQ(message_of(small_problem, {"output.file=../x.vtkhdf"}), "accepted");
  const std::string absolute = small_problem + "[output]\nfile = \"/tmp/x.vtkhdf\"\n";
  EXPECT_TRUE(contains(message_of(absolute), "p.toml:7:9: key output.file")) << message_of(absolute);
}

TEST(ProblemErrors, DuplicateKeysAndBadTomlAreNamedWithTheirPlace) {
  EXPECT_TRUE(contains(message_of(small_problem + "a = \"again\"\n"), "p.toml:6:"));
  EXPECT_TRUE(contains(message_of("[mesh\n"), "p.toml:1:"));
  EXPECT_TRUE(contains(message_of(std::string("\x7f"
                                              "ELF\0\1\2",
                                              7)),
                       "p.toml:1:"));
  EXPECT_TRUE(contains(message_of("title = \"\xff\xfe\"\n"), "p.toml:1:"));
}

TEST(ProblemErrors, OverridesThatAreNoAssignmentsAreRefused) {
  EXPECT_TRUE(contains(message_of(small_problem, {"solver.rtol"}), "no '='"));
  EXPECT_TRUE(contains(message_of(small_problem, {"=5"}), "no key"));
  EXPECT_TRUE(contains(message_of(small_problem, {"solver.rtol="}), "no value"));
  EXPECT_TRUE(contains(message_of(small_problem, {"solver..rtol=5"}), "--set"));
  EXPECT_TRUE(contains(message_of(small_problem, {"title=[a b"}), "not a TOML value"));
  EXPECT_TRUE(contains(message_of(small_problem, {"title=1\n[x]"}), "more than one line"));
}

TEST(ProblemErrors, DeepNestingIsRefusedBeforeItIsRead) {
  const auto repeated = [](const std::string& part, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  const auto nested = [&](const std::string& begin, int count, const std::string& end) {
    return repeated(begin, count) + "1" + repeated(end, count);
  };
  constexpr auto refusal = "keys, lists and tables are nested more than 100 levels deep";
  const std::vector<std::pair<std::string, std::string>> cases{
      {repeated("a.", 20'000) + "a = 1", "p.toml:1:200: "},
      {"[" + repeated("a.", 80'000) + "a]\nb = 1", "p.toml:1:201: "},
      {"[[" + repeated("a.", 80'000) + "a]]\nb = 1", "p.toml:1:202: "},
      {"\n" + repeated("'a.b' . ", 200) + "a = 1", "p.toml:2:"},
      {repeated("\"\\\"\xc3\xa9\".", 200) + "a = 1", "p.toml:1:600: "},
      {"a = " + nested("[", 20'000, "]"), "p.toml:1:104: "},
      {"a = " + nested("{ a = ", 20'000, " }"), "p.toml:1:"},
      {"a = " + nested("[\n", 20'000, "]"), "p.toml:100:1: "},
      {"a = " + nested("{ a.a.a.a.a.a.a.a = ", 50, " }"), "p.toml:1:"},
      {"[" + repeated("a.", 60) + "a]\n" + repeated("b.", 60) + "b = 1", "p.toml:2:"},
      {"a = [" + repeated("b.", 20'000), "p.toml:1:"},
  };
  for (const auto& [text, place] : cases) {
    const auto message = message_of(text);
    EXPECT_TRUE(contains(message, refusal) && contains(message, place)) << text.substr(0, 40) << "\n" << message;
  }
  // A text that only looks deep is read.
  for (const auto& text : {"title = '" + repeated("[", 500) + "'", "# " + repeated("a.", 500),
                           "title = \"\"\"\n" + repeated("a.\n[[", 500) + "\"\"\"",
                           "a = [" + repeated("[1.5, 2.5], ", 500) + "]", repeated("[a]\nb.c.d = 1.0\n", 1)})
    EXPECT_FALSE(contains(message_of(text), refusal)) << text.substr(0, 40);
  const auto long_set = message_of(small_problem, {repeated("a.", 60'000) + "a=1"});
  EXPECT_TRUE(contains(long_set, refusal)) << long_set.substr(0, 400);
  EXPECT_LT(long_set.size(), 400U);
}

TEST(ProblemErrors, FilesThatCannotBeReadAreNamed) {
  const auto message = [](const std::string& path) -> std::string {
    try {
      io::read_problem(path);
    } catch (const base::InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_TRUE(contains(message("/no/such/file.toml"), "no such file"));
  EXPECT_TRUE(contains(message("/tmp"), "not a file"));
  EXPECT_TRUE(contains(message("/dev/zero"), "not a file"));
}

} // namespace
