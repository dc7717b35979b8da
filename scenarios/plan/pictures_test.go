package plan_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ipamsim/reports/answer/render"
	"ipamsim/reports/page/browser"
)

var screenshots = flag.String("screenshots", "", "write README's pictures of answers into this `directory`")

// README's pictures: what ipamsim plan --engine reference draws of two plans, and the
// page of the first.
func TestPictures(t *testing.T) {
	if *screenshots == "" {
		t.Skip("SKIPPED: make screenshots")
	}
	for name, plots := range map[string][]string{
		"wikimedia-staging": {"over-time", "tradeoff"}, "tkg-small-range": {"heat-exhaustion"},
	} {
		p := ready(t, name)
		a := render.Of(lived(t, p, p.Doc.Spec.Repeats))
		for _, f := range a.Files() {
			plot := strings.TrimSuffix(strings.TrimPrefix(f.Name, "plots/"), ".png")
			for _, x := range plots {
				if x == plot {
					save(t, filepath.Join(*screenshots, "plan-"+plot+".png"), f)
				}
			}
			if f.Name == "index.html" && name == "wikimedia-staging" {
				file := filepath.Join(t.TempDir(), f.Name)
				save(t, file, f)
				tab := browser.Start(t).Open(t, file, "", browser.Window{Width: 1280, Height: 1250})
				tab.Wait("document.readyState == 'complete'")
				tab.Screenshot(filepath.Join(*screenshots, "plan.png"), false)
				slim(t, filepath.Join(*screenshots, "plan.png"))
			}
		}
	}
}

func save(t *testing.T, file string, f render.File) {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(file, ".png") {
		slim(t, file)
	}
}

func slim(t *testing.T, file string) {
	t.Helper()
	if err := browser.Slim(file); err != nil {
		t.Fatal(err)
	}
}
