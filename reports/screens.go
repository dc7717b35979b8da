package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
	"ipamsim/reports/layout"
	"ipamsim/reports/prose"
)

// Screens returns the output of the operators' commands during a run, in order: a prompt, then the
// lines. It returns "" if there were no commands.
//
// The layout is the command's. Control characters are escaped. A long output is cut, with the
// number of lines omitted.
func Screens(r *Report) string {
	if r.History == nil {
		return ""
	}
	var b strings.Builder
	for i := range r.History.Events {
		e := &r.History.Events[i]
		if e.Kind == model.Output {
			screen(&b, e)
		}
	}
	return b.String()
}

const (
	screenLines = 60
	screenWidth = 200 // longer lines are cut: a terminal would fold them
)

func screen(b *strings.Builder, e *model.Event) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "at %s %s\n", layout.Clock(e.At), Prompt(e))
	text := strings.TrimRight(e.Output, "\n")
	if e.Err != "" {
		text = strings.TrimPrefix(text+"\n", "\n") + strings.TrimRight(e.Err, "\n")
	}
	if text == "" {
		return
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if i == screenLines {
			fmt.Fprintf(b, "… %s more\n", layout.Plural(len(lines)-i, "line"))
			break
		}
		b.WriteString(strings.TrimRight(layout.Cut(Clean(layout.Expand(strings.TrimSuffix(l, "\r"))), screenWidth), " ") + "\n")
	}
}

// Prompt returns the command line of an operator with its prompt.
func Prompt(e *model.Event) string {
	p := Clean(strings.TrimSpace(prose.Process(e.Actor))) + "$"
	if e.Node != "" {
		host, _, _ := strings.Cut(e.Node, ".") // as a shell prints it
		p = "root@" + Clean(host) + ":~#"
	}
	return p + " " + Clean(e.Text)
}
