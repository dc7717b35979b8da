package dump

import (
	"fmt"
	"io"

	"ipamsim/reports"
	"ipamsim/scenarios"
)

// Findings are what is wrong in a cluster, by invariant.
type Findings struct{ view *scenarios.View }

// Wrong is what a look at the scenario found.
func (c *Cluster) Wrong(v *scenarios.View) *Findings { return &Findings{v} }

// Write tells people.
func (f *Findings) Write(w io.Writer) {
	for _, v := range f.view.Violations {
		fmt.Fprintf(w, "%s (%s): %s\n    %q\n", v.Invariant, v.Severity, reports.Clean(v.Message), v.Objects)
	}
}
