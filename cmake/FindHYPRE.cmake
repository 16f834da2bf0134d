# SPDX-License-Identifier: BSD-3-Clause
# hypre (Debian: libhypre-dev; licence Apache-2.0 or MIT): the target HYPRE::HYPRE, and HYPRE_NEEDS_MPI where its headers
# include those of MPI.
find_path(HYPRE_INCLUDE_DIR HYPRE.h PATH_SUFFIXES hypre)
find_library(HYPRE_LIBRARY HYPRE)
if(HYPRE_INCLUDE_DIR AND EXISTS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h)
  file(STRINGS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h hypre_version_line REGEX "define HYPRE_RELEASE_VERSION +\"[0-9.]+\"")
  string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" HYPRE_VERSION "${hypre_version_line}")
  file(STRINGS ${HYPRE_INCLUDE_DIR}/HYPRE_config.h hypre_sequential REGEX "^#define HYPRE_SEQUENTIAL")
  if(NOT hypre_sequential)
    set(HYPRE_NEEDS_MPI ON)
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HYPRE REQUIRED_VARS HYPRE_LIBRARY HYPRE_INCLUDE_DIR VERSION_VAR HYPRE_VERSION)
mark_as_advanced(HYPRE_INCLUDE_DIR HYPRE_LIBRARY)
if(HYPRE_FOUND AND NOT TARGET HYPRE::HYPRE)
  add_library(HYPRE::HYPRE UNKNOWN IMPORTED)
  set_target_properties(HYPRE::HYPRE PROPERTIES IMPORTED_LOCATION ${HYPRE_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${HYPRE_INCLUDE_DIR})
endif()
