package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// line is one of a table, a file in the folder of an address manager: fields that white
// space separates. Empty lines and those whose first field is # say nothing.
type line struct {
	table, at string // file, file:line
	fields    []string
}

// lines are those of all tables of this name.
func lines(name string) ([]line, error) {
	tables, err := filepath.Glob("sim/ipam/*/" + name)
	if err != nil {
		return nil, err
	}
	var out []line
	for _, table := range tables {
		b, err := os.ReadFile(table)
		if err != nil {
			return nil, err
		}
		for i, text := range strings.Split(string(b), "\n") {
			if f := strings.Fields(text); len(f) > 0 && f[0] != "#" {
				out = append(out, line{table, fmt.Sprintf("%s:%d", table, i+1), f})
			}
		}
	}
	return out, nil
}
