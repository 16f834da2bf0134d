#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the loop programs that two runs of tests have recorded with their texts (RAFTER_TEST_RECORD, RAFTER_TEST_RECORD_TEXTS=yes;
tests/support/record_tests.cpp), in a form in which only what is computed, in which order, counts.

usage: compare_loops.py [--difference] BEFORE AFTER
       compare_loops.py --self-test

In this form, sums and products of indices are polynomials, names of variables, registers and buffers are numbers in the order of their first
use, loops of one turn are dissolved, and a value that is stored at once where it is made, and used nowhere else, stands in its store.
Exit code 1: programs differ."""
import argparse
import collections
import difflib
import pathlib
import re
import sys

TOKEN = re.compile(r"[()]|[^\s()]+")
NAME = re.compile(r"\bn(\d+)\b")
INTEGER_OPERATIONS = {"iadd", "isub", "imul", "imin", "idiv", "ieq", "ilt", "iload"}
FLAGS = {"atomic", "streaming", "by_lane", "nearest"}


def parse(text):
    """The text of a loop program as nested lists."""
    stack = [[]]
    for token in TOKEN.findall(text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def by_number(text):
    """A key that orders names as their numbers do."""
    return NAME.sub(lambda match: f"n{int(match[1]):06d}", text)


class NormalForm:
    def __init__(self):
        self.names, self.buffers, self.replaced, self.lines, self.count = {}, {}, {}, [], 0

    def buffer(self, name):
        return self.buffers.setdefault(name, f"B{len(self.buffers)}")

    def define(self, name):
        self.names[name] = f"n{self.count}"
        self.count += 1
        return self.names[name]

    def polynomial(self, node):
        """Coefficients by products of indices."""
        if isinstance(node, str):
            if re.fullmatch(r"-?\d+", node):
                return {(): int(node)} if int(node) else {}
            if node[0] not in "$@":
                return {(node,): 1}
            name = node[1:]
            if name in self.replaced:
                return self.polynomial(self.replaced[name])
            return {(self.names.get(name, name),): 1}
        operation = node[0]
        if operation in ("iadd", "isub", "imul"):
            a, b = self.polynomial(node[1]), self.polynomial(node[2])
            result = collections.Counter()
            if operation == "imul":
                for left, x in a.items():
                    for right, y in b.items():
                        result[tuple(sorted(left + right, key=by_number))] += x * y
            else:
                result.update(a)
                for key, value in b.items():
                    result[key] += value if operation == "iadd" else -value
            return {key: value for key, value in result.items() if value}
        if operation == "iload":
            return {(f"iload {self.buffer(node[1])} {self.index(node[2])}",): 1}
        return {(f"{operation}({','.join(self.index(operand) for operand in node[1:])})",): 1}

    def index(self, node):
        terms = sorted(self.polynomial(node).items(), key=lambda term: by_number(str(term[0])))
        factors = lambda key, value: str(value) if not key else ("" if value == 1 else f"{value}*") + "*".join(key)
        return "+".join(factors(*term) for term in terms) or "0"

    def expression(self, node):
        if isinstance(node, str):
            return self.names.get(node[1:], node) if node[0] == "%" else self.index(node)
        if node[0] in ("number", "number32"):
            return " ".join(node)
        if node[0] == "load":
            return f"[{self.buffer(node[1])} {' '.join(node[2:-1] + [self.index(node[-1])])}]"
        if node[0] in INTEGER_OPERATIONS:
            return self.index(node)
        return f"({node[0]} {' '.join(self.expression(operand) for operand in node[1:])})"

    def statement(self, node, depth=0):
        indent, kind = " " * depth, node[0]
        if kind == "block":
            for inside in node[1:]:
                self.statement(inside, depth)
        elif kind == "for":
            name, style, (count, body) = node[1], node[2:-2], node[-2:]
            if count == "1":
                self.replaced[name] = "0"
                self.statement(body, depth)
                del self.replaced[name]
                return
            turns = self.index(count)
            self.lines.append(f"{indent}for {self.define(name)} {' '.join(style)} {turns}")
            self.statement(body, depth + 1)
            self.lines.append(indent + "end")
        elif kind in ("let", "ilet"):
            value = self.expression(node[2])
            self.lines.append(f"{indent}{kind} {self.define(node[1])} = {value}")
        elif kind in ("store", "add", "prefetch"):
            operands = node[2:]
            flags = [operand for operand in operands if isinstance(operand, str) and operand in FLAGS]
            index, *values = operands[len(flags):]
            values = [self.expression(values[0])] + [self.index(lanes) for lanes in values[1:]] if values else []
            self.lines.append(f"{indent}{kind} {' '.join(flags)} {self.buffer(node[1])} {self.index(index)} = {' '.join(values)}")
        elif kind == "if":
            self.lines.append(f"{indent}if {self.index(node[1])}")
            self.statement(node[2], depth + 1)
            self.lines.append(indent + "else")
            self.statement(node[3], depth + 1)
            self.lines.append(indent + "end")
        else:
            self.lines.append(indent + kind)

    def stored_at_once(self):
        """The lines, with values that are made for the store behind them alone in that store."""
        uses = collections.Counter(name for line in self.lines for name in set(re.findall(r"\bn\d+\b", line)))
        result, i = [], 0
        while i < len(self.lines):
            made = re.match(r"\s*let (n\d+) = (\(.*)$", self.lines[i])
            follower = self.lines[i + 1] if i + 1 < len(self.lines) else ""
            is_stored = made and uses[made[1]] == 2 and re.match(r"\s*(store|add)\b", follower)
            if is_stored and re.search(rf" = {made[1]}(?= |$)", follower):
                result.append(re.sub(rf" = {made[1]}(?= |$)", lambda _: f" = {made[2]}", follower))
                i += 2
            else:
                result.append(self.lines[i])
                i += 1
        return result


def normal_form(text):
    program = parse(text)
    form = NormalForm()
    form.statement(program[-1])
    buffers = {entry[1]: entry for entry in program[1:-1] if isinstance(entry, list) and entry[0] == "buffer"}
    head = [" ".join(map(str, (entry for entry in program[2:-1] if not isinstance(entry, list) or entry[0] != "buffer")))]
    head += [f"{new} {' '.join(buffers[old][2:])}" for old, new in form.buffers.items()]
    numbers = {}
    return NAME.sub(lambda match: f"n{numbers.setdefault(match[1], len(numbers))}", "\n".join(head + form.stored_at_once()))


def programs_of(folder):
    """Each test to its loop programs in normal form."""
    known, result = {}, {}
    for file in sorted(folder.glob("*.list")):
        rows = (line.split() for line in file.read_text().splitlines())
        for raw in (row[2] for row in rows if row[0] == "loops"):
            if raw not in known:
                known[raw] = normal_form((folder / "texts" / raw).read_text())
            result.setdefault(file.stem, set()).add(known[raw])
    return result


def compare(before, after, shows_difference):
    different = total = 0
    for test in sorted(before.keys() | after.keys()):
        old, new = before.get(test, set()), after.get(test, set())
        total += len(old)
        if old == new:
            continue
        gone, come = sorted(old - new, key=len), sorted(new - old, key=len)
        different += max(len(gone), len(come))
        print(f"{test}: {len(gone)} of {len(old)} became {len(come)}")
        if shows_difference and gone and come:
            for line in list(difflib.unified_diff(gone[0].splitlines(), come[0].splitlines(), lineterm="", n=2))[:60]:
                print("   ", line)
    print(f"{different} of {total} loop programs differ")
    return different


def self_test():
    text = "(program a 8 (buffer x work real 8) (buffer y work real 8) (block {}))"
    same = [("(for i 4 (store x (iadd (imul (iadd (imul $i 2) 1) 4) lane) (number 1)))", "(for k7 4 (store x (iadd lane (iadd 4 (imul 8 $k7))) (number 1)))"),
            ("(for i 1 (store x $i (number 1)))", "(store x 0 (number 1))"),
            ("(let t (load x 0)) (let v (mul %t %t)) (store y 0 %v)", "(let u3 (load x 0)) (store y 0 (mul %u3 %u3))")]
    other = [("(store x 0 (number 1))", "(store x 1 (number 1))"), ("(store x 0 (number 1)) (barrier)", "(barrier) (store x 0 (number 1))"),
             ("(let v (mul (load x 0) (load x 1))) (store y 0 %v) (store y 1 %v)", "(store y 0 (mul (load x 0) (load x 1))) (store y 1 (load y 0))")]
    form = lambda body: normal_form(text.format(body))
    failed = [pair for pair in same if form(pair[0]) != form(pair[1])] + [pair for pair in other if form(pair[0]) == form(pair[1])]
    for pair in failed:
        print("compare_loops --self-test:", *pair)
    print(f"compare_loops --self-test: {len(same) + len(other)} cases, {len(failed)} failed")
    return len(failed)


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--difference", action="store_true", help="show how the shortest program of each test changed")
    parser.add_argument("folders", nargs="*", type=pathlib.Path, metavar="BEFORE AFTER")
    arguments = parser.parse_args()
    if arguments.self_test:
        sys.exit(self_test() != 0)
    if len(arguments.folders) != 2:
        parser.error("two folders of recordings are compared")
    sys.exit(compare(*map(programs_of, arguments.folders), arguments.difference) != 0)
