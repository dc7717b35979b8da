// Package trackrecord is the track record as data: one file per component, one
// row per failure of an upstream release that a scenario shows. The tables of
// reports/README.md and README.md are rendered from it.
package trackrecord

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// Component is one upstream component at one release, with its rows.
type Component struct {
	Name       string   `yaml:"-"` // of its file, and of its address manager
	Position   int      // among the components, from 1
	Version    string   // the release that the rows run, but for those with a Last
	Datastores []string // those that a row can name; empty: rows name none
	Newest     Code     // the newest upstream code that was read
	Where      string   // where reports were searched
	Rows       []Row
}

// Code is a state of upstream's source.
type Code struct {
	Version string // release, or branch and commit
	Link    string // to its source
	Date    string // of the release or commit
}

// All returns the components with their rows, in the order of the tables. It
// returns an error that names the file for a field that does not exist.
func All() ([]Component, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var out []Component
	for _, name := range names {
		b, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		c := Component{Name: strings.TrimSuffix(name, ".yaml")}
		d := yaml.NewDecoder(bytes.NewReader(b))
		d.KnownFields(true)
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("reports/trackrecord/%s: %w", name, err)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Component) int { return cmp.Compare(a.Position, b.Position) })
	return out, nil
}

// Entry is a row with the component and release that it is of.
type Entry struct {
	Row
	Upstream string
}

// ByScenario returns every row under the name of its scenario.
func ByScenario() (map[string]Entry, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	out := map[string]Entry{}
	for _, c := range all {
		for _, r := range c.Rows {
			out[r.Scenario] = Entry{r, c.Upstream(r)}
		}
	}
	return out, nil
}

// Upstream is the component and the release that a row was seen with, "whereabouts 0.9.4".
func (c Component) Upstream(r Row) string { return c.Name + " " + cmp.Or(r.Last, c.Version) }

// Problems lists what is wrong with the component's rows, a line each; nil if
// every row has all its columns.
func (c Component) Problems() (out []string) {
	n := c.Newest
	if c.Version == "" || n.Version == "" || n.Link == "" || !day.MatchString(n.Date) || c.Where == "" {
		out = append(out, c.Name+": version, newest (version, link and date) and where are required")
	}
	for _, r := range c.Rows {
		for _, p := range r.problems(c.Datastores) {
			out = append(out, c.Name+": "+r.Scenario+": "+p)
		}
	}
	return out
}
