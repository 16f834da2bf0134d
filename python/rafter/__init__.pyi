# What `import rafter` offers, for checkers of types and editors: names are imported when they are first used.
from . import bench as bench
from ._core import EnvironmentError as EnvironmentError, Error as Error, InputError as InputError, SolverError as SolverError
from ._mesh import Mesh as Mesh, box as box, mesh_from_arrays as mesh_from_arrays, mesh_from_gmsh as mesh_from_gmsh
from ._mesh import mesh_from_meshio as mesh_from_meshio, read_mesh as read_mesh
from ._operator import Operator as Operator, Vector as Vector, assemble as assemble, cell_vectors as cell_vectors
from ._petsc import PetscPC as PetscPC, petsc_mat as petsc_mat, petsc_pc as petsc_pc
from ._pictures import Picture as Picture, plot as plot, plot_convergence as plot_convergence, plot_roofline as plot_roofline
from ._preconditioner import Preconditioner as Preconditioner
from ._problem import NullSpace as NullSpace, Problem as Problem, Series as Series, Solution as Solution, solve as solve, write as write
from ._spaces import Constant as Constant, DirichletBC as DirichletBC, Function as Function, FunctionSpace as FunctionSpace, by_tag as by_tag

__version__: str
__all__: list[str]
