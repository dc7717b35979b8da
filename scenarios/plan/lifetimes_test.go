package plan_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ipamsim/cmd/managers"
	"ipamsim/model/capacity/workload"
	"ipamsim/scenarios/plan"
	"ipamsim/scenarios/plan/values"
)

// parseWith is a small plan with more settings.
func parseWith(settings string) (*plan.Plan, error) {
	text := fmt.Sprintf(`{apiVersion: ipamsim.dev/v1alpha1, kind: Plan, metadata: {name: lives}, spec: {ipam: calico, horizon: 1d, repeats: 1, settings: {pool: 10.0.0.0/24, nodes: 2, pods: 20, %s}}}`, settings)
	return plan.Parse(managers.All(), "lives.yaml", []byte(text), nil)
}

// A load as ipamsim calibrate writes it.
func TestLoadOfData(t *testing.T) {
	p, err := parseWith(`lifetime: {p99.5: 9d, p50: 3h, rest: 20d}, growPods: -4, arrivals: 2.5, arrivalsBatch: 3, arrivalsLifetime: 10m,
arrivalsByWeekday: [1, 1, 1, 1, 1, 0, 0], begins: 2d7h, replaceEvery: 9d, replaceFor: 1h, replaceDrained: true`)
	if err != nil {
		t.Fatal(err)
	}
	l := p.Cells[0].Cluster.Load
	want := workload.Load{
		Pods: 20, GrowPods: -4, Begins: 55 * time.Hour,
		Lifetimes: workload.Lifetimes{Marks: []workload.Mark{{Share: 0.5, By: 3 * time.Hour}, {Share: 0.995, By: 216 * time.Hour}}, Rest: 480 * time.Hour},
		Arrivals:  workload.Arrivals{PerHour: 2.5, Batch: 3, Weekdays: []float64{1, 1, 1, 1, 1, 0, 0}, Lifetimes: workload.Lifetimes{Rest: 10 * time.Minute}},
	}
	if d := cmp.Diff(want, l); d != "" || !p.Cells[0].Cluster.Trouble.ReplaceDrained {
		t.Error(d)
	}
	again := values.LifetimesSetting(l.Lifetimes)
	if d := cmp.Diff("map[p50:3h p99.5:9d rest:20d]", fmt.Sprint(again)); d != "" {
		t.Error(d)
	}
}

// What cannot be is refused where it stands, with what would be right.
func TestBadLoadOfData(t *testing.T) {
	for settings, want := range map[string]string{
		`lifetime: {p50: 3h, p90: 2h}`:                        "spec.settings.lifetime: want a time of at least 1m",
		`lifetime: {p0: 3h}`:                                  "spec.settings.lifetime: want",
		`lifetime: {p100: 3h}`:                                "spec.settings.lifetime: want",
		`lifetime: {}`:                                        "spec.settings.lifetime: want",
		`lifetime: {median: 3h}`:                              "spec.settings.lifetime: want",
		`lifetime: {p50: 0}`:                                  "spec.settings.lifetime: want",
		`lifetime: {p50: 1ns}`:                                "spec.settings.lifetime: want",
		`lifetime: {p50: 3h, p50.0: 4h}`:                      "spec.settings.lifetime: want",
		`arrivals: 3`:                                         "spec.settings.arrivalsLifetime: missing",
		`arrivals: -3`:                                        "spec.settings.arrivals: want a number, 0 to 1e+06",
		`arrivals: 1000000, arrivalsLifetime: 9d`:             "spec.settings.arrivalsLifetime: 216000000 of these pods run at a time",
		`arrivalsLifetime: 3h`:                                "spec.settings.arrivals: missing",
		`arrivals: 3, arrivalsLifetime: 1h, arrivalsBatch: 0`: "spec.settings.arrivalsBatch: want a number, 1 to 10000",
		`arrivals: 3, arrivalsLifetime: 1h, arrivalsByHour: [1, 2]`:                   "spec.settings.arrivalsByHour: want 24 numbers",
		`arrivals: 3, arrivalsLifetime: 1h, arrivalsByWeekday: [0, 0, 0, 0, 0, 0, 0]`: "spec.settings.arrivalsByWeekday: want 7 numbers",
		`growPods: -21`: "spec.settings.growPods: below zero: pods is 20",
		`begins: 7d`:    "spec.settings.begins: want less than 7d",
	} {
		if _, err := parseWith(settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", settings, err, want)
		}
	}
}
