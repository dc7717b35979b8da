package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/terminal"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/layout"
	"ipamsim/reports/timeline"
	"ipamsim/scenarios"
	"ipamsim/scenarios/strict"
	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// session is the work of one command under way.
type session struct {
	work     *work
	runner   *scenarios.Runner
	out      *outputs
	say      io.Writer // for people: stdout, or stderr if JSON has stdout
	warn     io.Writer // stderr
	bar      *terminal.Progress
	brief    bool // people see the bar: runs without news need no line
	sum      reports.Summary
	ends     reports.Outcomes
	repeated reports.Repeated

	shown      map[string]bool // scenarios whose timeline was shown
	unexpected int             // runs that did not end as expected
	unknown    int             // runs that prove nothing
	defects    int             // runs with a suspected defect of ipamsim
	failed     error           // of a write to stdout
}

// execute does the work and reports how it ended.
func execute(cmd *cobra.Command, p *work) error {
	out, err := p.outputs.open(cmd.OutOrStdout())
	if err != nil {
		return err
	}
	scenarios.Tune()
	runner, err := scenarios.NewRunner()
	if err != nil {
		out.discard()
		return err
	}
	closeOnce := sync.OnceValue(runner.Close)
	stderr := cmd.ErrOrStderr()
	ctx, stop := exit.Interruptible(stderr, func() { out.discard(); _ = closeOnce() })
	defer stop()
	s := &session{work: p, runner: runner, out: out, say: cmd.OutOrStdout(), warn: stderr, shown: map[string]bool{}}
	if p.outputs.json == "-" {
		s.say = stderr
	}
	s.bar = terminal.NewProgress(stderr, p.runs())
	s.brief = s.bar != nil && terminal.Is(s.say)
	s.begin()
	err = s.all(ctx)
	s.bar.Finish()
	return errors.Join(s.end(err), closeOnce())
}

// begin says within the first second what will be done.
func (s *session) begin() {
	what := layout.Plural(len(s.work.jobs), "scenario")
	if len(s.work.jobs) == 1 {
		what = reports.Clean(s.work.jobs[0].scenario.Name())
	}
	fmt.Fprintf(s.warn, "ipamsim: %s of %s\n", layout.Plural(s.work.runs(), "run"), what)
	if !hermetic.Enabled {
		fmt.Fprintln(s.warn, "ipamsim: built on the stock Go runtime: the same seed may run differently; make build uses the hermetic one")
	}
}

func (s *session) all(ctx context.Context) error {
	for i := range s.work.jobs {
		j := &s.work.jobs[i]
		for n := range j.runs() {
			if err := s.seed(ctx, j, j.from+uint64(n)); err != nil {
				return err
			}
			if s.failed != nil {
				return s.failed
			}
		}
	}
	return nil
}

// seed is one run, or all those of a strategy that makes several.
func (s *session) seed(ctx context.Context, j *job, seed uint64) error {
	o := j.options
	if !j.own {
		o.Seed = &seed
	}
	set, err := j.scenario.Settings()
	if err != nil {
		return err
	}
	several := strategy.ParseSeveral(o.Strategy, seed, set)
	if several == nil {
		return s.one(ctx, j, o)
	}
	for range strategy.Runs(several) {
		o.Walk = several
		if err := s.one(ctx, j, o); err != nil || s.failed != nil {
			return err
		}
	}
	return several.Err()
}

// one is one run, with everything that is done about it.
func (s *session) one(ctx context.Context, j *job, o scenarios.Options) error {
	o.Recording = o.Recording || s.out.gallery.film(j.scenario.Name())
	rep, err := s.runner.Run(ctx, j.scenario, o)
	var replayed *comparison
	if s.work.replay && rep != nil {
		replayed, err = compareRecorded(j.scenario, rep, err)
	}
	if err != nil {
		return s.broken(rep, err)
	}
	s.check(rep)
	if s.work.verify || rep.Store == scenarios.Memory && len(rep.Violations) > 0 {
		if rep, err = s.again(ctx, j, o, rep); err != nil {
			return err
		}
	}
	s.sum.Add(rep)
	s.ends.Add(rep)
	s.repeated.Add(rep.Repeated)
	s.count(rep, replayed)
	if err := s.out.write(j.scenario, rep); err != nil {
		return err
	}
	s.report(j, rep, replayed)
	s.bar.Add()
	return nil
}

func (s *session) count(rep *reports.Report, replayed *comparison) {
	switch {
	case replayed != nil:
		if !replayed.same {
			s.unexpected++
		}
	case rep.Verdict == reports.Unknown:
		s.unknown++
	case len(rep.Idle) > 0 && len(rep.Unexpected())+len(rep.Missing()) == 0:
		s.unknown++
	case !rep.AsExpected():
		s.unexpected++
	}
}

// report prints the line of a run, and the story of the first run of each scenario that violates an
// invariant. Under a progress bar, runs without news are only counted. In a whole library, runs
// that end as expected need no story, nor do violations that an imported cluster already had.
func (s *session) report(j *job, rep *reports.Report, replayed *comparison) {
	v := rep.Gravest()
	ok := rep.AsExpected()
	story := v != nil && !s.shown[rep.Scenario] && (len(s.work.jobs) == 1 || !ok) && !(rep.Imported() && ok)
	path := ""
	if !ok && v != nil && replayed == nil {
		var err error
		if path, err = s.out.finding(j.scenario, rep); err != nil {
			s.failed = err
			return
		}
	}
	if s.brief && !story && ok && replayed == nil {
		return
	}
	s.bar.Above(func() {
		if since := reports.SinceDump(rep); since != "" && s.work.runs() == 1 {
			s.print(strings.TrimSuffix(since, "\n"))
		}
		s.print(reports.Line(rep) + reports.NotHappened(rep))
		s.show(rep)
		if story {
			s.shown[rep.Scenario] = true
			s.print("\n" + strings.TrimSuffix(timeline.Of(rep, v), "\n"))
			if also := reports.Also(rep, v); also != "" {
				s.print(strings.TrimSuffix(also, "\n"))
			}
			s.source(rep, v)
			s.print("")
		}
		if path != "" {
			s.print("   finding: ipamsim replay " + reports.Clean(path))
		}
		if replayed != nil {
			s.print("   " + replayed.text)
		}
	})
}

// source prints the source that the story of a violation numbers, if it was asked for.
func (s *session) source(rep *reports.Report, v *model.Violation) {
	if !s.work.outputs.code {
		return
	}
	text := cmp.Or(timeline.Source(rep, v, os.ReadFile), "no source to show: the address manager's code sent no message of this story\n")
	s.print("\n" + strings.TrimSuffix(text, "\n"))
}

// show prints the output of a scenario's commands, and its metrics, if only one scenario runs.
func (s *session) show(rep *reports.Report) {
	if s.work.runs() > 1 {
		return
	}
	for _, section := range []string{reports.Screens(rep), formats.Metrics(rep)} {
		if section != "" {
			s.print("\n" + strings.TrimSuffix(section, "\n"))
		}
	}
}

func (s *session) print(text string) {
	if _, err := fmt.Fprintln(s.say, text); err != nil && s.failed == nil {
		s.failed = err
	}
}

// end prints the summary and returns the exit code.
func (s *session) end(err error) error {
	interrupted := errors.Is(err, sim.ErrInterrupted)
	runs := max(s.work.runs(), s.sum.Runs) // a strategy of several makes more than were planned
	if err == nil || interrupted {
		err = errors.Join(s.failed, s.out.commit()) // of an interrupted range too: whole lines of what was done
	} else {
		s.out.discard()
	}
	if errors.Is(err, syscall.EPIPE) {
		return &exit.Error{Code: exit.Cannot, Err: nil}
	}
	if s.sum.Runs > 0 && runs > 1 {
		s.print("\n" + strings.TrimSuffix(s.sum.Table(), "\n"))
		if t := s.sum.SideBySide(); t != "" {
			s.print("\nviolations: runs with a violation of runs in total\n" + strings.TrimSuffix(t, "\n"))
		}
		if t := s.ends.Table(); t != "" {
			s.print("\nmetrics at the end of the runs\n" + strings.TrimSuffix(t, "\n"))
		}
	}
	if t := s.repeated.String(); t != "" {
		s.print(t)
	}
	if s.work.outputs.code && s.sum.Runs > 0 && len(s.shown) == 0 {
		s.print("--code: no story was printed, so there is no source to show")
	}
	done := fmt.Sprintf("%d of %s done, %s so far, %d not as expected",
		s.sum.Runs, layout.Plural(runs, "run"), layout.Plural(s.sum.Violations, "violation"), s.unexpected+s.unknown)
	switch {
	case interrupted:
		return &exit.Error{Code: exit.Cannot, Err: errors.Join(fmt.Errorf("interrupted: %s", done), err)}
	case err != nil && s.sum.Runs > 0 && runs > 1:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%w (%s)", err, done)}
	case err != nil:
		return &exit.Error{Code: exit.Cannot, Err: err}
	case s.defects > 0:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%s with a suspected defect of ipamsim itself, see above", layout.Plural(s.defects, "run"))}
	case s.unexpected > 0:
		return &exit.Error{Code: exit.Violation, Err: nil}
	case s.unknown > 0:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%s inconclusive: a limit was reached, or the required event did not happen", layout.Plural(s.unknown, "run"))}
	}
	return nil
}

// broken is a run that did not end: interrupted, refused, or a defect of ours.
func (s *session) broken(rep *reports.Report, err error) error {
	where := ""
	if rep != nil {
		where = fmt.Sprintf("%s seed %d: ", rep.Scenario, rep.Seed)
	}
	var bad *strict.Error
	if errors.Is(err, sim.ErrInterrupted) || errors.As(err, &bad) {
		return err
	}
	var stuck *sim.Stuck
	text, details, long := strings.Cut(err.Error(), "\n")
	if errors.As(err, &stuck) {
		text, details, long = stuck.Error(), stuck.Stacks, true
	}
	if long {
		file, err := saveDetails(where + text + "\n\n" + details + "\n")
		if err != nil {
			file = err.Error()
		}
		text += "; stacks: " + file
	}
	return errors.New(where + text)
}

// saveDetails keeps what a line is too short for.
func saveDetails(text string) (string, error) {
	f, err := os.CreateTemp("", "ipamsim-stuck-*.txt")
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(f, text)
	return f.Name(), errors.Join(err, f.Close())
}
