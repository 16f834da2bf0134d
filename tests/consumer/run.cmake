# SPDX-License-Identifier: BSD-3-Clause
# This script installs the build into a prefix inside the build tree, configures, builds and runs the project of this
# folder against it, and compares what it prints. Usage:
#
# cmake -DBUILD_DIR=... -DCONFIG=... [-DCXX=... -DGENERATOR=...] -P run.cmake
set(work ${BUILD_DIR}/consumer)
file(REMOVE_RECURSE ${work})

function(must_run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGV}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

must_run(${CMAKE_COMMAND} --install ${BUILD_DIR} --config ${CONFIG} --prefix ${work}/prefix)
must_run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${CMAKE_CURRENT_LIST_DIR} -B ${work}/build -DCMAKE_PREFIX_PATH=${work}/prefix
         -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_BUILD_TYPE=${CONFIG})
must_run(${CMAKE_COMMAND} --build ${work}/build)
must_run(${work}/build/consumer)
if(NOT output MATCHES "^L[(]u[)] = 0[.]333333333\n$")
  message(FATAL_ERROR "the consumer printed '${output}' instead of 'L(u) = 0.333333333'")
endif()
if(EXISTS ${BUILD_DIR}/rafter)
  must_run(${work}/prefix/bin/rafter --version)
endif()
