#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the texts of kernels that two runs of tests have recorded (RAFTER_TEST_RECORD, tests/support/record_tests.cpp).

usage: compare_texts.py [--difference] BEFORE AFTER
       compare_texts.py --self-test

Exit code 1: texts differ. Names that are numbered otherwise are distinguished from other differences."""
import argparse
import collections
import contextlib
import difflib
import io
import pathlib
import re
import sys
import tempfile

MOST_DIFFERENCES = 3
NAME = re.compile(r"(?<![\w.])([A-Za-z_](?:\w*[A-Za-z_])?)(\d+)\b")
# Their numbers say how wide something is (tests/support/recorded_texts.cpp).
WORDS = frozenset("double float int uint long ulong char uchar vload vstore log exp as_double as_float as_int as_long convert_double"
                  " convert_float convert_int convert_long real".split())


def canonical(text):
    """The text with names that end with a number numbered in the order of their first use."""
    numbers = collections.defaultdict(dict)

    def renamed(match):
        if match[1] in WORDS:
            return match[0]
        of_stem = numbers[match[1]]
        return match[1] + str(of_stem.setdefault(match[2], len(of_stem)))

    return NAME.sub(renamed, text)


def texts_of(folder):
    """Each test to its texts: (kind, kernel, hash, hash of the canonical form)."""
    result = {}
    for file in sorted(folder.glob("*.list")):
        result[file.stem] = {tuple(line.split()) for line in file.read_text().splitlines()}
    return result


def show(before, after, old, new):
    """Prints how texts of a test changed: those of one kind and kernel that are nearest in length are held side by side."""
    if not all((folder / "texts").is_dir() and any((folder / "texts").iterdir()) for folder in (before, after)):
        sys.exit("compare_texts.py: the texts themselves were not recorded (RAFTER_TEST_RECORD_TEXTS=yes)")
    groups = collections.defaultdict(lambda: ([], []))
    for side, texts in ((0, sorted(old - new)), (1, sorted(new - old))):
        for kind, kernel, raw, _ in texts:
            groups[kind, kernel][side].append(raw)
    for (kind, kernel), (gone, come) in list(groups.items())[:MOST_DIFFERENCES]:
        print(f"    {kind} of {kernel}: {len(gone)} became {len(come)}")
        pairs = [((before / "texts" / a).read_text(), (after / "texts" / b).read_text()) for a in gone for b in come]
        for a, b in sorted(pairs, key=lambda pair: abs(len(pair[0]) - len(pair[1])))[:1]:
            lines = [canonical(text).splitlines() for text in (a, b)]
            for line in list(difflib.unified_diff(*lines, "before", "after", lineterm="", n=1))[:60]:
                print("      " + line)


def compare(before, after, has_differences):
    """Prints what changed, and says whether anything did."""
    old, new = texts_of(before), texts_of(after)
    changed = 0
    for test in sorted(old.keys() | new.keys()):
        a, b = old.get(test), new.get(test)
        if a is None or b is None:
            print(f"{test}: only {'after' if a is None else 'before'}")
            changed += 1
        elif a != b:
            changed += 1
            kinds = collections.Counter(kind for kind, *_ in a ^ b)
            only_numbers = {text[3] for text in a} == {text[3] for text in b}
            print(f"{test}: {len(a - b)} of {len(a)} texts differ" + (" in the numbers of names alone" if only_numbers else "") +
                  f" ({', '.join(sorted(kinds))})")
            if has_differences:
                show(before, after, a, b)
    total = len(set().union(*new.values())) if new else 0
    print(f"{len(new)} tests, {total} texts: " + (f"{changed} tests with other texts" if changed else "texts identical"))
    return changed > 0


def self_test():
    assert canonical("a3 = b7 + a2*a3 - 1e5 + x0_y; double4 c1") == "a0 = b0 + a1*a0 - 1e5 + x0_y; double4 c0"
    with tempfile.TemporaryDirectory() as root, contextlib.redirect_stdout(io.StringIO()):
        folders = [pathlib.Path(root) / name for name in ("before", "after")]
        for folder in folders:
            folder.mkdir()
            (folder / "same.list").write_text("c kernel 1 2\n")
        assert not compare(*folders, False)
        (folders[1] / "same.list").write_text("c kernel 3 2\n")
        assert compare(*folders, False)
        (folders[1] / "same.list").write_text("c kernel 1 2\n")
        (folders[1] / "more.list").write_text("c kernel 1 2\n")
        assert compare(*folders, False)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--difference", action="store_true", help="show the first texts that differ")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    if len(arguments.folders) != 2:
        parser.error("two folders are compared")
    return compare(*arguments.folders, arguments.difference)


if __name__ == "__main__":
    sys.exit(main())
