package reports

import "ipamsim/reports/visible"

// Clean makes a text from outside (a scenario's title, an object's name, an
// upstream error) harmless on one line of a terminal: control characters,
// which could move the cursor or rewrite what was printed, and invisible ones,
// which could reorder it, become escapes.
func Clean(s string) string { return visible.Line(s) }
