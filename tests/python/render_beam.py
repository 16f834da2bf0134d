#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the picture of the README: the bent two-material beam, to scale, coloured by the length of its displacement.

usage: render_beam.py beam.vtkhdf beam.png

VTK needs a display. Without one: xvfb-run -a -s '-screen 0 1600x1200x24' python3 tests/python/render_beam.py ...
(Debian: xvfb, xauth, libgl1-mesa-dri).
"""
import sys

import vtkmodules.vtkInteractionStyle  # noqa: F401 (VTK finds its implementations by being imported)
import vtkmodules.vtkRenderingFreeType  # noqa: F401
import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
from vtkmodules.vtkCommonCore import vtkLookupTable
from vtkmodules.vtkFiltersCore import vtkFeatureEdges, vtkThreshold
from vtkmodules.vtkFiltersGeneral import vtkWarpVector
from vtkmodules.vtkFiltersGeometry import vtkDataSetSurfaceFilter
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkFiltersModeling import vtkOutlineFilter
from vtkmodules.vtkIOImage import vtkPNGWriter
from vtkmodules.vtkRenderingAnnotation import vtkScalarBarActor
from vtkmodules.vtkRenderingCore import (vtkActor, vtkBillboardTextActor3D, vtkLight, vtkPolyDataMapper, vtkRenderer, vtkRenderWindow,
                                         vtkTextActor, vtkWindowToImageFilter)

WIDTH, HEIGHT = 1200, 500
DARK = (0.15, 0.17, 0.2)
# Colours go from the fixed end (blue) to the pulled end (red) and are light enough for the mesh lines to be seen.
COLOURS = [(0.27, 0.46, 0.74), (0.45, 0.68, 0.85), (0.80, 0.90, 0.94), (0.99, 0.85, 0.58), (0.95, 0.56, 0.35), (0.78, 0.20, 0.20)]


def read(path):
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    grid = reader.GetOutput()
    if grid.GetNumberOfCells() == 0 or grid.GetPointData().GetArray("u") is None:
        sys.exit(f"render_beam: {path} holds no field u")
    grid.GetPointData().SetActiveVectors("u")
    return grid


def material(grid, tag):
    cells = vtkThreshold()
    cells.SetInputData(grid)
    cells.SetInputArrayToProcess(0, 0, 0, 1, "tag")
    cells.SetLowerThreshold(tag)
    cells.SetUpperThreshold(tag)
    cells.SetThresholdFunction(vtkThreshold.THRESHOLD_BETWEEN)
    cells.Update()
    return cells.GetOutput()


def skin(grid):
    """Returns the surface as small facets, displaced by u."""
    surface = vtkDataSetSurfaceFilter()
    surface.SetInputData(grid)
    surface.SetNonlinearSubdivisionLevel(3)
    warp = vtkWarpVector()
    warp.SetInputConnection(surface.GetOutputPort())
    warp.SetInputArrayToProcess(0, 0, 0, 0, "u")
    warp.Update()
    return warp.GetOutput()


def colours(largest):
    table = vtkLookupTable()
    table.SetNumberOfTableValues(256)
    for i in range(256):
        place = i / 255 * (len(COLOURS) - 1)
        k = min(int(place), len(COLOURS) - 2)
        table.SetTableValue(i, *[a + (place - k) * (b - a) for a, b in zip(COLOURS[k], COLOURS[k + 1])])
    table.SetRange(0, largest)
    table.SetVectorModeToMagnitude()
    return table


def solid(surface, table):
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(surface)
    mapper.SetScalarModeToUsePointFieldData()
    mapper.SelectColorArray("u")
    mapper.SetLookupTable(table)
    mapper.UseLookupTableScalarRangeOn()
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetAmbient(0.35)
    actor.GetProperty().SetDiffuse(0.75)
    return actor


def lines(source, width, colour):
    mapper = vtkPolyDataMapper()
    mapper.SetInputConnection(source.GetOutputPort())
    mapper.ScalarVisibilityOff()
    mapper.SetResolveCoincidentTopologyToPolygonOffset()
    mapper.SetRelativeCoincidentTopologyLineOffsetParameters(-1, -8)
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.GetProperty().SetColor(*colour)
    actor.GetProperty().SetLineWidth(width)
    actor.GetProperty().LightingOff()
    return actor


def cell_edges(surface):
    """Returns the edges of the cells on the surface."""
    edges = vtkFeatureEdges()
    edges.SetInputData(surface)
    edges.ColoringOff()
    edges.ManifoldEdgesOff()
    edges.SetFeatureAngle(40)
    return edges


def outline(grid):
    """Returns the box of the grid before it was bent."""
    box = vtkOutlineFilter()
    box.SetInputData(grid)
    return box


def label(text, place, size=22):
    actor = vtkBillboardTextActor3D()
    actor.SetInput(text)
    actor.SetPosition(*place)
    actor.GetTextProperty().SetFontSize(size)
    actor.GetTextProperty().SetColor(*DARK)
    actor.GetTextProperty().SetJustificationToCentered()
    return actor


def scale_of(table):
    bar = vtkScalarBarActor()
    bar.SetLookupTable(table)
    bar.SetNumberOfLabels(4)
    bar.SetLabelFormat("%.1f")
    bar.SetOrientationToHorizontal()
    bar.SetPosition(0.08, 0.04)
    bar.SetWidth(0.36)
    bar.SetHeight(0.11)
    text = bar.GetLabelTextProperty()
    text.SetColor(*DARK)
    text.ItalicOff()
    text.BoldOff()
    text.ShadowOff()
    text.SetFontSize(20)
    bar.SetUnconstrainedFontSize(True)
    return bar


def caption(text):
    actor = vtkTextActor()
    actor.SetInput(text)
    actor.SetPosition(96, 88)
    actor.GetTextProperty().SetFontSize(20)
    actor.GetTextProperty().SetColor(*DARK)
    return actor


def light(x, y, z, intensity):
    lamp = vtkLight()
    lamp.SetLightTypeToSceneLight()
    lamp.SetPosition(x, y, z)
    lamp.SetFocalPoint(4, 0.5, 0.5)
    lamp.SetIntensity(intensity)
    return lamp


def look_at(camera):
    camera.SetFocalPoint(4.0, 0.5, -0.3)
    camera.SetPosition(2.4, -12.0, 4.2)
    camera.SetViewUp(0, 0, 1)
    camera.ParallelProjectionOn()
    camera.SetParallelScale(1.95)


def scene(grid):
    values = grid.GetPointData().GetArray("u")
    largest = max(sum(c * c for c in values.GetTuple3(i)) ** 0.5 for i in range(values.GetNumberOfTuples()))
    renderer = vtkRenderer()
    renderer.SetBackground(1, 1, 1)
    renderer.AutomaticLightCreationOff()
    renderer.AddLight(light(-2, -30, 12, 0.85))
    renderer.AddLight(light(4, 0, 40, 0.6))
    table = colours(largest)
    for tag, width, colour in ((1, 2.0, (0.05, 0.08, 0.15)), (2, 1.2, (0.25, 0.25, 0.3))):
        part = material(grid, tag)
        surface = skin(part)
        renderer.AddActor(solid(surface, table))
        renderer.AddActor(lines(cell_edges(surface), width, colour))
        renderer.AddActor(lines(outline(part), 1.2, (0.55, 0.58, 0.62)))
    renderer.AddActor(label("stiff: Lam\u00e9 constants 50", (2.0, 1.0, 1.22)))
    renderer.AddActor(label("soft: Lam\u00e9 constants 1", (6.0, 1.0, 1.22)))
    renderer.AddActor2D(scale_of(table))
    renderer.AddActor2D(caption("length of the displacement (the beam is 8 long)"))
    look_at(renderer.GetActiveCamera())
    renderer.ResetCameraClippingRange()
    return renderer


def write_png(renderer, path):
    window = vtkRenderWindow()
    window.SetOffScreenRendering(1)
    window.SetMultiSamples(8)
    window.SetSize(WIDTH, HEIGHT)
    window.AddRenderer(renderer)
    window.Render()
    image = vtkWindowToImageFilter()
    image.SetInput(window)
    image.ReadFrontBufferOff()
    writer = vtkPNGWriter()
    writer.SetCompressionLevel(9)
    writer.SetInputConnection(image.GetOutputPort())
    writer.SetFileName(path)
    writer.Write()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write_png(scene(read(sys.argv[1])), sys.argv[2])


if __name__ == "__main__":
    main()
