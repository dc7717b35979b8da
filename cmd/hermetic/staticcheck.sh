#!/usr/bin/env bash
# staticcheck.sh MODULE@VERSION PACKAGE…: staticcheck of what is built with the overlay.
#
# It has the go command build whatever it looks into, and opens the files itself: without
# the overlay all of Kubernetes would be built once more for it, and with the overlay it
# does not find the files that are new in it. So it gets a GOROOT of links, with the
# overlay's files in their places: what is built from the same text is in the cache.
set -euo pipefail
cd "$(dirname "$0")/../.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
GOBIN=$dir go install "$1"
overlay=$(go run ./cmd/hermetic) || { [ "$overlay" = stock ] && "$dir/staticcheck" "${@:2}"; exit; }
std=$(go env GOROOT)
cp -as "$std" "$dir/goroot"
sed -nE 's|^ *"([^"]+)": "([^"]+)",?$|\1\t\2|p' "$overlay" | while IFS=$'\t' read -r at from; do
  ln -sf "$from" "$dir/goroot${at#"$std"}"
done
export GOROOT=$dir/goroot PATH=$dir/goroot/bin:$PATH GOFLAGS="${GOFLAGS:-} -tags=hermetic"
"$dir/staticcheck" "${@:2}"
