#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One problem file, solved on the host and on an OpenCL device to the same tolerance: solutions, functionals and iterations agree.

usage: agreement_test.py RAFTER PROBLEM

Fields at the points of the output differ by 1e-9 of their largest value at most, functionals by 1e-9 of theirs (those that vanish, by 1e-12 of
the largest value of any field), numbers of iterations by 2 %, or by one.
"""
import json
import os
import subprocess
import sys
import tempfile
import tomllib

SKIPPED = 77  # CTest takes this exit code for a test that was skipped
TOLERANCE, BOUND, ROUNDING = "1e-12", 1e-9, 1e-12


def require(condition, message):
    if not condition:
        sys.exit(f"FAILED: {message}")


def skip(reason):
    require(os.environ.get("RAFTER_NEEDS_OPENCL") != "1", f"RAFTER_NEEDS_OPENCL is 1, but {reason}")
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def solve(rafter, path, device, directory):
    """Returns the report and the fields at the points of the output, as lists of numbers by name."""
    with open(path, "rb") as file:
        problem = tomllib.load(file)
    output = os.path.join(directory, f"{device}.vtkhdf")
    settings = [f"solver.rtol={TOLERANCE}", f"output.file={output}"]
    if "F" in problem["forms"] and "time" not in problem:
        settings.append(f"newton.rtol={TOLERANCE}")
    if "max_iterations" not in problem.get("solver", {}):
        settings.append("solver.max_iterations=5000")  # small problems would be solved directly without a key of iterations
    report = os.path.join(directory, f"{device}.json")
    result = subprocess.run([rafter, "solve", path, "--device", device, "--json", report, *(word for text in settings for word in ("--set", text))],
                            cwd=directory, capture_output=True, text=True, check=False)
    print(result.stdout, result.stderr, sep="\n")
    require(result.returncode == 0, f"exit code {result.returncode} on {device}")
    with open(report, encoding="utf-8") as file:
        return json.load(file), fields_of(output)


def fields_of(path):
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOHDF import vtkHDFReader
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    data = reader.GetOutput().GetPointData()
    return {data.GetArrayName(i): vtk_to_numpy(data.GetArray(i)).copy() for i in range(data.GetNumberOfArrays())}


def iterations_of(report):
    """Numbers of iterations of a report, by name."""
    found = {"iterations": report["iterations"]}
    steps = report.get("newton", {}).get("steps", [])
    if steps:  # the last residual of a load step has no linear system
        found["linear iterations"] = sum(step.get("linear_iterations", 0) for step in steps)
    return found


def compare(host, device):
    (report, fields), (found_report, found_fields) = host, device
    require(fields.keys() == found_fields.keys() and fields, f"fields {list(fields)} and {list(found_fields)}")
    for name, field in fields.items():
        scale, difference = abs(field).max(), abs(found_fields[name] - field).max()
        print(f"{name}: {difference:.2e} of {scale:.2e}")
        require(difference <= BOUND * scale, f"field {name} differs by {difference} of {scale}")
    largest = max(abs(field).max() for field in fields.values())
    for name, value in report["functionals"].items():
        found = found_report["functionals"][name]
        require(abs(found - value) <= max(BOUND * abs(value), ROUNDING * largest), f"functional {name}: {value} and {found}")
    expected, found = iterations_of(report), iterations_of(found_report)
    require(expected.keys() == found.keys(), f"iterations: {expected} and {found}")
    for name, number in expected.items():
        print(f"{name}: {number} and {found[name]}")
        require(abs(found[name] - number) <= max(1, 0.02 * number), f"{name}: {number} and {found[name]}")


def main():
    rafter, path = map(os.path.abspath, sys.argv[1:3])
    doctor = subprocess.run([rafter, "doctor"], capture_output=True, text=True, check=False).stdout
    if not any(line.startswith("opencl:") and line.split()[1] == "works" for line in doctor.splitlines()):
        skip("no OpenCL device works")
    try:
        import vtkmodules  # noqa: F401
    except ImportError:
        skip("there is no VTK (Debian: python3-vtk9)")
    with tempfile.TemporaryDirectory() as directory:
        compare(*(solve(rafter, path, device, directory) for device in ("host", "opencl")))


if __name__ == "__main__":
    main()
