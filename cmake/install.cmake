# SPDX-License-Identifier: BSD-3-Clause
# cmake --install: the library, its headers under include/rafter, the command, and the package for find_package(rafter).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rafter)
install(TARGETS rafter EXPORT rafterTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/rafter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "CMakeFiles" EXCLUDE
        PATTERN "opencl_library.hpp" EXCLUDE) # the only header that needs those of OpenCL
if(TARGET rafter_hypre)
  install(TARGETS rafter_hypre LIBRARY DESTINATION ${RAFTER_MODULE_DIR})
endif()
install(EXPORT rafterTargets NAMESPACE rafter:: DESTINATION ${package_dir})
if(TARGET rafter_command)
  install(TARGETS rafter_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

get_target_property(rafter_library_type rafter TYPE)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/rafter-config.cmake.in ${PROJECT_BINARY_DIR}/rafter-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rafter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rafter-config.cmake ${PROJECT_BINARY_DIR}/rafter-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindMUMPS.cmake
        DESTINATION ${package_dir})
