#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fits the weights of the cost model (rafter/tune/cost_weights.hpp) to recorded sweeps.

usage: fit_cost_model.py SWEEP.json...

Sweeps are written by `rafter tune --record` (scripts/record_sweeps.py makes those of bench/data/sweeps), one folder per machine; those of all machines
are fitted together. Minimises the squared logarithms of predicted over measured time: what all plans of a kernel err by in common counts a tenth, since
the search needs their order. Features that no sweep has keep the value that they start from. Prints the table, and per kernel the common error, the
spread, and the time of the plan that is predicted to be fastest, and of the best of the first five, over the fastest.
"""
import json
import math
import pathlib
import sys

import numpy
import scipy.optimize

# The fit starts from throughputs of current x86 processors, in vector instructions at peak (half a cycle).
START = {"arithmetic": 1.0, "divisions": 32.0, "functions": 40.0, "loads": 1.0, "stores": 2.0, "broadcasts": 0.5, "gathers": 10.0, "scatters": 2.0,
         "index_loads": 0.5, "iterations": 2.0, "spilling": 1.0}
PER_REGISTER = ("arithmetic", "divisions", "loads", "stores", "gathers", "spilling")  # other features do not take longer on more lanes
# Further parameters: the overlap of computing and memory, and what an instruction on more lanes than a register holds costs, per register.
START_OTHERS = {"overlap": 0.3, "splitting": 1.2}
CROWDING = 2.0  # data stay in a cache of at least twice their size, as in the model
COMMON_ERROR = 0.1  # weight of the error that all plans of a kernel share
PRIOR = 0.02  # weight of a unit of distance (in logarithms) from the start, per sweep entry


def resident_levels(levels, size):
    """Returns what machine::resident does for one core: the levels up to the nearest that holds the problem."""
    for i, level in enumerate(levels[:-1]):
        if size <= level["bytes"]:
            return levels[:i + 1]
    return levels


def one_core(level, access):
    return level[access]["one_core"]


def memory_rate(level, written_share):
    """Returns the bytes per second that machine::bound assumes for this share of writes."""
    read, triad = one_core(level, "read"), one_core(level, "triad")
    copy = max(one_core(level, "copy"), one_core(level, "streaming_copy"))
    triad = max(triad, min(read, copy))
    if written_share >= 0.5:
        return copy
    if written_share < 1 / 3:
        t = 3 * written_share
        return (1 - t) * read + t * triad
    t = (written_share - 1 / 3) * 6
    return (1 - t) * triad + t * copy


def nearest_seconds(levels, read, written):
    """Returns the time of accesses to the nearest cache, as in machine::bound."""
    triad, copy = one_core(levels[0], "triad") / 3, one_core(levels[0], "copy") / 2
    return max(read / max(one_core(levels[0], "read"), 2 * triad, copy), written / max(triad, copy))


def memory_seconds(levels, read, written):
    if len(levels) == 1:
        return nearest_seconds(levels, read, written)
    return (read + written) / memory_rate(levels[-1], written / (read + written))


def slowdowns_of_gathers(machine):
    """Returns how much longer gathers by instruction, and lane by lane, take in a kernel than the way that the processor prefers."""
    vector, scalar = (machine.get(way, {}).get("one_core", 0) for way in ("vector_gather", "scalar_gather"))
    if not vector or not scalar:
        return 1, 1
    slower = math.sqrt(max(1, scalar / vector, vector / scalar))
    return (slower, 1) if scalar > 1.05 * vector else (1, slower if vector > scalar else 1)


class Sweep:
    """Holds the measured seconds of a kernel, and what the model needs for each plan."""

    def __init__(self, name, record, kernel):
        self.name = name
        machine, names = record["machine"], record["feature_names"]
        levels = machine["levels"]
        candidates = [c for c in kernel["candidates"] if c["seconds"] > 0]
        features = numpy.array([c["features"] for c in candidates])
        # Older sweeps lack some features.
        column = {feature: numpy.zeros(len(candidates)) for feature in ("operations", "lane_loads", "local_read_bytes", "local_written_bytes")}
        column["vector_width"] = numpy.full(len(candidates), kernel["cells_per_batch"])
        column.update({feature: features[:, i] for i, feature in enumerate(names)})
        self.plans = [c["plan"] for c in candidates]
        self.seconds = numpy.array([c["seconds"] for c in candidates])
        batches = kernel["batches"]
        register = machine["peaks"][-1]["bits"] // 64
        peak = max(peak["fma"]["one_core"] for peak in machine["peaks"])
        self.registers = numpy.maximum(1, column["vector_width"] / register)
        self.instruction = batches * 2 * register / peak
        by_instruction, by_lane = slowdowns_of_gathers(machine)
        column["gathers"] = by_instruction * column["gathers"] + by_lane * column["lane_loads"] / column["vector_width"]
        spilling = numpy.zeros(len(candidates))
        for level, further in zip(levels[:-1], levels[1:]):
            share = numpy.maximum(0, 1 - level["bytes"] / numpy.maximum(column["work_bytes"], 1))
            spilling += share * max(1, one_core(levels[1], "triad") / one_core(further, "triad"))
        column["spilling"] = spilling * (column["loads"] + column["stores"])
        self.counts = numpy.stack([column[feature] for feature in START], axis=1)
        # Bilinear forms without coefficient fields read one vector and write one.
        read = batches * (column["data_bytes"] + column["vector_bytes"] / 2)
        written = batches * column["vector_bytes"] / 2
        self.memory = numpy.array([memory_seconds(resident_levels(levels, CROWDING * (r + w)), r, w) for r, w in zip(read, written)])
        seen = numpy.array([memory_seconds(resident_levels(levels, r + w), r, w) for r, w in zip(read, written)])
        near = numpy.array([nearest_seconds(levels, batches * r, batches * w)
                            for r, w in zip(column["local_read_bytes"], column["local_written_bytes"])])
        flops = batches * numpy.maximum(column["flops"], 2 * column["operations"]) / peak
        self.bound = numpy.maximum(seen, flops)
        self.least = numpy.maximum(self.bound, near)

    def predicted(self, weights, overlap, splitting):
        registers = numpy.where(self.registers > 1, splitting, 1) * self.registers
        is_vector = numpy.array([feature in PER_REGISTER for feature in START])
        compute = self.instruction * (registers * (self.counts @ (weights * is_vector)) + self.counts @ (weights * ~is_vector))
        time = numpy.maximum(compute, self.memory) + overlap * numpy.minimum(compute, self.memory)
        return numpy.maximum(time, self.least)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sweeps = []
    for path in sorted(map(pathlib.Path, sys.argv[1:])):
        record = json.loads(path.read_text())
        sweeps += [Sweep(f"{path.parent.name} {path.stem} {kernel['kernel']}", record, kernel) for kernel in record["kernels"]]
    start = numpy.log(numpy.array([*START.values(), *START_OTHERS.values()]))

    def parameters_of(logarithms):
        values = numpy.exp(logarithms)
        return values[:len(START)], *values[len(START):]

    def residuals(logarithms):
        parameters = parameters_of(logarithms)
        parts = [PRIOR * numpy.sqrt(sum(len(s.seconds) for s in sweeps)) * (logarithms - start)]
        for sweep in sweeps:
            errors = numpy.log(sweep.predicted(*parameters) / sweep.seconds)
            # Plans near the fastest matter most.
            importance = sweep.seconds.min() / sweep.seconds
            mean = (importance * errors).sum() / importance.sum()
            parts += [(errors - mean) * importance, [COMMON_ERROR * numpy.sqrt(len(errors)) * mean]]
        return numpy.concatenate(parts)

    fit = scipy.optimize.least_squares(residuals, start)
    weights, *others = parameters_of(fit.x)
    for name, weight in zip(START, weights):
        print(f'Weight{{"{name}", {weight:.2g}}},')
    for name, value in zip(START_OTHERS, others):
        print(f"{name} {value:.2g}")
    print(f"\n{'kernel':65} {'common':>7} {'spread':>7} {'first':>6} {'of 5':>6}")
    for sweep in sweeps:
        predicted = sweep.predicted(weights, *others)
        errors = numpy.log(predicted / sweep.seconds)
        order = numpy.argsort(predicted, kind="stable")
        best = sweep.seconds.min()
        print(f"{sweep.name:65} {errors.mean():7.2f} {errors.std():7.2f} {sweep.seconds[order[0]] / best:6.3f} "
              f"{sweep.seconds[order[:5]].min() / best:6.3f}")


if __name__ == "__main__":
    main()
