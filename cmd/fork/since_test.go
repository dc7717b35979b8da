package main

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// TestSince: each change of what ipamsim takes from upstream is listed, with upstream's
// difference where ours transcribes it, and nothing else.
func TestSince(t *testing.T) {
	clone(t)
	was, err := released()
	if err != nil {
		t.Fatal(err)
	}
	now := maps.Clone(was)
	list := func() string {
		var b strings.Builder
		for _, f := range []error{transcribedSince(was, now, false, &b), generatedSince(was, now, &b), linkedSince(was, now, &b)} {
			if f != nil {
				t.Fatal(f)
			}
		}
		return b.String()
	}
	if got := list(); got != "" {
		t.Errorf("the same releases: want nothing, got %s", got)
	}
	now[calico], now[whereabouts] = part(t, calico), part(t, whereabouts)
	edit(t, now[whereabouts]+"/cmd/controlloop/controlloop.go", "\tdefer networkController.Shutdown()\n", "\t// At the end.\n\tdefer networkController.Stop()\n")
	edit(t, now[calico]+"/kube-controllers/pkg/controllers/loadbalancer/loadbalancer_controller.go", "func createHandle(", "func createHandle2(")
	got := list()
	for _, want := range []string{
		"### " + whereabouts + "/cmd/controlloop.main\n", "Transcribed in `sim/ipam/whereabouts/podcontrolloop.go:(*instance).podControlLoop`",
		"-\tdefer networkController.Shutdown()\n+\t// At the end.\n+\tdefer networkController.Stop()\n",
		"### " + calico + "/kube-controllers/pkg/controllers/loadbalancer.createHandle\n", "is `gone`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
}

// TestAccept: the sum of today's source goes behind those of its line, and once.
func TestAccept(t *testing.T) {
	t.Chdir(t.TempDir())
	const table = "ours.go:run  example.org/a  Run  0123\nours.go:other  example.org/a  Other  4567\n"
	if err := os.WriteFile("transcribed.txt", []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	f := function{at: "a.go:1", src: []byte("func Run() {}")}
	tr := transcription{"transcribed.txt:1", "ours.go:run", "example.org/a", "Run", []string{"0123"}}
	if err := tr.accept(f, true); err != nil {
		t.Fatal(err)
	}
	tr.sums = append(tr.sums, digest(f.src))
	if err := tr.accept(f, true); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(table, "0123", "0123,"+digest(f.src), 1)
	if got, err := os.ReadFile("transcribed.txt"); err != nil || string(got) != want {
		t.Errorf("got %q, want %q (%v)", got, want, err)
	}
}
