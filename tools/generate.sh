#!/usr/bin/env bash
# Regenerates all generated code: gen/ from proto/ and fbs/, then the output of "go generate" directives.
# With -check it changes nothing, and fails if a committed file differs from the output of the generators.
set -euo pipefail
cd "$(dirname "$0")/.."

check=false
case "${1:-}" in
  "") ;;
  -check) check=true ;;
  *) echo "usage: generate.sh [-check]" >&2; exit 2 ;;
esac

buf=(go tool -modfile=tools/go.mod buf)
flatc=$(tools/flatc.sh)

# generate_definitions DIR writes the content of gen/ to DIR.
generate_definitions() {
  "${buf[@]}" generate --template "$(sed "s|^    out: gen$|    out: $1|" buf.gen.yaml)"
  # The definitions themselves, with their comments, for languages and tools that read a FileDescriptorSet.
  "${buf[@]}" build --as-file-descriptor-set -o "$1/amudai/amudai.binpb"
  "$flatc" --go --gen-onefile --go-namespace schemafb -o "$1/fbs/schema" fbs/schema.fbs
  gofmt -w "$1/fbs"
}

if ! $check; then
  rm -rf gen/amudai gen/fbs
  generate_definitions gen
  go generate ./...
  exit
fi

# The check works on two copies of the tree, so that it neither needs nor disturbs a clean work tree.
copies=$(mktemp -d)
trap 'rm -rf "$copies"' EXIT
mkdir "$copies/committed"
git ls-files -z --cached --others --exclude-standard |
  xargs -0 sh -c 'for f; do [ ! -e "$f" ] || printf "%s\0" "$f"; done' sh |
  tar --null -T - -cf - | tar -C "$copies/committed" -xf -
cp -a "$copies/committed" "$copies/generated"
mkdir "$copies/generated/bin"
cp "$flatc" "$copies/generated/bin/"
env -u FLATC "$copies/generated/tools/generate.sh"
rm -r "$copies/generated/bin"
if ! (cd "$copies" && diff -r -q committed generated); then
  echo "generated code is not current: run make generate, and commit the result" >&2
  exit 1
fi
