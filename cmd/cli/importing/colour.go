package importing

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"

	"ipamsim/cmd/cli/terminal"
	"ipamsim/model"
)

// painter returns a function that colours text by severity; nil if w is not a terminal or
// NO_COLOR is set.
//
// Source: no-color.org: any value that is not empty counts.
func painter(w io.Writer) func(model.Severity, string) string {
	if !terminal.Is(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	colours := map[model.Severity]text.Colors{
		model.Critical: {text.Bold, text.FgRed}, model.Major: {text.FgYellow}, model.Minor: {text.FgCyan},
	}
	return func(s model.Severity, what string) string { return colours[s].Sprint(what) }
}
