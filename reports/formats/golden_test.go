package formats

import (
	"bytes"
	"testing"

	"ipamsim/reports"
	"ipamsim/reports/golden"
	"ipamsim/reports/storytest"
)

func TestGoldens(t *testing.T) {
	for name, r := range map[string]*reports.Report{"issue162": storytest.Issue162(), "crowded": storytest.Crowded(), "staging": storytest.Staging()} {
		t.Run(name, func(t *testing.T) {
			for format, write := range All() {
				if format == "trace" && name != "issue162" {
					continue
				}
				var b bytes.Buffer
				if err := write(&b, r); err != nil {
					t.Fatal(err)
				}
				golden.Check(t, "testdata/"+name+"."+format, b.String())
			}
		})
	}
}
