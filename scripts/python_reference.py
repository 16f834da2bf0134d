#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/python_reference.md from the docstrings of the package for Python; --check compares it with what is there.

The sources are read, not imported: nothing has to be built.
"""

import argparse
import ast
import inspect
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/python_reference.md"
# Chapters: headings and the names in their order; each name of the package belongs to one.
CHAPTERS = [
    ("Meshes", ["Mesh", "box", "read_mesh", "mesh_from_arrays", "mesh_from_gmsh", "mesh_from_meshio"]),
    ("Spaces and functions", ["FunctionSpace", "Function", "Constant", "by_tag", "DirichletBC"]),
    ("Problems", ["solve", "Problem", "NullSpace", "Solution", "write", "Series"]),
    ("Operators", ["Operator", "Vector", "assemble", "cell_vectors", "Preconditioner", "petsc_mat", "petsc_pc", "PetscPC"]),
    ("Pictures", ["plot", "plot_convergence", "plot_roofline", "Picture"]),
    ("Suites", ["bench.simplex", "bench.Rows"]),
]
HEAD = """# Python: reference

All names of the package `rafter`, from its docstrings ([the guide](python.md) says how they are used). This page is written by
`scripts/python_reference.py`. Errors: `InputError` (a `ValueError`) for wrong input, `SolverError` for solves that do not converge and failed checks,
`EnvironmentError` (an `OSError`) for what the machine lacks.
"""


def definitions():
    """All classes and functions of the package, by name; those of bench.py as bench.NAME."""
    found = {}
    for path in sorted((ROOT / "python/rafter").glob("*.py")):
        prefix = "bench." if path.name == "bench.py" else ""
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                found[prefix + node.name] = node
    return found


def signature(name, function, is_method):
    """A call as a user writes it, with types, in lines that fit."""
    arguments = function.args
    if is_method:
        arguments = ast.arguments(**{**{field: getattr(arguments, field) for field in arguments._fields}, "args": arguments.args[1:]})
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    line = f"{name}({ast.unparse(arguments)}){result}"
    if len(line) <= 120:
        return line
    parts, depth, start = [], 0, 0
    text = ast.unparse(arguments)
    for i, character in enumerate(text):
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    lines, indent = [f"{name}("], " " * (len(name) + 1)
    for part in parts:
        if len(lines[-1]) + len(part) > 115:
            lines.append(indent)
        lines[-1] += part + ", "
    return "\n".join(line.rstrip() for line in lines).rstrip(", ") + ")" + result


def documented(node):
    """The docstring as text of the page."""
    text = ast.get_docstring(node)
    return inspect.cleandoc(text) if text else ""


def is_property(function):
    return any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in function.decorator_list)


def entry(name, node):
    lines = [f"### {name}", ""]
    if isinstance(node, ast.FunctionDef):
        return lines + ["```", signature(f"rafter.{name}", node, False), "```", "", documented(node), ""]
    methods = [child for child in node.body if isinstance(child, ast.FunctionDef)]
    for method in methods:
        if method.name == "__init__" and name not in ("Mesh", "Solution", "Picture"):
            lines += ["```", signature(f"rafter.{name}", method, True), "```", ""]
    lines += [documented(node), ""]
    for method in methods:
        # What has no types is for the package itself.
        if method.name.startswith("_") or not method.returns or any(isinstance(decorator, ast.Attribute) for decorator in method.decorator_list):
            continue
        call = method.name if is_property(method) else signature(method.name, method, True)
        if "\n" in call:
            call = f"{method.name}(...)"
        text = " ".join(documented(method).split())
        lines.append(f"- `{call}`" + (f": {text}" if text else ""))
    return lines + [""]


def wrapped(text):
    """Lines of prose of at most 158 characters; code and lists keep their beginnings."""
    import textwrap

    result, in_code = [], False
    for line in text.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        if in_code or len(line) <= 158:
            result.append(line)
        else:
            result += textwrap.wrap(line, 158, subsequent_indent="  " if line.startswith("- ") else "", break_long_words=False, break_on_hyphens=False)
    return "\n".join(result)


def page():
    known = definitions()
    offered = set(ast.literal_eval(next(node.value for node in ast.parse((ROOT / "python/rafter/__init__.py").read_text()).body
                                        if isinstance(node, ast.Assign) and node.targets[0].id == "_LAZY")))
    listed = {name for _, names in CHAPTERS for name in names}
    missing = offered - listed
    if missing:
        sys.exit(f"python_reference.py: names of the package that no chapter has: {', '.join(sorted(missing))}")
    lines = [HEAD]
    for heading, names in CHAPTERS:
        lines += [f"## {heading}", ""]
        for name in names:
            lines += entry(name, known[name])
    return wrapped("\n".join(lines).rstrip("\n") + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail where the page is another one")
    if parser.parse_args().check:
        if not PAGE.exists() or PAGE.read_text() != page():
            sys.exit("docs/python_reference.md is not what the docstrings say: run scripts/python_reference.py")
        return
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
