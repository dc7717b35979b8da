package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/infile"
	"ipamsim/cmd/cli/outfile"
	"ipamsim/reports"
	"ipamsim/reports/formats"
	"ipamsim/reports/index"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
)

const (
	htmlUsage     = "write the run to `F` as a self-contained HTML page"
	perfettoUsage = "write the run as Trace Event JSON to `F`, for ui.perfetto.dev"
)

// drawn is a format of reports that is drawn from a record.
func drawn(write func(io.Writer, *record.Record) error) formats.Format {
	return func(w io.Writer, r *reports.Report) error { return write(w, record.Of(r)) }
}

// reportFlags are the flags of report as typed.
type reportFlags struct{ html, perfetto string }

func reportCommand() *cobra.Command {
	f := &reportFlags{}
	cmd := &cobra.Command{
		Use:   "report FILE.json --html OUT",
		Short: "render the page of a recorded run or campaign",
		Long: `Render a page without running anything: from the record of a run (run or replay
--record), or as one page from the runs of run --json or the findings.json of a campaign.

Exit: 0 written · 2 the file is none of these, or cannot be read.`,
		Example: `  ipamsim run scenarios/NAME.yaml --record r1.json
  ipamsim report r1.json --html r1.html
  ipamsim report findings/NAME/findings.json --html findings.html`,
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) != 1 {
				return fmt.Errorf("want one file, have %d", len(files))
			}
			return f.draw(files[0])
		},
	}
	cmd.Flags().StringVar(&f.html, "html", "", htmlUsage)
	cmd.Flags().StringVar(&f.perfetto, "perfetto", "", perfettoUsage)
	return cmd
}

// draw finds out what a file is and draws it.
func (f *reportFlags) draw(path string) error {
	switch {
	case f.html == "" && f.perfetto == "":
		return errors.New("want --html OUT or --perfetto OUT")
	case filepath.Clean(f.html) == filepath.Clean(f.perfetto):
		return errors.New("--html and --perfetto name the same file")
	}
	file, err := infile.OpenRegular(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer file.Close()
	head := bufio.NewReader(file)
	switch kind := kindOf(head); kind {
	case record.Format:
		rec, err := record.Read(head)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return f.record(rec)
	case findingsKind, runsKind:
		if f.perfetto != "" {
			return fmt.Errorf("--perfetto: want the record of a run, %s has %s", path, kind)
		}
		x, err := readIndex(head, kind, outfile.BesideHTML(path, f.html))
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return outfile.WriteTo("html", f.html, func(w io.Writer) error { return index.Write(w, x) })
	case "":
		return fmt.Errorf(`%s: want the record of a run, which begins with {"format":%q}, the lines of ipamsim run --json, or a findings.json`, path, record.Format)
	default:
		return fmt.Errorf("%s: format: want %q, have %q", path, record.Format, kind)
	}
}

// record draws the record of a run.
func (f *reportFlags) record(rec *record.Record) error {
	for _, o := range []struct {
		flag, path string
		write      func(io.Writer, *record.Record) error
	}{{"html", f.html, page.Write}, {"perfetto", f.perfetto, record.Perfetto}} {
		if o.path == "" {
			continue
		}
		if err := outfile.WriteTo(o.flag, o.path, func(w io.Writer) error { return o.write(w, rec) }); err != nil {
			return err
		}
	}
	return nil
}

// The beginnings of files of several runs.
const (
	findingsKind = "findings"
	runsKind     = "several runs"
)

// readIndex reads a file of several runs. What lies beside it is in dir, as seen
// from the page.
func readIndex(r io.Reader, kind, dir string) (*index.Index, error) {
	if kind == findingsKind {
		return index.ReadFindings(r, dir)
	}
	l, err := index.ReadRuns(r)
	if err != nil {
		return nil, err
	}
	return l.Index()
}

// kindMax is more than what names a kind takes.
const kindMax = 512

// kindOf returns the format that a file names first, or its kind; "" if unknown. It consumes
// nothing from the reader.
func kindOf(r *bufio.Reader) string {
	head, _ := r.Peek(kindMax) // of a shorter file all of it
	dec := json.NewDecoder(bytes.NewReader(head))
	switch t, _ := dec.Token(); t {
	case json.Delim('['):
		return findingsKind
	case json.Delim('{'):
	default:
		return ""
	}
	switch t, _ := dec.Token(); t {
	case "scenario":
		return runsKind
	case "format":
	default:
		return ""
	}
	t, _ := dec.Token()
	kind, _ := t.(string)
	return kind
}
