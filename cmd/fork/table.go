package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// folders are those that may have a table: of address managers, and of what is
// Kubernetes' own.
var folders = []string{"sim/ipam/*", "sim/controlplane", "sim/kube"}

// line is one of a table, a file in one of the folders: fields that white space separates. Empty lines and those whose first field is # say nothing.
type line struct {
	table, at string // file, file:line
	number    int    // from 1
	fields    []string
}

// lines are those of all tables of this name.
func lines(name string) ([]line, error) {
	var tables []string
	for _, dir := range folders {
		all, err := filepath.Glob(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		tables = append(tables, all...)
	}
	var out []line
	for _, table := range tables {
		b, err := os.ReadFile(table)
		if err != nil {
			return nil, err
		}
		for i, text := range strings.Split(string(b), "\n") {
			if f := strings.Fields(text); len(f) > 0 && f[0] != "#" {
				out = append(out, line{table, fmt.Sprintf("%s:%d", table, i+1), i + 1, f})
			}
		}
	}
	return out, nil
}
