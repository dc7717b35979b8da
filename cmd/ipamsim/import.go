package main

import (
	"bufio"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
)

// importFlags are the flags of import as typed.
type importFlags struct {
	anonymise, out, name    string
	kubeconfig, kubeContext string
	check, dumpCommand      bool
	act                     time.Duration
}

func importCommand() *cobra.Command {
	f := &importFlags{}
	cmd := &cobra.Command{
		Use:   "import FILE… | --kubeconfig F > scenario.yaml",
		Short: "make a scenario of a cluster, running or dumped, and say what is wrong in it",
		Long: `Make a scenario of a cluster, running or dumped, and say what is wrong in it.

The files hold what kubectl get -o yaml or -o json and calicoctl get -o yaml print,
the tables of calicoctl ipam show, the report of calicoctl ipam check -o, or what
calicoctl datastore migrate export writes, in any mixture; - is the standard input. The scenario goes to the standard
output, what could not be known and what is wrong to the standard error. Of pods
only names, labels, networks and addresses are kept.

With --kubeconfig the cluster itself is read, page by page, as kubectl get would,
with the credentials of that file. The API server is sent GET requests only. A
credential plugin that the file names (users[].user.exec) is run on this machine,
as kubectl runs it: take no kubeconfig from somebody whom you would not let run
programs. It needs get and list of what is listed below; what is forbidden is left out, and
told. Files may be given besides: what etcd holds, from calicoctl.

Read are, by the names that kubectl takes:
` + resourceList() + `
What is missing in a dump cannot be judged, and is told with the command that adds it.
ipamsim import --print-dump-command prints one that collects all.

What would mend a finding is acted out first, in runs of the real code that begin with
this cluster, for at most --act. Commands are printed only if the finding goes away,
nothing new breaks and no pod loses its address but those that are named.

Exit: 0 written · 1 something is wrong in the cluster, with --check · 2 the files
cannot be read, or with --check: nothing was found wrong, and something could not be
judged.`,
		Example: `  eval "$(ipamsim import --print-dump-command)"   # writes dump.yaml with kubectl
  ipamsim import dump.yaml > cluster.yaml
  ipamsim import --check dump.yaml > cluster.yaml
  ipamsim import --kubeconfig ~/.kube/config --context staging --anonymise > cluster.yaml`,
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case f.dumpCommand:
				_, err := fmt.Fprintln(cmd.OutOrStdout(), dump.CollectCommand("dump.yaml"))
				return err
			case len(files) == 0 && f.kubeconfig == "":
				return errors.New("import: want a file, - for the standard input, or --kubeconfig for a running cluster")
			case f.kubeContext != "" && f.kubeconfig == "":
				return errors.New("--context: of which --kubeconfig?")
			}
			return f.run(cmd, files)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&f.anonymise, "anonymise", "", "replace names and addresses of nodes; =addresses: those of pools and pods too")
	fl.Lookup("anonymise").NoOptDefVal = "names"
	fl.DurationVar(&f.act, "act", actFor, "act out what would mend the findings for at most `D`; what was not acted out is not printed")
	fl.BoolVar(&f.check, "check", false, "exit with 1 if anything is wrong in the cluster, with 2 if something could not be judged")
	fl.BoolVar(&f.dumpCommand, "print-dump-command", false, "print the shell command that dumps all that is read of a cluster, and do nothing else")
	fl.StringVar(&f.kubeconfig, "kubeconfig", "", "read the running cluster that `F` leads to")
	fl.StringVar(&f.kubeContext, "context", "", "the `CONTEXT` of the kubeconfig (default: its current one)")
	fl.StringVar(&f.out, "out", "", "write the scenario to `F` instead of the standard output")
	fl.StringVar(&f.name, "name", "imported", "what to call the scenario")
	return cmd
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
	out, err := create(f.out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer out.discard()
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // most of what is read is kept
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(min(importMemory, debug.SetMemoryLimit(-1))))
	c := dump.New()
	if err := f.read(c, files, cmd, out); err != nil {
		return err
	}
	return f.write(cmd, c, o, out)
}

// importMemory is from how many bytes on an import collects garbage more often. What
// 100,000 pods need at once is less; a larger cluster takes more all the same.
const importMemory = 1250 << 20

// read takes the cluster and the files into c, until Ctrl-C.
func (f *importFlags) read(c *dump.Cluster, files []string, cmd *cobra.Command, out *file) error {
	ctx, stop := interruptible(cmd.ErrOrStderr(), out.discard)
	defer stop()
	if f.kubeconfig != "" {
		err := readLive(ctx, c, f.kubeconfig, f.kubeContext, cmd.ErrOrStderr())
		if ctx.Err() != nil {
			return errors.New("import: interrupted")
		}
		if err != nil {
			return fmt.Errorf("--kubeconfig: %w", err)
		}
	}
	for _, name := range files {
		err := readDump(c, name, untilDone{ctx, cmd.InOrStdin()}, cmd.ErrOrStderr())
		if ctx.Err() != nil {
			return errors.New("import: interrupted")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// untilDone is a reader that ends with an error when its context does.
type untilDone struct {
	ctx context.Context
	io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Reader.Read(p)
}

// readDump reads one file into c.
func readDump(c *dump.Cluster, name string, r untilDone, stderr io.Writer) error {
	if name == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(name)
		if err == nil {
			var info os.FileInfo
			if info, err = file.Stat(); err == nil && info.IsDir() {
				err = errors.New("is a directory, want a file")
			}
			defer file.Close()
		}
		if err != nil {
			var p *os.PathError
			if errors.As(err, &p) {
				err = p.Err
			}
			return &scenarios.Error{File: name, Problem: err.Error()}
		}
		r.Reader = file
	}
	last := time.Now()
	return c.Read(name, r, func(p dump.Progress) {
		if time.Since(last) > time.Second {
			last = time.Now()
			fmt.Fprintf(stderr, "ipamsim: %s: %d MiB, %d objects\n", reports.Clean(name), p.Bytes>>20, p.Objects)
		}
	})
}

// write makes the scenario, looks at it, and writes it with what is to be expected.
func (f *importFlags) write(cmd *cobra.Command, c *dump.Cluster, o dump.Options, out *file) error {
	stderr := cmd.ErrOrStderr()
	text, report, err := c.Scenario(o)
	if err != nil {
		return err
	}
	c.Forget()
	s, err := scenarios.Parse("the scenario made of it", text)
	if err != nil {
		return report.Trace(err)
	}
	packed, err := pack(text) // while the cluster is looked at, for it is large
	if err != nil {
		return err
	}
	if report.Pods > manyPods {
		fmt.Fprintf(stderr, "ipamsim: looking at %d pods on %d nodes\n", report.Pods, report.Nodes)
	}
	var view *scenarios.View
	err = withRunner(cmd, func(ctx context.Context, r *scenarios.Runner) (err error) {
		view, err = r.Look(ctx, s)
		return err
	})
	if err != nil {
		return report.Trace(err)
	}
	if text, err = unpack(packed); err != nil {
		return err
	}
	if err := emit(cmd.OutOrStdout(), out, text, expected(view.Violations)); err != nil {
		return err
	}
	found := c.Wrong(view, !o.Anonymise)
	if !o.Anonymise {
		if err := f.prove(cmd, c, s, view, found); err != nil {
			return err
		}
	}
	b := bufio.NewWriter(stderr)
	tellRead(b, report)
	found.Write(b)
	tellVersions(b, report)
	tellUnknown(b, report)
	f.tellNext(b, expected(view.Violations))
	if err := b.Flush(); err != nil {
		return err
	}
	if f.check {
		return checked(found.Verdict(model.Minor))
	}
	return nil
}

// checked is the exit code of a check; nil: all was judged, and nothing is wrong.
func checked(v dump.Verdict) error {
	switch v {
	case dump.Wrong:
		return &exit{code: exitViolation}
	case dump.Undecided:
		return &exit{code: exitCannot}
	}
	return nil
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

// manyPods take longer than a second to look at.
const manyPods = 5000

func emit(stdout io.Writer, out *file, text []byte, broken []string) error {
	if out == nil {
		return dump.WriteExpecting(stdout, text, broken)
	}
	return errors.Join(dump.WriteExpecting(out, text, broken), out.commit())
}

// expected are the invariants that are broken, sorted.
func expected(all []model.Violation) []string {
	var out []string
	for _, v := range all {
		if len(out) == 0 || out[len(out)-1] != v.Invariant {
			out = append(out, v.Invariant)
		}
	}
	return out
}

// resourceList are the full names of what is read, a line each.
func resourceList() string {
	var b strings.Builder
	for _, r := range dump.Resources() {
		if r.By == dump.Kubectl {
			fmt.Fprintf(&b, "  %s\n", r.Name())
		}
	}
	return b.String()
}

// tellRead says what was read.
func tellRead(w io.Writer, r *dump.Report) {
	var managers []string
	if r.Calico {
		managers = append(managers, "Calico ("+r.Datastore+")")
	}
	if r.Whereabouts {
		managers = append(managers, "Whereabouts")
	}
	fmt.Fprintf(w, "ipamsim: %s: %d nodes, %d pods, %d addresses in use\n", strings.Join(managers, " and "), r.Nodes, r.Pods, r.Claims)
}

// tellVersions says which versions the cluster runs of what is simulated, and what these
// do otherwise.
func tellVersions(w io.Writer, r *dump.Report) {
	for _, v := range r.Versions {
		differ, newer := dump.Differences(v)
		switch {
		case newer:
			fmt.Fprintf(w, "version: %s; what has changed since is not listed here\n", reports.Clean(v.String()))
		case len(differ) > 0:
			fmt.Fprintf(w, "version: %s. Before these releases, or a patch of an older line:\n", reports.Clean(v.String()))
		}
		for _, d := range differ {
			fmt.Fprintf(w, "       %s: %s (%s)\n", d.Since, d.Before, d.Source)
		}
	}
}

// tellUnknown says what could not be known, and what was left out.
func tellUnknown(w io.Writer, r *dump.Report) {
	for _, s := range r.Unknown {
		fmt.Fprintf(w, "not known: %s\n", reports.Clean(s))
	}
	for _, s := range r.Left {
		fmt.Fprintf(w, "left out: %s\n", reports.Clean(s))
	}
}

// tellNext says what can be done with the scenario, and what it expects.
func (f *importFlags) tellNext(w io.Writer, broken []string) {
	name := "FILE"
	if f.out != "" {
		name = reports.Shell(f.out)
	}
	note := ""
	if len(broken) > 0 {
		note = ", which expects what is wrong already: " + strings.Join(broken, ", ")
		if slices.Contains(broken, "convergence") {
			note += " (convergence: what is wrong now is still so at the end)"
		}
	}
	fmt.Fprintf(w, "next: ipamsim run %s%s\n", name, note)
	fmt.Fprintf(w, "next: ipamsim plan PLAN, with from: %s in it, says how long the addresses will last and what would help (copy one of scenarios/plans)\n", name)
}
