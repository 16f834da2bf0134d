# SPDX-License-Identifier: BSD-3-Clause
"""What tests have in common."""

import pytest
import rafter


@pytest.fixture
def mesh():
    return rafter.box([3, 3], shape="triangle")


@pytest.fixture
def V(mesh):
    return rafter.FunctionSpace(mesh, "Lagrange", 1)
