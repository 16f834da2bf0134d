# SPDX-License-Identifier: BSD-3-Clause
# What ./rafter.sh bundle packs (scripts/bundle.sh): the command and the tests of devices once more, linked so that they run in a folder
# of their own with the libraries beside it, on machines where nothing is installed.
#
# They find the libraries by DT_RPATH, which holds for what libraries need in turn and for what is opened at run time. DT_RUNPATH, the
# linker's default, holds for the program's own list alone; LD_LIBRARY_PATH, set by a script before the program, would reach the compilers
# that the program starts, which are those of the machine and need its libraries. The programs of the build and of an installation
# keep their way: a folder beside a build may belong to anybody.
set(bundle_dir ${PROJECT_BINARY_DIR}/bundle)

# add_bundled(NAME TARGETS...): a program of the objects of others.
function(add_bundled name)
  set(objects)
  set(libraries)
  foreach(target ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
    get_target_property(linked ${target} LINK_LIBRARIES)
    list(APPEND libraries ${linked})
  endforeach()
  list(REMOVE_DUPLICATES libraries)
  add_executable(bundled_${name} ${objects})
  if(NOT RAFTER_TESTS) # tests pack a bundle
    set_target_properties(bundled_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_link_libraries(bundled_${name} PRIVATE ${libraries})
  target_link_options(bundled_${name} PRIVATE -s -Wl,--disable-new-dtags)
  set_target_properties(bundled_${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${bundle_dir}/bin LINKER_LANGUAGE CXX
                        BUILD_RPATH "$ORIGIN/../lib")
  add_dependencies(bundle bundled_${name})
endfunction()

add_custom_target(bundle)
add_bundled(rafter rafter_command)
if(RAFTER_TESTS)
  find_package(GTest REQUIRED) # its targets are those of the folder of the tests
  add_bundled(device-tests test_unit_device test_unit_emit)
endif()

# A layer of the OpenCL loader that records what the driver was asked to do and how long it took (bench/device.sh).
include(CheckIncludeFile)
check_include_file(CL/cl_layer.h RAFTER_HAS_OPENCL_LAYERS)
if(RAFTER_HAS_OPENCL_LAYERS)
  add_library(opencl_times MODULE bench/opencl_times.c)
  target_link_libraries(opencl_times PRIVATE rafter_flags Threads::Threads)
  target_include_directories(opencl_times SYSTEM PRIVATE ${OPENCL_INCLUDE_DIR})
  set_target_properties(opencl_times PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${bundle_dir}/lib UNITY_BUILD OFF)
  target_link_options(opencl_times PRIVATE -s)
  add_dependencies(bundle opencl_times)
endif()
