package model_test

import (
	"strings"
	"testing"

	"ipamsim/model"
)

// TestCallSiteURL: a link leads to the line that ran, or there is no link.
func TestCallSiteURL(t *testing.T) {
	here := model.Frame{Function: "github.com/a/up/pkg/storage.(*Pool).Update", File: "pkg/storage/pool.go", Line: 231}
	at := func(file string, line int) model.Frame { return model.Frame{File: file, Line: line} }
	const ok = "https://github.com/a/up/blob/"
	for _, c := range []struct {
		module string
		frame  model.Frame
		want   string
	}{
		{"github.com/a/up@v0.9.4", here, ok + "v0.9.4/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v3.31.0-rc.1", here, ok + "v3.31.0-rc.1/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v2.0.0+incompatible", here, ok + "v2.0.0/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v0.0.0-20251021213802-b1f3c43f8437", here, ok + "b1f3c43f8437/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v1.2.4-0.20251021213802-b1f3c43f8437", here, ok + "b1f3c43f8437/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v1.2.3-pre.0.20251021213802-b1f3c43f8437", here, ok + "b1f3c43f8437/pkg/storage/pool.go#L231"},
		{"github.com/a/up@v1.0.0", at("a b#c.go", 1), ok + "v1.0.0/a%20b%23c.go#L1"},
		{"github.com/a/up@v1.0.0 => ../up", here, ""},                    // a fork
		{"github.com/a/up@v1.0.0 => github.com/b/up@v1.0.0", here, ""},   // its code is elsewhere
		{"github.com/a/up@v1.0.0 + github.com/b/other@v1.0.0", here, ""}, // two
		{"github.com/a/up@(devel)", here, ""},                            // any
		{"github.com/a/up@v1.0.0+dirty", here, ""},                       // edited
		{"github.com/a/up@main", here, ""},                               // moves
		{"github.com/a/up/v2@v2.0.0", here, ""},                          // a branch, or a folder
		{"github.com/a/up/lib@v1.0.0", here, ""},                         // its tags are lib/v1.0.0
		{"example.com/a/up@v1.0.0", here, ""},                            // not GitHub's
		{"ipamsim/sim/ipam/canary@built-in", here, ""},                   //
		{"", here, ""}, //
		{"github.com/a/up@v1.0.0", at("/root/go/pkg/mod/up/pool.go", 1), ""}, // as a stack has it
		{"github.com/a/up@v1.0.0", at("../up/pool.go", 1), ""},
		{"github.com/a/up@v1.0.0", at("pool.s", 1), ""},
		{"github.com/a/up@v1.0.0", at("pool.go", 0), ""},
	} {
		if got := (model.CallSite{Module: c.module}).URL(c.frame); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.module, c.frame.File, got, c.want)
		}
		if base := (model.CallSite{Module: c.module}).Base(); c.want != "" && (!strings.HasPrefix(c.want, base) || !strings.HasSuffix(base, "/")) {
			t.Errorf("%s: base %q of %q", c.module, base, c.want)
		}
	}
}
