// Package space draws worlds: clusters, pools, configurations, workloads, churn,
// operators and faults that nobody wrote down. A drawn world is an ordinary
// scenario; printed, it is an ordinary scenario file.
package space

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam"
)

// Space is what a search draws for an address manager: a part of its ipam.Manager.
type Space struct {
	Name string
	// Draw draws one world from its stream.
	Draw func(*World)
	// Forceless: no pod is deleted by force, for the manager gives addresses to none.
	Forceless bool
}

// spaces are those of the managers, by name.
func spaces(managers scenarios.Managers) map[string]Space {
	out := map[string]Space{}
	for _, m := range managers {
		if s, ok := ipam.Part[Space](m); ok {
			out[s.Name] = s
		}
	}
	return out
}

// Names lists the spaces of the managers.
func Names(managers scenarios.Managers) []string { return slices.Sorted(maps.Keys(spaces(managers))) }

// Draw makes world number seed of a space of the managers. The same seed is the same World, with
// the seed of its run and its strategy in it; without some classes of actions it is the same world
// in which those do not happen.
//
// An error is a defect of the generator: it drew what the loader refuses.
func Draw(managers scenarios.Managers, space string, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	return DrawFrom(managers, space, FromSeed(seed), seed, without...)
}

// DrawFrom is Draw from any stream.
func DrawFrom(managers scenarios.Managers, space string, c *Choices, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	from, ok := spaces(managers)[space]
	if !ok {
		return nil, fmt.Errorf("unknown space %q, want one of %s", space, strings.Join(Names(managers), ", "))
	}
	return from.World(managers, c, seed, without...)
}

// World is one world of the space, drawn from a stream and loaded among these managers as
// if a user had written it.
func (s Space) World(managers scenarios.Managers, c *Choices, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	w := &World{Choices: c, Doc: scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind}}
	w.Doc.Metadata.Name = fmt.Sprintf("%s-%d", s.Name, seed)
	w.Doc.Spec.Seed, w.Doc.Spec.Controllers = &seed, "simple"
	w.Doc.Spec.MayFail = true // a drawn action may be without effect
	without = append(spared(c), without...)
	s.Draw(w)
	w.answers()
	w.noSpace()
	w.pluginHazard()
	if len(without) > 0 {
		leaveOut(&w.Doc.Spec, without)
		w.Title()
	}
	text, err := w.text()
	if err != nil {
		return nil, fmt.Errorf("space: %w", err)
	}
	return managers.Parse(w.Doc.Metadata.Name+".yaml", text)
}

// World is one world while it is drawn.
type World struct {
	*Choices
	Doc       scenarios.Document
	manifests []any

	First time.Duration   // no pod comes before
	Until time.Duration   // when the script ends; see Pace
	Nodes []string        // there from the start; see Machines
	Left  map[string]bool // those of them that are replaced or deleted; see Leave
	Came  int             // nodes that come later
	loads []load          // see Workloads
	pods  int             // that the workloads want

	families, plugins, earlier *Choices
}

// Families is the stream of what has to do with IPv6 and came to worlds later: the rest of
// a world is what it would be otherwise.
func (w *World) Families() *Choices { return w.once(&w.families, ofFamilies) }

// Plugins is the same of the plugins of the pods' networks.
func (w *World) Plugins() *Choices { return w.once(&w.plugins, ofPlugins) }

// Earlier is the same of objects that the manager's earlier releases have written.
func (w *World) Earlier() *Choices { return w.once(&w.earlier, ofEarlier) }

func (w *World) once(own **Choices, of uint64) *Choices {
	if *own == nil {
		*own = w.fork(of)
	}
	return *own
}

// Add puts a manifest into the file: anything that is JSON.
func (w *World) Add(manifests ...any) { w.manifests = append(w.manifests, manifests...) }

// text is the world as a scenario file.
func (w *World) text() ([]byte, error) {
	var text bytes.Buffer
	for i, m := range append([]any{w.Doc}, w.manifests...) {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			text.WriteString("---\n")
		}
		text.Write(b) // JSON is YAML
		text.WriteByte('\n')
	}
	return text.Bytes(), nil
}
