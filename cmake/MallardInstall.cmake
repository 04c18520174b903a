# Installation in five components, and the ways in for consumers: find_package and pkg-config.
#
#   devel    headers, CMake package, pkg-config file
#   library  libmallard.so and libmallard.a, for C, and how to find them
#   tools    bin/mallard-*, and lib/mallard/ for what is loaded into other programs
#   bench    bin/mallard-bench, the benchmarks of papers
#   python   the native module of the Python package (the wheel is: tools + python; mallard-bench's: bench)
include(CMakePackageConfigHelpers)

option(MALLARD_INSTALL "Install mallard with this build" ${PROJECT_IS_TOP_LEVEL})

# Where tools go, and what they load into other programs; a tool finds the second from the first. In a
# wheel both belong to the environment it is installed into, beside the `mallard` command.
set(MALLARD_PRELOAD_FROM_BIN ../lib/mallard)
if(SKBUILD)
  set(mallard_bin_dir ${SKBUILD_SCRIPTS_DIR})
  set(mallard_preload_dir ${SKBUILD_DATA_DIR}/lib/mallard)
else()
  set(mallard_bin_dir bin)
  set(mallard_preload_dir lib/mallard)
endif()

# mallard_install_tool(TARGET [COMPONENT]): a program a user runs, one of the tools unless another component is named.
function(mallard_install_tool target)
  set(component ${ARGN} tools)
  list(GET component 0 component)
  if(MALLARD_INSTALL)
    install(TARGETS ${target} RUNTIME DESTINATION ${mallard_bin_dir} COMPONENT ${component})
  endif()
endfunction()

# mallard_install_preload(TARGET): a library that is loaded into other programs, never linked.
function(mallard_install_preload target)
  if(MALLARD_INSTALL)
    install(TARGETS ${target} LIBRARY DESTINATION ${mallard_preload_dir} COMPONENT tools)
  endif()
endfunction()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mallard)

# mallard_install_pkgconfig(NAME COMPONENT DESCRIPTION [LINE...]): NAME.pc, with further lines.
function(mallard_install_pkgconfig name component description)
  file(RELATIVE_PATH prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  list(JOIN ARGN "\n" further)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${name}.pc @ONLY CONTENT "prefix=\${pcfiledir}/@prefix@
includedir=\${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=\${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: @name@
Description: @description@
Version: @PROJECT_VERSION@
Cflags: -I\${includedir}
@further@
")
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# mallard_install_c_libraries(TARGET...): what programs in C link.
function(mallard_install_c_libraries)
  if(MALLARD_INSTALL)
    install(TARGETS ${ARGN} EXPORT mallard-c-targets COMPONENT library)
    install(EXPORT mallard-c-targets NAMESPACE mallard:: DESTINATION ${package_dir} COMPONENT library)
    mallard_install_pkgconfig(mallard-c library "The heaps of mallard for programs in C"
      "Libs: -L\${libdir} -lmallard" "Libs.private: -lstdc++")
  endif()
endfunction()

if(MALLARD_INSTALL)
  configure_package_config_file(cmake/mallard-config.cmake.in mallard-config.cmake
    INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
  write_basic_package_version_file(mallard-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
  mallard_install_pkgconfig(mallard devel "${PROJECT_DESCRIPTION}")

  install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT devel)
  install(TARGETS mallard EXPORT mallard-targets COMPONENT devel)
  install(EXPORT mallard-targets NAMESPACE mallard:: DESTINATION ${package_dir} COMPONENT devel)
  install(FILES ${PROJECT_BINARY_DIR}/mallard-config.cmake ${PROJECT_BINARY_DIR}/mallard-config-version.cmake
    DESTINATION ${package_dir} COMPONENT devel)
endif()
