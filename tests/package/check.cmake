# Installs, builds the consumers with find_package and with pkg-config, runs them, and uninstalls.
cmake_minimum_required(VERSION 3.23)
set(prefix ${SCRATCH}/prefix)
file(REMOVE_RECURSE ${SCRATCH})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
endfunction()

# ---- find_package: a project in C++ and C, and one in C alone ----------------------------------------
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

set(common -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIGURATION} -DEXPECTED_VERSION=${VERSION}
  -DWIN32_PROGRAM=${WIN32_PROGRAM} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_COMPILER=${CXX})
if(TOOLCHAIN)
  # The toolchain file searches the cross-compiled system only; the package is outside of it.
  list(APPEND common -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -Dtidepool_DIR=${prefix}/${LIBDIR}/cmake/tidepool)
else()
  list(APPEND common -DCMAKE_PREFIX_PATH=${prefix})
endif()
foreach(languages "C;CXX" "C")
  string(REPLACE ";" "_" name "${languages}")
  set(build ${SCRATCH}/consumer_${name})
  run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${build} ${common} "-DLANGUAGES=${languages}")
  run(${CMAKE_COMMAND} --build ${build})
  run(${CMAKE_CTEST_COMMAND} --test-dir ${build} --output-on-failure --no-tests=error)
endforeach()

# ---- pkg-config --------------------------------------------------------------------------------------
if(NOT TOOLCHAIN)
  find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  function(build_with_pkg_config module compiler source)
    run(${PKG_CONFIG} --exact-version=${VERSION} ${module})
    run(${PKG_CONFIG} --cflags --libs ${module})
    separate_arguments(flags UNIX_COMMAND "${output}")
    get_filename_component(name ${source} NAME)
    run(${compiler} ${ARGN} ${source} -o ${SCRATCH}/${name}.program ${flags})
    run(${SCRATCH}/${name}.program)
  endfunction()
  build_with_pkg_config(tidepool ${CXX} ${CONSUMER}/safe.cpp -std=c++20)
  build_with_pkg_config(tidepool-windows-h ${CC} ${WIN32_PROGRAM} -std=c11)
endif()

# ---- uninstall ---------------------------------------------------------------------------------------
run(${CMAKE_COMMAND} --build ${BUILD} --target uninstall)
file(GLOB_RECURSE left ${prefix}/*)
if(left)
  message(FATAL_ERROR "uninstall left ${left}")
endif()
