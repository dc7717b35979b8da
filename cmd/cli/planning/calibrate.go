package planning

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/infile"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/calibrate"
	"ipamsim/scenarios/calibrate/observe"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
	"ipamsim/scenarios/strict"
)

// calibrateFlags are the flags of calibrate as typed.
type calibrateFlags struct {
	managers                 scenarios.Managers
	plan, out, json, horizon string
}

// dataHelp describes the supported data.
const dataHelp = `The files contain, in any order (- is the standard input):
  kubectl get nodes,pods -A -o yaml (or json): a listing. One listing shows the ages of
    pods, several show when pods end. FILE@TIME is the time at which it was taken
    (RFC 3339); the default is the latest time in it.
  The response of Prometheus to range queries (api/v1/query_range) for kube-state-metrics:
    kube_pod_created, kube_pod_info (or kube_pod_owner), kube_pod_status_phase,
    kube_pod_completion_time, kube_node_created, kube_node_spec_unschedulable,
    kube_node_status_condition, kube_node_status_allocatable,
    kube_pod_container_status_restarts_total; a step of a minute is best.
  An audit log of the API server (JSON lines): creations, bindings and deletions of pods
    and nodes; cordons, if its level is Request.
  kubectl get events -A -o json: cordons, silent nodes, reboots, pods that were scheduled.`

func CalibrateCommand(m scenarios.Managers) *cobra.Command {
	f := &calibrateFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "calibrate FILE[@TIME]…",
		Short: "estimate the load of a plan from a cluster's data",
		Long: `Estimate the load of a plan from a cluster's data: how long pods run, how many Job pods
start in each hour, how often nodes are drained, crash and are replaced, and how all of
this grows. A comment above each setting shows its data, with a 95 % confidence interval;
a setting with too few data is only a comment.

` + dataHelp + `

The settings go to the standard output, to be pasted under spec of a plan; with --plan,
the plan with its load replaced. ipamsim plan --backtest checks whether such a load
would have predicted the data.

Exit: 0 written · 2 the data cannot be read, or are too few for any setting.`,
		Example: `  ipamsim calibrate monday.yaml@2026-11-16T08:00:00Z tuesday.yaml@2026-11-17T08:00:00Z
  curl -s 'http://prometheus:9090/api/v1/query_range' --data-urlencode 'query={__name__=~"kube_(pod_(created|info|status_phase|completion_time)|node_(created|spec_unschedulable|status_condition))"}' -d start=2026-10-01T00:00:00Z -d end=2026-10-08T00:00:00Z -d step=60 > october.json
  ipamsim calibrate october.json --plan plan.yaml --out calibrated.yaml`,
		RunE: func(cmd *cobra.Command, files []string) error { return f.run(cmd, files) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.plan, "plan", "", "write the plan `F` with its load replaced by the calibrated one")
	fl.StringVar(&f.horizon, "horizon", "", "the horizon of the plan, for which growth is estimated (default: that of --plan, or 30d)")
	fl.StringVar(&f.out, "out", "", "write to `F` instead of the standard output")
	fl.StringVar(&f.json, "json", "", "also write each parameter with its data to `F`")
	return cmd
}

func (f *calibrateFlags) run(cmd *cobra.Command, files []string) (err error) {
	stderr := cmd.ErrOrStderr()
	horizon := time.Duration(0)
	if f.horizon != "" {
		if horizon, err = values.ParseSpan(f.horizon); err != nil || horizon < time.Hour {
			return fmt.Errorf("--horizon: %q: want a time of at least 1h, e.g. 30d", f.horizon)
		}
	}
	if f.json == "-" || f.json != "" && filepath.Clean(f.json) == filepath.Clean(f.out) {
		return errors.New("--json: want a file different from the other outputs")
	}
	var text []byte
	if f.plan != "" {
		p, err := plan.Load(f.managers, f.plan)
		if err == nil {
			text, err = strict.ReadFile(f.plan)
		}
		if err != nil {
			return err
		}
		if horizon == 0 {
			horizon = p.Doc.Spec.Horizon.Duration.Duration
		}
	}
	out, err := outfile.Create(f.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer out.Discard()
	record, err := outfile.Create(f.json)
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	defer record.Discard()
	h, err := readData(cmd, f.managers, "calibrate", files)
	if err != nil {
		return err
	}
	fit, err := calibrate.Of(h, horizon)
	if err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	printNotes(stderr, fit)
	var w io.Writer = cmd.OutOrStdout()
	if out != nil {
		w = out
	}
	if f.plan == "" {
		err = fit.Settings(w)
	} else {
		err = fit.Into(w, f.managers, f.plan, text, beside(f.plan))
	}
	if err == nil && record != nil {
		err = fit.JSON(record)
	}
	if err != nil {
		return err
	}
	return errors.Join(out.Commit(), record.Commit())
}

// beside opens what a plan names.
func beside(path string) plan.Open {
	return func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return strict.ReadFile(name)
	}
}

// readData reads the files of a calibration or a backtest, until Ctrl-C.
func readData(cmd *cobra.Command, managers scenarios.Managers, verb string, files []string) (*observe.History, error) {
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: want a file, or - for the standard input", verb)
	}
	ctx, stop := exit.Interruptible(cmd.ErrOrStderr(), func() {})
	defer stop()
	c := observe.NewCollector(managers)
	for _, name := range files {
		err := readDatum(ctx, cmd, c, name)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s: interrupted", verb)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.History(), nil
}

// readDatum reads one FILE[@TIME].
func readDatum(ctx context.Context, cmd *cobra.Command, c *observe.Collector, arg string) error {
	name, at := arg, time.Time{}
	if i := strings.LastIndexByte(arg, '@'); i > 0 {
		if _, err := os.Stat(arg); err != nil { // a file may be called so
			t, err := time.Parse(time.RFC3339, arg[i+1:])
			if err != nil {
				return fmt.Errorf("%s: want FILE@TIME, e.g. pods.yaml@2026-11-16T08:00:00Z", arg)
			}
			name, at = arg[:i], t
		}
	}
	r := infile.Until(ctx, cmd.InOrStdin())
	name, file, err := r.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	return c.Read(name, r, at, infile.HowFar(cmd.ErrOrStderr(), name))
}

// printNotes prints what was read, and what was skipped.
func printNotes(w io.Writer, f *calibrate.Fit) {
	fmt.Fprintf(w, "ipamsim: %s\n", f.Read())
	for _, n := range f.Notes {
		fmt.Fprintf(w, "note: %s\n", reports.Clean(calibrate.NoteText(n)))
	}
}
