// Package space generates scenarios for a search: clusters, pools, configurations, workloads, churn,
// operators and faults are drawn at random. A generated scenario is called a world. It is an ordinary
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

// Space generates worlds for an address manager, as a part of its ipam.Manager.
type Space struct {
	Name string
	// Draw draws one world.
	Draw func(*World)
	// Forceless: no pod is deleted by force, because the manager assigns no addresses to pods.
	Forceless bool
}

// spaces returns the spaces of the managers, by name.
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

// Draw generates the world with number seed in a space of the managers. The same seed is the same World,
// with the seed and the strategy of its run. If classes of actions are left out, the rest of the world
// is the same.
//
// An error is a defect of the generator: the loader refuses the world.
func Draw(managers scenarios.Managers, space string, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	return DrawFrom(managers, space, FromSeed(seed), seed, without...)
}

// DrawFrom is Draw with a given stream.
func DrawFrom(managers scenarios.Managers, space string, c *Choices, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	from, ok := spaces(managers)[space]
	if !ok {
		return nil, fmt.Errorf("unknown space %q, want one of %s", space, strings.Join(Names(managers), ", "))
	}
	return from.World(managers, c, seed, without...)
}

// World generates a world of the space from a stream, and loads it for these managers as if a user had
// written it.
func (s Space) World(managers scenarios.Managers, c *Choices, seed uint64, without ...model.Class) (*scenarios.Scenario, error) {
	w := &World{Choices: c, Doc: scenarios.Document{APIVersion: scenarios.APIVersion, Kind: scenarios.Kind}}
	w.Doc.Metadata.Name = fmt.Sprintf("%s-%d", s.Name, seed)
	w.Doc.Spec.Seed, w.Doc.Spec.Controllers = &seed, "simple"
	w.Doc.Spec.MayFail = true // generated actions may have no effect
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

// World is a world during its generation.
type World struct {
	*Choices
	Doc       scenarios.Document
	manifests []any

	First time.Duration   // no pod is created before
	Until time.Duration   // end of the script; see Pace
	Nodes []string        // nodes that exist from the start; see Machines
	Left  map[string]bool // nodes that are replaced or deleted; see Leave
	Came  int             // number of nodes that come later
	loads []load          // see Workloads
	pods  int             // number of pods of all workloads

	families, plugins, earlier *Choices
}

// Families is the stream for choices about IPv6, which were added later: draws from it do not
// change the rest of a world.
func (w *World) Families() *Choices { return w.once(&w.families, ofFamilies) }

// Plugins is such a stream for the plugins of the pods' networks.
func (w *World) Plugins() *Choices { return w.once(&w.plugins, ofPlugins) }

// Earlier is such a stream for objects that earlier releases of the manager have written.
func (w *World) Earlier() *Choices { return w.once(&w.earlier, ofEarlier) }

func (w *World) once(own **Choices, of uint64) *Choices {
	if *own == nil {
		*own = w.fork(of)
	}
	return *own
}

// Add adds manifests to the file: any values that marshal to JSON.
func (w *World) Add(manifests ...any) { w.manifests = append(w.manifests, manifests...) }

// text returns the world as a scenario file.
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
