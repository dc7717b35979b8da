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
	// Build identifies the program: a worker of another build would see other runs.
	Build   string
	Sources []Source
	// Strategy of every run; "" leaves it to the world or the scenario.
	Strategy string
	// First is the seed of each source's first run.
	First uint64
	// Store on which runs take place; "" is etcd. Findings are made on etcd.
	Store string `json:",omitempty"`
	// Without are the deeds that happen in no world of a space, in the order of
	// model.Classs.
	Without []model.Class `json:",omitempty"`
	// Canary is the bug of the canary, which must be caught; "" is the usual one.
	Canary string `json:",omitempty"`
}

// Source is where runs come from: worlds of a space, one for each seed, one
// scenario under many seeds, or a plan, of which each point is a run and its number
// the seed.
type Source struct {
	Space string `json:",omitempty"`
	File  string `json:",omitempty"` // as the user named it
	Text  string `json:",omitempty"` // of the file
	Plan  bool   `json:",omitempty"` // the text is a plan that needs no other file
}

// Name of a source, for people.
func (s Source) Name() string {
	if s.Space != "" {
		return s.Space
	}
	return s.File
}

// Strategies that are no strategy of a single run.
const (
	Exhaustive = "exhaustive" // every schedule within bounds, in one order
	Twice      = "twice"      // the source's own, each run twice and compared
)

// Whole: a source is explored as a whole, not by seeds.
func (s Spec) Whole() bool { return s.Strategy == Exhaustive }

// Plan: the campaign is the points of a plan. It has one source.
func (s Spec) Plan() bool { return len(s.Sources) == 1 && s.Sources[0].Plan }

// Identity tells one Spec from another: 12 hexadecimal digits.
func (s Spec) Identity() string {
	b, _ := json.Marshal(s) // strings and numbers
	return digest(b)
}

// Same reports whether the two are one campaign.
func (s Spec) Same(other Spec) bool { return s.Identity() == other.Identity() }

// digest is 12 hexadecimal digits.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// Names of the sources, for people.
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

// World is the scenario of one seed, for the managers. Scenarios of files are parsed once.
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

// Options of the run of one seed.
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

// Build is the hash of this program: 12 hexadecimal digits.
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
