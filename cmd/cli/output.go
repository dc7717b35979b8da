package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
	"ipamsim/scenarios"
)

// outputFlags say where to write what people do not read on the terminal.
type outputFlags struct {
	json, trace, metrics, history, record, html, perfetto, dir string

	gallery bool // html is that of several runs
	code    bool // stories come with the source that they number
}

func (o *outputFlags) add(fl *pflag.FlagSet) {
	fl.StringVar(&o.json, "json", "", "write every run as a line of JSON to `F`, or - for stdout")
	fl.StringVar(&o.trace, "trace", "", "write the schedule log of every run to `F`")
	fl.StringVar(&o.metrics, "metrics", "", "write what was measured (spec.metrics) as OpenMetrics text to `F`, for promtool")
	o.addOfOne(fl)
	fl.Lookup("html").Usage = htmlUsage + "; several runs as one page, and those that broke something as pages of their own in F-pages"
	fl.StringVar(&o.dir, "out", "", "write a finding to replay for every run that is not as expected into `DIR`")
}

// addOfOne adds the flags of run and replay that are about one run.
func (o *outputFlags) addOfOne(fl *pflag.FlagSet) {
	fl.StringVar(&o.history, "history", "", historyUsage)
	fl.StringVar(&o.record, "record", "", "write everything that can be shown of the run to `F`, for ipamsim report")
	fl.StringVar(&o.html, "html", "", htmlUsage)
	fl.StringVar(&o.perfetto, "perfetto", "", perfettoUsage)
	fl.BoolVar(&o.code, "code", false, "print the lines of the address manager's source that the story's numbers stand for")
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

// outputs are the open files of a command.
type outputs struct {
	files map[string]*file // by flag; nil for those that were not given
	dir   string
	made  bool // dir did not exist before

	gallery *gallery // what --html writes of several runs; nil of one
}

// open creates everything before the first run, so that hours of runs do not end
// with a path that cannot be written.
func (o *outputFlags) open(stdout io.Writer) (*outputs, error) {
	out := &outputs{dir: o.dir, files: map[string]*file{}}
	var err error
	if o.dir != "" {
		if _, e := os.Stat(o.dir); errors.Is(e, os.ErrNotExist) {
			out.made = true
		}
		if err = writable(o.dir); err != nil {
			return nil, fmt.Errorf("--out: %w", err)
		}
	}
	if o.gallery {
		if out.gallery, err = newGallery(o.html); err != nil {
			return nil, fmt.Errorf("--html: %w", err)
		}
	}
	for _, f := range o.files() {
		if f.flag == "json" && f.path == "-" {
			out.files[f.flag] = &file{Writer: bufio.NewWriter(stdout), eager: true}
		} else if out.files[f.flag], err = create(f.path); err != nil {
			out.discard()
			return nil, fmt.Errorf("--%s: %w", f.flag, err)
		}
		if file := out.files[f.flag]; file != nil {
			file.one = f.one != "" && !(o.gallery && f.flag == "html")
		}
	}
	return out, nil
}

func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".ipamsim-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
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
		if f == nil {
			continue
		}
		f.used = true
		err := formats[name](f, r)
		if err == nil && f.eager {
			err = f.Flush() // whoever reads the pipe wants the line now
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// finding writes a run as a file of its own and returns its path.
func (o *outputs) finding(s *scenarios.Scenario, r *reports.Report) (string, error) {
	if o.dir == "" || r.Strategy == "stress" { // what has no schedule cannot be replayed
		return "", nil
	}
	text, err := s.Finding(r)
	if err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	name := strings.TrimLeft(unsafe.ReplaceAllString(r.Scenario, "_"), ".")
	f, err := create(filepath.Join(o.dir, fmt.Sprintf("%s-%d.yaml", name, r.Seed)))
	if err != nil {
		return "", fmt.Errorf("--out: %w", err)
	}
	_, err = f.Write(text)
	return f.path, errors.Join(err, f.commit())
}

// commit puts the files in place.
func (o *outputs) commit() error {
	var errs []error
	if o.gallery != nil {
		if err := o.gallery.draw(o.files["html"]); err != nil {
			errs = append(errs, fmt.Errorf("--html: %w", err))
		}
	}
	for _, f := range o.files {
		if f != nil && f.one && !f.used {
			f.discard() // its run was interrupted
			continue
		}
		errs = append(errs, f.commit())
	}
	o.tidy()
	return errors.Join(errs...)
}

func (o *outputs) discard() {
	for _, f := range o.files {
		f.discard()
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

// file is a file that appears whole or not at all. A nil file takes nothing.
type file struct {
	*bufio.Writer
	path  string
	tmp   *os.File // nil for stdout
	eager bool     // readers wait for every line
	one   bool     // it is of one run
	used  bool     // which was written
}

// create begins a file. What exists and is no regular file, /dev/null or a named
// pipe, is written to directly.
func create(path string) (*file, error) {
	if path == "" {
		return nil, nil
	}
	real := path
	if p, err := filepath.EvalSymlinks(path); err == nil {
		real = p
	}
	switch st, err := os.Stat(real); {
	case err != nil:
	case st.IsDir():
		return nil, fmt.Errorf("%s is a directory", path)
	default:
		f, err := os.OpenFile(real, os.O_WRONLY, 0) // may it be written at all?
		if err != nil {
			return nil, err
		}
		if !st.Mode().IsRegular() {
			return &file{Writer: bufio.NewWriter(f), path: path, tmp: f, eager: true}, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	tmp, err := os.OpenFile(fmt.Sprintf("%s.tmp%d", real, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		var p *os.PathError
		if errors.As(err, &p) {
			err = fmt.Errorf("%s: %w", path, p.Err) // not the temporary name
		}
		return nil, err
	}
	return &file{Writer: bufio.NewWriter(tmp), path: real, tmp: tmp}, nil
}

func (f *file) commit() error {
	if f == nil {
		return nil
	}
	err := f.Flush()
	if f.tmp == nil {
		return err
	}
	if err = errors.Join(err, f.tmp.Close()); err != nil || f.eager {
		return err
	}
	return os.Rename(f.tmp.Name(), f.path)
}

func (f *file) discard() {
	if f == nil || f.tmp == nil {
		return
	}
	_ = f.tmp.Close()
	if !f.eager {
		_ = os.Remove(f.tmp.Name())
	}
}
