package planning

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"ipamsim/cmd/cli/outfile"
	"ipamsim/fuzz/campaign"
	"ipamsim/reports"
	"ipamsim/reports/answer"
	"ipamsim/reports/answer/render"
	"ipamsim/reports/layout"
	"ipamsim/scenarios/plan"
)

// The further files in the directory of a plan.
const (
	packedFile = "plan.yaml"
	pointsFile = "points.jsonl"
	plotsDir   = "plots"
)

var plotForms = []string{".svg", ".png", ".csv", ".json"}

// ResultWriter is where the points of a plan are written down, in their order.
type ResultWriter struct {
	*planJob
	answer *answer.Question
	lines  *outfile.File // points.jsonl; nil as long as there is none
	done   int
}

// open the file that results go to.
func (q *planJob) open() *ResultWriter { return &ResultWriter{planJob: q, answer: q.plan.Asked()} }

// NewResultWriter writes the results of a plan, which is packed with all it needs, into dir.
func NewResultWriter(dir string, p *plan.Plan, packed []byte) *ResultWriter {
	return (&planJob{planFlags: &planFlags{dir: dir}, plan: p, packed: packed, points: p.Points()}).open()
}

// Answer is that of the points so far.
func (b *ResultWriter) Answer() *render.Answer { return render.Of(b.answer) }

// Discard what was not put in place.
func (b *ResultWriter) Discard() { b.lines.Discard() }

// Add adds a point. n is its number, whatever the line contains.
func (b *ResultWriter) Add(n uint64, line []byte) error {
	if n >= uint64(len(b.points)) {
		return errors.New("there is none")
	}
	d := plan.Done{}
	if err := json.Unmarshal(line, &d); err != nil {
		return err
	}
	d.Point = b.points[n]
	b.done++
	b.plan.Collect(b.answer, &d)
	text, err := json.Marshal(d)
	if err == nil && b.lines == nil {
		b.lines, err = outfile.Create(filepath.Join(b.dir, pointsFile))
	}
	if err == nil {
		_, err = b.lines.Write(append(text, '\n'))
	}
	return err
}

// people returns the writer for text: stdout, or stderr if JSON has stdout.
func (q *planJob) people(cmd *cobra.Command) io.Writer {
	if q.json == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// Write the answer into the directory, and where else it was asked for. Nothing is
// put in place before all of it could be written.
func (b *ResultWriter) Write(stdout io.Writer, a *render.Answer) (err error) {
	draw := append(a.Files(), render.File{Name: packedFile, Write: func(w io.Writer) error { _, err := w.Write(b.packed); return err }})
	var all []*outfile.File
	defer func() {
		for _, f := range all {
			f.Discard() // those that are in place do not mind
		}
	}()
	put := func(flag, path string, draw func(io.Writer) error) error {
		f, err := outfile.Create(path)
		if err == nil && f != nil {
			all = append(all, f)
			err = draw(f)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Join(b.dir, plotsDir), 0o777); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	for _, x := range draw {
		if err := put("out", filepath.Join(b.dir, filepath.FromSlash(x.Name)), x.Write); err != nil {
			return err
		}
	}
	if err := put("html", b.html, a.Page); err != nil {
		return err
	}
	if b.json == "-" {
		err = a.JSON(stdout)
	} else {
		err = put("json", b.json, a.JSON)
	}
	if err != nil {
		return err
	}
	for _, f := range append(all, b.lines) {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return b.sweep(draw)
}

// sweep away the plots of an answer that this one takes the place of, and what was
// left by a process that was killed while it wrote.
func (b *ResultWriter) sweep(now []render.File) error {
	var errs []error
	for _, dir := range []string{"", plotsDir} {
		all, err := os.ReadDir(filepath.Join(b.dir, dir))
		errs = append(errs, err)
		for _, f := range all {
			stays := slices.ContainsFunc(now, func(x render.File) bool { return x.Name == path.Join(dir, f.Name()) })
			plot := dir == plotsDir && slices.Contains(plotForms, filepath.Ext(f.Name()))
			if plot && !stays || halfWritten(f.Name()) {
				errs = append(errs, os.Remove(filepath.Join(b.dir, dir, f.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

var halfName = regexp.MustCompile(`\.(?:html|jsonl?|csv|md|yaml|svg|png)\.tmp([0-9]{1,9})$`)

// halfWritten is what create began in a process that is no more.
func halfWritten(name string) bool {
	m := halfName.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	pid, err := strconv.Atoi(m[1])
	return err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// Doubts are what makes an answer none.
func Doubts(stderr io.Writer, o *campaign.Outcome, a *render.Answer) error {
	for _, d := range o.Deaths {
		fmt.Fprintf(stderr, "ipamsim: the process of point %d crashed once and succeeded when repeated: %s\n", d.Seed, reports.Clean(d.Cause))
	}
	for _, d := range o.Defects {
		fmt.Fprintln(stderr, "ipamsim: in doubt: "+reports.Clean(d))
	}
	switch g := a.Agreement; {
	case o.Defective > 0:
		return fmt.Errorf("%s with a suspected defect of ipamsim itself, see above", layout.Plural(o.Defective, "point"))
	case g != nil && !g.Equal:
		return errors.New(g.Text)
	}
	return nil
}
