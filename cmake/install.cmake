# What is installed: libraries, headers, the tool, the CMake package, pkg-config files; and a target that takes
# it all away again.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tidepool)

# ---- libraries, headers, programs ------------------------------------------------------------------
install(TARGETS tidepool tidepool_support tidepool_windows_h tidepool_exception_observer EXPORT tidepool-targets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
set(header_filter FILES_MATCHING PATTERN *.hpp PATTERN win32 EXCLUDE)
if(NOT WIN32)
  install(TARGETS tidepool_engine EXPORT tidepool-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(header_filter FILES_MATCHING PATTERN *.hpp PATTERN *.h)
endif()
install(DIRECTORY include/tidepool DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${header_filter})
if(TARGET tidepool_tool)
  install(TARGETS tidepool_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# ---- find_package(tidepool) ------------------------------------------------------------------------
install(EXPORT tidepool-targets NAMESPACE tidepool:: DESTINATION ${package_dir})
# A program in C that links the engine needs the C++ library by name, whichever one this compiler uses.
set(TIDEPOOL_CXX_RUNTIME ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER TIDEPOOL_CXX_RUNTIME INCLUDE REGEX "^(std)?c\\+\\+$")
configure_package_config_file(cmake/tidepool-config.cmake.in ${PROJECT_BINARY_DIR}/tidepool-config.cmake
  INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tidepool-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tidepool-config.cmake ${PROJECT_BINARY_DIR}/tidepool-config-version.cmake
  DESTINATION ${package_dir})

# ---- pkg-config ------------------------------------------------------------------------------------
if(NOT WIN32)
  # Paths relative to the .pc file, so that an installation can be moved.
  set(pc_dir ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  foreach(kind LIBDIR INCLUDEDIR)
    set(TIDEPOOL_PC_${kind} ${CMAKE_INSTALL_FULL_${kind}})
    if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_${kind}} AND NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
      file(RELATIVE_PATH relative ${pc_dir} ${CMAKE_INSTALL_FULL_${kind}})
      set(TIDEPOOL_PC_${kind} "\${pcfiledir}/${relative}")
    endif()
  endforeach()
  if(NOT TIDEPOOL_SELF_HEAL)
    set(TIDEPOOL_PC_DEFINITIONS " -DTIDEPOOL_NO_SELF_HEAL=1")
  endif()
  list(TRANSFORM TIDEPOOL_CXX_RUNTIME PREPEND -l OUTPUT_VARIABLE runtime)
  list(JOIN runtime " " TIDEPOOL_PC_CXX_RUNTIME)
  foreach(name tidepool tidepool-windows-h)
    configure_file(packaging/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()

# ---- uninstall -------------------------------------------------------------------------------------
if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND}
    -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake)
endif()
