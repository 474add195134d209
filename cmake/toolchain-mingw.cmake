# 64-bit Windows by MinGW-w64, run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# A missing DLL ends a program under Wine without a word; link everything in.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static")
# Without the override a crash starts Wine's debugger and the program exits 0.
set(CMAKE_CROSSCOMPILING_EMULATOR
    "env;WINEDEBUG=-all;WINEDLLOVERRIDES=winedbg.exe,winemenubuilder.exe,mscoree,mshtml=d;${CMAKE_CURRENT_LIST_DIR}/../tests/wine.sh")
