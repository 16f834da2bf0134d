#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Signals while compilers run: they end with all that they started, nothing waits for them and nothing stays behind. The
compiler of these tests never ends, ignores what can be ignored and has a child that does the same.

usage: interrupt_test.py RAFTER SOURCE_DIRECTORY [unittest arguments]
"""
import itertools
import os
import signal
import subprocess
import sys
import time
import unittest

import command_test
from command_test import NOT_SOLVED, POISSON

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "compiler that hangs"; exit 0; fi
trap '' INT TERM HUP
touch "$TMPDIR/temporary-of-the-compiler"
sleep 600 &
echo $$ $! > "$STARTED.new"
mv "$STARTED.new" "$STARTED"
wait
sleep 600
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PATIENCE_SECONDS = 300  # below the 600 of the compiler, and far above what a busy machine needs


def is_running(process):
    """A zombie does not count as running: it remains of a process whose parent has ended and that nobody waits for."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Interrupts(command_test.CommandTest):
    def setUp(self):
        super().setUp()
        self.write(POISSON)
        self.write(COMPILER, "hanging")
        os.chmod(self.path("hanging"), 0o755)
        for folder in ("cache", "temporary"):
            os.mkdir(self.path(folder), 0o700)
        self.environment = {**os.environ, "STARTED": self.path("started"), "TMPDIR": self.path("temporary")}
        if "RAFTER_THREAD_AT_LOAD" in os.environ:  # a library with a thread of its own, where signals are not blocked
            self.environment["LD_PRELOAD"] = os.environ["RAFTER_THREAD_AT_LOAD"]

    def start(self, *arguments, compiler="hanging", **options):
        """Starts the command in a process group of its own, and returns when its compiler hangs."""
        process = subprocess.Popen([command_test.RAFTER, *arguments, "--plan", "compiler=" + self.path(compiler)],
                                   cwd=self.directory.name, env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.addCleanup(process.kill)
        end = time.monotonic() + PATIENCE_SECONDS
        while not os.path.exists(self.path("started")) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(os.path.exists(self.path("started")), process.poll())
        return process

    def assert_nothing_remains(self, process, text):
        output, errors = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, NOT_SOLVED, errors)
        self.assertIn(text, errors)
        self.assertEqual(output, "")
        with open(self.path("started"), encoding="utf-8") as file:
            running = [int(word) for word in file.read().split()]
        end = time.monotonic() + PATIENCE_SECONDS
        while any(map(is_running, running)) and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([child for child in running if is_running(child)], [])
        self.assertEqual(os.listdir(self.path("temporary")), [])
        builds = [name for _, folders, files in os.walk(self.path("cache")) for name in folders + files if "build-" in name]
        self.assertEqual(builds, [])
        os.remove(self.path("started"))
        self.assertEqual(sorted(os.listdir(self.directory.name)), ["cache", "hanging", "problem.toml", "temporary"])

    def own_cache(self):
        """The cache is examined afterwards."""
        command_test.fill_cache(self.path("cache"))
        self.environment["XDG_CACHE_HOME"] = self.path("cache")

    def test_one_signal_ends_compilers_and_their_children(self):
        self.own_cache()
        for send in (lambda process, number: process.send_signal(number), lambda process, number: os.killpg(process.pid, number)):
            for number in SIGNALS:
                process = self.start("solve", "problem.toml", "--json", "r.json")
                send(process, number)
                self.assert_nothing_remains(process, "stopped by a signal")

    def test_two_signals_of_any_kinds_stop_at_once(self):
        """There is no compiler that could be ended: the command waits for a reader of a pipe that never comes."""
        os.mkfifo(self.path("pipe"))
        for first, second in itertools.product(SIGNALS, SIGNALS):
            process = subprocess.Popen([command_test.RAFTER, "solve", "problem.toml", "--json", "pipe"],
                                       cwd=self.directory.name, env=self.environment, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            for line in process.stderr:
                if line.startswith("setup"):
                    break
            time.sleep(0.3)  # until it waits at the pipe; before that the first signal is enough
            process.send_signal(first)
            time.sleep(0.05)
            if process.poll() is None:
                process.send_signal(second)
            output, errors = process.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(process.returncode, NOT_SOLVED, errors)
            self.assertIn("by a signal", errors)
            self.assertEqual(output, "")
            self.assertEqual(os.listdir(self.path("temporary")), [])

    def test_two_signals_while_compilers_run(self):
        self.own_cache()
        for first, second in ((signal.SIGINT, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)):
            process = self.start("solve", "problem.toml")
            os.killpg(process.pid, first)
            os.killpg(process.pid, second)
            self.assert_nothing_remains(process, "by a signal")

    def test_benchmarks_end_at_the_first_signal(self):
        self.own_cache()
        process = self.start("bench", "bk", "--cases", "bp1", "--degrees", "1", "--mdofs", "0.001", "--machine", "kept")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, NOT_SOLVED)
        with open(self.path("started"), encoding="utf-8") as file:
            self.assertFalse(any(is_running(int(word)) for word in file.read().split()))

    def test_hangups_stay_ignored(self):
        process = self.start("solve", "problem.toml", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, NOT_SOLVED)


if __name__ == "__main__":
    command_test.RAFTER, command_test.SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
