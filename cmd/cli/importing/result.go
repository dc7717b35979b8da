package importing

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/infile"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/model"
	"ipamsim/reports"
	"ipamsim/reports/imported"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/remedy"
)

// importOutputs are the flags for machine-readable results.
type importOutputs struct {
	json, sarif, openmetrics string // files, or - for the standard output
	since, store             string // results of import --json: the last one, and this one
}

func (o *importOutputs) add(fl *pflag.FlagSet) {
	fl.StringVar(&o.json, "json", "", "write the findings as JSON to `F`, or - for stdout")
	fl.StringVar(&o.sarif, "sarif", "", "write the findings as SARIF to `F`, or - for stdout")
	fl.StringVar(&o.openmetrics, "openmetrics", "", "write the findings as metrics to `F`, or - for stdout, for a node exporter's textfile collector")
	fl.StringVar(&o.since, "since", "", "report the findings that are new since `F`, written by --store or --json")
	fl.StringVar(&o.store, "store", "", "keep the findings in `F`, for the next --since")
}

// sink is a flag that names a file to write.
type sink struct {
	flag, path string
	write      func(io.Writer, *imported.Result) error
}

func (o *importOutputs) sinks() []sink {
	return []sink{
		{"json", o.json, imported.JSON}, {"sarif", o.sarif, imported.SARIF},
		{"openmetrics", o.openmetrics, imported.OpenMetrics}, {"store", o.store, imported.JSON},
	}
}

// toStdout reports whether one of them goes to the standard output.
func (o *importOutputs) toStdout() bool {
	return o.json == "-" || o.sarif == "-" || o.openmetrics == "-"
}

// check reports contradictory flags. out is the file of the scenario, or "".
func (o *importOutputs) check(out string, anonymised bool) error {
	flags := map[string]string{}
	for _, t := range append(o.sinks(), sink{flag: "out", path: out}) {
		path := t.path
		if path != "" && path != "-" {
			path = filepath.Clean(path)
		}
		switch other := flags[path]; {
		case path == "" || path == os.DevNull:
			continue
		case path == "-" && t.flag == "store":
			return errors.New("--store: want a file for the next --since, not -")
		case other != "":
			return fmt.Errorf("--%s and --%s name the same file", t.flag, other)
		}
		flags[path] = t.flag
	}
	if anonymised && o.since != "" {
		return errors.New("--since: anonymised names differ between imports; remove --anonymise")
	}
	return nil
}

// last returns the result to compare with; nil if there is none. The file may be missing if it
// is also that of --store.
func (o *importOutputs) last() (*imported.Result, error) {
	if o.since == "" {
		return nil, nil
	}
	if _, err := os.Stat(o.since); errors.Is(err, os.ErrNotExist) && filepath.Clean(o.since) == filepath.Clean(o.store) {
		return nil, nil
	}
	file, err := infile.OpenRegular(o.since)
	if err != nil {
		return nil, fmt.Errorf("--since: %s: %w", o.since, err)
	}
	defer file.Close()
	r, err := imported.Read(bufio.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("--since: %s: %w", o.since, err)
	}
	return r, nil
}

// importFiles are the open output files of an import, by flag.
type importFiles map[string]*outfile.File

// open creates all output files before anything is read, so that an import of minutes does not
// fail because of a path that cannot be written.
func (o *importOutputs) open(stdout io.Writer) (importFiles, error) {
	files := importFiles{}
	for _, t := range o.sinks() {
		var err error
		if t.path == "-" {
			files[t.flag] = &outfile.File{Writer: bufio.NewWriter(stdout)}
		} else if files[t.flag], err = outfile.Create(t.path); err != nil {
			files.discard()
			return nil, fmt.Errorf("--%s: %w", t.flag, err)
		}
	}
	return files, nil
}

func (f importFiles) discard() {
	for _, file := range f {
		file.Discard()
	}
}

// write writes a result to every file. The file of --store comes last: it exists only if all
// others do.
func (o *importOutputs) write(files importFiles, r *imported.Result) error {
	for _, t := range o.sinks() {
		file := files[t.flag]
		if file == nil {
			continue
		}
		if err := errors.Join(t.write(file, r), file.Commit()); err != nil {
			return fmt.Errorf("--%s: %w", t.flag, err)
		}
	}
	return nil
}

// result converts the findings of an import for the machine-readable outputs.
func (i *importFlags) result(o dump.Options, rep *dump.Report, f *diagnosis.Findings) *imported.Result {
	r := &imported.Result{
		Format: imported.Format, Name: o.Name, Sources: append([]string{}, rep.Sources...), Anonymised: o.Anonymise,
		Managers: []imported.Manager{}, Nodes: rep.Nodes, Pods: rep.Pods, Addresses: rep.Claims,
		Verdict:  f.Verdict(model.Minor),
		Findings: findingsOf(rep, f, f.All), Supposed: findingsOf(rep, f, f.Supposed), Unjudged: []imported.Unjudged{}, Versions: []imported.Version{},
		Borrowed: []imported.Borrowed{}, Unknown: append([]string{}, rep.Unknown...), Left: append([]string{}, rep.Left...),
	}
	for _, m := range rep.Managers {
		if !m.Bare {
			r.Managers = append(r.Managers, imported.Manager{Name: m.Name, Datastore: m.Datastore})
		}
	}
	for _, u := range f.Unjudged {
		r.Unjudged = append(r.Unjudged, imported.Unjudged{What: u.What, Without: u.Without, Namespaces: u.Namespaces})
	}
	for _, v := range rep.Versions {
		r.Versions = append(r.Versions, imported.Version{Program: v.Program, Found: v.Found, Simulated: i.managers.Simulated(v.Program)})
	}
	for _, b := range f.Borrowed {
		r.Borrowed = append(r.Borrowed, imported.Borrowed{Address: b.Addr.String(), Node: b.Node, Owner: b.Owner, Pod: b.Pod})
	}
	for _, x := range f.Full {
		r.NearlyFull = append(r.NearlyFull, imported.Range{Range: x.Range.String(), Slice: x.Slice, Taken: x.Taken, Most: x.Most})
	}
	return r
}

func findingsOf(rep *dump.Report, f *diagnosis.Findings, all []diagnosis.Finding) []imported.Finding {
	out := []imported.Finding{}
	for i := range all {
		x := &all[i]
		out = append(out, imported.Finding{
			Identity: x.Identity(), Severity: x.Severity, Message: reports.Clean(x.Message), Facts: append([]model.Fact{}, x.Facts...),
			Places: placesOf(rep, x.Objects), Remedy: remedyOf(f, x),
		})
	}
	return out
}

func placesOf(rep *dump.Report, objects []model.Ref) []imported.Place {
	out := []imported.Place{}
	for _, p := range rep.Places(objects) {
		out = append(out, imported.Place{Object: p.Object, File: p.File, Line: p.Line})
	}
	return out
}

// remedyOf returns nil if there is neither a remediation nor a check.
func remedyOf(f *diagnosis.Findings, x *diagnosis.Finding) *imported.Remedy {
	if x.Check == "" && (x.Problem == 0 || x.Problem > len(f.Results)) {
		return nil
	}
	out := &imported.Remedy{Problem: x.Problem, Check: x.Check}
	if x.Problem == 0 || x.Problem > len(f.Results) {
		return out
	}
	r := &f.Results[x.Problem-1]
	if r.Advice != nil {
		out.Advice = r.Advice.Say()
	}
	switch {
	case r.With != nil:
		out.Status = imported.With
	case r.Itself:
		out.Status = imported.Itself
	case r.Best != nil:
		out.Status, out.Seconds = imported.Safe, r.Best.Took.Seconds()
		for _, s := range r.Best.Steps {
			out.Steps = append(out.Steps, imported.Step{Text: reports.Clean(s.Say()), Commands: s.Commands()})
		}
		for _, c := range r.Best.Cautions {
			out.Cautions = append(out.Cautions, string(c))
		}
		for _, p := range r.Best.Restarted {
			out.Restarted = append(out.Restarted, p.String())
		}
	default:
		out.Status = imported.NotSafe
		if r.Untried != remedy.Simulated {
			out.Status = imported.NotActed
		}
		out.Why, out.Decide = f.WhyNone(r), r.Else
	}
	return out
}
