#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the meshes of bench/meshes/meshes.json with Gmsh and compares them with the hashes there.

usage: make_bench_meshes.py [--record] FOLDER [NAME...]

Writes FOLDER/NAME.msh for each mesh of the table but the small ones, or for those that are named; `small`: these, which the repository
keeps. With --record the table gets hashes and numbers of cells of what was made. Ends with 1 where a hash is another one: another Gmsh, or one that is
built for another processor, makes another mesh, whose rates compare only roughly. Needs gmsh and xxh128sum (Debian: gmsh, xxhash).
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "bench/meshes/meshes.json"
# Numbers of Gmsh's types of elements, complete ones up to order 4.
SHAPES = {"tetrahedron": (4, 11, 29, 30), "hexahedron": (5, 12, 92, 93), "prism": (6, 13, 90, 91), "pyramid": (7, 14, 118, 119)}


def output_of(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def gmsh_version():
    return output_of("gmsh", "--version").split()[-1]


def make(mesh, path):
    """Text is the same on all machines; one thread makes the same mesh in every run."""
    output_of("gmsh", "-3", "-nt", "1", "-order", str(mesh["order"]), "-setnumber", "size", str(mesh["size"]), "-format", "msh41", "-v", "2",
              "-o", str(path), str(TABLE.parent / mesh["geometry"]))


def hash_of(path):
    return output_of("xxh128sum", str(path)).split()[0]


def count_cells(path):
    """Cells by shape, of the blocks "dimension entity type count" of the section $Elements."""
    counts = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("$Elements"):
                break
        num_blocks = int(next(file).split()[0])
        for _ in range(num_blocks):
            dimension, _, kind, count = map(int, next(file).split())
            for shape, kinds in SHAPES.items():
                if dimension == 3 and kind in kinds:
                    counts[shape] = counts.get(shape, 0) + count
            for _ in range(count):
                next(file)
    return counts


def chosen(table, names):
    small = [name for name in table["meshes"] if name.startswith("small-")]
    if not names:
        return [name for name in table["meshes"] if name not in small]
    if names == ["small"]:
        return small
    for name in names:
        if name not in table["meshes"]:
            sys.exit(f"no mesh '{name}' in {TABLE}; there are {', '.join(table['meshes'])}")
    return names


def write(table):
    """A line per mesh."""
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(mesh)}" for name, mesh in table["meshes"].items())
    TABLE.write_text(f'{{\n  "gmsh": {json.dumps(table["gmsh"])},\n  "meshes": {{\n{lines}\n  }}\n}}\n')


def main(arguments):
    records = "--record" in arguments
    arguments = [argument for argument in arguments if argument != "--record"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder, *names = arguments
    table = json.loads(TABLE.read_text())
    version = gmsh_version()
    if version != table["gmsh"]:
        print(f"Gmsh {version} is not {table['gmsh']}, which made the meshes of the table")
    table["gmsh"] = version if records else table["gmsh"]
    differ = []
    for name in chosen(table, names):
        path, mesh = pathlib.Path(folder) / f"{name}.msh", table["meshes"][name]
        make(mesh, path)
        found = hash_of(path)
        print(f"{path}: {found}{'' if found == mesh.get('hash') else ', not ' + str(mesh.get('hash'))}")
        if records:
            mesh.update({"cells": count_cells(path), "hash": found})
        elif found != mesh.get("hash"):
            differ.append(name)
    if records:
        write(table)
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
