#!/usr/bin/env bash
# Prints the path of a flatc of the version that go.mod names for the FlatBuffers runtime. The first call compiles it, from
# the C++ sources that the runtime's Go module contains (needs cmake and a C++ compiler), into bin/.
# FLATC=/path/to/flatc uses another one; it must have the same version.
set -euo pipefail
cd "$(dirname "$0")/.."

module=github.com/google/flatbuffers
go mod download "$module"
read -r version source < <(go list -m -f '{{.Version}} {{.Dir}}' "$module")
version=${version#v}
version=${version%+incompatible}

flatc=${FLATC:-$PWD/bin/flatc-$version}
if [ ! -x "$flatc" ]; then
  if [ -n "${FLATC:-}" ]; then
    echo "flatc.sh: FLATC=$FLATC is not a program" >&2
    exit 1
  fi
  build=$(mktemp -d)
  trap 'rm -rf "$build"' EXIT
  echo "flatc.sh: compiling flatc $version" >&2
  # Without optimisation: flatc runs for a millisecond, its compilation would take minutes.
  {
    cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 \
      -DFLATBUFFERS_BUILD_TESTS=OFF -DFLATBUFFERS_BUILD_FLATHASH=OFF -DFLATBUFFERS_INSTALL=OFF
    cmake --build "$build" --target flatc --parallel 2
  } >"$build/log" 2>&1 || { cat "$build/log" >&2; exit 1; }
  mkdir -p bin
  # A rename, so that no other caller sees half a program.
  cp "$build/flatc" "$flatc.$$"
  mv "$flatc.$$" "$flatc"
fi

found=$("$flatc" --version)
if [ "$found" != "flatc version $version" ]; then
  echo "flatc.sh: $flatc is \"$found\", want version $version" >&2
  exit 1
fi
echo "$flatc"
