// Package importing implements the command import.
package importing

import (
	"bytes"
	"cmp"
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
	image                   string // of the CronJob
	check, checkNew         string // severities; "": not set
	all                     bool
	dumpCommand, cronJob    bool
	act                     time.Duration
	outputs                 importOutputs
}

// Command returns the command import. The CronJob that it prints runs the image of this
// version of ipamsim, or "latest".
func Command(m scenarios.Managers, version string) *cobra.Command {
	f := &importFlags{managers: m, image: "ipamsim.dev/ipamsim:" + cmp.Or(version, "latest")}
	cmd := &cobra.Command{
		Use:   "import FILE|FOLDER|ARCHIVE… | --kubeconfig F > scenario.yaml",
		Short: "diagnose a running or dumped cluster, and convert it to a scenario",
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
				_, err := io.WriteString(cmd.OutOrStdout(), live.CronJob(m, f.image))
				return err
			case f.dumpCommand:
				_, err := fmt.Fprintln(cmd.OutOrStdout(), collect.Command(m, "dump.yaml"))
				return err
			case len(files) == 0 && f.kubeconfig == "":
				return errors.New("import: want a file, - for the standard input, or --kubeconfig for a running cluster")
			case f.act < 0:
				return fmt.Errorf("--act: want a time of 0s or longer, have %s", f.act)
			case f.kubeContext != "" && f.kubeconfig == "":
				return errors.New("--context requires --kubeconfig")
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

// long renders the help of the command.
func long(m scenarios.Managers) string {
	return `Diagnose a running or dumped cluster, and convert it to a scenario.

The scenario goes to the standard output; findings, and what is unknown, go to the
standard error. Of pods, only names, labels, networks and addresses are kept.

The files contain the output of these commands in any order; - is the standard input:
` + printsList(m) + `Text copied from a terminal, a mail or an issue is accepted: prompts, Markdown fences,
prose, messages of kubectl, colours, and quotes, line numbers or times before each line.
After "Forbidden" or "doesn't have a resource type" a kind is unknown, not empty.
Input that cannot be read is reported with its file and line, and the rest is used. A
list that is cut off or has an ellipsis is incomplete.

In folders and in .tar, .zip, .gz, .tgz, .bz2, .xz and .zst files (a must-gather, oc adm
inspect, kubectl cluster-info dump, diagnostics of a manager's tool, support bundles of
Rancher and Troubleshoot, a sosreport) every file that looks like such output is read;
logs and other files are counted. Nothing is unpacked to disk, and links are not
followed.

With --kubeconfig, the running cluster is read page by page with the credentials of that
file. Only GET requests are sent to the API server. A credential plugin in the file
(users[].user.exec) runs on this machine, as with kubectl: use only a kubeconfig from a
source that you trust to run programs. Import needs get and list for the resources below;
those that are forbidden are reported and skipped. Files can be added for data that the
API server does not have.

Resources that are read:
` + resourceList(m) + `
Invariants that need missing objects cannot be judged; import prints the command that
collects them. ipamsim import --print-dump-command prints a command that collects all.

Remediations are simulated first, in runs of the real code that begin with this cluster,
for at most --act. Commands are printed only if they fix the finding, cause no new one,
and no pod loses its address except those that are named.

Findings are also written as JSON, as SARIF at the lines of the dump, and as metrics.
With --json - (or --sarif -, --openmetrics -) they replace the scenario on the standard
output. --store keeps a result as JSON, and --since reports which findings are new since
then: a finding is the same if its invariant, code and objects are. In the first run with
the same file for both, there is nothing to compare with. ipamsim import --print-cronjob
prints a manifest that does this in the cluster every hour, with read access to these
resources only.

Exit: 0 written · 1 with --check: there are findings · 2 the files cannot be read, or
with --check: no findings, but something could not be judged.`
}

func (f *importFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&f.anonymise, "anonymise", "", "replace names and addresses of nodes; =addresses: those of pools and pods too")
	fl.Lookup("anonymise").NoOptDefVal = "names"
	fl.StringVar(&f.check, "check", "", "exit with 1 if there are findings, with 2 if something could not be judged; =major: of this severity or worse, =critical: traffic is lost now")
	fl.StringVar(&f.checkNew, "check-new", "", "like --check, but exit with 1 only if a finding is new since --since")
	fl.Lookup("check").NoOptDefVal, fl.Lookup("check-new").NoOptDefVal = string(model.Minor), string(model.Minor)
	fl.BoolVar(&f.all, "all", false, "list every finding, not the first few of each kind")
	f.outputs.add(fl)
	fl.BoolVar(&f.cronJob, "print-cronjob", false, "only print a manifest that imports its cluster every hour")
	fl.StringVar(&f.image, "image", f.image, "with --print-cronjob: the container `IMAGE` of ipamsim")
	fl.BoolVar(&f.dumpCommand, "print-dump-command", false, "only print the shell command that dumps all resources that import reads")
	fl.DurationVar(&f.act, "act", actFor, "simulate remediations for at most `D`; those not simulated by then are not printed")
	fl.StringVar(&f.kubeconfig, "kubeconfig", "", "read the running cluster of the kubeconfig `F`")
	fl.StringVar(&f.kubeContext, "context", "", "the `CONTEXT` of the kubeconfig (default: its current one)")
	fl.StringVar(&f.out, "out", "", "write the scenario to `F` instead of the standard output")
	fl.StringVar(&f.name, "name", "imported", "the name of the scenario")
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
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // most of the input is kept
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(importMemory, debug.SetMemoryLimit(-1))))
	return during(cmd, out, more, func(w *session) error { return f.judge(w, files, o, more, last) })
}

// judge reads the dump, prints the findings, and writes the requested outputs.
func (f *importFlags) judge(w *session, files []string, o dump.Options, more importFiles, last *imported.Result) error {
	c := dump.New(f.managers)
	if err := f.read(w, c, files); err != nil {
		return err
	}
	s, views, report, err := f.scenario(w, c, o)
	if err != nil {
		return err
	}
	w.begin("comparing the findings")
	findings := diagnosis.Of(c, views[0], !o.Anonymise, views[1:]...)
	if !o.Anonymise {
		if err := f.prove(w, s, views[0], findings); err != nil {
			return err
		}
	}
	w.begin("writing the findings")
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

// verdict returns the exit code of --check and --check-new as an error; nil: everything was
// judged and there are no findings.
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

// checks validates --check and --check-new.
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
		return errors.New("--check-new requires --since")
	}
	return nil
}

// importMemory is the heap size, in bytes, above which an import collects garbage more often.
// 100,000 pods need less; a larger cluster may exceed it.
const importMemory = 1250 << 20

// read reads the running cluster and the files into c.
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

// scenario makes the scenario, inspects it and those of managers that are judged separately,
// and writes it with the violations to expect. The first view is that of the scenario.
func (f *importFlags) scenario(w *session, c *dump.Cluster, o dump.Options) (*scenarios.Scenario, []*scenarios.View, *dump.Report, error) {
	w.begin("making a scenario of %d pods and %d nodes", len(c.Pods), len(c.Nodes))
	text, report, err := c.Scenario(o)
	if err != nil {
		return nil, nil, nil, err
	}
	c.Forget()
	w.begin("loading the scenario of %d pods and %d nodes", report.Pods, report.Nodes)
	s, err := f.managers.Parse("the imported scenario", text)
	if err != nil {
		return nil, nil, nil, report.Trace(err)
	}
	packed, err := pack(text) // while the cluster is inspected, because it is large
	if err != nil {
		return nil, nil, nil, err
	}
	w.begin("checking %d pods, %d nodes and %d addresses in use", report.Pods, report.Nodes, report.Claims)
	scenarios.Tune()
	view, err := w.runner.Inspect(w.ctx, s)
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

// pack compresses text, which has thousands of lines that differ by a name.
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
