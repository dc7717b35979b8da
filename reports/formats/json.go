package formats

import (
	"encoding/json"
	"math"
	"time"

	"ipamsim/model"
	"ipamsim/model/metric"
	"ipamsim/reports"
	"ipamsim/reports/record"
)

// run is a report as one JSON object. Users' scripts depend on names and order: fields may be
// added, not changed.
type run struct {
	Scenario       string           `json:"scenario"`
	Upstream       string           `json:"upstream"`
	Seed           uint64           `json:"seed"`
	Strategy       string           `json:"strategy"`
	Store          string           `json:"store"`
	Verdict        reports.Verdict  `json:"verdict"`
	Steps          int              `json:"steps"`
	VirtualSeconds float64          `json:"virtualSeconds"`
	WallSeconds    float64          `json:"wallSeconds"`
	APICalls       int              `json:"apiCalls"`
	Digest         string           `json:"digest"`
	StoreDigest    string           `json:"storeDigest"`
	Violations     []violation      `json:"violations"`
	Expected       bool             `json:"expected"` // the outcome is the expected one
	Reason         string           `json:"reason,omitempty"`
	Idle           []reports.Idle   `json:"idle,omitempty"` // actions without effect; at in virtual nanoseconds
	Datastore      string           `json:"datastore,omitempty"`
	Metrics        []series         `json:"metrics,omitempty"`
	Title          string           `json:"title,omitempty"`
	Command        string           `json:"command"` // reproduces it
	Repeated       reports.Repeated `json:"repeated"`
	// Of an imported cluster: violations that are gone at the end.
	Gone []model.Identity `json:"gone,omitempty"`
}

// violation is a model.Violation with At in virtual seconds.
type violation struct {
	Invariant string         `json:"invariant"`
	Severity  model.Severity `json:"severity"`
	Code      string         `json:"code,omitempty"`
	At        float64        `json:"at"`
	Step      int            `json:"step"`
	Message   string         `json:"message"`
	Objects   []model.Ref    `json:"objects"`
	Facts     []model.Fact   `json:"facts,omitempty"`
	Calls     []call         `json:"calls,omitempty"`
	Races     []model.Race   `json:"races,omitempty"` // deciding orders of messages, if simulated
	Known     bool           `json:"known,omitempty"` // present in an imported cluster before the run
}

// call is a message of a violation's timeline with the line of upstream's code that sent it. Only
// the first few violations have calls.
type call struct {
	Step  int             `json:"step"`
	At    float64         `json:"at"`
	Actor string          `json:"actor"`
	Text  string          `json:"text"`
	Site  *model.CallSite `json:"site"`
}

func callsOf(v *record.Violation) (out []call) {
	for _, t := range v.Turns {
		if t.Site != nil {
			out = append(out, call{t.Step, seconds(t.At), t.Actor, t.Text, t.Site})
		}
	}
	return out
}

// series is one metric with its labels: pairs of virtual seconds and the value
// from then on, null if there is none any more. A value that did not change is
// not repeated.
type series struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Values [][2]*float64     `json:"values"`
}

func seriesOf(s *metric.Series) []series {
	var out []series
	for _, t := range s.Tracks() {
		x := series{Name: t.Name, Labels: map[string]string{}}
		for _, l := range t.Labels {
			x.Labels[l.Name] = l.Value
		}
		for _, c := range t.Changes {
			at, v := seconds(c.At), &c.Value
			if math.IsNaN(c.Value) {
				v = nil
			}
			x.Values = append(x.Values, [2]*float64{&at, v})
		}
		out = append(out, x)
	}
	return out
}

// JSON is a run as one object on one line, without the newline at its end.
func JSON(r *reports.Report) ([]byte, error) {
	out := run{
		Scenario: r.Scenario, Upstream: r.Upstream, Seed: r.Seed, Strategy: r.Strategy, Store: r.Store,
		Verdict: r.Verdict, Steps: r.Steps(), VirtualSeconds: seconds(r.Virtual), WallSeconds: seconds(r.Wall),
		APICalls: r.Calls, Digest: r.Digest, StoreDigest: r.StoreDigest,
		Violations: make([]violation, len(r.Violations)), Expected: r.AsExpected(), Reason: r.Reason, Idle: r.Idle,
		Datastore: r.Datastore, Metrics: seriesOf(r.Series), Title: r.Title, Command: r.Command(), Repeated: r.Repeated, Gone: r.Gone(),
	}
	stories := record.Violations(r)
	for i, v := range r.Violations {
		out.Violations[i] = violation{v.Invariant, v.Severity, v.Code, seconds(v.At), v.Step, v.Message, append([]model.Ref{}, v.Objects...), v.Facts, callsOf(&stories[i]), stories[i].Races, stories[i].Known}
	}
	return json.Marshal(out)
}

// seconds keeps the nine decimals that a float64 can hold for the length of any
// run, and not the tail that comes from dividing minutes and seconds apart.
func seconds(d time.Duration) float64 { return float64(d) / float64(time.Second) }
