package cli

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ipamsim/cmd/cli/outfile"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
	"ipamsim/scenarios"
)

// outputFlags are the flags for output files.
type outputFlags struct {
	json, trace, metrics, history, record, html, perfetto, dir string

	gallery bool // html is that of several runs
	code    bool // stories come with the source that they number
}

func (o *outputFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&o.json, "json", "", "write every run as a line of JSON to `F`, or - for stdout")
	fl.StringVar(&o.trace, "trace", "", "write the schedule log of every run to `F`")
	fl.StringVar(&o.metrics, "metrics", "", "write the measured metrics (spec.metrics) as OpenMetrics text to `F`, for promtool")
	o.addOfOne(fl)
	fl.Lookup("html").Usage = htmlUsage + "; of several runs, one page, and a page in F-pages for each run with a violation"
	fl.StringVar(&o.dir, "out", "", "write a replayable finding into `DIR` for every run that is not as expected")
}

// addOfOne adds the flags of run and replay that are about one run.
func (o *outputFlags) addOfOne(fl *pflag.FlagSet) {
	fl.StringVar(&o.history, "history", "", historyUsage)
	fl.StringVar(&o.record, "record", "", "write the record of the run to `F`, for ipamsim report")
	fl.StringVar(&o.html, "html", "", htmlUsage)
	fl.StringVar(&o.perfetto, "perfetto", "", perfettoUsage)
	fl.BoolVar(&o.code, "code", false, "print the source lines of the address manager that the numbers in the story refer to")
}

// output is a flag that names a file.
type output struct {
	flag, path string
	one        string // why it is of one run; "" if it is of any number
}

func (o *outputFlags) files() []output {
	return []output{
		{"json", o.json, ""}, {"trace", o.trace, ""}, {"metrics", o.metrics, "a file is one exposition"},
		{"history", o.history, "a page is one history"}, {"record", o.record, "a record is of one"},
		{"html", o.html, "a page is of one"}, {"perfetto", o.perfetto, "a trace is of one"},
	}
}

// single refuses files of one run where there are several.
func (o *outputFlags) single(runs int) error {
	for _, f := range o.files() {
		if f.path != "" && f.one != "" && runs > 1 && !(o.gallery && f.flag == "html") {
			return fmt.Errorf("--%s: want one run, %s", f.flag, f.one)
		}
	}
	return nil
}

// film reports whether every run must be filmed.
func (o *outputFlags) film() bool {
	return o.record != "" || o.html != "" && !o.gallery || o.perfetto != ""
}

// check finds contradictions; whether the paths can be written is found by open.
func (o *outputFlags) check(all []*scenarios.Scenario) error {
	if o.trace == "-" {
		return errors.New("--trace: want a file")
	}
	flags := map[string]string{}
	for _, f := range o.files() {
		clean := filepath.Clean(f.path)
		if f.path != "" && flags[clean] != "" {
			return fmt.Errorf("--%s and --%s name the same file", f.flag, flags[clean])
		}
		flags[clean] = f.flag
	}
	names := map[string]string{}
	for _, s := range all {
		if other, taken := names[s.Name()]; taken && o.dir != "" {
			return fmt.Errorf("--out: %s and %s are both named %q", other, s.File, s.Name())
		}
		names[s.Name()] = s.File
	}
	return nil
}

// outputFile is an open file of a command.
type outputFile struct {
	*outfile.File
	one  bool // it is of one run
	used bool // which was written
}

// outputs are the open files of a command.
type outputs struct {
	files map[string]*outputFile // by flag, those that were given
	dir   string
	made  bool // dir did not exist before

	gallery *gallery // what --html writes of several runs; nil of one
}

// open creates everything before the first run, so that hours of runs do not end
// with a path that cannot be written.
func (o *outputFlags) open(stdout io.Writer) (*outputs, error) {
	out := &outputs{dir: o.dir, files: map[string]*outputFile{}}
	var err error
	if o.dir != "" {
		if _, e := os.Stat(o.dir); errors.Is(e, os.ErrNotExist) {
			out.made = true
		}
		if err = outfile.Writable(o.dir); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
	}
	if o.gallery {
		if out.gallery, err = newGallery(o.html); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	for _, f := range o.files() {
		to := outfile.Stream(stdout)
		if f.flag != "json" || f.path != "-" {
			if to, err = outfile.Create(f.path); err != nil {
				out.discard()
				return nil, fmt.Errorf("--%s: %w", f.flag, err)
			}
		}
		if to != nil {
			out.files[f.flag] = &outputFile{File: to, one: f.one != "" && !(o.gallery && f.flag == "html")}
		}
	}
	return out, nil
}

// write adds a run of s to every file.
func (o *outputs) write(s *scenarios.Scenario, r *reports.Report) error {
	formats := formats.All()
	formats["history"], formats["record"] = historyOf(s), record.Write
	formats["html"], formats["perfetto"] = drawn(page.Write), drawn(record.Perfetto)
	if o.gallery != nil {
		formats["html"] = func(_ io.Writer, r *reports.Report) error { return o.gallery.add(r) }
	}
	for _, name := range slices.Sorted(maps.Keys(o.files)) {
		f := o.files[name]
		f.used = true
		err := formats[name](f, r)
		if err == nil && f.Eager {
			err = f.Flush() // a reader of the pipe needs the line now
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

// finding writes a run as a file of its own and returns its path.
func (o *outputs) finding(s *scenarios.Scenario, r *reports.Report) (string, error) {
	if o.dir == "" || r.Strategy == "stress" { // what has no schedule cannot be replayed
		return "", nil
	}
	text, err := s.Finding(r)
	if err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	name := strings.TrimLeft(outfile.Unsafe.ReplaceAllString(r.Scenario, "_"), ".")
	f, err := outfile.Create(filepath.Join(o.dir, fmt.Sprintf("%s-%d.yaml", name, r.Seed)))
	if err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	_, err = f.Write(text)
	return f.Path, errors.Join(err, f.Commit())
}

// commit puts the files in place.
func (o *outputs) commit() error {
	var errs []error
	if o.gallery != nil {
		if err := o.gallery.draw(o.files["html"].File); err != nil {
			errs = append(errs, fmt.Errorf("--html: %w", err))
		}
	}
	for _, f := range o.files {
		if f.one && !f.used {
			f.Discard() // its run was interrupted
			continue
		}
		errs = append(errs, f.Commit())
	}
	o.tidy()
	return errors.Join(errs...)
}

func (o *outputs) discard() {
	for _, f := range o.files {
		f.Discard()
	}
	o.gallery.discard()
	o.tidy()
}

// tidy removes the directory for findings again if there were none.
func (o *outputs) tidy() {
	if o.made {
		_ = os.Remove(o.dir) // fails if there is something in it
	}
}
