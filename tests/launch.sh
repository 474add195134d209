#!/bin/sh
# Runs a test program: launch.sh COMMAND [ARGUMENTS…]. Besides the program's exit status it looks for the mark that
# tests/main.cpp leaves when all tests have come to their end, and fails without it.
mark=$(mktemp) || exit 70
trap 'rm -f "$mark"' EXIT
# ThreadSanitizer would wait a second at the end of each process that has threads left, of which there are thousands.
export TSAN_OPTIONS="${TSAN_OPTIONS:+$TSAN_OPTIONS:}atexit_sleep_ms=20"
TIDEPOOL_TEST_MARK=$mark "$@"
status=$?
if [ "$status" -eq 0 ] && [ "$(cat "$mark")" != "finished 0" ]; then
  echo "the test program exited with status 0 before its tests had come to their end" >&2
  exit 70
fi
# Wine itself dies of a segmentation fault now and then while a process whose threads are ending exits. What a program
# does wrong, also after its main, Wine reports as an exception instead, and the process ends with that as its status.
if [ "$status" -eq 139 ] && [ "$(cat "$mark")" = "finished 0" ]; then
  case " $* " in
    *"/wine.sh "*) echo "Wine crashed after the tests had passed and main had returned" >&2; exit 0 ;;
  esac
fi
exit "$status"
