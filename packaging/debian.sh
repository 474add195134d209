# shellcheck shell=bash disable=SC2034
# Which Debian packages each job needs, and how missing ones are installed. Sourced by run and test.

packages_for_run=(ca-certificates cmake g++ libcli11-dev libfmt-dev liburing-dev libxxhash-dev ninja-build nlohmann-json3-dev systemtap-sdt-dev xxhash)
packages_for_tests=("${packages_for_run[@]}" binutils ccache chromium googletest pkgconf python3)
packages_for_mingw=(g++-mingw-w64-x86-64-posix wine wine64)
packages_for_clang=(clang-19 libclang-rt-19-dev)
packages_for_notrace=(valgrind)
packages_for_format=(clang-format-19)
packages_for_tidy=(clang-tidy-19)

# install_missing PACKAGE...: does nothing, and needs no network, when all are installed.
install_missing() {
  local missing=() package
  for package in "$@"; do
    if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
      missing+=("$package")
    fi
  done
  if [ ${#missing[@]} -eq 0 ]; then
    return 0
  fi

  local install=(apt-get install --yes --no-install-recommends "${missing[@]}")
  local as_root=(env DEBIAN_FRONTEND=noninteractive)
  if ! command -v apt-get >/dev/null; then
    echo "This is not a Debian system; please install what these Debian packages stand for: ${missing[*]}" >&2
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "Packages are missing, and neither root nor sudo is at hand. Please run as root: ${install[*]}" >&2
      return 1
    fi
    as_root=(sudo "${as_root[@]}")
  fi

  echo "Installing missing packages with apt-get: ${missing[*]}" >&2
  local log
  log=$(mktemp) || return 1
  # A source that cannot be refreshed (a third party's, an unreachable mirror) only matters if the packages
  # themselves cannot be had, which the second command finds out.
  "${as_root[@]}" apt-get update </dev/null >"$log" 2>&1 || true
  if ! "${as_root[@]}" "${install[@]}" </dev/null >>"$log" 2>&1; then
    cat "$log" >&2
    echo "These packages could not be installed: ${missing[*]}" >&2
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}
