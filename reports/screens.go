package reports

import (
	"fmt"
	"strings"

	"ipamsim/model"
)

// Screens are what the commands printed that operators typed during a run, in
// order, as they would stand on their terminals: a prompt, then the lines. It is
// "" if nobody typed any.
//
// The layout is the command's own, because columns say more than words; only what
// could harm a terminal is escaped. A long one ends with how much is missing.
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
	tabWidth    = 8
)

func screen(b *strings.Builder, e *model.Event) {
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "at %s %s\n", clock(e.At), prompt(e))
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
			fmt.Fprintf(b, "… %s more\n", plural(len(lines)-i, "line"))
			break
		}
		b.WriteString(strings.TrimRight(cut(Clean(expand(strings.TrimSuffix(l, "\r"))), screenWidth), " ") + "\n")
	}
}

// prompt is the line that somebody typed, as it stands on a terminal.
func prompt(e *model.Event) string {
	p := strings.TrimSpace(process(e.Actor)) + "$"
	if e.Node != "" {
		host, _, _ := strings.Cut(e.Node, ".") // as a shell prints it
		p = "root@" + Clean(host) + ":~#"
	}
	return p + " " + Clean(e.Text)
}

// expand puts spaces in the place of tabs, as a terminal does.
func expand(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	col := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			col++
			continue
		}
		n := tabWidth - col%tabWidth
		b.WriteString(strings.Repeat(" ", n))
		col += n
	}
	return b.String()
}
