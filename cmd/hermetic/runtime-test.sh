#!/usr/bin/env bash
# Runs Go's own tests of what the overlay changes, under the overlay, counts them, and
# records in runtime-test.sum which overlay passed: the checksum of its files, of the Go
# version, and of this script. "runtime-test.sh unchanged" runs nothing and succeeds if
# that is the overlay of this Go. Left out, with the reason:
#
#   TestMapIterOrder, TestMapSparseIterOrder
#       want iteration to vary within one process outside any bubble. It is
#       constant there: set-up code that ranges over a map must not make one
#       process run differently from the next. In a bubble it varies
#       (sim/hermetic, TestVaries).
#   TestMemHashGlobalSeed
#       wants the hash seed to differ between processes. It is constant: the
#       layout of maps is part of what a seed repeats.
#   TestSizeof
#       wants the stock size of a goroutine's descriptor. It has six more fields.
set -euo pipefail
cd "$(dirname "$0")/../.."
overlay=$(go run ./cmd/hermetic)
dir=$(dirname "$overlay")
sum=$(cat <(go env GOVERSION GOOS GOARCH) <(cd "$dir" && LC_ALL=C ls | grep -v '^overlay\.json$' | xargs cat) cmd/hermetic/runtime-test.sh | sha256sum | cut -c 1-32)
if [ "${1:-}" = unchanged ]; then
  [ "$sum" = "$(cat cmd/hermetic/runtime-test.sum 2>/dev/null)" ]
  exit
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT

run() {
  local status=0
  go test -overlay="$overlay" -count=1 -short -timeout 30m -v "$@" >"$log" 2>&1 || status=$?
  if [ "$status" != 0 ]; then
    grep -vE '^ *(=== |--- (PASS|SKIP))' "$log"
    return "$status"
  fi
  grep -E '^(ok|\?) ' "$log"
  echo "  $(grep -c '^--- PASS' "$log") tests passed, $(grep -c '^--- SKIP' "$log") skipped themselves"
}

run testing/synctest internal/synctest sync internal/sync internal/runtime/maps \
  math/rand math/rand/v2 crypto/rand hash/maphash unique iter context time
run -skip '^(TestMapIterOrder|TestMapSparseIterOrder|TestMemHashGlobalSeed|TestSizeof)$' \
  -run 'Synctest|Map|Hash|Select|Chan|Timer|Ticker|After|Sema|Mutex|Lock|Gosched|Yield|Park|Goexit|Goroutine|Coro|Deadlock|Rand|Preempt|GC|Stack|Steal|Sizeof|GOMAXPROCS|NumCPU|Weak|Cleanup|Final' \
  runtime
echo "  4 tests of runtime left out: see cmd/hermetic/runtime-test.sh"
echo "$sum" >cmd/hermetic/runtime-test.sum
