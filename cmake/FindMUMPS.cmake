# SPDX-License-Identifier: BSD-3-Clause
# The sequential MUMPS (Debian: libmumps-seq-dev; licence CeCILL-C), double precision: the target MUMPS::MUMPS. Its
# parallel build is not taken: it wants MPI to be started.
find_path(MUMPS_INCLUDE_DIR dmumps_c.h PATH_SUFFIXES mumps_seq MUMPS)
find_library(MUMPS_LIBRARY dmumps_seq)
if(MUMPS_INCLUDE_DIR)
  file(STRINGS ${MUMPS_INCLUDE_DIR}/dmumps_c.h mumps_version_line REGEX "define MUMPS_VERSION \"[0-9.]+\"")
  string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" MUMPS_VERSION "${mumps_version_line}")
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MUMPS REQUIRED_VARS MUMPS_LIBRARY MUMPS_INCLUDE_DIR VERSION_VAR MUMPS_VERSION
                                  REASON_FAILURE_MESSAGE "Debian: libmumps-seq-dev, which rafter.sh setup installs")
mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_LIBRARY)
if(MUMPS_FOUND AND NOT TARGET MUMPS::MUMPS)
  add_library(MUMPS::MUMPS UNKNOWN IMPORTED)
  set_target_properties(MUMPS::MUMPS PROPERTIES IMPORTED_LOCATION ${MUMPS_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${MUMPS_INCLUDE_DIR})
endif()
