#!/usr/bin/env bash
# Builds a release into dist: an archive for each platform (the command, its manual pages, completions, licence), the wheels of the Python
# package, a bill of materials of the command (CycloneDX), and SHA256SUMS. Usage: release.sh [-check] PYTHON [TARGET...]
# The same commit and toolchain give the same bytes: with -check everything is built twice, in two copies of the repository, and compared.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
if [ "${1:-}" = -check ]; then check=true && shift; fi
[ $# -gt 0 ] || { echo "usage: release.sh [-check] PYTHON [TARGET...]" >&2; exit 2; }
python=$1
shift
targets=("$@")
[ $# -gt 0 ] || targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64)

if $check; then
  copies=$(mktemp -d)
  trap 'rm -rf "$copies"' EXIT
  for copy in one another; do
    git clone -q . "$copies/$copy"
    "$copies/$copy/tools/release.sh" "$python" "${targets[@]}"
  done
  diff -r "$copies/one/dist" "$copies/another/dist"
  echo "two builds gave equal bytes"
  exit
fi

export CGO_ENABLED=0 SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' cmd/amudai/internal/app/version.go)
[ -n "$version" ] || { echo "no version in version.go" >&2; exit 1; }
dist=$PWD/dist
rm -rf "$dist"
mkdir "$dist"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# build TARGET FILE compiles the command. The revision is that of the commit, not of the build's folder.
build() {
  GOOS=${1%/*} GOARCH=${1#*/} go build -trimpath -buildvcs=true -tags grpcnotrace -ldflags '-s -w -buildid=' -o "$2" ./cmd/amudai
}

# build_sql TARGET FOLDER compiles the engine of "amudai sql", which needs a C++ compiler for the target: for this machine the usual one, for another
# that of CXX_os_arch, with CC_os_arch. Without one, the archive has the command alone.
build_sql() {
  local os=${1%/*} arch=${1#*/}
  local cc=CC_${os}_$arch cxx=CXX_${os}_$arch suffix=""
  [ "$os" != windows ] || suffix=.exe
  if [ "$1" = "$(go env GOOS)/$(go env GOARCH)" ]; then
    local "$cc=${!cc:-gcc}" "$cxx=${!cxx:-g++}"
  fi
  if [ -z "${!cxx:-}" ] || ! command -v "${!cxx}" >/dev/null; then
    echo "$1: no C++ compiler ($cxx), so the archive lacks amudai-sql" >&2
    return
  fi
  CGO_ENABLED=1 CC=${!cc:-} CXX=${!cxx} GOOS=$os GOARCH=$arch go build -C sql -trimpath -buildvcs=true -tags duckdb_arrow,grpcnotrace \
    -ldflags '-s -w -buildid=' -o "$2/amudai-sql$suffix" ./cmd/amudai-sql
}

# Pages and completions come from the command itself, built for this machine.
build "$(go env GOOS)/$(go env GOARCH)" "$work/amudai"
mkdir -p "$work/common/man/man1" "$work/common/completions"
"$work/amudai" man "$work/common/man/man1"
for shell in bash zsh fish powershell; do "$work/amudai" completion $shell >"$work/common/completions/amudai.$shell"; done
cp README.md LICENSE NOTICE CHANGELOG.md SECURITY.md "$work/common/"

for target in "${targets[@]}"; do
  name=amudai-$version-${target%/*}-${target#*/}
  cp -r "$work/common" "$work/$name"
  program=amudai
  [ "${target%/*}" != windows ] || program=amudai.exe
  build "$target" "$work/$name/$program"
  build_sql "$target" "$work/$name"
  # The list is of the build for its platform, as each links other modules.
  go tool -modfile=tools/go.mod cyclonedx-gomod bin -json -std -noserial -notimestamp -version "v$version" -output "$dist/$name.cdx.json" "$work/$name/$program"
  tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u+rwX,go+rX,go-w -cf - "$name" |
    gzip -9n >"$dist/$name.tar.gz"
done
tools/wheel.sh "$python" "${targets[@]}"
cp python/dist/*.whl "$dist/"
(cd "$dist" && sha256sum -- * >"$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
ls -l "$dist"
