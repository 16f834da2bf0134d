#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""rafter.sh on a made-up machine, whose apt-get, cmake, ninja, ctest and rafter are scripts: what it announces, does and shows.

usage: script_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from command_test import PATIENCE_SECONDS

SOURCE = ""

# What the machine has stands in files of the folder $MACHINE: `installed`, `objects` (out of date), `fails` (names of programs).
PROGRAMS = {
    "sudo": '[ "$1" != -n ] || shift; exec "$@"',
    "dpkg-query": 'printf "%s\\n" "$@" | grep -xF -f "$MACHINE/installed" | sed "s/$/ installed/"',
    "apt-get": """case "$*" in
*update*) ;;
*--print-uris*) printf "Need to get 12.5 MB of archives.\\n'http://one' a 1\\n'http://two' b 2\\n" ;;
*) echo "install $*" >>"$MACHINE/done"; printf 'Reading...\\nGet:1 one\\nUnpacking one\\nSetting up one\\n'
   if grep -qs apt "$MACHINE/fails"; then echo 'E: no network'; exit 100; fi
   for word in "$@"; do echo "$word" >>"$MACHINE/installed"; done ;;
esac""",
    "cmake": """echo "cmake $*" >>"$MACHINE/done"; mkdir -p build/unity; touch build/build.ninja
printf '#include "a.cpp"\\n#include "b.cpp"\\n#include "c.cpp"\\n' >build/unity/unity_0.cxx
hypre=/usr/lib/libHYPRE.so; grep -qx libhypre-dev "$MACHINE/installed" || hypre=HYPRE_LIBRARY-NOTFOUND
printf 'RAFTER_TESTS:BOOL=%s\\nHYPRE_LIBRARY:FILEPATH=%s\\nRAFTER_PYTHON_PACKAGE:BOOL=%s\\n' "${3#*=}" $hypre "${4#*=}" >build/CMakeCache.txt""",
    "python3": """if [ "$1" = -c ]; then echo 3.99; exit; fi
echo "python3 $*" >>"$MACHINE/done"; mkdir -p "$4/bin"
printf '#!/bin/sh\\necho "pip $*" >>"$MACHINE/done"; ! grep -qs pip "$MACHINE/fails" || { echo "no network"; exit 1; }\\n' >"$4/bin/pip"
printf '#!/bin/sh\\necho "auditwheel $*" >>"$MACHINE/done"; echo "Fixed-up wheel written to $3/one.whl"\\n' >"$4/bin/auditwheel"; chmod +x "$4"/bin/* """,
    "ninja": """count=$(wc -l <"$MACHINE/objects"); step=0
[ "$count" -gt 0 ] || { echo 'ninja: no work to do.'; exit 0; }
case "$*" in *build.ninja) exit 0 ;; esac
case "$*" in *"-f plan.ninja"*) ;; *" -n "*) echo "[0/2] Re-checking globbed directories..."; exit 0 ;; esac
while read -r object; do step=$((step + 1)); echo "[$step/$count] Building CXX object $object"; done <"$MACHINE/objects"
case " $* " in *" -n "*) exit 0 ;; esac
if grep -qs ninja "$MACHINE/fails"; then printf 'FAILED: x.o\\nx.cpp:1: error\\n'; exit 1; fi
echo "ninja $*" >>"$MACHINE/done"; : >"$MACHINE/objects" """,
    "ctest": """echo "ctest $*" >>"$MACHINE/done"; echo "    Start   1: unit/a.b"
echo "1/3 Test #1: unit/a.b ....   Passed    0.10 sec"
echo "2/3 Test #2: unit/c.d ....***Skipped   0.10 sec"
if grep -qs ctest "$MACHINE/fails"; then echo "3/3 Test #3: unit/e.f ....***Failed    0.10 sec"; echo "expected 1"; exit 8; fi
echo "100% tests passed" """,
}


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.machine = pathlib.Path(folder.name) / "root", pathlib.Path(folder.name) / "machine"
        for directory in (self.root / "scripts", self.root / "python", self.root / "build", self.machine / "bin"):
            directory.mkdir(parents=True)
        for name in ("rafter.sh", "scripts/progress.sh", "scripts/packages.txt", "python/requirements.txt", "python/requirements-more.txt"):
            shutil.copy2(pathlib.Path(SOURCE) / name, self.root / name)
        for name in ("rafter", "apps", "bench", "tests"):
            (self.root / name).mkdir()
            (self.root / name / "a.cpp").touch()
        for name, text in PROGRAMS.items():
            self.program(self.machine / "bin" / name, text)
        self.program(self.root / "build/rafter", 'echo "solved"')
        self.program(self.root / "scripts/bundle.sh", 'echo "packed ${1##*/} $2"')
        packages = (self.root / "scripts/packages.txt").read_text().splitlines()
        self.packages = [line for line in packages if line and line[0] not in "#["]
        self.has(self.packages)
        self.out_of_date("unity/unity_0.cxx.o", "x.cpp.o")

    def program(self, path, text):
        path.write_text(f"#!/usr/bin/env bash\n{text}\n")
        path.chmod(0o755)

    def has(self, packages):
        (self.machine / "installed").write_text("".join(name + "\n" for name in packages))

    def out_of_date(self, *objects):
        (self.machine / "objects").write_text("".join(name + "\n" for name in objects))

    def environment(self, **variables):
        return {**os.environ, "PATH": f"{self.machine / 'bin'}:{os.environ['PATH']}", "MACHINE": str(self.machine), "RAFTER_JOBS": "2",
                "RAFTER_PROGRESS_SECONDS": "0", "RAFTER_NEEDS_PYTHON": "0", "RAFTER_PYTHON3": str(self.machine / "bin/python3"), **variables}

    def run_script(self, *arguments, code=0, **variables):
        (self.machine / "done").write_text("")
        environment = self.environment(**variables)
        result = subprocess.run(["bash", str(self.root / "rafter.sh"), *arguments], cwd=self.root, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.done = (self.machine / "done").read_text()
        return result.stdout.splitlines(), result.stderr

    def test_the_first_line_says_what_will_be_done_and_how_long_it_takes(self):
        self.has(name for name in self.packages if name not in ("cmake", "libfmt-dev"))
        lines, _ = self.run_script("demo")
        self.assertRegex(lines[0], r"^rafter.sh: installs about \d+ packages \(\d+ MB\), compiles 3 files on 2 processors, solves .*; about .*(minute|second)")
        self.assertRegex(self.done, r"install .*cmake libfmt-dev\ncmake .*TESTS=OFF\nninja .*rafter_command\n")
        self.assertIn("rafter.sh: installing cmake libfmt-dev: with what they need 2 packages, 12.5 MB to download", lines)
        self.assertTrue(any(re.match("rafter.sh: compiling 4 files in 2 steps on 2 processors, about ", line) for line in lines), lines)
        self.assertEqual(lines[-1], "solved")

    def test_a_first_line_of_a_bare_machine_sums_up_its_groups(self):
        self.has([])
        text = (self.root / "scripts/packages.txt").read_text()
        for command, groups in (("build", ["build"]), ("test", ["build", "opencl", "test"])):
            self.has([])
            lines, _ = self.run_script(command)
            sizes = [re.search(rf"^\[{group}\] (\d+) packages, (\d+) MB", text, re.M).groups() for group in groups]
            packages, megabytes = (sum(int(size[i]) for size in sizes) for i in (0, 1))
            self.assertIn(f"installs about {packages} packages ({megabytes} MB)", lines[0])

    def test_tests_of_the_package_for_python_have_an_environment_of_their_own(self):
        self.run_script("test", RAFTER_NEEDS_PYTHON="1")
        self.assertRegex(self.done, r"python3 -m venv --clear \S+/build/python-env\npip install -q -r \S+requirements.txt -r \S+requirements-more.txt\n(pip install .*fenics-ufl==.*\n)+"
                                    r"python3 -m venv --clear \S+/build/python-petsc --system-site-packages\n"
                                    r"pip install -q nanobind-backend==\S+ fenics-ufl==\S+ pytest==\S+\ncmake .*RAFTER_PYTHON_PACKAGE=ON -DPython_EXECUTABLE=\S+/build/python-env/bin/python\n")
        self.run_script("test", RAFTER_NEEDS_PYTHON="1")
        self.assertNotIn("pip", self.done)
        self.run_script("test", RAFTER_NEEDS_PYTHON="1", RAFTER_OTHER_PYTHONS=str(self.machine / "bin/python3"))
        self.assertRegex(self.done, r"python3 -m venv --clear \S+/build/python-env-\S+\npip install -q -r \S+requirements.txt\npython3 .*/python-petsc .*\npip .*\ncmake ")
        with open(self.root / "python/requirements.txt", "a") as requirements:
            requirements.write("another==1.0\n")
        (self.machine / "fails").write_text("pip\n")
        _, errors = self.run_script("test", code=3, RAFTER_NEEDS_PYTHON="1")
        self.assertIn("no network", errors)
        self.assertIn("RAFTER_NEEDS_PYTHON=0 leaves it out", errors)
        self.run_script("test", RAFTER_NEEDS_PYTHON="0")
        self.assertNotIn("pip", self.done)

    def test_a_wheel_is_built_and_packed(self):
        lines, _ = self.run_script("wheel", "here", RAFTER_NEEDS_PYTHON="1")
        self.assertRegex(self.done, r"ninja .* _core\npip wheel .*build-dir=\S+/build .*\nauditwheel repair -w \S+/root/here ")
        self.assertTrue(any(line.endswith("/root/here/one.whl") for line in lines), lines)
        (self.machine / "fails").write_text("pip\n")
        self.assertIn("the wheel could not be packed", self.run_script("wheel", code=3, RAFTER_NEEDS_PYTHON="1")[1])
        self.run_script("wheel", code=3)

    def test_what_is_up_to_date_is_neither_announced_nor_done(self):
        self.run_script("demo")
        lines, _ = self.run_script("demo")
        self.assertEqual([line for line in lines if " took " not in line], [lines[0], "solved"])
        self.assertRegex(lines[0], "^rafter.sh: solves a beam of two materials; about ")
        self.assertEqual(self.done, "")
        self.assertEqual(self.run_script("build")[0], [])

    def test_forecasts_grow_with_what_is_out_of_date(self):
        self.run_script("build")
        seconds = []
        for number in (100, 400):
            self.out_of_date(*(f"x{i}.cpp.o" for i in range(number)))
            line = self.run_script("build", RAFTER_SLOWNESS="1")[0][0]
            seconds.append(int(re.search(r"about (\d+) minutes", line).group(1)))
        self.assertGreater(seconds[1], 2 * seconds[0])

    def test_progress_has_few_lines_without_a_terminal(self):
        self.out_of_date(*(f"x{i}.cpp.o" for i in range(500)))
        lines, _ = self.run_script("build", RAFTER_PROGRESS_SECONDS="30")
        self.assertLess(len(lines), 10)
        self.out_of_date(*(f"x{i}.cpp.o" for i in range(500)))
        lines, _ = self.run_script("build")
        self.assertRegex("\n".join(lines), r"(?m)^rafter.sh: 250 of 500 steps, \d+:\d\d, about \d+:\d\d to go$")

    def test_progress_stays_on_one_line_of_a_terminal(self):
        self.run_script("build")
        self.out_of_date("x.cpp.o", "y.cpp.o")
        mine, its = pty.openpty()
        with os.fdopen(mine, "rb", buffering=0) as terminal:
            with os.fdopen(its, "wb") as output:
                subprocess.run(["bash", str(self.root / "rafter.sh"), "build"], env=self.environment(), stdin=subprocess.DEVNULL, stdout=output,
                               stderr=subprocess.STDOUT, timeout=PATIENCE_SECONDS, check=True)
                shown = terminal.read(10000).decode()
        self.assertRegex(shown, r"\r\x1b\[K1 of 2 steps, \d+:\d\d.*x\.cpp\.o\r\x1b\[K2 of 2 steps, .*y\.cpp\.o\r\n$")

    def test_hypre_is_looked_for_until_it_is_there(self):
        self.has(name for name in self.packages if name != "libhypre-dev")
        self.run_script("build", code=3, RAFTER_INSTALL="0")
        (self.machine / "fails").write_text("apt")
        self.assertIn("apt-get install libhypre-dev", self.run_script("build", code=3)[1])
        (self.machine / "fails").unlink()
        (self.root / "build/build.ninja").touch()
        (self.root / "build/CMakeCache.txt").write_text("HYPRE_LIBRARY:FILEPATH=HYPRE_LIBRARY-NOTFOUND\n")
        self.run_script("build")
        self.assertRegex(self.done, "install .*libhypre-dev\ncmake ")
        self.run_script("build")
        self.assertNotIn("cmake", self.done)

    def test_setup_installs_a_group(self):
        self.has([name for name in self.packages if name != "pocl-opencl-icd"])
        self.run_script("setup", "opencl")
        self.assertRegex(self.done, "^install .*pocl-opencl-icd\n$")
        self.assertIn("accepted: build, opencl, test", self.run_script("setup", "cuda", code=3)[1])
        self.has([])
        self.run_script("setup")
        self.assertEqual(set(self.packages) - set(self.done.split()), set())

    def test_a_bundle_is_built_and_packed(self):
        lines, _ = self.run_script("bundle", "x.tar.gz")
        self.assertRegex(lines[0], r"^rafter.sh: compiles 4 files on 2 processors, packs a bundle; about ")
        self.assertRegex(self.done, r"cmake .*TESTS=ON .*PACKAGE=OFF\nninja .* bundle\n$")
        self.assertEqual(lines[-1], "packed build x.tar.gz")
        self.assertEqual(self.run_script("bundle")[0][-1], f"packed build {self.root}/build/rafter-bundle.tar.xz")
        self.assertIn("bundle writes .tar.xz, .tar.gz or .tar, found 'x.zip'", self.run_script("bundle", "x.zip", code=3)[1])

    def test_failures_are_shown_whole(self):
        for name, command, code, text in (("apt", "setup", 3, "E: no network"), ("ninja", "build", 3, "x.cpp:1: error"),
                                          ("ctest", "test", 8, "3/3 Test #3: unit/e.f ....***Failed    0.10 sec\nexpected 1")):
            (self.machine / "fails").write_text(name)
            self.has([] if name == "apt" else self.packages)
            lines, errors = self.run_script(command, code=code)
            self.assertIn(text, "\n".join(lines) + errors)

    def test_tests_are_known_by_their_number(self):
        lines, _ = self.run_script("test", "-R", "unit")
        self.assertIn("compiles 4 files on 2 processors, runs the tests that '-R unit' selects; about ", lines[0])
        self.assertTrue(lines[0].endswith(" before that"), lines[0])
        self.assertRegex(self.done, "ctest .*-LE exhaustive -R unit\n$")
        self.assertEqual([line for line in lines if "Passed" in line or "Start" in line], [])
        self.assertRegex("\n".join(lines), r"(?m)^rafter.sh: 2 of 3 steps, \d+:\d\d")
        self.assertEqual(lines[-1], "100% tests passed")
        self.assertEqual(self.run_script("test", "-R", "unit")[0][0], "rafter.sh: runs the tests that '-R unit' selects")
        self.assertRegex(self.run_script("test")[0][0], r"^rafter.sh: runs the tests; about \d+ minutes$")

    def test_after_the_demo_only_tests_are_to_be_compiled(self):
        (self.root / "tests/b.cpp").touch()
        self.run_script("demo")
        self.assertIn("compiles 2 files on 2 processors, runs the tests; about ", self.run_script("test")[0][0])

    def test_tests_that_ran_before_are_forecast_by_what_they_took(self):
        self.run_script("build")
        costs = self.root / "build/Testing/Temporary/CTestCostData.txt"
        costs.parent.mkdir(parents=True)
        costs.write_text("unit/a.b 1 60000\nunit/c.d 2 60000\n---\nunit/a.b\n")
        lines, _ = self.run_script("test")
        self.assertRegex(lines[0], r"about \d+ minutes")
        minutes = int(re.search(r"about (\d+) minutes", lines[0]).group(1))
        self.assertAlmostEqual(minutes, 1000, delta=2)


if __name__ == "__main__":
    SOURCE = sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
