# What the tests of this project are made with. Included once, at the top, when tests are on, so that every
# folder that has tests (tests/, tools/tidepool/tests/) makes them the same way.
include(GoogleTest)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
# The interpreter itself: a version manager's shim in front of it would cost more than most of our scripts.
execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable, end='')"
  OUTPUT_VARIABLE TIDEPOOL_PYTHON COMMAND_ERROR_IS_FATAL ANY)

# ---- GoogleTest, built with the flags of this configuration (sanitizers, MinGW) --------------------
set(TIDEPOOL_GOOGLETEST_DIR /usr/src/googletest CACHE PATH "The sources of GoogleTest; when there are none, an installed package is used")
if(EXISTS ${TIDEPOOL_GOOGLETEST_DIR}/CMakeLists.txt)
  set(INSTALL_GTEST OFF CACHE INTERNAL "")
  set(BUILD_GMOCK OFF CACHE INTERNAL "")
  add_subdirectory(${TIDEPOOL_GOOGLETEST_DIR} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
else()
  find_package(GTest REQUIRED)
endif()

# The test programs' main; see tests/main.cpp.
add_library(tidepool_test_main OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(tidepool_test_main PUBLIC GTest::gtest)
tidepool_flags(tidepool_test_main)

# The tests need not be fast, and there are many of them: with these flags, and the headers that most of them include
# compiled once, they take half the time to build. The library keeps its flags. What is defined for some programs only
# does not matter to those headers.
set(TIDEPOOL_FLAGS_OF_TESTS -O0 -g1)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(TIDEPOOL_FLAGS_OF_TESTS -O1 -g1)
endif()
add_executable(tidepool_test_headers EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/main.cpp)
target_link_libraries(tidepool_test_headers PRIVATE GTest::gtest)
target_compile_options(tidepool_test_headers PRIVATE ${TIDEPOOL_WARNINGS} ${TIDEPOOL_FLAGS_OF_TESTS})
if(WIN32)
  target_compile_definitions(tidepool_test_headers PRIVATE ${TIDEPOOL_WINDOWS_DEFINITIONS})
endif()
target_precompile_headers(tidepool_test_headers PRIVATE <gtest/gtest.h> <algorithm> <chrono> <condition_variable> <fstream>
  <functional> <thread>)

function(tidepool_builds_quickly name)
  target_compile_options(${name} PRIVATE ${TIDEPOOL_FLAGS_OF_TESTS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of its own headers, when they are compiled beforehand, it gives warnings that it keeps to itself otherwise.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  target_precompile_headers(${name} REUSE_FROM tidepool_test_headers)
endfunction()

# ---- how a test program is started -----------------------------------------------------------------
set(TIDEPOOL_TEST_LAUNCHER ${PROJECT_SOURCE_DIR}/tests/launch.sh ${CMAKE_CROSSCOMPILING_EMULATOR})
# Longer than the tests' own watchdogs, which know more about what hangs.
set(TIDEPOOL_TEST_PROPERTIES TIMEOUT 120)

# tidepool_add_tests(NAME SOURCES files… [LIBRARIES targets…]): a GoogleTest program, each of whose tests is a
# test of CTest, named after the program less its "_tests". Its main is tests/main.cpp.
function(tidepool_add_tests name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} tidepool_test_main GTest::gtest)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests ${PROJECT_SOURCE_DIR}/src)
  tidepool_flags(${name})
  tidepool_builds_quickly(${name})
  set_target_properties(${name} PROPERTIES CROSSCOMPILING_EMULATOR "${TIDEPOOL_TEST_LAUNCHER}")
  string(REGEX REPLACE "_tests$" "" prefix ${name})
  gtest_discover_tests(${name}
    TEST_PREFIX ${prefix}.
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES ${TIDEPOOL_TEST_PROPERTIES})
endfunction()

# tidepool_add_tests_on_io_paths(NAME FILTER): those tests of the program again for each way in which requests on files
# can be carried out. The engine takes its choice from the environment; a test whose way is not there skips itself.
function(tidepool_add_tests_on_io_paths name filter)
  string(REGEX REPLACE "_tests$" "" prefix ${name})
  foreach(path uring portable)
    gtest_discover_tests(${name}
      TEST_PREFIX ${prefix}.
      TEST_SUFFIX .${path}
      TEST_FILTER ${filter}
      TEST_LIST ${name}_${path}
      DISCOVERY_MODE PRE_TEST
      DISCOVERY_TIMEOUT 60
      PROPERTIES ${TIDEPOOL_TEST_PROPERTIES} ENVIRONMENT TIDEPOOL_IO=${path})
  endforeach()
endfunction()

# tidepool_add_program_test(TEST TARGET [arguments…]): a test that runs a program and expects exit status 0.
function(tidepool_add_program_test test target)
  add_test(NAME ${test} COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${target}> ${ARGN})
  set_tests_properties(${test} PROPERTIES ${TIDEPOOL_TEST_PROPERTIES})
endfunction()
