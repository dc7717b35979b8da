package dump_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
)

// read reads files of testdata into a cluster.
func read(t *testing.T, files ...string) *dump.Cluster {
	t.Helper()
	c := dump.New()
	for _, name := range files {
		f, err := os.Open("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := c.Read(name, f, nil); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// scenario is the text made of a cluster, and the same loaded.
func scenario(t *testing.T, c *dump.Cluster, o dump.Options) (string, *scenarios.Scenario, *dump.Report) {
	t.Helper()
	text, report, err := c.Scenario(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Parse("x.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", report.Trace(err), text)
	}
	return string(text), s, report
}

func look(t *testing.T, s *scenarios.Scenario) *scenarios.View {
	t.Helper()
	r, err := scenarios.NewRunner()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	v, err := r.Look(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// wrong lists what is broken: invariant and address.
func wrong(v *scenarios.View) []string {
	var out []string
	for _, x := range v.Violations {
		what := ""
		for _, o := range x.Objects {
			if a, ok := strings.CutPrefix(o, "address "); ok {
				what = " " + a
			}
		}
		out = append(out, x.Invariant+what)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Wikimedia's staging cluster as kubectl would have printed it, T293729: two nodes
// with two blocks each, two new ones that borrow, and one address that a job's pod
// left behind.
func TestWikimedia(t *testing.T) {
	_, s, report := scenario(t, read(t, "wikimedia.yaml"), dump.Options{})
	if report.Nodes != 4 || report.Pods != 87 || report.Claims != 88 || report.Datastore != "kubernetes" {
		t.Errorf("%+v", report)
	}
	v := look(t, s)
	want := []string{"blackholed-address 10.64.75.0", "blackholed-address 10.64.75.212", "convergence 10.64.75.114", "leaked-claim 10.64.75.114"}
	if got := wrong(v); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The cluster of VMware's KB 383841: five addresses, of which a lost worker left two
// behind, and two pods that wait.
func TestTanzu(t *testing.T) {
	_, s, report := scenario(t, read(t, "tkg.yaml"), dump.Options{})
	if report.Pods != 3 || report.Claims != 5 || !slices.ContainsFunc(report.Unknown, func(s string) bool { return strings.HasPrefix(s, "2 pods have no address yet") }) {
		t.Errorf("%+v", report)
	}
	var want []string
	for _, i := range []string{"convergence", "leaked-claim"} {
		for n := 199; n <= 200; n++ {
			want = append(want, fmt.Sprintf("%s 172.18.178.%d", i, n))
		}
	}
	if got := wrong(look(t, s)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
