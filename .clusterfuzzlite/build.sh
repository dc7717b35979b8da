#!/bin/bash
# Builds the targets of fuzz/targets_test.go for libFuzzer, in the way of OSS-Fuzz:
# $OUT gets a program and a seed corpus for each, $CXX, $CXXFLAGS and
# $LIB_FUZZING_ENGINE say how to link. Run it in the root of the module.
#
# compile_native_go_fuzzer is no use here: it builds without the generated runtime,
# on which a run is a function of its input, and it needs a module that go.mod does
# not have. What these files call of testing.F, M and T, driver.go has.

set -eu
targets=$(sed -nE 's/^func (Fuzz\w+)\(f \*testing\.F\).*/\1/p' fuzz/targets_test.go)
dir=.libfuzzer
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir" "$OUT/fuzz/testdata" "$OUT/scenarios/testdata" "$OUT/scenarios/dump"

cp .clusterfuzzlite/driver.go "$dir/"
for f in fuzz/{targets,judge,known,main,workerprocess,tune,tally,corpora}_test.go; do
	sed -E -e 's/^package fuzz_test$/package main/' -e 's/\*testing\.(F|M|T)\b/*\1/g' -e '/^\t"testing"$/d' \
		"$f" > "$dir/$(basename "$f" _test.go).go"
done
{
	printf 'package main\n\nvar targets = map[string]func(*F){\n'
	for t in $targets; do printf '\t"%s": %s,\n' "$t" "$t"; done
	printf '}\n'
} > "$dir/names.go"

overlay=$(go run ./cmd/hermetic)
CGO_ENABLED=1 go build -buildvcs=false -buildmode=c-archive -trimpath -overlay="$overlay" -tags=hermetic,libfuzzer \
	-gcflags=all=-d=libfuzzer -o "$dir/targets.a" "./$dir"
for t in $targets; do
	if [ -z "${program:-}" ]; then
		program=$OUT/$t
		$CXX $CXXFLAGS $LIB_FUZZING_ENGINE "$dir/targets.a" -o "$program"
	else
		ln -f "$program" "$OUT/$t"
	fi
done

# What the targets read, and where they begin.
cp -r fuzz/testdata/known "$OUT/fuzz/testdata/"
cp -r scenarios/testdata/good scenarios/testdata/bad "$OUT/scenarios/testdata/"
cp -r scenarios/dump/testdata "$OUT/scenarios/dump/"
for t in $targets; do
	seeds=$dir/seeds/$t
	mkdir -p "$seeds"
	if [ -d "fuzz/testdata/fuzz/$t" ]; then
		SEEDS_TO=$PWD/$seeds "$OUT/$t" "$PWD/fuzz/testdata/fuzz/$t"/*
	elif [ "$t" = FuzzImport ]; then
		cp scenarios/dump/testdata/* "$seeds/"
	else
		cp scenarios/testdata/good/*.yaml "$seeds/"
	fi
	printf '[libfuzzer]\nmax_len = 65536\ntimeout = 120\n' > "$OUT/$t.options"
	(cd "$seeds" && python3 -m zipfile -c "$OUT/${t}_seed_corpus.zip" ./*)
done
