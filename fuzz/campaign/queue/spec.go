package queue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"ipamsim/fuzz/process"
	"ipamsim/fuzz/space"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/sim/ipam/canary"
)

// Spec is what a campaign searches. Two campaigns with the same Spec search the
// same runs in the same order.
type Spec struct {
	// Build identifies the program: another build may run the same seeds differently.
	Build   string
	Sources []Source
	// Strategy of every run; "" leaves the choice to the scenario.
	Strategy string
	// First is the seed of each source's first run.
	First uint64
	// Store of the runs; "" is etcd. Findings are always recorded on etcd.
	Store string `json:",omitempty"`
	// Without are the classes of actions that generated scenarios leave out, in the order of
	// model.Classes.
	Without []model.Class `json:",omitempty"`
	// Canary is the bug of the canary, which must be detected; "" is the default one.
	Canary string `json:",omitempty"`
}

// Source is where runs come from: a space, with a scenario for each seed; a scenario file, run
// with many seeds; or a plan, whose points are the runs and whose seeds are their numbers.
type Source struct {
	Space string `json:",omitempty"`
	File  string `json:",omitempty"` // as the user named it
	Text  string `json:",omitempty"` // of the file
	Plan  bool   `json:",omitempty"` // the text is a plan that needs no other file
}

// Name of a source, for messages.
func (s Source) Name() string {
	if s.Space != "" {
		return s.Space
	}
	return s.File
}

// Strategies of a campaign that are not strategies of a single run.
const (
	Exhaustive = "exhaustive" // every schedule within bounds, in a fixed order
	Twice      = "twice"      // the source's own strategy; each run is repeated and compared
)

// Whole reports whether each source is explored as a whole, not by seeds.
func (s Spec) Whole() bool { return s.Strategy == Exhaustive }

// Plan reports whether the campaign runs the points of a plan. It then has one source.
func (s Spec) Plan() bool { return len(s.Sources) == 1 && s.Sources[0].Plan }

// Identity returns a hash of the Spec: 12 hexadecimal digits.
func (s Spec) Identity() string {
	b, _ := json.Marshal(s) // strings and numbers
	return digest(b)
}

// Same reports whether both describe the same campaign.
func (s Spec) Same(other Spec) bool { return s.Identity() == other.Identity() }

// digest returns 12 hexadecimal digits of a hash.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// Names returns the names of the sources, for messages.
func (s Spec) Names() string {
	var out []string
	for _, x := range s.Sources {
		out = append(out, x.Name())
	}
	names := strings.Join(out, ", ")
	if len(s.Without) > 0 {
		names += " without " + space.List(s.Without)
	}
	return names
}

// World returns the scenario of one seed. Scenario files are parsed once.
func (s Spec) World(managers scenarios.Managers, source int, seed uint64, parsed map[int]*scenarios.Scenario) (*scenarios.Scenario, error) {
	if source == CanarySource {
		return scenarios.Managers{canary.New()}.Parse("canary.yaml", []byte(canaryWorld(seed, s.Canary)))
	}
	if source < 0 || source >= len(s.Sources) {
		return nil, fmt.Errorf("campaign: no source %d", source)
	}
	src := s.Sources[source]
	if src.Space != "" {
		return space.Draw(managers, src.Space, seed, s.Without...)
	}
	if sc := parsed[source]; sc != nil {
		return sc, nil
	}
	sc, err := managers.Parse(src.File, []byte(src.Text))
	if err == nil && parsed != nil {
		parsed[source] = sc
	}
	return sc, err
}

// Options returns the options for the run of one seed.
func (s Spec) Options(source int, seed uint64) scenarios.Options {
	o := scenarios.Options{Strategy: s.Strategy, Store: s.Store}
	if source == CanarySource || s.Strategy == Twice || s.Whole() {
		o.Strategy = ""
	}
	if source != CanarySource && s.Sources[source].Space == "" {
		o.Seed = &seed
	}
	return o
}

// Build returns a hash of this program: 12 hexadecimal digits.
func Build() (string, error) {
	f, err := os.Open(process.Executable())
	if err != nil {
		return "", fmt.Errorf("campaign: build: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("campaign: build: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:6]), nil
}
