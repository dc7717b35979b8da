package importing

import (
	"io"
	"os"

	"github.com/jedib0t/go-pretty/v6/text"

	"ipamsim/cmd/cli/terminal"
	"ipamsim/model"
)

// painter colours text by severity, for a terminal whose user has not set NO_COLOR; nil
// for everybody else.
//
// Source: no-color.org: any value counts that is not empty.
func painter(w io.Writer) func(model.Severity, string) string {
	if !terminal.Is(w) || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	colours := map[model.Severity]text.Colors{
		model.Critical: {text.Bold, text.FgRed}, model.Major: {text.FgYellow}, model.Minor: {text.FgCyan},
	}
	return func(s model.Severity, what string) string { return colours[s].Sprint(what) }
}
