#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes tests/data/meshes/overlapping-groups-*.msh, with Gmsh, and shear-*.{msh,mesh}: boxes of affine cells whose nodes are moved by the cubic shear
x + 0.2 y^3 - 0.1 y z^2, written by Gmsh (orders 3 and 4, all types that it can make) and by MFEM (H1, L2 and legacy nodes).
The shear keeps volumes, and elements of order 3 and more represent it exactly, so that every node has a known place.
Needs the Python packages gmsh and mfem. Usage: make_meshes.py FOLDER"""
import pathlib
import sys

import gmsh
import mfem.ser as mfem

folder = pathlib.Path(sys.argv[1])


def shear(x):
    return [x[0] + 0.2 * x[1] ** 3 - (0.1 * x[1] * x[2] ** 2 if len(x) > 2 else 0.0), *x[1:]]


def box(shape):
    """Makes a straight mesh of one shape (with neighbours where Gmsh needs them) and returns the dimension of its cells."""
    gmsh.clear()
    occ, mesh = gmsh.model.occ, gmsh.model.mesh
    if shape in ("triangle", "quadrilateral"):
        surface = occ.addRectangle(0, 0, 0, 1, 1)
        occ.synchronize()
        for _, curve in gmsh.model.getEntities(1):
            mesh.setTransfiniteCurve(curve, 3)
        mesh.setTransfiniteSurface(surface)
        if shape == "quadrilateral":
            mesh.setRecombine(2, surface)
        dim = 2
    elif shape == "prism":
        surface = occ.addRectangle(0, 0, 0, 1, 1)
        occ.synchronize()
        for _, curve in gmsh.model.getEntities(1):
            mesh.setTransfiniteCurve(curve, 2)
        mesh.setTransfiniteSurface(surface)
        occ.extrude([(2, surface)], 0, 0, 1, [2], recombine=True)
        occ.synchronize()
        dim = 3
    else:
        boxes = [occ.addBox(0, 0, 0, 1, 1, 1)]
        if shape == "pyramid":  # the pyramid is between a hexahedron and tetrahedra
            boxes.append(occ.addBox(1, 0, 0, 1, 1, 1))
            occ.fragment([(3, boxes[0])], [(3, boxes[1])])
        occ.synchronize()
        for _, curve in gmsh.model.getEntities(1):
            mesh.setTransfiniteCurve(curve, 2)
        for _, surface in gmsh.model.getBoundary([(3, 1)], oriented=False):
            mesh.setTransfiniteSurface(surface)
            if shape != "tetrahedron":
                mesh.setRecombine(2, surface)
        mesh.setTransfiniteVolume(1)
        dim = 3
    for number, (_, entity) in enumerate(gmsh.model.getEntities(dim - 1), 1):
        gmsh.model.addPhysicalGroup(dim - 1, [entity], number, f"side {number}")
    gmsh.model.addPhysicalGroup(dim, [e for _, e in gmsh.model.getEntities(dim)], 7, "body")
    mesh.generate(dim)
    return dim


def write_gmsh():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    variants = [(2.2, 0), (4.1, 1), (4.1, 0), (2.2, 1)]
    shapes = ("triangle", "quadrilateral", "tetrahedron", "hexahedron", "prism", "pyramid")
    for i, shape in enumerate(shapes):
        for order in (3, 4):
            if shape == "prism" and order == 4:
                continue  # Gmsh does not make these
            dim = box(shape)
            gmsh.model.mesh.setOrder(order)
            tags, coordinates, _ = gmsh.model.mesh.getNodes()
            for k, tag in enumerate(tags):
                x = coordinates[3 * k : 3 * k + 3]
                gmsh.model.mesh.setNode(tag, [*shear(x[:dim]), *x[dim:]], [])
            version, binary = variants[(i + order) % 4]
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.option.setNumber("Mesh.Binary", binary)
            gmsh.write(str(folder / f"shear-{shape}-order{order}.msh"))


def write_overlapping_groups():
    """Two squares, the right one also in a group of its own, whose sides share groups, in both versions and kinds of files."""
    gmsh.clear()
    occ, mesh = gmsh.model.occ, gmsh.model.mesh
    squares = [occ.addRectangle(x, 0, 0, 1, 1) for x in (0, 1)]
    occ.fragment([(2, squares[0])], [(2, squares[1])])
    occ.synchronize()

    def within(dim, low, high):
        return [e for _, e in gmsh.model.getEntitiesInBoundingBox(low[0] - 0.1, low[1] - 0.1, -0.1, high[0] + 0.1, high[1] + 0.1,
                                                                  0.1, dim)]

    for curve in within(1, (0, 0), (2, 1)):
        mesh.setTransfiniteCurve(curve, 3)
    for surface in within(2, (0, 0), (2, 1)):
        mesh.setTransfiniteSurface(surface)
        mesh.setRecombine(2, surface)
    left, below = within(1, (0, 0), (0, 1)), within(1, (0, 0), (2, 0))
    gmsh.model.addPhysicalGroup(2, within(2, (0, 0), (2, 1)), 4, "all")
    gmsh.model.addPhysicalGroup(2, within(2, (1, 0), (2, 1)), 2, "insert")
    gmsh.model.addPhysicalGroup(1, left, 2, "left")
    gmsh.model.addPhysicalGroup(1, left + below, 1, "insert")
    gmsh.model.addPhysicalGroup(1, [-curve for curve in below], 4, "below")
    gmsh.model.addPhysicalGroup(1, within(1, (1, 0), (1, 1)), 7, "inner")
    mesh.generate(2)
    for version, binary in ((2.2, 0), (2.2, 1), (4.1, 0), (4.1, 1)):
        gmsh.option.setNumber("Mesh.MshFileVersion", version)
        gmsh.option.setNumber("Mesh.Binary", binary)
        gmsh.write(str(folder / f"overlapping-groups-{int(10 * version)}{'-binary' if binary else ''}.msh"))


class Shear(mfem.VectorPyCoefficient):
    def EvalValue(self, x):
        return shear(list(x))


def write_mfem():
    cases = [("star-mixed", "H1", 4), ("fichera-mixed", "H1", 3), ("beam-tet", "H1", 4),
             ("star-mixed", "L2", 3), ("beam-wedge", "L2", 4), ("fichera", "Cubic", 3), ("beam-tri", "Cubic", 3)]
    for ordering, (name, kind, degree) in enumerate(cases):
        source = folder / f"{name}.mesh"
        mesh = mfem.Mesh(str(source), 1, 0)
        dim = mesh.Dimension()
        collection = {"H1": lambda: mfem.H1_FECollection(degree, dim), "L2": lambda: mfem.L2_FECollection(degree, dim, 1),
                      "Cubic": mfem.CubicFECollection}[kind]()
        space = mfem.FiniteElementSpace(mesh, collection, dim, ordering % 2)
        mesh.SetNodalFESpace(space)
        nodes = mfem.GridFunction(space)
        nodes.ProjectCoefficient(Shear(dim))
        mesh.GetNodes().Assign(nodes)
        mesh.Print(str(folder / f"shear-{name}-{kind.lower()}-order{degree}.mesh"), 16)


write_gmsh()
write_overlapping_groups()
write_mfem()
