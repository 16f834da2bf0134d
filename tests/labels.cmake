# SPDX-License-Identifier: BSD-3-Clause
# What tests need, and the labels that they have beside the folder they stand in. ctest reads this file each time, after the
# lists of GoogleTest's tests: RAFTER_TEST_MODULES (such as property/operator) names the lists, test_property_operator_TESTS
# holds one. Names follow rules, and a rule that no test follows any more is an error.
#
#   exhaustive   runs before a release and for who changes elements: ./rafter.sh test --all
#   interpreted  mostly runs an interpreter, which has one thread and takes minutes under a sanitizer, or distinguishes plans
#   driver       runs on an OpenCL driver
#   optimised    compiles its kernels with the flags of users, since plans, emitters or bits are tested
#   threads      runs under the thread sanitizer, unless it is interpreted or exhaustive
#   unsanitized  takes minutes under the address sanitizer, where other instances find the same faults

# All tests, whatever they are written in, share one cache of kernels in the folder of the build, or the one that
# RAFTER_TEST_CACHE names: texts of kernels do not depend on how Rafter is compiled, and what the tests of one build have
# compiled serves those of another. The user's own cache would hide what tests cost, and is not theirs to fill.
if(NOT "$ENV{RAFTER_TEST_CACHE}" STREQUAL "")
  set(RAFTER_TEST_CACHE "$ENV{RAFTER_TEST_CACHE}")
endif()
set(ENV{XDG_CACHE_HOME} "${RAFTER_TEST_CACHE}")
file(MAKE_DIRECTORY "${RAFTER_TEST_CACHE}")
# Kernels of tests run on a few cells, so that compiling them takes longer than they do: a gcc that does not optimise is found
# first, and such a clang where there is one.
set(ENV{RAFTER_USERS_PATH} "$ENV{PATH}")
set(ENV{PATH} "${RAFTER_QUICK_COMPILER_DIR}:$ENV{PATH}")
string(REPLACE ":" ";" users_folders "$ENV{RAFTER_USERS_PATH}")
foreach(folder ${users_folders})
  if(EXISTS "${folder}/clang")
    set(ENV{PATH} "${RAFTER_QUICK_COMPILER_DIR}/../quick_clang:$ENV{PATH}")
    break()
  endif()
endforeach()

# label_tests(LABEL PATTERN MODULE...): the tests of the modules whose names behind <label>/<module>/ match have the label.
function(label_tests name pattern)
  set(are_all_built TRUE)
  set(is_followed FALSE)
  foreach(module ${ARGN})
    string(REPLACE "/" "_" tests test_${module}_TESTS)
    list(FIND RAFTER_TEST_MODULES ${module} position)
    if(position EQUAL -1)
      message(FATAL_ERROR "tests/labels.cmake: there is no module of tests '${module}'")
    elseif(NOT DEFINED ${tests})
      set(are_all_built FALSE)
      continue()
    endif()
    set(found ${${tests}})
    list(FILTER found INCLUDE REGEX "^${module}/(${pattern})")
    if(found)
      set(is_followed TRUE)
      set_tests_properties(${found} PROPERTIES LABELS ${name})
      if(name STREQUAL "driver") # nor does PoCL optimise; problems of the command have more cells
        set_tests_properties(${found} PROPERTIES ENVIRONMENT POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable)
      elseif(name STREQUAL "optimised")
        set_tests_properties(${found} PROPERTIES ENVIRONMENT "PATH=$ENV{RAFTER_USERS_PATH}")
      endif()
    endif()
  endforeach()
  if(are_all_built AND NOT is_followed)
    message(FATAL_ERROR "tests/labels.cmake: no test of ${ARGN} is named ${pattern}")
  endif()
endfunction()

# Kernels of a shape are compiled or interpreted in these modules, which is what costs. Their instances are named by shape, and
# for every change they run on intervals, quadrilaterals, tetrahedra, hexahedra and the mixed mesh, which has prisms and
# pyramids beside these. Elements, meshes and spaces take milliseconds: there every change runs every shape.
set(modules_with_kernels convergence/solve property/emit property/operator property/schedule property/solve unit/operator
                         unit/schedule unit/solve)
label_tests(exhaustive "[^/]+/[^/]+/(triangle|prism|pyramid)(_[a-z0-9_]*)?$" ${modules_with_kernels})
# A driver compiles long: intervals, quadrilaterals and the mixed mesh, which has tetrahedra and hexahedra, too.
label_tests(exhaustive "every_shape/(OpenClOnShape[.].*|CellPerItem[.]EqualsTheHostWhenOpenClRunsIt)/(tetrahedron|hexahedron)$" unit/operator)
label_tests(exhaustive "every_shape/(OpenClOnShape[.](Transfers|ActionsOfVectors)[A-Za-z]*|CellPerItem[.]EqualsTheHostWhenOpenClRunsIt)/mixed$" unit/operator)
# Every target compiles with another compiler or for another processor and runs a third of the cases; NEON runs half of them.
label_tests(exhaustive "one_text/Targets[.].*/(more_neon_[a-z]+|[a-z0-9]+_(triangle|prism|pyramid)|(sve|sse2|avx2|avx512)_(interval|quadrilateral)|sve_tetrahedron)$" property/emit)
# Other materials are on triangles alone.
label_tests(exhaustive "laws/NonlinearOrder[.].*/p_laplacian_triangle$" convergence/solve)
# Degrees and files that hold a law again: every change runs degrees 1 to 4 and the highest ones.
label_tests(exhaustive "all/PointsInNodes[.].*_p[5-9]$" property/operator)
label_tests(exhaustive "all/HighDegrees[.].*/(interval_p11|quadrilateral_p7|tetrahedron_p5|hexahedron_p[57])$" property/operator)
label_tests(exhaustive "all/DegreesOfCellVectors[.].*/(quadrilateral_p4|tetrahedron_p4|hexahedron_p[567])$" property/operator)
label_tests(exhaustive "shapes/CurvedOrder[.].*/(tetrahedron|hexahedron|mixed)_p3_g3$" convergence/solve)
label_tests(exhaustive "files/SampleMeshOrder[.].*/(annulus_hex_order2|disc_quad_order2|fichera_mixed|toroid_hex|nested_cubes)_p[1-3]$" convergence/solve)
# Drawn hierarchies: three for every change, sixteen in all.
label_tests(exhaustive "seeds/RandomMultigrid[.].*/([3-9]|1[0-5])$" property/solve)
# The product of all keys of cells in items; every change runs a diagonal through it, drivers on tetrahedra alone.
label_tests(exhaustive "all/EveryItemKey[.]" unit/operator)
label_tests(exhaustive "(others/ItemKeys[.].*(OpenCl.*|_on_tetrahedra_p2|_on_pyramids)|published/ItemKeys[.].*OpenCl.*_on_prisms)$" unit/operator)
# Numbers of other types are the same for all shapes.
label_tests(exhaustive "every_shape/Floats[.].*/mixed$" property/operator)

# --- what sanitizers run --------------------------------------------------------------------------------------------
label_tests(threads "" unit/comm unit/device unit/operator unit/solve)
# Of the laws: those whose names tell of threads or processes, and on the mixed mesh those that make, run and add in different ways.
label_tests(threads ".*(Threads|Ranks)" property/operator property/solve)
label_tests(threads "[a-z_]+/(Algebra|Assembled|FacetTerms|FusedVectors|Integrals|Sparse)[.].*/mixed" property/operator)
label_tests(threads "[a-z_]*/?(FusedCg|FusedChebyshev|Multigrid|NewtonWithMultigrid)[.]" property/solve)
label_tests(interpreted "([a-z_]+/)?(Specifications|PointsInLanes|SeparableKernels|Groups[A-Za-z]*|HighDegrees|PointsInNodes|[A-Za-z]*CellVectors|LocalTraffic[A-Za-z]*|Ranks|RanksOfOneToEight)[.]"
            property/operator)
label_tests(interpreted "([a-z_]+/)?(Assembled[.](EqualsTheKernels|HoldsWhole)|AssembledMatrix[.]HoldsNo|SystemsCompiled[.].*LooksForFaults|Plans[.](EveryRecipe|ARecipe)|Patches[.](GiveWhat|Diagonals|OfSeveral)|PeriodicOperator[.]ActsAs|Systems[.]StoredLaws|Floats[.]ThatAre(Stored|Computed)|Indices[.]OfBatches)"
            property/operator)
label_tests(interpreted "shapes/Transfers[.]DoSoWithEveryPlan" property/operator)
label_tests(interpreted "SolvesOfRanks[.]" property/solve)
label_tests(interpreted "VectorLoops[.].*OnTheInterpreter" unit/solve)
label_tests(interpreted "CellPerItemSums[.]InTwoPasses" unit/operator)
label_tests(interpreted "[a-z]+/(ItemKeys|EveryItemKey)[.].*Races" unit/operator)
label_tests(interpreted "every_shape/CellPerItem[.]([A-Za-z_]*/(tetrahedron|hexahedron)|EqualsTheHostFor[A-Za-z_]*/mixed)" unit/operator)
label_tests(interpreted "every_grid/PointsInItems[.](Equal|Have)[A-Za-z]*/hexahedron" unit/operator)
label_tests(unsanitized "every_shape/(CellPerItem|OpenClOnShape|Programs)[.][A-Za-z_]*/(tetrahedron|hexahedron)" unit/operator unit/schedule)
label_tests(unsanitized "every_shape/CellPerItem[.]EqualsTheHostFor[A-Za-z_]*/mixed" unit/operator)
label_tests(unsanitized "every_grid/PointsInItems[.](Equal|Have)[A-Za-z]*/hexahedron" unit/operator)
label_tests(unsanitized "every_shape/TensorProgram[.]agrees_with_the_form_for_every_contraction_map_and_recipe/hexahedron" unit/kernel)
label_tests(unsanitized "every/Reflected[.]NodesFoldAtEveryDegree/pyramid" unit/kernel)
label_tests(unsanitized "refined[.]along_some_axes_a_box_is|WriteGmsh[.]RoundTripKeepsCurvedBoxesOfEveryShape" unit/mesh)
# Programs of all kernels are thousands of lines of text on most shapes, which do what those of intervals do.
label_tests(unsanitized "every_shape/Programs[.][A-Za-z_]*/(mixed|quadrilateral)" unit/schedule)
label_tests(unsanitized "every_shape/OperatorOnShape[.]compiled_kernels_equal_the_long_way/(tetrahedron|mixed)" unit/operator)
# How many iterations a solve takes is a matter of numbers: those that need the fewest show faults of memory, too.
label_tests(unsanitized "single_levels[.](need_as_many|make_cycles|serve_operators|of_c)|single_levels_on_shape[.].*/(mixed|tetrahedron|hexahedron)$" unit/solve)
label_tests(unsanitized "multigrid[.]needs_few_iterations_(on_every_shape|on_stretched|whatever)|low_order_refined[.](serves|iterations)" unit/solve)
label_tests(unsanitized "(Aggregation|BoomerAmg)[.](IterationsDo|SolvesSingular|Constrained|MatricesThatItCannot|RigidModes|CyclesAreSym)" unit/solve)
label_tests(unsanitized "VectorLoops[.]AnyNumber|NearNullSpace[.]OfTangents|Cg[.]ResidualsThatStay|FusedLoops[.]RunOnTheRanges|FlexibleCg[.]ConvergesInFewer" unit/solve)
label_tests(unsanitized "every_shape/ResidentSolvesOnShape[.].*/(mixed|tetrahedron|hexahedron)$|ResidentSolves[.]ReadResiduals|CoarseSolvers[.]OfLarge" unit/solve)
# Shapes and degrees that take longest, beside others of the same test.
label_tests(unsanitized "every_shape/OpenClOnShape[.].*/mixed$" unit/operator)
label_tests(unsanitized "All/BenchGeometry[.]IsAValidMesh[A-Za-z]*/curved_(pyramids|tetrahedra|hexahedra)$" unit/command)
label_tests(unsanitized "DeviceRecords[.](ThatAreDamaged|UnderTheName)" unit/tune)
label_tests(unsanitized "every_shape/TensorProgram[.]agrees_with[a-z_]*/(quadrilateral|pyramid|prism)|Hoisting[.]KeepsValues" unit/kernel)
label_tests(unsanitized "WriteGmsh[.]RoundTripKeepsSamples" unit/mesh)
label_tests(unsanitized "shapes/VtkHdfReader[.].*/(prism|hexahedron|tetrahedron)_5$|VtkCells[.]PointsOnTheSides|OutputPoints[.]AreAsMany" unit/io)
label_tests(unsanitized "All/BasisTest[.]IsOrthonormal/(prism|pyramid)$" unit/element)
label_tests(unsanitized "SharedExpressions[.]WhatGrows" unit/form)
# Texts that depend on the compiler of Rafter show in a few examples.
label_tests(unsanitized "all/Replay[.].*/(problems_.*|.*_p[0-9]+|examples_(beam|beam_multigrid|convection|free_body|heat|helmholtz|navier_stokes|neo_hookean|neo_hookean_2d|neumann|periodic|plate|poisson|poisson_mixed|poisson_prism|poisson_pyramid|reaction_diffusion|robin|st_venant_[a-z3_]+|thermoelasticity))$" golden/command)
# Hundreds of searches, among made figures and recorded ones, do in each what one does.
label_tests(unsanitized "Search[.](FindsMade|IsWithinFivePercent|LosesOneKernel)" unit/tune)

# --- what needs a driver --------------------------------------------------------------------------------------------
label_tests(driver ".*OpenCl" unit/device error/device unit/emit unit/operator unit/solve property/operator property/solve)
label_tests(driver "(every_shape/)?(Resident|Queued)" unit/solve)
label_tests(driver "Device" unit/tune)

# --- what compiles as users do --------------------------------------------------------------------------------------
label_tests(optimised "" golden/operator property/emit unit/emit exhaustive/operator)
label_tests(optimised ".*Bits|Plans[.]" property/operator property/solve unit/operator)
label_tests(optimised "Flags[.]" unit/device)
label_tests(optimised "MachineProbe[.]" unit/machine)
