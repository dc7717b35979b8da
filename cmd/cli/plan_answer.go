package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"ipamsim/fuzz/campaign"
	"ipamsim/reports"
	"ipamsim/reports/answer"
	"ipamsim/scenarios/plan"
	"ipamsim/sim/ipam"
)

// What lies in the directory of a plan besides the files of its answer.
const (
	packedFile = "plan.yaml"
	pointsFile = "points.jsonl"
	plotsDir   = "plots"
)

var plotForms = []string{".svg", ".png", ".csv", ".json"}

// book is where the points of a plan are written down, in their order.
type book struct {
	*question
	answer *answer.Plan
	lines  *file // points.jsonl; nil as long as there is none
	done   int
}

// open a book.
func (q *question) open() *book { return &book{question: q, answer: asked(q.plan)} }

func (b *book) discard() { b.lines.discard() }

// add a point. Its number says which it is, whatever the line says.
func (b *book) add(n uint64, line []byte) error {
	if n >= uint64(len(b.points)) {
		return errors.New("there is none")
	}
	d := plan.Done{}
	if err := json.Unmarshal(line, &d); err != nil {
		return err
	}
	d.Point = b.points[n]
	b.done++
	b.file(&d)
	text, err := json.Marshal(d)
	if err == nil && b.lines == nil {
		b.lines, err = create(filepath.Join(b.dir, pointsFile))
	}
	if err == nil {
		_, err = b.lines.Write(append(text, '\n'))
	}
	return err
}

// file a point with its cell.
func (b *book) file(d *plan.Done) {
	c := &b.answer.Cells[d.Cell]
	lives := &c.Lives
	if d.Engine == plan.Real && b.plan.Doc.Spec.Engine == plan.Both {
		lives = &c.Real
	}
	for len(*lives) <= d.Repeat {
		*lives = append(*lives, nil)
	}
	if d.Course != nil {
		share(d.Course.Owners)
	}
	(*lives)[d.Repeat] = d.Course
	if at, known := slices.BinarySearch(c.Refused, d.Refused); d.Refused != "" && !known {
		c.Refused = slices.Insert(c.Refused, at, d.Refused)
	}
}

// share what stays the same: most blocks have the same owner for days.
func share(owners [][]int32) {
	for i := 1; i < len(owners); i++ {
		if slices.Equal(owners[i], owners[i-1]) {
			owners[i] = owners[i-1]
		}
	}
}

// asked is what a plan asks, as its answer tells it.
func asked(p *plan.Plan) *answer.Plan {
	s := p.Doc.Spec
	a := &answer.Plan{
		Name: p.Name(), Title: s.Title, Story: s.Story, File: p.File, Upstream: p.Upstream(),
		Horizon: s.Horizon.Duration.Duration, Repeats: s.Repeats, Minimise: s.Want.Minimise,
		Unknown: p.Unknown(), Both: s.Engine == plan.Both, From: s.From,
	}
	a.Manager, _ = ipam.Part[answer.Manager](p.IPAM())
	a.Minimise = cmp.Or(a.Minimise, a.Manager.Minimise)
	for _, name := range slices.Sorted(maps.Keys(s.Want.Require)) {
		a.Require = append(a.Require, answer.Bound{Measure: name, Most: s.Want.Require[name]})
	}
	given := map[string]bool{}
	for _, x := range plan.Known() {
		given[x.Name] = x.Given
		if v, said := s.Settings[x.Name]; said {
			text, err := json.Marshal(v)
			if err == nil {
				a.Settings = append(a.Settings, x.Name+": "+strings.Trim(string(text), `"`))
			}
		}
	}
	for k, x := range s.Axes {
		axis := answer.Axis{Setting: x.Setting, Given: given[x.Setting]}
		for _, c := range p.Cells { // which have them as the file writes them
			if !slices.Contains(axis.Values, c.Values[k]) {
				axis.Values = append(axis.Values, c.Values[k])
			}
		}
		a.Axes = append(a.Axes, axis)
	}
	costs := map[string]string{}
	for _, o := range s.Options {
		costs[o.Name] = o.Cost
	}
	engine := plan.Reference
	if s.Engine == plan.Real {
		engine = plan.Real
	}
	for i := range p.Cells {
		c := &p.Cells[i]
		a.Cells = append(a.Cells, answer.Cell{
			Option: c.Option, Cost: costs[c.Option], Values: c.Values, BlockSize: c.BlockSize, PoolSize: c.PoolSize, Engine: engine, Cluster: &c.Cluster,
		})
	}
	return a
}

// people are told on stdout, or on stderr if JSON has stdout.
func (q *question) people(cmd *cobra.Command) io.Writer {
	if q.json == "-" {
		return cmd.ErrOrStderr()
	}
	return cmd.OutOrStdout()
}

// write the answer into the directory, and where else it was asked for. Nothing is
// put in place before all of it could be written.
func (b *book) write(stdout io.Writer, a *answer.Answer) (err error) {
	draw := append(a.Files(), answer.File{Name: packedFile, Write: func(w io.Writer) error { _, err := w.Write(b.packed); return err }})
	var all []*file
	defer func() {
		for _, f := range all {
			f.discard() // those that are in place do not mind
		}
	}()
	put := func(flag, path string, draw func(io.Writer) error) error {
		f, err := create(path)
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
		if err := f.commit(); err != nil {
			return err
		}
	}
	return b.sweep(draw)
}

// sweep away the plots of an answer that this one takes the place of, and what was
// left by a process that was killed while it wrote.
func (b *book) sweep(now []answer.File) error {
	var errs []error
	for _, dir := range []string{"", plotsDir} {
		all, err := os.ReadDir(filepath.Join(b.dir, dir))
		errs = append(errs, err)
		for _, f := range all {
			stays := slices.ContainsFunc(now, func(x answer.File) bool { return x.Name == path.Join(dir, f.Name()) })
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

// doubts are what makes an answer none.
func doubts(stderr io.Writer, o *campaign.Outcome, a *answer.Answer) error {
	for _, d := range o.Deaths {
		fmt.Fprintf(stderr, "ipamsim: the process of point %d died once and not again: %s\n", d.Seed, reports.Clean(d.Cause))
	}
	for _, d := range o.Defects {
		fmt.Fprintln(stderr, "ipamsim: in doubt: "+reports.Clean(d))
	}
	switch g := a.Agreement; {
	case o.Defective > 0:
		return fmt.Errorf("%s of which ipamsim itself is in doubt, see above", plural(o.Defective, "point"))
	case g != nil && !g.Equal:
		return errors.New(g.Text)
	}
	return nil
}
