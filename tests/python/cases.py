# SPDX-License-Identifier: BSD-3-Clause
"""Cases of laws beyond those that every change runs."""
import os


def exhaustive(*cases):
    """The cases where the environment says RAFTER_EXHAUSTIVE=1, as ctest does for the tests python/<name>/exhaustive, and else none."""
    return cases if os.environ.get("RAFTER_EXHAUSTIVE") == "1" else ()
