// Package space draws worlds: clusters, pools, configurations, workloads, churn,
// operators and faults that nobody wrote down. A drawn world is an ordinary
// scenario; printed, it is an ordinary scenario file.
package space

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ipamsim/scenarios"
)

// spaces by name: each draws one world from the stream.
var spaces = map[string]func(*world){
	"calico":      calico,
	"mixed":       mixed,
	"whereabouts": whereabouts,
}

// Names lists the spaces.
func Names() []string {
	var out []string
	for n := range spaces {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

// Draw makes world number seed of a space. The same seed is the same world, with
// the seed of its run and its strategy in it; without some deeds it is the same world
// in which those do not happen.
//
// An error is a defect of the generator: it drew what the loader refuses.
func Draw(space string, seed uint64, without ...Deed) (*scenarios.Scenario, error) {
	return DrawFrom(space, FromSeed(seed), seed, without...)
}

// DrawFrom is Draw from any stream.
func DrawFrom(space string, c *Choices, seed uint64, without ...Deed) (*scenarios.Scenario, error) {
	draw, ok := spaces[space]
	if !ok {
		return nil, fmt.Errorf("unknown space %q, want one of %s", space, strings.Join(Names(), ", "))
	}
	w := &world{Choices: c, doc: scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind}}
	w.doc.Metadata.Name = fmt.Sprintf("%s-%d", space, seed)
	w.doc.Spec.Seed = &seed
	without = append(spared(c), without...)
	if draw(w); len(without) > 0 {
		leaveOut(&w.doc.Spec, without)
		w.title()
	}
	return w.scenario()
}

// world is one world while it is drawn.
type world struct {
	*Choices
	doc       scenarios.Document
	manifests []any

	first time.Duration   // no pod comes before
	until time.Duration   // when the script ends; see pace
	nodes []string        // there from the start; see machines
	left  map[string]bool // those of them that are replaced or deleted
	came  int             // nodes that come later
	loads []load          // see workloads
	pods  int             // that the workloads want
	nads  []object        // the NetworkAttachmentDefinitions; see attachments
}

// add puts a manifest into the file: anything that is JSON.
func (w *world) add(manifests ...any) { w.manifests = append(w.manifests, manifests...) }

// scenario loads what was drawn as if a user had written it.
func (w *world) scenario() (*scenarios.Scenario, error) {
	var text strings.Builder
	for i, m := range append([]any{w.doc}, w.manifests...) {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("space: %w", err)
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(b) // JSON is YAML
		text.WriteByte('\n')
	}
	return scenarios.Parse(w.doc.Metadata.Name+".yaml", []byte(text.String()))
}
