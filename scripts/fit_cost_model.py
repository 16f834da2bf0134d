#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the weights of the cost model (rafter/tune/cost_model.cpp) to recorded sweeps.

usage: fit_cost_model.py SWEEP.json...

Sweeps are written by `rafter tune --record` (scripts/record_sweeps.py makes those of bench/data/sweeps). Minimises the squared logarithms of
predicted over measured time: what all plans of a kernel err by in common counts a tenth, since the search needs their order. Features that no sweep has keep
the value that they start from. Prints the table, and per kernel the common error, the spread, and the time of the plan that is
predicted to be fastest over the fastest.
"""
import json
import pathlib
import sys

import numpy
import scipy.optimize

# The fit starts from throughputs of current x86 processors, in vector instructions at peak (half a cycle).
START = {"arithmetic": 1.0, "divisions": 32.0, "functions": 40.0, "loads": 1.0, "stores": 2.0, "broadcasts": 0.5, "gathers": 10.0, "scatters": 2.0,
         "index_loads": 0.5, "iterations": 2.0, "spilling": 1.0}
START_OVERLAP = 0.3
CROWDING = 2.0  # data stay in a cache of at least twice their size, as in the model
COMMON_ERROR = 0.1  # weight of the error that all plans of a kernel share
PRIOR = 0.02  # weight of a unit of distance (in logarithms) from the start, per sweep entry


def resident_levels(levels, size):
    """Returns what machine::resident does for one core: the levels up to the nearest that holds the problem."""
    for i, level in enumerate(levels[:-1]):
        if CROWDING * size <= level["bytes"]:
            return levels[:i + 1]
    return levels


def memory_rate(level, written_share):
    """Returns the bytes per second that machine::bound assumes for this share of writes."""
    read, triad, copy = level["read"]["one_core"], level["triad"]["one_core"], level["copy"]["one_core"]
    copy = max(copy, level["streaming_copy"]["one_core"])
    triad = max(triad, min(read, copy))
    if written_share >= 0.5:
        return copy
    if written_share < 1 / 3:
        t = 3 * written_share
        return (1 - t) * read + t * triad
    t = (written_share - 1 / 3) * 6
    return (1 - t) * triad + t * copy


class Sweep:
    """Holds the measured seconds of a kernel, and what the model needs for each plan."""

    def __init__(self, name, record, kernel):
        self.name = name
        machine, names = record["machine"], record["feature_names"]
        candidates = [c for c in kernel["candidates"] if c["seconds"] > 0]
        features = numpy.array([c["features"] for c in candidates])
        column = {feature: features[:, i] for i, feature in enumerate(names)}
        self.plans = [c["plan"] for c in candidates]
        self.seconds = numpy.array([c["seconds"] for c in candidates])
        batches = kernel["batches"]
        width = numpy.maximum(column.get("vector_width", kernel["cells_per_batch"]), machine["peaks"][-1]["bits"] // 64)
        self.instruction = batches * 2 * width / max(peak["fma"]["one_core"] for peak in machine["peaks"])
        nearest = machine["levels"][0]["bytes"]
        spilling = numpy.maximum(0, 1 - nearest / numpy.maximum(column["work_bytes"], 1)) * (column["loads"] + column["stores"])
        self.counts = numpy.stack([spilling if feature == "spilling" else column[feature] for feature in START], axis=1)
        total = batches * (column["data_bytes"] + column["vector_bytes"])
        written = 0.5 * batches * column["vector_bytes"]  # bilinear forms without coefficient fields read one vector and write one
        self.memory = numpy.array([t / memory_rate(resident_levels(machine["levels"], t)[-1], w / t) for t, w in zip(total, written)])
        operations = column.get("operations", 0)  # older sweeps do not have these
        self.flops = numpy.maximum(column["flops"], 2 * operations) / (2 * width) * self.instruction

    def predicted(self, weights, overlap):
        compute = self.instruction * (self.counts @ weights)
        time = numpy.maximum(compute, self.memory) + overlap * numpy.minimum(compute, self.memory)
        return numpy.maximum(time, numpy.maximum(self.memory, self.flops))


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sweeps = []
    for path in sorted(sys.argv[1:]):
        record = json.loads(pathlib.Path(path).read_text())
        sweeps += [Sweep(f"{pathlib.Path(path).stem} {kernel['kernel']}", record, kernel) for kernel in record["kernels"]]
    start = numpy.log(numpy.array([*START.values(), START_OVERLAP]))

    def residuals(parameters):
        weights, overlap = numpy.exp(parameters[:-1]), numpy.exp(parameters[-1])
        parts = [PRIOR * numpy.sqrt(sum(len(s.seconds) for s in sweeps)) * (parameters - start)]
        for sweep in sweeps:
            errors = numpy.log(sweep.predicted(weights, overlap) / sweep.seconds)
            # Plans near the fastest matter most.
            importance = sweep.seconds.min() / sweep.seconds
            mean = (importance * errors).sum() / importance.sum()
            parts += [(errors - mean) * importance, [COMMON_ERROR * numpy.sqrt(len(errors)) * mean]]
        return numpy.concatenate(parts)

    fit = scipy.optimize.least_squares(residuals, start)
    weights, overlap = numpy.exp(fit.x[:-1]), numpy.exp(fit.x[-1])
    for name, weight in zip(START, weights):
        print(f'Weight{{"{name}", {weight:.2g}}},')
    print(f"overlap {overlap:.2g}\n")
    print(f"{'kernel':55} {'common':>7} {'spread':>7} {'first':>6} {'of 5':>6}")
    for sweep in sweeps:
        predicted = sweep.predicted(weights, overlap)
        errors = numpy.log(predicted / sweep.seconds)
        order = numpy.argsort(predicted, kind="stable")
        best = sweep.seconds.min()
        print(f"{sweep.name:55} {errors.mean():7.2f} {errors.std():7.2f} {sweep.seconds[order[0]] / best:6.3f} "
              f"{sweep.seconds[order[:5]].min() / best:6.3f}")


if __name__ == "__main__":
    main()
