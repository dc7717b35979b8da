// Package search has the commands about the search for failures: explore, finding, corpus.
package search

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/cmd/cli/running"
	"ipamsim/cmd/cli/workers"
	"ipamsim/fuzz/campaign"
	"ipamsim/fuzz/campaign/queue"
	"ipamsim/fuzz/input"
	"ipamsim/fuzz/known"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/layout"
	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/strategy"
)

// exploreFlags are the flags of explore as typed.
type exploreFlags struct {
	managers             scenarios.Managers
	space, strategy, dir string
	html                 string
	without              []string
	learn                bool
	store                string
	runs, first          uint64
	time                 time.Duration
	workers              int
	link                 queue.Link
}

func Command(m scenarios.Managers) *cobra.Command {
	f := &exploreFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "explore FILE… | --space NAME",
		Short: "search generated worlds and schedules for failures",
		Long: `Search for failures in worlds generated from a space, or in scenarios under many
schedules. Each kind of failure is shrunk and kept as a file for ipamsim replay.

DIR/index.html shows the progress and the result; DIR/FINGERPRINT.html shows a finding
step by step.

--without excludes external events: operator (edits of objects and of the manager's
record), force (forced deletion of pods), fault (messages lost, delayed or corrupted,
nodes partitioned, processes paused), crash (processes killed, machines that lose power
or are replaced). The rest of what a seed generates stays the same. In any case a quarter
of the worlds has no operator and a quarter neither fault nor crash; others have none by
chance. The table counts them.

--learn adds the causes of the findings to the list of the space in fuzz/testdata/known,
so that later searches and the gate treat them as known.

The search ends when --time is up. A failure that is not shrunk by then is kept as
recorded; the same command continues with it, and with a campaign that was stopped or
killed. Without --runs and --time the search takes 5 minutes.

Exit: 0 no findings · 1 findings · 2 could not run, or blind: the canary did not fail
although it must.`,
		Example: "  ipamsim explore" + f.oneSpace() + ` --time 5m
  ipamsim explore scenarios/NAME.yaml --runs 1000`,
		RunE: func(cmd *cobra.Command, files []string) error {
			cfg, err := f.check(cmd, files)
			if err != nil {
				return err
			}
			return f.explore(cmd, cfg)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.space, "space", "", "generate worlds of a space: "+cmp.Or(strings.Join(space.Names(f.managers), ", "), "none of this program's managers has one"))
	fl.BoolVar(&f.learn, "learn", false, "add the findings to the list of known causes")
	fl.StringSliceVar(&f.without, "without", nil, "exclude `CLASSES` of actions from every world: some of "+space.List(space.Classes()))
	fl.StringVar(&f.strategy, "strategy", "", "strategy that decides the schedules: "+strings.Join(strategies(), ", ")+" (default: portfolio for files, that of the world for a space)")
	fl.StringVar(&f.store, "store", scenarios.Etcd, "store of the runs: "+running.Stores+", which is faster; findings are confirmed on etcd")
	fl.Uint64Var(&f.runs, "runs", 0, "stop after `N` runs")
	fl.Uint64Var(&f.first, "first", 1, "start with seed `N`")
	fl.DurationVar(&f.time, "time", 0, "stop after this time (90s, 5m)")
	fl.IntVar(&f.workers, "workers", runtime.NumCPU(), "number of processes on this machine; 0: only workers on other machines")
	fl.StringVar(&f.dir, "out", "", "keep findings, and the data needed to continue, in `DIR` (default findings/NAME)")
	fl.StringVar(&f.html, "html", "", "also write the page of the campaign to `F`; DIR has it and the pages of findings in any case")
	workers.LinkFlags(cmd, &f.link)
	return cmd
}

// check finds everything that is wrong before anything is started.
func (f *exploreFlags) check(cmd *cobra.Command, files []string) (cfg campaign.Config, err error) {
	changed := cmd.Flags().Changed
	switch {
	case f.space != "" && len(files) > 0:
		return cfg, errors.New("--space and files exclude each other")
	case f.space == "" && len(files) == 0:
		return cfg, errors.New("nothing to explore: name scenario files" + strings.TrimSuffix(", or"+f.oneSpace(), ", or FILE"))
	case changed("runs") && f.runs == 0:
		return cfg, errors.New("--runs: want at least 1")
	case changed("time") && f.time <= 0:
		return cfg, fmt.Errorf("--time: want more than 0, have %s", f.time)
	}
	if err := workers.Check(f.workers, &f.link); err != nil {
		return cfg, err
	}
	causes, found, err := known.LoadIf(input.ListsFor(f.managers, f.space)...)
	if err != nil {
		return cfg, err
	}
	cfg = campaign.Config{
		Known: causes, Listed: found,
		Spec: queue.Spec{Strategy: f.strategy, First: f.first}, Runs: f.runs, Time: f.time, Workers: f.workers, Dir: f.dir,
	}
	if err := running.CheckStore(f.store); err != nil {
		return cfg, err
	}
	if f.store != scenarios.Etcd {
		cfg.Spec.Store = f.store
	}
	if cfg.Spec.Without, err = f.ofSpace(); err != nil {
		return cfg, err
	}
	if f.strategy != "" && !slices.Contains(strategies(), f.strategy) {
		return cfg, fmt.Errorf("--strategy: unknown strategy %q, want one of %s", f.strategy, strings.Join(strategies(), ", "))
	}
	if f.link.URL != "" {
		cfg.Link = &f.link
	}
	if f.strategy == "" && len(files) > 0 {
		cfg.Spec.Strategy = "portfolio"
	}
	if f.runs == 0 && f.time == 0 {
		cfg.Time = 5 * time.Minute
	}
	if cfg.Spec.Sources, err = f.sources(files); err != nil {
		return cfg, err
	}
	if f.dir == "" {
		cfg.Dir = filepath.Join("findings", f.name(files, cfg.Spec.Without))
	}
	if f.html != "" {
		out, err := outfile.Create(f.html) // may it be written at all?
		if err != nil {
			return cfg, fmt.Errorf("--html: %w", err)
		}
		out.Discard()
		cfg.HTML, cfg.HTMLDir = f.html, outfile.BesideHTML(filepath.Join(cfg.Dir, campaign.FindingsFile), f.html)
	}
	if err := outfile.Writable(cfg.Dir); err != nil {
		return cfg, fmt.Errorf("--out: %w", err)
	}
	return cfg, nil
}

// ofSpace checks the flags for a space, and returns the classes of actions that are excluded from its worlds.
func (f *exploreFlags) ofSpace() ([]model.Class, error) {
	switch {
	case f.learn && f.space == "":
		return nil, errors.New("--learn requires --space")
	case len(f.without) > 0 && f.space == "":
		return nil, errors.New("--without requires --space; the events of a scenario are in its file")
	case f.strategy == queue.Exhaustive && f.space != "":
		return nil, errors.New("--strategy exhaustive requires scenario files; worlds of a space are generated from seeds")
	}
	without, err := space.ParseClasses(f.without)
	if err != nil {
		return nil, fmt.Errorf("--without: %w", err)
	}
	return without, nil
}

func strategies() []string {
	all := append(strategy.Names(), queue.Exhaustive, queue.Twice)
	slices.Sort(all)
	return slices.Compact(all)
}

// sources are the worlds to explore.
func (f *exploreFlags) sources(files []string) (out []queue.Source, err error) {
	switch all := space.Names(f.managers); {
	case slices.Contains(all, f.space):
		return []queue.Source{{Space: f.space}}, nil
	case f.space != "" && len(all) == 0:
		return nil, fmt.Errorf("--space: no manager of this program (%s) has a space; give one of them a space.Space (ipam.Manager.With), or name scenario files", strings.Join(f.managers.Names(), ", "))
	case f.space != "":
		return nil, fmt.Errorf("--space: unknown space %q, want one of %s", f.space, strings.Join(all, ", "))
	}
	loaded, err := running.Load(f.managers, files)
	if err != nil {
		return nil, err
	}
	for _, s := range loaded {
		text, err := scenarios.ReadFile(s.File)
		if err != nil {
			return nil, err
		}
		out = append(out, queue.Source{File: s.File, Text: string(text)})
	}
	return out, nil
}

// name returns the default name of the directory for findings.
func (f *exploreFlags) name(files []string, without []model.Class) string {
	name := f.space
	if name == "" {
		base := filepath.Base(files[0])
		name = strings.TrimLeft(outfile.Unsafe.ReplaceAllString(strings.TrimSuffix(base, filepath.Ext(base)), "_"), ".")
	}
	if f.strategy != "" {
		name += "-" + outfile.Unsafe.ReplaceAllString(f.strategy, "_")
	}
	for i, d := range without {
		if i == 0 {
			name += "-without"
		}
		name += "-" + string(d)
	}
	return name
}

// oneSpace renders " --space A|B" with the available spaces, or " FILE" if there is none.
func (f *exploreFlags) oneSpace() string {
	if all := space.Names(f.managers); len(all) > 0 {
		return " --space " + strings.Join(all, "|")
	}
	return " FILE"
}

// explore runs the campaign and reports how it ended.
func (f *exploreFlags) explore(cmd *cobra.Command, cfg campaign.Config) error {
	stdout, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
	bar := workers.NewBar(stderr, cfg)
	cfg.OnProgress = bar.Show
	cfg.Say = func(s string) { bar.Above(func() { fmt.Fprintln(stderr, "ipamsim: "+reports.Clean(s)) }) }
	cfg.Say(opening(cfg))
	if !hermetic.Enabled {
		cfg.Say("built on the stock Go runtime: the same seed may run differently; make build uses the hermetic one")
	}
	ctx, stop := exit.InterruptibleFor(workers.WindDownMax, stderr, func() {})
	defer stop()
	o, err := campaign.Run(ctx, cfg)
	bar.Finish()
	if o != nil {
		if e := printOutcome(stdout, o); err == nil {
			err = e
		}
		if f.learn && err == nil {
			var n int
			n, err = f.learned(o, cfg.Known)
			cfg.Say(layout.Plural(n, "cause") + " entered into the list of " + f.space + " in " + known.Dir)
		}
	}
	switch {
	case err != nil:
		return &exit.Error{Code: exit.Cannot, Err: err}
	case o.Blind() && ctx.Err() == nil:
		return &exit.Error{Code: exit.Cannot, Err: errors.New("no mutant was detected: an empty result proves nothing")}
	case len(o.Rows) > 0:
		return &exit.Error{Code: exit.Violation, Err: nil}
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Cannot, Err: errors.New("interrupted; the same command continues")}
	case o.Defective > 0:
		return &exit.Error{Code: exit.Cannot, Err: fmt.Errorf("%s with a suspected defect of ipamsim itself, see above", layout.Plural(o.Defective, "run"))}
	case o.Open > 0:
		return &exit.Error{Code: exit.Violation, Err: nil}
	}
	return nil
}

func opening(cfg campaign.Config) string {
	var names []string
	for _, s := range cfg.Spec.Sources {
		names = append(names, s.Name())
	}
	var bounds []string
	if cfg.Runs > 0 {
		bounds = append(bounds, layout.Plural(int(cfg.Runs), "run"))
	}
	if cfg.Time > 0 {
		bounds = append(bounds, cfg.Time.String())
	}
	who := layout.Plural(cfg.Workers, "worker")
	if cfg.Link != nil {
		who += " here and those of " + workers.HostOf(cfg.Link.URL)
	}
	if cfg.Spec.Store != "" {
		who += " on the store in " + cfg.Spec.Store
	}
	what := strings.Join(names, ", ")
	if len(cfg.Spec.Without) > 0 {
		what += " without " + space.List(cfg.Spec.Without)
	}
	return fmt.Sprintf("exploring %s for %s with %s; findings go to %s/", what, strings.Join(bounds, " or "), who, cfg.Dir)
}

// printOutcome prints the table and remarks about the search.
func printOutcome(w io.Writer, o *campaign.Outcome) error {
	_, err := io.WriteString(w, campaignTable(o))
	return err
}
