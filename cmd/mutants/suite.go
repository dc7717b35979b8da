package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ipamsim/fuzz/mutants"
)

// suite is the tests of a package in one program.
type suite struct {
	folder string
	only   string // -test.run; "": all
	// each: each subtest counts as a test; of these, the given number of the shortest.
	each    bool
	most    int
	program string
	tests   []*test // the shortest first
}

// deciding are the tests that decide of the harness's mutants, in the order in which they
// are asked; before them, those of the mutant's own package. The tidy tests read the
// sources, which are not changed, and come to no mutant.
var deciding = []*suite{
	{folder: "model/invariant"},
	{folder: "sim/cluster/checker"},
	{folder: "sim"},
	{folder: "sim/strategy"},
	{folder: "sim/por"},
	{folder: "sim/cluster"},
	{folder: "scenarios", only: "^TestLibrary$/^(ok-|r[0-9]|w2-)", each: true, most: 14},
}

// test is one of a suite.
type test struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Reached []int   `json:"reached"` // mutants
}

// coming returns the tests that reach a mutant, in parts to run, the shortest first: most mutants
// are killed immediately, and one that hangs then takes little time.
func (s *suite) coming(id int) [][]*test {
	var all [][]*test
	sum, longest := 0.0, 0.0
	for _, t := range s.tests {
		if _, ok := slices.BinarySearch(t.Reached, id); !ok {
			continue
		}
		if sum += t.Seconds; len(all) == 0 || sum > longest {
			all, sum, longest = append(all, nil), t.Seconds, 4*longest+1
		}
		all[len(all)-1] = append(all[len(all)-1], t)
	}
	return all
}

// name is a suite's among those of the folder.
func (s *suite) name() string { return strings.TrimSpace(s.folder + " " + s.only) }

func (s *suite) seconds() float64 {
	sum := 0.0
	for _, t := range s.tests {
		sum += t.Seconds
	}
	return sum
}

// outcome is what a run of tests came to.
type outcome struct {
	passed  bool
	first   string // that failed; "" if the program ended otherwise
	late    bool   // it took too long
	doubted bool   // a test failed that fails without the mutant, too
	seconds float64
	said    string
}

// The longest that a run of tests may take, beside what it takes without a mutant: that
// many times as long, and for a start on a busy machine.
const (
	times = 3
	more  = 30 * time.Second
)

// run runs some tests, until one fails.
func (s *suite) run(ctx context.Context, tests []*test, env ...string) (*outcome, error) {
	limit := more
	for _, t := range tests {
		limit += time.Duration(times * t.Seconds * float64(time.Second))
	}
	return s.start(ctx, limit, []string{"-test.failfast", "-test.run", pattern(tests)}, env)
}

// judge runs tests with a mutant. One that fails without it, too, on a machine as busy as
// this, proves nothing, and the others are asked without it.
func (s *suite) judge(ctx context.Context, tests []*test, env string) (*outcome, error) {
	seconds, doubted := 0.0, false
	for {
		o, err := s.run(ctx, tests, env)
		if err != nil {
			return nil, err
		}
		seconds += o.seconds
		o.seconds, o.doubted = seconds, doubted
		i := slices.IndexFunc(tests, func(t *test) bool { return t.Name == o.first })
		if o.passed || i < 0 {
			return o, nil
		}
		without, err := s.run(ctx, tests[i:i+1])
		if err != nil {
			return nil, err
		}
		if seconds += without.seconds; without.passed {
			o.seconds = seconds
			return o, nil
		}
		if doubted = true; len(tests) == 1 {
			return &outcome{passed: true, doubted: true, seconds: seconds}, nil
		}
		tests = slices.Delete(slices.Clone(tests), i, i+1)
	}
}

// start runs the program. One that hangs, or eats the machine's memory, ends.
func (s *suite) start(ctx context.Context, limit time.Duration, args, env []string) (*outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit+20*time.Second)
	defer cancel()
	program, err := filepath.Abs(s.program)
	if err != nil {
		return nil, err
	}
	args = append([]string{"-c", `ulimit -d 8000000; exec "$0" "$@"`, program, "-test.v", "-test.timeout", limit.String()}, args...)
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir, c.Env = s.folder, append(os.Environ(), env...)
	said := &bounded{}
	c.Stdout, c.Stderr, c.WaitDelay = said, said, 5*time.Second
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	began := time.Now()
	err = c.Run()
	if parent := context.Cause(ctx); parent != nil && !errors.Is(parent, context.DeadlineExceeded) {
		return nil, parent
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w", s.program, err)
	}
	o := &outcome{passed: err == nil, seconds: time.Since(began).Seconds(), said: string(said.text)}
	o.late = !o.passed && (ctx.Err() != nil || strings.Contains(o.said, "panic: test timed out"))
	if !o.passed {
		o.first = s.failed(o.said)
	}
	return o, nil
}

var (
	begins = regexp.MustCompile(`=== RUN   (\S+)`)
	passes = regexp.MustCompile(`--- PASS: (\S+) \(([0-9.]+)s\)`)
	fails  = regexp.MustCompile(`--- FAIL: (\S+) \(`)
)

// failed is the first test that an output says has failed; if the program ended within
// one, this.
func (s *suite) failed(said string) string {
	for _, m := range fails.FindAllStringSubmatch(said, -1) {
		if name, ok := s.named(m[1]); ok {
			return name
		}
	}
	last := ""
	for _, m := range begins.FindAllStringSubmatch(said, -1) {
		if name, ok := s.named(m[1]); ok {
			last = name
		}
	}
	return last
}

// named is a test's name among those of the suite, which are tests, or their subtests.
func (s *suite) named(full string) (string, bool) {
	parts := strings.Split(full, "/")
	if s.each {
		return full, len(parts) == 2
	}
	return full, len(parts) == 1
}

// look finds the tests that pass without a mutant, and which mutants they come to.
func (s *suite) sample(ctx context.Context, dir string, set *mutants.Set) error {
	only := cmp.Or(s.only, ".")
	o, err := s.start(ctx, 15*time.Minute, []string{"-test.run", only}, nil)
	if err != nil {
		return err
	}
	for _, m := range passes.FindAllStringSubmatch(o.said, -1) {
		took, err := strconv.ParseFloat(m[2], 64)
		if name, ok := s.named(m[1]); ok && err == nil {
			s.tests = append(s.tests, &test{Name: name, Seconds: took})
		}
	}
	if len(s.tests) == 0 {
		return fmt.Errorf("%s: no test passes without a mutant:\n%s", s.folder, o.said)
	}
	slices.SortStableFunc(s.tests, func(a, b *test) int { return cmp.Compare(a.Seconds, b.Seconds) })
	if s.most > 0 {
		s.tests = s.tests[:min(len(s.tests), s.most)]
	}
	for _, t := range s.tests {
		var alone *outcome
		reached, err := visit(dir, set, func(env string) (err error) {
			alone, err = s.start(ctx, 5*time.Minute, []string{"-test.run", pattern([]*test{t})}, []string{env})
			return err
		})
		if err != nil {
			return err
		}
		if !alone.passed {
			fmt.Fprintf(os.Stderr, "mutants: %s %s fails without a mutant when it runs alone, and is excluded\n", s.folder, t.Name)
			continue
		}
		t.Reached = reached
	}
	return nil
}

// pattern is the -test.run of tests, which are all subtests or all none.
func pattern(tests []*test) string {
	var levels [2][]string
	for _, t := range tests {
		for i, part := range strings.SplitN(t.Name, "/", 2) {
			if part = regexp.QuoteMeta(part); !slices.Contains(levels[i], part) {
				levels[i] = append(levels[i], part)
			}
		}
	}
	p := "^(" + strings.Join(levels[0], "|") + ")$"
	if len(levels[1]) > 0 {
		p += "/^(" + strings.Join(levels[1], "|") + ")$"
	}
	return p
}

// bounded is the beginning of an output: a mutant may print forever.
type bounded struct{ text []byte }

func (b *bounded) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), boundedMax-len(b.text))]...)
	return len(p), nil
}

const boundedMax = 1 << 20
