package cli

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"ipamsim/cmd/cli/outfile"
	"ipamsim/reports"
	"ipamsim/reports/index"
	"ipamsim/reports/page"
	"ipamsim/reports/record"
)

// gallery is several runs as one page, with a directory of pages for the runs with a violation.
type gallery struct {
	dir   string
	made  bool // dir did not exist before
	runs  index.Library
	pages map[string]int  // by scenario
	names map[string]bool // of the files in dir that are ours
	left  int             // runs that broke something and have no page
}

// A reader of a library reads a run or two of each scenario.
const (
	galleryPagesMax = 200
	galleryEachMax  = 3
)

// newGallery is that of --html F: its pages lie in F-pages, without F's .html.
func newGallery(path string) (*gallery, error) {
	g := &gallery{dir: strings.TrimSuffix(path, ".html") + "-pages", pages: map[string]int{}, names: map[string]bool{}}
	switch info, err := os.Stat(g.dir); {
	case errors.Is(err, os.ErrNotExist):
		g.made = true
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s, for the pages of runs: not a directory", g.dir)
	}
	return g, nil
}

// film reports whether a run of a scenario must be filmed, because there will be a
// page of it if it breaks something.
func (g *gallery) film(scenario string) bool {
	return g != nil && g.pages[scenario] < galleryEachMax && len(g.names) < galleryPagesMax
}

// add a run.
func (g *gallery) add(r *reports.Report) error {
	run := index.RunOf(r)
	switch {
	case len(r.Violations) == 0:
	case r.Recording == nil:
		g.left++
	default:
		name, err := g.page(r)
		if err != nil {
			return err
		}
		run.Page = (&url.URL{Path: filepath.ToSlash(filepath.Join(filepath.Base(g.dir), name))}).String()
	}
	g.runs.Add(run)
	return nil
}

// page draws a run and returns the name of its file.
func (g *gallery) page(r *reports.Report) (string, error) {
	stem := fmt.Sprintf("%s-%d", strings.TrimLeft(outfile.Unsafe.ReplaceAllString(r.Scenario, "_"), ".-"), r.Seed)
	if r.Datastore != "" {
		stem += "-" + outfile.Unsafe.ReplaceAllString(r.Datastore, "_")
	}
	name := stem + ".html"
	for n := 2; g.names[name]; n++ { // several runs of one seed, or two names that look alike
		name = fmt.Sprintf("%s-%d.html", stem, n)
	}
	if err := os.MkdirAll(g.dir, 0o777); err != nil {
		return "", err
	}
	f, err := outfile.Create(filepath.Join(g.dir, name))
	if err != nil {
		return "", err
	}
	if err := page.Write(f, record.Of(r)); err != nil {
		f.Discard()
		return "", err
	}
	g.names[name] = true
	g.pages[r.Scenario]++
	return name, f.Commit()
}

// draw the page of all runs.
func (g *gallery) draw(w io.Writer) error {
	if g.left > 0 {
		g.runs.Note = fmt.Sprintf("Runs with a violation link to their page. %d have none: there are at most %d pages for a scenario and %d in total; run one alone with --html to get its page.",
			g.left, galleryEachMax, galleryPagesMax)
	} else if len(g.names) > 0 {
		g.runs.Note = "Runs with a violation link to their page."
	}
	x, err := g.runs.Index()
	if err != nil {
		return err
	}
	return index.Write(w, x)
}

// discard what was drawn.
func (g *gallery) discard() {
	if g == nil {
		return
	}
	for name := range g.names {
		_ = os.Remove(filepath.Join(g.dir, name))
	}
	if g.made {
		_ = os.Remove(g.dir)
	}
}
