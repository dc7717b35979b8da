package bench

import (
	"fmt"
	"strings"
)

// Fill replaces what stands in a page between each line "<!-- table NAME -->" and the
// next line "<!-- end -->" by the table of that name. It returns an error if a name is
// unknown, a table is not in the page, or an end is missing.
func Fill(page string, tables map[string]string) (string, error) {
	const begin, between, end = "<!-- table ", " -->\n", "<!-- end -->\n"
	var out strings.Builder
	filled := map[string]bool{}
	for {
		text, rest, more := strings.Cut(page, begin)
		if out.WriteString(text); !more {
			break
		}
		name, rest, _ := strings.Cut(rest, between)
		_, after, ends := strings.Cut(rest, end)
		table, known := tables[name]
		if !known || !ends {
			return "", fmt.Errorf("%q: no such table, or no %q behind it", name, strings.TrimSpace(end))
		}
		out.WriteString(begin + name + between + "\n" + table + "\n" + end)
		filled[name], page = true, after
	}
	for name := range tables {
		if !filled[name] {
			return "", fmt.Errorf("no line %q", begin+name+strings.TrimSpace(between))
		}
	}
	return out.String(), nil
}

// Table is the table of reports/BENCH.md. The window ladder's 84 figures are another
// table, which TestBench of package scenarios prints.
func (f *Figures) Table() string {
	metrics := map[string]Figure{}
	for name, m := range f.Metrics {
		if !strings.HasPrefix(name, "ladder_") {
			metrics[name] = m
		}
	}
	return "| metric | value | goal | date | how |\n|---|---:|---|---|---|\n" + Rows(metrics)
}
