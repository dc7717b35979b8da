package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestComing checks that only tests that reach a mutant run, in parts of increasing length, the
// shortest test first.
func TestComing(t *testing.T) {
	s := &suite{}
	for i, seconds := range []float64{0, 0.1, 0.2, 0.9, 1, 2, 3, 10} {
		s.tests = append(s.tests, &test{Name: fmt.Sprint(i), Seconds: seconds, Reached: []int{1, 7 + i}})
	}
	var got []string
	for _, part := range s.coming(1) {
		got = append(got, pattern(part))
	}
	if want := "[^(0|1|2)$ ^(3|4|5)$ ^(6|7)$]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if some := s.coming(9); len(some) != 1 || pattern(some[0]) != "^(2)$" {
		t.Errorf("got %v", some)
	}
	if none := s.coming(99); none != nil {
		t.Errorf("got %v", none)
	}
}

// TestPattern: of subtests, and of names that are no expressions.
func TestPattern(t *testing.T) {
	if got, want := pattern([]*test{{Name: "TestA/x.1"}, {Name: "TestA/y"}, {Name: "TestB/x.1"}}), `^(TestA|TestB)$/^(x\.1|y)$`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// program is a suite whose program is a script, which sees its arguments.
func program(t *testing.T, script string) *suite {
	t.Helper()
	dir := t.TempDir()
	s := &suite{folder: dir, program: filepath.Join(dir, "a.test")}
	if err := os.WriteFile(s.program, []byte("#!/bin/sh\n"+script), 0o777); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJudge: a test that fails kills, one that ends the program or has no end does, and one
// that fails without the mutant, too, does not: the others are asked without it.
func TestJudge(t *testing.T) {
	a, b := &test{Name: "TestA"}, &test{Name: "TestB"}
	for _, x := range []struct {
		name, script string
		passed, late bool
		first        string
		doubted      bool
	}{
		{"all pass", `exit 0`, true, false, "", false},
		{"one fails", `[ -z "$M" ] && exit 0; echo "--- FAIL: TestB (0.00s)"; exit 1`, false, false, "TestB", false},
		{"it crashes", `[ -z "$M" ] && exit 0; echo "=== RUN   TestA"; exit 2`, false, false, "TestA", false},
		{"before any test", `[ -z "$M" ] && exit 0; exit 2`, false, false, "", false},
		{"no end", `[ -z "$M" ] && exit 0; echo "=== RUN   TestB"; echo "panic: test timed out after 30s"; exit 2`, false, true, "TestB", false},
		{"one always fails", `case "$*" in *TestA*) echo "--- FAIL: TestA (0.00s)"; exit 1;; esac`, true, false, "", true},
		{"one always fails, another only now", `case "$*" in *TestA*) echo "--- FAIL: TestA (0.00s)"; exit 1;; esac
[ -z "$M" ] && exit 0; echo "--- FAIL: TestB (0.00s)"; exit 1`, false, false, "TestB", true},
	} {
		o, err := program(t, x.script).judge(context.Background(), []*test{a, b}, "M=1")
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		if o.passed != x.passed || o.late != x.late || o.first != x.first && !o.passed || o.doubted != x.doubted {
			t.Errorf("%s: passed %v, late %v, first %q, doubted %v", x.name, o.passed, o.late, o.first, o.doubted)
		}
	}
}

// TestStartEnds: a program that does not listen is killed, and what it began with it.
func TestStartEnds(t *testing.T) {
	s := program(t, "sleep 600 & sleep 600")
	began := time.Now()
	o, err := s.start(context.Background(), -19*time.Second, nil, nil)
	if err != nil || o.passed || !o.late || time.Since(began) > 15*time.Second {
		t.Errorf("%v %+v after %v", err, o, time.Since(began))
	}
}
