#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Definitions that use each other twice, wherever problem files have texts: they cost their number. Names in texts, too.

usage: definitions_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import sys
import unittest

import command_test

LAST = 60  # without sharing the last of them would have 2^60 operations


def chain(name, first, following):
    """The lines of a chain of definitions NAME0, NAME1, ... of which each uses the one before as {0}."""
    lines = [f'{name}0 = "{first}"']
    lines += [f'{name}{i} = "{following.format(f"{name}{i - 1}")}"' for i in range(1, LAST + 1)]
    return "\n".join(lines)


# Up to rounding one and law are 1, line is x[0], and wave is x[0] where x[1] = 0; the solution is u = x[0].
DEFINITIONS = f"""
[mesh]
box = {{ cells = [3, 3], shape = "quadrilateral" }}
[definitions]
{chain("one", "1 + 1e-25*x[0]", "{0}*{0}")}
{chain("line", "x[0]", "({0} + {0})/2")}
{chain("wave", "x[0]", "{0} + sin({0}*x[1])")}
{chain("law", "1 + 1e-25*u", "{0}*{0}")}
"""

COEFFICIENTS = f"""
[coefficients]
k = 1.0
plain = "line{LAST}"
known = {{ value = "line{LAST}" }}
"""

STATIONARY = DEFINITIONS + COEFFICIENTS + f"""
[fields.u]
[forms]
a = "one{LAST}*inner(grad(u), grad(v))*dx + u*v*dx"
L = "line{LAST}*v*dx + (plain - known)*v*dx"
[[dirichlet]]
tags = "all"
value = "line{LAST}"
[solver]
rtol = 1e-12
[functionals]
square = "line{LAST}*u*dx"
edge = "wave{LAST}*ds('ymin')"
[check]
u = "line{LAST}"
max_l2_error = 1e-10
[output]
file = "u.vtkhdf"
fields = {{ wave = "wave{LAST}", error = {{ expression = "u - line{LAST}", per = "cell" }} }}
"""

RESIDUAL = DEFINITIONS + f"""
[fields.u]
initial = "one{LAST} - 1"
[forms]
F = "law{LAST}*inner(grad(u), grad(v))*dx"
[[dirichlet]]
tags = "all"
value = "line{LAST}"
[check]
u = "x[0]"
max_l2_error = 1e-8
"""

IN_TIME = DEFINITIONS + f"""
[fields.u]
initial = "line{LAST}"
[forms]
F = "(one{LAST}*dt(u)*v + inner(grad(u), grad(v)) - 1e-20*t*law{LAST}*v)*dx"
[[dirichlet]]
tags = "all"
value = "line{LAST}"
[time]
step = 0.1
end = 0.2
theta = 0.5
[check]
u = "x[0]"
max_l2_error = 1e-7
"""


class SharedDefinitions(command_test.CommandTest):
    def test_all_places_of_a_stationary_problem(self):
        functionals = self.report(STATIONARY)["functionals"]
        self.assertAlmostEqual(functionals["square"], 1/3, 12)
        self.assertAlmostEqual(functionals["edge"], 1/2, 12)

    def test_residuals_and_their_derivatives(self):
        self.report(RESIDUAL)

    def test_steps_in_time(self):
        self.report(IN_TIME)

    def test_kernels_and_their_programs(self):
        result = self.run_rafter("kernel", self.write(STATIONARY), "--tensor-program", "--loop-program", "--source")
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.assertIn("evaluate", result.stdout)
        self.assertLess(len(result.stdout), 1_000_000)

    def test_tuning(self):
        text = STATIONARY.replace("cells = [3, 3]", "cells = [2, 2]")
        result = self.run_rafter("tune", self.write(text))
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)

    def test_a_fault_at_the_bottom_of_a_chain_is_named_with_its_place(self):
        text = STATIONARY.replace('line0 = "x[0]"', 'line0 = "x[0] + missing"')
        line = 1 + text[:text.index('line0 = ')].count("\n")
        result = self.run_rafter("solve", self.write(text))
        self.assert_refused(result, f"in the definition of 'line{LAST}'", "through 55 more",
                            f"in the definition of 'line0' (problem.toml:{line}:17): unknown name 'missing'")


class NamesAndSizes(command_test.CommandTest):
    def test_names_that_may_not_stand_here_say_why(self):
        """The name is known, and the message says what it is and what is accepted, where definitions use it, too."""
        unknown = ("'u' is an unknown, which has no value before the problem is solved", "accepted here are x, coefficients and definitions")
        test = ("'v' is the test function of 'u', which may stand in forms alone",)
        functional = ("'mean' is a functional, whose value is known when the problem is solved",)
        factor = ("'load_factor' is the share of the loads in a load step, which forms.F alone may hold",)
        point = {"coefficients.k": lambda text: self.changed("k = 2.0", f'k = "{text}"'),
                 "dirichlet[0].value": lambda text: self.changed('value = "x[0]*(1 - x[0])"', f'value = "{text}"'),
                 "check.u": lambda text: self.changed('u = "x[0]*(1 - x[0])"\nmax', f'u = "{text}"\nmax')}
        for key, problem in point.items():
            for text, fragments in (("1 + u", unknown), ("v", test), ("2*mean", functional), ("load_factor", factor)):
                self.refused(problem(text), key, *fragments)
                self.refused(problem("g*2") + f"[definitions]\ng = '{text}'\n", key, "in the definition of 'g' (problem.toml:",
                             *fragments)
        self.refused(point["coefficients.k"]("later + 1\"\nlater = \"x[0]"), "coefficients.k",
                     "'later' is a coefficient that comes later in the file")
        self.refused(point["coefficients.k"]("k + 1"), "coefficients.k", "'k' is a coefficient that comes later in the file, or this one")
        for form in ("forms.a", "forms.L"):
            self.refused(command_test.POISSON, form, *functional, arguments=["--set", f"{form}=mean*u*v*dx"])
            self.refused(command_test.POISSON, form, *factor, arguments=["--set", f"{form}=load_factor*u*v*dx"])
        self.refused(self.changed('mean = "u*dx"', 'mean = "v*u*dx"'), "functionals.mean", *test)

    def test_boxes_with_which_nothing_can_be_computed_name_their_size(self):
        box = 'cells = [3, 3], shape = "quadrilateral"'
        for size in ("[1e-300, 1]", "[1e200, 1e200]"):
            self.refused(self.changed(box, f"{box}, size = {size}"), "problem.toml:3:", "key mesh.box.size", "under- or overflows")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
