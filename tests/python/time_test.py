#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Problems with [time] by the command: reports, series of states in the output, runs that go on from an output, refusals.

usage: time_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import math
import os
import sys
import unittest

import command_test
from command_test import DONE, NOT_SOLVED

HEAT = """title = "Heat"
[mesh]
box = { cells = [4, 4], shape = "triangle" }
[fields.u]
degree = 2
initial = "x[0]*x[1]"
[coefficients]
k = "1 + 0.5*sin(t)*x[0]"
[forms]
a = "(dt(u)*v + k*inner(grad(u), grad(v)))*dx"
L = "cos(t)*v*dx"
[[dirichlet]]
tags = "all"
value = "x[0]*x[1]*(1 + t)"
[time]
step = 0.1
end = 1.0
theta = 0.5
[functionals]
mean = "u*dx"
now = "(t + 0*u)*dx"
[output]
file = "heat.vtkhdf"
every = 4
"""

REACTION = """[mesh]
box = { cells = [4, 4] }
[fields.u]
degree = 2
initial = 0.5
[forms]
F = "(dt(u)*v + 0.1*inner(grad(u), grad(v)) - u*(1 - u)*v)*dx"
[time]
step = 0.25
end = 1.0
[functionals]
mean = "u*dx"
"""


BURGERS = """[mesh]
box = { cells = [6, 6] }
[fields.u]
degree = 2
[forms]
F = "(dt(u)*v + 0.05*inner(grad(u), grad(v)) + 40*u*grad(u)[0]*v - 10*v)*dx"
[[dirichlet]]
tags = "all"
value = 0
[time]
step = 0.05
end = 0.2
"""


SPLIT = """[mesh]
box = { cells = [8] }
[fields.c]
degree = 6
initial = "sin(pi*x[0])"
[fields.w]
degree = 6
[forms]
F = "(dt(c)*v_c + w.dx(0)*v_c.dx(0) + w*v_w - c*v_w)*dx"
[[dirichlet]]
field = "c"
tags = "all"
value = 0
[[dirichlet]]
field = "w"
tags = "all"
value = 0
[time]
step = 0.005
end = 0.2
theta = 0.5
[functionals]
mean = "c*dx"
violation = "(w - c)**2*dx"
[output]
file = "whole.vtkhdf"
"""

STOKES = """[mesh]
box = { cells = [4, 4] }
[fields.u]
components = 2
degree = 2
[fields.p]
degree = 1
[forms]
F = "(inner(dt(u) + grad(u)*u, v_u) + 0.1*inner(grad(u), grad(v_u)) - p*div(v_u) - div(u)*v_p - cos(3*t)*x[1]*v_u[0])*dx"
[[dirichlet]]
field = "u"
tags = ["ymin", "ymax", "xmin"]
value = [0, 0]
[time]
step = 0.1
end = 0.75
theta = 0.5
[functionals]
energy = "inner(u, u)*dx"
pressure = "p*dx"
[output]
file = "whole.vtkhdf"
"""

GROWTH = """[mesh]
box = { cells = [2] }
[fields.u]
degree = 1
initial = 1
[forms]
F = "(dt(u) - u*u)*v*dx"
[time]
step = 0.2
end = 0.6
[functionals]
mean = "u*dx"
now = "(t + 0*u)*dx"
[output]
file = "growth.vtkhdf"
on_failure = true
every = 10
"""


class TimeSteps(command_test.CommandTest):
    def contents(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_report_tells_the_steps(self):
        report, result = self.solved(HEAT)
        time = report["time"]
        self.assertEqual((time["start"], time["end"], time["step"], time["theta"]), (0, 1, 0.1, 0.5))
        self.assertEqual(len(time["steps"]), 10)
        self.assertEqual(time["steps"][-1]["time"], 1)
        self.assertTrue(all(step["iterations"] > 0 and step["residual"] < 1.1e-8 for step in time["steps"]))
        self.assertGreaterEqual(report["iterations"], sum(step["iterations"] for step in time["steps"]))
        self.assertEqual(report["functionals"]["now"], 1)  # 1 is the last time
        self.assertIn("10 time steps from t = 0 to 1, theta = 0.5", result.stdout)
        self.assertIn("step 10 of 10: t = 1", result.stderr)

    def test_residual_forms_take_newton_steps(self):
        report, result = self.solved(REACTION)
        self.assertTrue(all(step["newton_steps"] > 0 for step in report["time"]["steps"]))
        self.assertIn("Newton steps", result.stdout)
        # This is logistic growth by the implicit Euler method.
        value = 0.5
        for _ in range(4):
            value = self.logistic(value, 0.25)
        self.assertAlmostEqual(report["functionals"]["mean"], value, places=8)

    @staticmethod
    def logistic(before, step):
        """Returns the root of w - before = step w (1 - w)."""
        p = (1 - step) / step
        return (-p + (p * p + 4 * before / step) ** 0.5) / 2

    def test_the_method_suits_states_that_the_first_one_is_not_like(self):
        """The tangent of the first state, zero, is symmetric, while those of all other states are not."""
        report = self.report(BURGERS)
        self.assertEqual(report["method"], "newton with direct")
        self.assertIn("not symmetric", report["reason"])

    def test_a_last_step_may_be_shorter(self):
        report = self.report(HEAT, "--set", "time.step=0.3")
        self.assertEqual([step["time"] for step in report["time"]["steps"]][-1], 1)
        self.assertEqual(len(report["time"]["steps"]), 4)

    def test_known_fields_serve_forms_functionals_and_derived_fields(self):
        """w u is 3 u where w = 3; conductivity, capacity and source hold it, too."""
        text = HEAT.replace("dt(u)*v + k*", "w*dt(u)*v + w*k*").replace("cos(t)*v", "w*cos(t)*v").replace("x[0]*x[1]*(1 + t)", "x[0]*x[1]")
        text = text.replace('mean = "u*dx"', 'mean = "u*dx"\nweighted = "w*u*dx"').replace("every = 4", "fields = { flux = 'w*grad(u)', w = 'w' }")
        plain = self.report(text.replace("[coefficients]", "[coefficients]\nw = 1"))
        known = self.report(text.replace("[coefficients]", '[coefficients]\nw = { value = "2 + x[0]**0" }'))
        self.assertAlmostEqual(known["functionals"]["mean"], plain["functionals"]["mean"], places=8)
        self.assertAlmostEqual(known["functionals"]["weighted"], 3*known["functionals"]["mean"], places=12)

    def test_known_fields_are_constant_in_time(self):
        text = HEAT.replace("[coefficients]", '[coefficients]\nw = { value = "2 + x[0]" }')
        plain = self.report(text.replace("dt(u)*v", "w*dt(u)*v"))
        product = self.report(text.replace("dt(u)*v", "dt(w*u)*v"))
        self.assertEqual(product["functionals"], plain["functionals"])

    def test_a_run_in_two_parts_is_the_same_to_the_last_bit(self):
        whole = self.report(HEAT)
        for done, end in ((4, 0.4), (3, 0.3), (6, 0.6), (7, 0.7)): # 3 steps of 0.1 do not end at 0.3, but for rounding
            self.solved(HEAT, "--set", f"time.end={end}", "--set", "output.file=half.vtkhdf")
            rest = self.report(HEAT, "--set", "time.restart=half.vtkhdf", "--set", "output.file=rest.vtkhdf")
            self.assertEqual(len(rest["time"]["steps"]), 10 - done)
            self.assertAlmostEqual(rest["time"]["start"], end, places=14)
            self.assertEqual(rest["functionals"], whole["functionals"])
            self.assertEqual(rest["time"]["steps"], whole["time"]["steps"][done:])
        # Equal states lead to equal files when runs go on from them.
        for name in ("heat", "rest"):
            self.solved(HEAT, "--set", f"time.restart={name}.vtkhdf", "--set", "time.end=1.3", "--set",
                       f"output.file={name}-on.vtkhdf")
        self.assertEqual(self.contents("heat-on.vtkhdf"), self.contents("rest-on.vtkhdf"))

    def test_residual_forms_and_systems_go_on_with_the_same_bits(self):
        wave = """[mesh]
box = { cells = [4, 4], shape = "triangle" }
[fields.u]
degree = 2
initial = "sin(pi*x[0])*sin(pi*x[1])"
[fields.w]
degree = 2
[forms]
F = "((dt(u) - w)*v_u + dt(w)*v_w + inner(grad(u), grad(v_w)) - sin(3*t)*v_w)*dx"
[[dirichlet]]
field = "u"
tags = "all"
value = 0
[[dirichlet]]
field = "w"
tags = "all"
value = 0
[time]
step = 0.1
end = 0.6
theta = 0.5
[functionals]
energy = "(w*w + inner(grad(u), grad(u)))*dx"
[output]
file = "whole.vtkhdf"
"""
        # The tangent at rest is symmetric, those of other states are not: a method that is chosen anew is another one.
        reaction = BURGERS.replace("40*u*grad(u)[0]*v", "conditional(t > 0.12, 0.01*u, 0*u)*grad(u)[0]*v") + """[functionals]
energy = "u*u*dx"
[output]
file = "whole.vtkhdf"
"""
        for text, end in ((wave, 0.3), (reaction, 0.15)):
            whole = self.report(text)
            self.solved(text, "--set", f"time.end={end}", "--set", "output.file=half.vtkhdf")
            rest = self.report(text, "--set", "time.restart=half.vtkhdf", "--set", "output.file=rest.vtkhdf")
            self.assertEqual(rest["method"], whole["method"])
            self.assertEqual(rest["functionals"], whole["functionals"])
            count = len(rest["time"]["steps"])
            self.assertEqual(rest["time"]["steps"], whole["time"]["steps"][-count:])

    def test_fluxes_through_a_field_without_derivative_have_order_two(self):
        """The mean of exp(-pi^2 t) sin(pi x) is 2/pi exp(-pi^2 t)."""
        exact = 2/math.pi*math.exp(-0.2*math.pi**2)
        errors = []
        for step in (0.005, 0.0025):
            report = self.report(SPLIT, "--set", f"time.step={step}")
            errors.append(abs(report["functionals"]["mean"]/exact - 1))
            self.assertLess(report["functionals"]["violation"], 1e-20)
        self.assertLess(errors[0], 1.7e-3)
        self.assertAlmostEqual(math.log2(errors[0]/errors[1]), 2, delta=0.05)
        report = self.report(SPLIT, "--set", "time.theta=1")
        self.assertAlmostEqual(report["functionals"]["mean"]/exact - 1, 4.83e-2, delta=1e-4)

    def test_fields_without_derivatives_go_on_with_the_same_bits(self):
        """Multipliers and algebraic fields, and last steps that are shorter than the others."""
        for text, end, step in ((SPLIT, 0.1, 0.005), (SPLIT, 0.105, 0.03), (STOKES, 0.3, 0.1), (STOKES, 0.1, 0.1)):
            whole = self.report(text, "--set", f"time.step={step}")
            self.solved(text, "--set", f"time.end={end}", "--set", "output.file=half.vtkhdf", "--set", f"time.step={step}")
            rest, result = self.solved(text, "--set", "time.restart=half.vtkhdf", "--set", "output.file=rest.vtkhdf",
                                      "--set", f"time.step={step}")
            self.assertNotIn("holds no intermediate values", result.stderr)
            if end/step == round(end/step):
                self.assertEqual(rest["functionals"], whole["functionals"])
                count = len(rest["time"]["steps"])
                self.assertEqual(rest["time"]["steps"], whole["time"]["steps"][-count:])

    def test_a_shorter_last_step_is_gone_on_from(self):
        """The intermediate value lies half a step before the end of the last step, whatever the length of the next one is."""
        text = SPLIT.replace('initial = "sin(pi*x[0])"', "initial = 1").replace("w.dx(0)*v_c.dx(0)", "3*w*v_c")
        text = text[:text.index("[[dirichlet]]")] + text[text.index("[time]"):]
        u, intermediate, since = 1.0, 1.0, 0.0
        for step in (0.3, 0.15, 0.3, 0.3):
            rest = 0.5*step/(since + step)
            u = (u - 3*step*rest*intermediate)/(1 + 3*step*(1 - rest))
            intermediate, since = u - rest*(u - intermediate), 0.5*step
        self.solved(text, "--set", "time.step=0.3", "--set", "time.end=0.45")
        report = self.report(text, "--set", "time.step=0.3", "--set", "time.end=1.05", "--set", "time.restart=whole.vtkhdf",
                               "--set", "output.file=rest.vtkhdf")
        self.assertAlmostEqual(report["functionals"]["mean"], u, places=9)

    def test_states_without_intermediate_values_begin_anew(self):
        """Outputs with theta = 1 hold none, and so do those of versions before intermediate values."""
        for text, name in ((SPLIT, "mean"), (STOKES, "energy")):
            end = 0.1 if text == SPLIT else 0.3
            self.solved(text, "--set", f"time.end={end}", "--set", "output.file=half.vtkhdf", "--set", "time.theta=1")
            rest, result = self.solved(text, "--set", "time.restart=half.vtkhdf", "--set", "output.file=rest.vtkhdf")
            self.assertIn("restart: half.vtkhdf holds no intermediate values", result.stderr)
            _, again = self.solved(text, "--set", "time.restart=half.vtkhdf", "--set", "output.file=rest.vtkhdf",
                                  "--set", "time.theta=1")
            self.assertNotIn("holds no intermediate values", again.stderr)
            self.assertGreater(rest["functionals"][name], 0)
            # A run with theta = 1 that goes on from one with intermediate values keeps none.
            later = "0.3" if text == SPLIT else "0.95"
            self.solved(text, "--set", "time.restart=rest.vtkhdf", "--set", "output.file=implicit.vtkhdf", "--set", "time.theta=1",
                       "--set", f"time.end={later}")
            _, result = self.solved(text, "--set", "time.restart=implicit.vtkhdf", "--set", "output.file=on.vtkhdf", "--set", "time.end=1.15")
            self.assertIn("restart: implicit.vtkhdf holds no intermediate values", result.stderr)

    def test_theta_zero_needs_derivatives_of_all_fields(self):
        for text, name in ((SPLIT, "w"), (STOKES, "p")):
            self.refused(text.replace("theta = 0.5", "theta = 0"), "time.theta", f"no dt() of {name}", "above 0")
        report = self.report(HEAT.replace("theta = 0.5", "theta = 0"), "--set", "time.step=1e-4", "--set", "time.end=3e-4")
        self.assertEqual(report["status"], "converged")

    def test_pressures_that_a_stabilisation_does_not_fix_begin_with_an_implicit_step(self):
        """The stabilised equation of continuity does not see constants, while the traction of the equations does."""
        text = STOKES.replace("degree = 2", 'degree = 1\ninitial = ["x[0]*x[1]*(1 - x[1])", "0"]').replace("- div(u)*v_p", "- div(u)*v_p - 0.01*inner(grad(p), grad(v_p))")
        report, result = self.solved(text)
        self.assertIn("not made consistent", report["warning"])
        self.assertIn("implicit Euler", report["warning"])
        first = self.report(text, "--set", "time.end=0.1")
        implicit = self.report(text, "--set", "time.end=0.1", "--set", "time.theta=1")
        self.assertAlmostEqual(first["functionals"]["pressure"], implicit["functionals"]["pressure"], places=10)

    def test_a_run_that_fails_can_go_on_with_shorter_steps(self):
        """w - u = h w^2 has the roots (1 - sqrt(1 - 4 h u))/(2 h) as long as 4 h u < 1."""
        def after(u, step):
            return (1 - math.sqrt(1 - 4*step*u))/(2*step)
        report, result = self.solved(GROWTH, code=NOT_SOLVED)
        self.assertIn("step 2 to t = 0.4", report["message"])
        self.assertIn("growth.vtkhdf ends with the state at t = 0.2", report["message"])
        self.assertIn("written: growth.vtkhdf", result.stdout)
        goes_on = ["--set", "time.restart=growth.vtkhdf", "--set", "output.file=on.vtkhdf"]
        rest = self.report(GROWTH, *goes_on, "--set", "time.step=0.05", "--set", "time.end=0.3")
        self.assertAlmostEqual(rest["functionals"]["mean"], after(after(after(1, 0.2), 0.05), 0.05), places=6)
        self.assertAlmostEqual(rest["functionals"]["now"], 0.3, places=12)
        again = self.report(GROWTH, *goes_on, code=NOT_SOLVED) # with the same steps it fails again
        self.assertIn("step 1 to t = 0.4", again["message"])
        self.assertIn("on.vtkhdf ends with the state at t = 0.2", again["message"])
        silent = GROWTH.replace("on_failure = true\n", "").replace("growth.vtkhdf", "none.vtkhdf")
        self.solved(silent, code=NOT_SOLVED)
        self.assertFalse(os.path.exists(self.path("none.vtkhdf")))

    def test_a_run_that_fails_with_intermediate_values_goes_on_with_them(self):
        """A run to the step that fails, and one that goes on from there, have the bits of one that does not fail."""
        fails = STOKES.replace("cos(3*t)*x[1]", "k*cos(3*t)*x[1]").replace("[time]", "[coefficients]\nk = 1\n[time]")
        fails += "on_failure = true\nevery = 4\n"
        whole = self.report(fails)
        result = self.run_rafter("solve", self.write(fails), "--set", 'coefficients.k="1 + 1e-300*sqrt(0.55 - t)"', "--set",
                                 "output.file=failed.vtkhdf")
        self.assertNotEqual(result.returncode, DONE)
        self.assertIn("written: failed.vtkhdf", result.stdout + result.stderr)
        rest = self.report(fails, "--set", "time.restart=failed.vtkhdf", "--set", "output.file=rest.vtkhdf")
        self.assertEqual(rest["functionals"], whole["functionals"])

    def test_a_value_that_does_not_exist_at_a_time_leaves_the_states_before(self):
        text = HEAT.replace("x[0]*x[1]*(1 + t)", "x[0]*x[1]*(1 + sqrt(0.35 - t))") + "on_failure = true\n"
        result = self.run_rafter("solve", self.write(text))
        self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr)
        self.assertIn("dirichlet[0].value", result.stderr)
        self.assertIn("written: heat.vtkhdf", result.stderr)
        rest = self.report(text, "--set", "time.restart=heat.vtkhdf", "--set", "output.file=rest.vtkhdf", "--set", "time.step=0.02",
                             "--set", "time.end=0.34")
        self.assertAlmostEqual(rest["time"]["start"], 0.3, places=14)
        self.assertEqual(len(rest["time"]["steps"]), 2)

    def test_a_run_goes_on_where_values_at_zero_do_not_exist(self):
        text = HEAT.replace('"x[0]*x[1]*(1 + t)"', '"x[0]*x[1]/t"').replace("sin(t)", "sqrt(t - 0.5)").replace(
            'initial = "x[0]*x[1]"', 'initial = "x[0]*x[1]*ln(t + 1)/ln(t)"').replace("end = 1.0", "end = 2.0\nstart = 1.5")
        whole = self.report(text)
        self.solved(text, "--set", "time.end=1.8", "--set", "output.file=half.vtkhdf")
        goes_on = text.replace("start = 1.5\n", 'restart = "half.vtkhdf"\n')
        rest = self.report(goes_on, "--set", "output.file=rest.vtkhdf")
        self.assertEqual(rest["functionals"], whole["functionals"])
        kernel = self.run_rafter("kernel", self.write(goes_on))
        self.assertEqual(kernel.returncode, DONE, kernel.stderr)

    def test_a_run_goes_on_whatever_the_first_one_began_with(self):
        self.solved(HEAT)
        text = HEAT.replace('initial = "x[0]*x[1]"', 'initial = { file = "heat.vtkhdf", field = "u" }')
        self.solved(text, "--set", "output.file=first.vtkhdf")
        self.write("no state", "heat.vtkhdf")
        self.solved(text, "--set", "output.file=second.vtkhdf", "--set", "time.restart=first.vtkhdf", "--set", "time.end=1.2")

    def test_kernels_and_the_matrix_are_those_of_the_first_step(self):
        """The sum of all entries is the mass of 1 on an interval without conditions: theta k adds nothing to it."""
        text = """[mesh]
box = { cells = [4], size = [3.0] }
[fields.u]
degree = 2
[forms]
a = "(dt(u)*v + k*inner(grad(u), grad(v)))*dx"
[coefficients]
k = "1 + t"
[time]
step = 0.1
end = 1.0
theta = 0.5
"""
        result = self.run_rafter("kernel", self.write(text), "--matrix", "matrix.mtx")
        self.assertEqual(result.returncode, DONE, result.stderr)
        with open(self.path("matrix.mtx"), encoding="utf-8") as file:
            rows = [line.split() for line in file if not line.startswith("%")][1:]
        total = sum(float(value) * (1 if i == j else 2 if self.is_symmetric("matrix.mtx") else 1) for i, j, value in rows)
        self.assertAlmostEqual(total, 3, places=12)

    def is_symmetric(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return "symmetric" in file.readline()

    def test_another_plan_goes_on_from_the_same_state(self):
        self.solved(HEAT, "--set", "time.end=0.5")
        other = self.report(HEAT, "--set", "time.restart=heat.vtkhdf", "--set", "output.file=on.vtkhdf", "--plan",
                              "mapping=plain contraction=dense vector_width=16", "--threads", "1")
        whole = self.report(HEAT)
        self.assertAlmostEqual(other["functionals"]["mean"], whole["functionals"]["mean"], places=9)

    def test_restarts_from_something_else_are_refused(self):
        self.solved(HEAT)
        for arguments, fragments in (
                (["mesh.refine=1"], ["another mesh"]), (["fields.u.degree=3"], ["degree 2 and 1 component", "degree 3"]),
                (["time.end=0.5"], ["time.end", "t = 1"]), (["time.restart=none.vtkhdf"], ["none.vtkhdf", "no such file"]),
                (["time.restart=problem.toml"], ["no HDF5 file"]), (["output.file=heat.vtkhdf"], ["heat.vtkhdf"])):
            sets = ["time.restart=heat.vtkhdf", "time.end=2", "output.file=other.vtkhdf", *arguments]
            result = self.run_rafter("solve", self.write(HEAT), *[a for s in sets for a in ("--set", s)])
            self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr + result.stdout)
            for fragment in fragments:
                self.assertIn(fragment, result.stderr)

    def test_restarts_need_a_file_and_a_later_end(self):
        self.refused(HEAT.replace("step = 0.1", 'step = 0.1\nrestart = ""'), "time.restart", "the string \"\"", "output of a run")
        self.solved(HEAT)
        for end in ("1", "1.0000000000000002", "0.99"):
            for step in ("0.1", "0.05"):
                result = self.run_rafter("solve", self.write(HEAT), "--set", "time.restart=heat.vtkhdf", "--set", f"time.end={end}",
                                         "--set", f"time.step={step}", "--set", "output.file=other.vtkhdf")
                self.assertEqual(result.returncode, command_test.WRONG_INPUT, result.stderr + result.stdout)
                self.assertIn("time.end: the state of heat.vtkhdf is that of t = 1", result.stderr)

    def test_names_of_time_need_the_section(self):
        without = HEAT[:HEAT.index("[time]")] + HEAT[HEAT.index("[functionals]"):].replace("every = 4\n", "")
        self.refused(without.replace('initial = "x[0]*x[1]"\n', ""), "'t'", "[time]")
        stationary = command_test.POISSON.replace("k*inner", "dt(u)*v*dx + k*inner")
        self.refused(stationary, "dt(u)", "[time]")

    def test_newton_beside_a_linear_residual_form_is_reported(self):
        linear = REACTION.replace("u*(1 - u)*v", "u*v") + "[newton]\nrtol = 1.0e-9\n"
        _, result = self.solved(linear)
        self.assertIn("key newton is not used: forms.F is linear", result.stderr)
        _, result = self.solved(REACTION + "[newton]\nrtol = 1.0e-9\n")
        self.assertNotIn("not used", result.stderr)

    def test_what_cannot_be_stepped_is_refused(self):
        for old, new, fragments in (
                ("dt(u)*v + ", "", ["forms.a", "no derivative in time"]),
                ("dt(u)*v", "dt(dt(u))*v", ["second derivative", "first order"]),
                ("dt(u)*v", "dt(t*u)*v", ["product rule"]),
                ("dt(u)*v", "(dt(u) + u**2)*v", ["forms.a", "linear", "forms.F"]),
                ('"cos(t)*v*dx"', '"u*v*dx"', ["forms.L", "no term may hold a field"]),
                ('mean = "u*dx"', 'mean = "dt(u)*dx"', ["functionals.mean", "dt()"]),
                ('k = "1 + 0.5*sin(t)*x[0]"', 'k = "1/t"', ["coefficients.k", "inf"]),
                ("every = 4", "every = 4\nfields = { rate = 'dt(u)' }", ["output.fields.rate", "dt()"]),
                ('k = "1', 't = 1\nk = "1', ["coefficients.t", "time"])):
            self.assertIn(old, HEAT)
            self.refused(HEAT.replace(old, new), *fragments)

    def test_a_first_state_that_no_projection_finds_is_reported(self):
        """The second component has an equation in every step, but no term with dt()."""
        text = """[mesh]
box = { cells = [3, 3] }
[fields.u]
components = 2
degree = 1
[forms]
a = "(dt(u)[0]*v[0] + inner(grad(u), grad(v)))*dx"
L = "v[0]*dx"
[[dirichlet]]
tags = "all"
value = [0, 0]
[time]
step = 0.1
end = 0.2
"""
        for method in ("cg", "direct"):
            report = self.report(text, "--set", f"solver.method={method}", code=NOT_SOLVED)
            self.assertIn("t = 0", report["message"])
            self.assertIn("projection", report["message"])

    def test_a_step_that_fails_is_named_and_leaves_no_output(self):
        text = HEAT + "[solver]\nmax_iterations = 1\n"
        report, result = self.solved(text, code=NOT_SOLVED)
        self.assertEqual(report["status"], "not converged")
        self.assertIn("t = ", report["message"])
        self.assertNotIn("written:", result.stdout)


if __name__ == "__main__":
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
