#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is kept in the cache folder serves only what it was made for: files that are exchanged, cut or changed cost time and nothing else.

usage: cache_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

import command_test

# Both have the same entry points and arguments, so that their programs run in each other's place.
OTHER = command_test.POISSON.replace('mean = "u*dx"', 'mean = "u*u*dx"')


class Cache(command_test.CommandTest):
    @classmethod
    def setUpClass(cls):
        # Versions are remembered of the user's compilers alone: those of tests are scripts.
        os.environ["PATH"] = os.environ.get("RAFTER_USERS_PATH", os.environ["PATH"])
        cls.cache = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.cache.cleanup)
        command_test.fill_cache(cls.cache.name)

    def folder(self):
        return pathlib.Path(self.cache.name) / "rafter"

    def entries(self):
        """All files of the cache, but for those that were set aside and the companions of the store."""
        return sorted(path for path in self.folder().rglob("*")
                      if path.is_file() and not path.name.endswith((".damaged", "-wal", "-shm")))

    def solve(self, problem):
        """Returns the functional of a problem, whose check has passed, and how many warnings of damage the command gave."""
        result = self.run_rafter("solve", self.write(problem), "--threads", "1", "--json", "report.json",
                                 environment={"XDG_CACHE_HOME": self.cache.name})
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        with open(self.path("report.json"), encoding="utf-8") as file:
            report = json.load(file)
        warnings = [line for line in result.stderr.splitlines() if "warning" in line and "damaged" in line]
        self.assertEqual(len(set(warnings)), len(warnings), "each is given once")
        self.assertEqual(report["status"], "converged")
        return report["functionals"]["mean"], len(warnings)

    def solve_both(self):
        """Returns the functionals of both problems and the number of warnings of either."""
        (first, warnings), (second, others) = self.solve(command_test.POISSON), self.solve(OTHER)
        return [first, second], [warnings, others]

    def assert_right(self, found):
        """Plans may differ from one run to the next, and with them the rounding."""
        self.assertAlmostEqual(found[0], 1 / 6, places=12)  # the integral of x (1 - x)
        self.assertAlmostEqual(found[1], 1 / 30, places=12)  # and of its square

    def assert_made_anew(self):
        found, warnings = self.solve_both()
        self.assert_right(found)
        self.assertLessEqual(max(warnings), 3, "one for the folder, one for that of generated kernels, one for the store")
        self.assertGreaterEqual(sum(warnings), 1)
        found, warnings = self.solve_both()
        self.assert_right(found)
        self.assertEqual(warnings, [0, 0], "what was made anew is right")

    def test_entries_serve_nothing_but_what_they_were_made_for(self):
        result = self.run_rafter("tune", self.write(command_test.POISSON), "--threads", "1",
                                 environment={"XDG_CACHE_HOME": self.cache.name})
        self.assertEqual(result.returncode, command_test.DONE, result.stderr)
        self.solve_both()
        found, warnings = self.solve_both()
        self.assert_right(found)
        self.assertEqual(warnings, [0, 0])
        kinds = {path.suffix or path.name.split("-")[0] for path in self.entries()}
        self.assertLessEqual({".so", ".kernel", ".json", ".sqlite", "compiler"}, kinds)

        def exchange(paths):
            """Each file takes the name of the one before it."""
            contents = [path.read_bytes() for path in paths]
            for path, content in zip(paths, contents[1:] + contents[:1]):
                path.write_bytes(content)

        def change(function):
            for path in self.entries():
                path.write_bytes(function(path.read_bytes()))

        with self.subTest("programs among themselves"):
            exchange([path for path in self.entries() if path.suffix == ".so"])
            self.assert_made_anew()
        with self.subTest("generated kernels among themselves"):
            exchange([path for path in self.entries() if path.suffix == ".kernel"])
            self.assert_made_anew()
        with self.subTest("all kinds among each other"):
            exchange(sorted(self.entries(), key=lambda path: path.name[-1::-1]))
            self.assert_made_anew()
        with self.subTest("cut"):
            change(lambda content: content[:len(content) // 2])
            self.assert_made_anew()
        with self.subTest("a bit that is wrong"):
            change(lambda content: content[:30] + bytes([content[30] ^ 4]) + content[31:])
            self.assert_made_anew()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
