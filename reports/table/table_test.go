package table_test

import (
	"strings"
	"testing"

	"ipamsim/reports/table"
)

// What stands in a cell may come from anybody: no form lets it be markup, a formula or
// a command for the terminal.
func TestHostile(t *testing.T) {
	tt := table.New("who", "n\nof it", "=1+1")
	tt.Columns[1].Right = true
	tt.Add("a|b <b>", "7", "\x1b[2J")
	tt.Add("=HYPERLINK(1)", "-12", "x")
	tt.Rows[1][0].Style = table.Code
	var csv strings.Builder
	if err := tt.CSV(&csv); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ form, got, want string }{
		{"text", tt.Text(), "" +
			"                   n\n" +
			"who            of it  =1+1\n" +
			"a|b <b>            7  \\x1b[2J\n" +
			"=HYPERLINK(1)    -12  x"},
		{"Markdown", tt.Markdown(), "" +
			"| who | n of it | =1&#43;1 |\n" +
			"| --- | ---:| --- |\n" +
			"| a&#124;b &#60;b&#62; | 7 | &#92;x1b&#91;2J |\n" +
			"| <code>=HYPERLINK(1)</code> | -12 | x |"},
		{"CSV", csv.String(), "" +
			"who,\"n\nof it\",'=1+1\n" +
			"a|b <b>,7,\x1b[2J\n" +
			"'=HYPERLINK(1),-12,x\n"},
	} {
		if x.got != x.want {
			t.Errorf("%s:\n%s\nwant\n%s", x.form, x.got, x.want)
		}
	}
}

func TestEmptyCellHasNoMarkup(t *testing.T) {
	tt := table.New("a")
	tt.Rows = [][]table.Cell{{{Style: table.Strong}}}
	if got := tt.Markdown(); strings.Contains(got, "*") {
		t.Error(got)
	}
}
