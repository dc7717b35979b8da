// Package importing is the command import.
package importing

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/exit"
	"ipamsim/cmd/cli/infile"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/model"
	"ipamsim/reports/imported"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/dump/collect"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/dump/live"
)

// importFlags are the flags of import as typed.
type importFlags struct {
	managers                scenarios.Managers
	anonymise, out, name    string
	kubeconfig, kubeContext string
	check, checkNew         string // severities; "": not asked
	all                     bool
	dumpCommand, cronJob    bool
	act                     time.Duration
	outputs                 importOutputs
}

func Command(m scenarios.Managers) *cobra.Command {
	f := &importFlags{managers: m}
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER|ARCHIVE… | --kubeconfig F > scenario.yaml",
		Short: "make a scenario of a cluster, running or dumped, and say what is wrong in it",
		Long:  long(m),
		Example: `  eval "$(ipamsim import --print-dump-command)"   # writes dump.yaml with kubectl
  ipamsim import dump.yaml > cluster.yaml
  ipamsim import --check dump.yaml > cluster.yaml
  ipamsim import --kubeconfig ~/.kube/config --context staging --anonymise > cluster.yaml
  ipamsim import dump.yaml --json - | jq '.findings[] | select(.severity == "critical")'
  ipamsim import dump.yaml --out cluster.yaml --since last.json --store last.json --check-new=major`,
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case f.cronJob:
				_, err := io.WriteString(cmd.OutOrStdout(), live.CronJob(m))
				return err
			case f.dumpCommand:
				_, err := fmt.Fprintln(cmd.OutOrStdout(), collect.Command(m, "dump.yaml"))
				return err
			case len(files) == 0 && f.kubeconfig == "":
				return errors.New("import: want a file, - for the standard input, or --kubeconfig for a running cluster")
			case f.act < 0:
				return fmt.Errorf("--act: want a time of 0s or longer, have %s", f.act)
			case f.kubeContext != "" && f.kubeconfig == "":
				return errors.New("--context: of which --kubeconfig?")
			}
			if err := f.checks(files); err != nil {
				return err
			}
			return f.run(cmd, files)
		},
	}
	f.add(cmd.Flags())
	return cmd
}

// long is the help of the command.
func long(m scenarios.Managers) string {
	return `Make a scenario of a cluster, running or dumped, and say what is wrong in it.

The files hold, in any mixture, what these print; - is the standard input:
` + printsList(m) + `Around it may stand what a terminal, a mail or an issue has: prompts with commands,
Markdown fences and prose, messages of kubectl, colours; before each line quotes, line
numbers, times. "Forbidden" and "doesn't have a resource type" make a kind unknown, not
empty. What cannot be read is reported with its file and line, and the rest is used; a
list that is cut off or has an ellipsis is not complete.

Of folders and of .tar, .zip, .gz, .tgz, .bz2, .xz and .zst (a must-gather, oc adm
inspect, kubectl cluster-info dump, diagnostics of a manager's tool, support bundles of
Rancher and Troubleshoot, a sosreport) each file that looks like such output is read, and logs
and other files are counted. Nothing is unpacked to the disk, links are not followed.

The scenario goes to the standard output, what could not be known and what is wrong to
the standard error. Of pods only names, labels, networks and addresses are kept.

With --kubeconfig the cluster itself is read, page by page, as kubectl get would,
with the credentials of that file. The API server is sent GET requests only. A
credential plugin that the file names (users[].user.exec) is run on this machine,
as kubectl runs it: take no kubeconfig from somebody whom you would not let run
programs. It needs get and list of what is listed below; what is forbidden is left out, and
told. Files may be given besides: what the API server does not hold.

Read are, by the names that kubectl takes:
` + resourceList(m) + `
What is missing in a dump cannot be judged, and is told with the command that adds it.
ipamsim import --print-dump-command prints one that collects all.

What would fix a finding is simulated first, in runs of the real code that begin with
this cluster, for at most --act. Commands are printed only if the finding goes away,
nothing new breaks and no pod loses its address but those that are named.

What is found is written for programs, too: as JSON, as SARIF at the lines of the dump
where the objects stand, and as metrics. With --json - (or --sarif -, --openmetrics -)
the standard output has that instead of the scenario. --store keeps a result as JSON,
and --since says what is new against one: a finding is the same if its invariant, code
and objects are. The first time, with the same file for both, there is nothing to
compare with. ipamsim import --print-cronjob prints a manifest that does this in the
cluster every hour, with the right to read what import reads, and nothing else.

Exit: 0 written · 1 something is wrong in the cluster, with --check · 2 the files
cannot be read, or with --check: nothing was found wrong, and something could not be
judged.`
}

func (f *importFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.anonymise, "anonymise", "", "replace names and addresses of nodes; =addresses: those of pools and pods too")
	fl.Lookup("anonymise").NoOptDefVal = "names"
	fl.StringVar(&f.check, "check", "", "exit with 1 if anything is wrong in the cluster, with 2 if something could not be judged; =major: or worse, =critical: where traffic goes wrong now")
	fl.StringVar(&f.checkNew, "check-new", "", "as --check, and with 1 only for what is new by --since")
	fl.Lookup("check").NoOptDefVal, fl.Lookup("check-new").NoOptDefVal = string(model.Minor), string(model.Minor)
	fl.BoolVar(&f.all, "all", false, "list every finding, not the first few of each kind")
	f.outputs.add(fl)
	fl.BoolVar(&f.cronJob, "print-cronjob", false, "print a manifest that imports the cluster in which it runs every hour, and do nothing else")
	fl.BoolVar(&f.dumpCommand, "print-dump-command", false, "print the shell command that dumps all that is read of a cluster, and do nothing else")
	fl.DurationVar(&f.act, "act", actFor, "simulate what would fix the findings for at most `D`; what was not simulated is not printed")
	fl.StringVar(&f.kubeconfig, "kubeconfig", "", "read the running cluster that `F` leads to")
	fl.StringVar(&f.kubeContext, "context", "", "the `CONTEXT` of the kubeconfig (default: its current one)")
	fl.StringVar(&f.out, "out", "", "write the scenario to `F` instead of the standard output")
	fl.StringVar(&f.name, "name", "imported", "what to call the scenario")
}

func (f *importFlags) run(cmd *cobra.Command, files []string) error {
	o := dump.Options{Name: f.name}
	switch f.anonymise {
	case "":
	case "names":
		o.Anonymise = true
	case "addresses":
		o.Anonymise, o.Addresses = true, true
	default:
		return fmt.Errorf("--anonymise: %q: want nothing or addresses", f.anonymise)
	}
	if err := f.outputs.check(f.out, o.Anonymise); err != nil {
		return err
	}
	last, err := f.outputs.last()
	if err != nil {
		return err
	}
	out, err := outfile.Create(f.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	more, err := f.outputs.open(cmd.OutOrStdout())
	if err != nil {
		out.Discard()
		return err
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // most of what is read is kept
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(importMemory, debug.SetMemoryLimit(-1))))
	return during(cmd, out, more, func(w *session) error { return f.judge(w, files, o, more, last) })
}

// judge reads the dump, reports what is wrong in it, and writes what was asked for.
func (f *importFlags) judge(w *session, files []string, o dump.Options, more importFiles, last *imported.Result) error {
	c := dump.New(f.managers)
	if err := f.read(w, c, files); err != nil {
		return err
	}
	s, views, report, err := f.scenario(w, c, o)
	if err != nil {
		return err
	}
	w.begin("comparing what was found")
	findings := diagnosis.Of(c, views[0], !o.Anonymise, views[1:]...)
	if !o.Anonymise {
		if err := f.prove(w, s, views[0], findings); err != nil {
			return err
		}
	}
	w.begin("writing what was found")
	result := f.result(o, report, findings)
	if last != nil {
		if err := result.Compare(last); err != nil {
			return fmt.Errorf("--since: %s: %w", f.outputs.since, err)
		}
	}
	if err := w.ctx.Err(); err != nil {
		return err
	}
	w.end()
	if err := f.print(w.cmd.ErrOrStderr(), s, report, findings, result); err != nil {
		return err
	}
	if err := f.outputs.write(more, result); err != nil {
		return err
	}
	w.whole = true
	return f.verdict(findings, result)
}

// verdict is the exit code of --check and --check-new; nil: all that they ask for was
// judged, and nothing is wrong.
func (f *importFlags) verdict(findings *diagnosis.Findings, r *imported.Result) error {
	out := exit.Expected
	for _, c := range []struct {
		least   string
		onlyNew bool
	}{{f.check, false}, {f.checkNew, true}} {
		switch least := model.Severity(c.least); {
		case c.least == "":
		case r.Worse(least, c.onlyNew):
			return &exit.Error{Code: exit.Violation}
		case findings.Unsure(least):
			out = exit.Cannot
		}
	}
	if out == exit.Expected {
		return nil
	}
	return &exit.Error{Code: out}
}

// checks finds what is wrong with --check and --check-new.
func (f *importFlags) checks(files []string) error {
	if len(dump.New(f.managers).Managers()) == 0 {
		return fmt.Errorf("import: no manager of this program (%s) can be imported; give one of them a *dump.Importer (ipam.Manager.With)", strings.Join(f.managers.Names(), ", "))
	}
	isSeverity := func(word string) bool { return model.Severity(word).Rank() >= 0 }
	for _, c := range []struct{ flag, least string }{{"check", f.check}, {"check-new", f.checkNew}} {
		if c.least == "" {
			continue
		}
		if !isSeverity(c.least) {
			return fmt.Errorf("--%s: %q: want critical, major or minor", c.flag, c.least)
		}
		for _, name := range files {
			if _, err := os.Stat(name); err != nil && isSeverity(name) {
				return fmt.Errorf("--%s: write --%s=%s", c.flag, c.flag, name)
			}
		}
	}
	if f.checkNew != "" && f.outputs.since == "" {
		return errors.New("--check-new: new since what? Add --since FILE")
	}
	return nil
}

// importMemory is from how many bytes on an import collects garbage more often. What
// 100,000 pods need at once is less; a larger cluster takes more all the same.
const importMemory = 1250 << 20

// read takes the cluster and the files into c.
func (f *importFlags) read(w *session, c *dump.Cluster, files []string) error {
	if f.kubeconfig != "" {
		if err := readLive(w, c, f.kubeconfig, f.kubeContext); err != nil {
			return fmt.Errorf("--kubeconfig: %w", err)
		}
	}
	b := bundle.Reader{
		Cluster: c, Stdin: w.cmd.InOrStdin(), Progress: w.reading(c),
		Until: func(r io.Reader) io.Reader { return counted{infile.Until(w.ctx, r), w.progress} },
	}
	return errors.Join(b.Read(files), w.ctx.Err())
}

// scenario makes the scenario, looks at it and at those that are apart, and writes it with
// what is to be expected. The first view is its own.
func (f *importFlags) scenario(w *session, c *dump.Cluster, o dump.Options) (*scenarios.Scenario, []*scenarios.View, *dump.Report, error) {
	w.begin("making a scenario of %d pods and %d nodes", len(c.Pods), len(c.Nodes))
	text, report, err := c.Scenario(o)
	if err != nil {
		return nil, nil, nil, err
	}
	c.Forget()
	w.begin("loading the scenario of %d pods and %d nodes", report.Pods, report.Nodes)
	s, err := f.managers.Parse("the scenario made of it", text)
	if err != nil {
		return nil, nil, nil, report.Trace(err)
	}
	packed, err := pack(text) // while the cluster is looked at, for it is large
	if err != nil {
		return nil, nil, nil, err
	}
	w.begin("checking %d pods, %d nodes and %d addresses in use", report.Pods, report.Nodes, report.Claims)
	scenarios.Tune()
	view, err := w.runner.Look(w.ctx, s)
	if err != nil {
		return nil, nil, nil, report.Trace(err)
	}
	apart, err := diagnosis.Apart(w.ctx, w.runner, report)
	if err != nil {
		return nil, nil, nil, report.Trace(err)
	}
	if text, err = unpack(packed); err != nil {
		return nil, nil, nil, err
	}
	views := append([]*scenarios.View{view}, apart...)
	if err := w.ctx.Err(); err != nil || w.out == nil && f.outputs.toStdout() {
		return s, views, report, err
	}
	w.begin("writing the scenario")
	err = emit(w.cmd.OutOrStdout(), w.out, text, view)
	w.written = err == nil
	return s, views, report, err
}

// pack makes text small, which has thousands of lines that differ by a name.
func pack(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unpack(packed []byte) ([]byte, error) {
	return io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
}

func emit(stdout io.Writer, out *outfile.File, text []byte, v *scenarios.View) error {
	if out == nil {
		return diagnosis.WriteFound(stdout, text, v)
	}
	return errors.Join(diagnosis.WriteFound(out, text, v), out.Commit())
}
