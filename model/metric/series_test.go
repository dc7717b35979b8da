package metric_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ipamsim/model/metric"
)

func blocks(node string, n float64) metric.Point {
	return metric.Point{Name: metric.BlocksPerNode, Labels: []metric.Label{{Name: "node", Value: node}}, Value: n}
}

// ExampleSeries is a node that claims a second block and is then removed.
func ExampleSeries() {
	var s metric.Series
	s.Add(0, []metric.Point{blocks("b", 1), blocks("a", 1)})
	s.Add(time.Minute, []metric.Point{blocks("a", 2), blocks("b", 1)})
	s.Add(2*time.Minute, []metric.Point{blocks("b", 1)})
	for _, t := range s.Tracks() {
		fmt.Println(t.Key(), t.Changes)
	}
	at, which := s.First(metric.BlocksPerNode, func(v float64) bool { return v > 1 })
	fmt.Println("first with two:", which.Label("node"), "at", at)
	for _, at := range s.Instants() {
		sum, _ := s.Sum(metric.BlocksPerNode, at)
		fmt.Println(at, sum)
	}
	// Output:
	// ipam_blocks_per_node{node="a"} [{0s 1} {1m0s 2} {2m0s NaN}]
	// ipam_blocks_per_node{node="b"} [{0s 1}]
	// first with two: a at 1m0s
	// 0s 2
	// 1m0s 3
	// 2m0s 1
}

// TestSeriesForgetsNothing: every sampled value is read back, even if only changes are stored.
func TestSeriesForgetsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s metric.Series
		samples := map[time.Duration]map[string]float64{}
		at := time.Duration(0)
		for range rapid.IntRange(1, 20).Draw(t, "samples") {
			at += time.Duration(rapid.IntRange(0, 2).Draw(t, "gap")) * time.Second
			want := map[string]float64{}
			var points []metric.Point
			for _, node := range rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", `c"\`}), rapid.ID).Draw(t, "nodes") {
				want[node] = float64(rapid.IntRange(0, 2).Draw(t, "value"))
				points = append(points, blocks(node, want[node]))
			}
			s.Add(at, points)
			samples[at] = want
		}
		for at, want := range samples {
			got := map[string]float64{}
			for _, tr := range s.Tracks() {
				if v, ok := tr.At(at); ok {
					got[tr.Label("node")] = v
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("at %s: %v, want %v", at, got, want)
			}
		}
		if len(s.Instants()) != len(samples) {
			t.Fatalf("%d instants, want %d", len(s.Instants()), len(samples))
		}
		for _, tr := range s.Tracks() {
			for i := 1; i < len(tr.Changes); i++ {
				if a, b := tr.Changes[i-1], tr.Changes[i]; a.At >= b.At || fmt.Sprint(a.Value) == fmt.Sprint(b.Value) {
					t.Fatalf("%s stores %v", tr.Key(), tr.Changes)
				}
			}
		}
	})
}

func TestOfNothing(t *testing.T) {
	var s *metric.Series
	if _, ok := s.Sum(metric.FreeBlocks, 0); ok || s.Tracks() != nil || s.Instants() != nil {
		t.Error("a run without samples has values")
	}
	if _, which := s.First(metric.FreeBlocks, func(float64) bool { return true }); which != nil {
		t.Error("a run without samples had a first")
	}
}
