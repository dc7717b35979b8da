package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ipamsim/reports/golden"
)

const noticeHead = `The licence of ipamsim is the Apache License 2.0 (LICENSE).

bin/ipamsim is linked with the modules below, each under its own licence, whose text is in
the module at that version. Packages that cannot be imported are generated from the same
modules (sim/ipam/*/copies.txt): only their imports differ, and the name of a package main.

`

// licences are identified by words of their texts. The order matters: BSD-3-Clause has all
// words of BSD-2-Clause.
var licences = []struct{ name, words string }{
	{"Apache-2.0", "Apache License"},
	{"MPL-2.0", "Mozilla Public License"},
	{"BSD-3-Clause", "Neither the name"},
	{"BSD-3-Clause", "names of its contributors may not be used"},
	{"BSD-2-Clause", "Redistribution and use in source"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify"},
	{"Unlicense", "free and unencumbered software released into the public domain"},
	{"public domain", "have been put into the public domain"},
	{"FTL or GPL-2.0-or-later", "The FreeType License"},
	{"CC-BY-4.0", "Creative Commons Attribution 4.0"},
}

// licence of a module in a folder, "" if no file is one that is known. A module in the
// folder of another one may have that one's.
func licence(path, dir string) string {
	if path == "github.com/projectcalico/calico/lib/std" {
		return "Apache-2.0"
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if name := strings.ToLower(e.Name()); !strings.HasPrefix(name, "licen") && !strings.HasPrefix(name, "copying") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, l := range licences {
			if strings.Contains(flat, l.words) {
				return l.name
			}
		}
	}
	return ""
}

// TestNotice: NOTICE lists every module that bin/ipamsim is linked with, and its licence.
func TestNotice(t *testing.T) {
	t.Chdir("../..")
	out, err := command("list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{with .Replace}}{{.Version}}{{else}}{{.Version}}{{end}} {{.Dir}}{{end}}{{end}}", "./cmd/ipamsim")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 {
			continue
		}
		name := licence(f[0], f[2])
		if name == "" {
			t.Errorf("%s %s: no licence that is known in %s", f[0], f[1], f[2])
		}
		lines = append(lines, fmt.Sprintf("%-72s %-44s %s\n", f[0], f[1], name))
	}
	slices.Sort(lines)
	golden.Check(t, "NOTICE", noticeHead+strings.Join(slices.Compact(lines), ""))
}
