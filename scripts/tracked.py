# SPDX-License-Identifier: BSD-3-Clause
"""Files of the repository as the checks see them, and the self-test they share."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tracked_files(root=ROOT, suffixes=None):
    """Paths relative to root of the tracked files that exist; every file where root is no git checkout."""
    root = pathlib.Path(root)
    if (root / ".git").exists():
        listing = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=True, capture_output=True, text=True)
        names = [pathlib.Path(name) for name in listing.stdout.split("\0") if name]
    else:
        names = [path.relative_to(root) for path in root.rglob("*")]
    return sorted(n for n in names if (root / n).is_file() and (suffixes is None or n.suffix in suffixes))


def read(root, name):
    return (pathlib.Path(root) / name).read_text(encoding="utf-8", errors="replace")


def report(name, problems, summary):
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s); {summary}")
    return 1 if problems else 0


def self_test(name, check, cases):
    """Runs check(root) on small made-up trees. A case is (what, {path: text}, part of the expected problem or None)."""
    failures = 0
    for what, files, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            for path, text in files.items():
                target = pathlib.Path(folder) / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            problems = check(folder)
        right = not problems if expected is None else any(expected in problem for problem in problems)
        if not right:
            failures += 1
            print(f"{name} --self-test: {what}: expected {expected or 'no problem'}, found {problems}")
    print(f"{name} --self-test: {len(cases)} cases, {failures} failed")
    return 1 if failures else 0


def main(name, run, check, cases):
    if sys.argv[1:] == ["--self-test"]:
        return self_test(name, check, cases)
    if sys.argv[1:]:
        print(f"{name}: unknown arguments {sys.argv[1:]}; accepted: --self-test", file=sys.stderr)
        return 2
    return run()
