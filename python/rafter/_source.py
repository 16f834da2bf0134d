# SPDX-License-Identifier: BSD-3-Clause
"""Lines of users: where a form that is refused was written.

Expressions of UFL do not know where they were made. What is refused is looked for by name in the functions that led here, from the
innermost one outwards, and then in their files; where it is in none of them, the line that asked for the form is named.
"""

import ast
import linecache
import os
import sys

# Names that users write for nodes of other names.
_WRITTEN_AS = {"restricted": {"avg", "jump"},
               "grad": {"grad", "div", "curl", "rot", "nablagrad", "nabladiv"}, "interiorfacet": {"dS", "avg", "jump"}}


def _plain(name):
    return name.replace("_", "").lower()


def _frames():
    """Frames of users, the innermost one first."""
    frame = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in ("rafter", "ufl"):
            yield frame
        frame = frame.f_back


def _is_nested(call, names):
    """Whether a derivative of a derivative is written in one expression."""
    def is_named(node):
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        return _plain(name) in names & _WRITTEN_AS["grad"]

    return is_named(call) and any(isinstance(inner, ast.Call) and inner is not call and is_named(inner) for inner in ast.walk(call))


def _lines_with(tree, names, first, last):
    nested = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Call) and first <= node.lineno <= last and _is_nested(node, names)}
    if nested:
        return sorted(nested)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and first <= node.lineno <= last:
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in names or _plain(name) in names:
                found.add(node.lineno)
    return sorted(found)


def place_of(*words):
    """'file, line n: its text' for the line where one of these names of UFL is written; "" where no source is known."""
    names = {_plain(word) for word in words}
    for word in list(names):
        names |= _WRITTEN_AS.get(word, set())
    fallback = ""
    for frame in _frames():
        path = frame.f_code.co_filename
        text = "".join(linecache.getlines(path, frame.f_globals))
        if not text:
            continue
        fallback = fallback or _text(path, [frame.f_lineno])
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # what is no file of Python, or a generated one
            continue
        lines_of_code = [line for _, _, line in frame.f_code.co_lines() if line is not None]
        is_module = frame.f_code.co_name == "<module>"
        for first, last in [(1, 1 << 30)] if is_module else [(min(lines_of_code, default=1), max(lines_of_code, default=1)), (1, 1 << 30)]:
            if found := _lines_with(tree, names, first, last):
                return _text(path, found[:3], "one of " if len(found) > 3 else "")
        if is_module:
            break
    return fallback


def _text(path, lines, which=""):
    shown = "; ".join(f"line {line}: {linecache.getline(path, line).strip()}" for line in lines)
    return f"{os.path.basename(path)}, {which}{shown}{' ...' if which else ''}"
