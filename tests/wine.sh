#!/bin/sh
# Runs a Windows program: wine.sh PROGRAM [ARGUMENTS…]. By itself Wine ends its server with the last program and starts
# another for the next one, which takes long, and a program that meets a server on its way out may not start at all. So
# there is a server first that stays. What starts a server also starts services, which keep its output open: hence nowhere.
# It does not start without the folder that Wine keeps its files in, which a new machine has not.
mkdir -p "${WINEPREFIX:-$HOME/.wine}"
if wineserver -p600 </dev/null >/dev/null 2>&1; then
  /usr/bin/wine wineboot </dev/null >/dev/null 2>&1
fi
exec /usr/bin/wine "$@"
