# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks of examples/notebooks: each is executed by a kernel of its own, and ends with checks of its results."""

import os
import pathlib
import re
import site
import sys

import jupyter_client
import nbclient
import nbformat
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


class ThisInterpreter(jupyter_client.AsyncKernelManager):
    """Kernels run with the interpreter of the tests, whatever is installed on the machine under the name that notebooks have."""

    @property
    def kernel_spec(self):
        return jupyter_client.kernelspec.KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                    display_name="Python 3", language="python")


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """Kernels write nothing to the home of the user but compiled kernels to the cache: Jupyter, IPython, matplotlib, Mesa and Gmsh have a
    folder of the tests. It is common to all notebooks, since matplotlib lists the fonts of the machine once."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONUSERBASE", site.getuserbase())
        patch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache"))
        patch.setenv("HOME", str(home))
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "MESA_SHADER_CACHE_DIR",
                     "MPLCONFIGDIR"):
            patch.setenv(name, str(home / name))
        patch.delenv("MPLBACKEND", raising=False)  # that of notebooks
        yield


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, settings, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(notebook, kernel_manager_class=ThisInterpreter, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    message = None
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        message = re.sub("\x1b\\[[0-9;]*m", "", str(error))  # without colours
    if message:
        pytest.fail(f"{path.name}: {message}", pytrace=False)


def test_there_are_notebooks_and_all_are_listed():
    assert len(NOTEBOOKS) >= 10
    text = (FOLDER / "README.md").read_text()
    assert [path.name for path in NOTEBOOKS if f"]({path.name})" not in text] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_outputs(path):
    """And without what an editor leaves in them, so that changes of them can be read."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert not cell.metadata and not cell.get("outputs") and cell.get("execution_count") is None, f"cell {cell.id}"
        assert all(len(line) <= 150 for line in cell.source.splitlines()), f"cell {cell.id}"
