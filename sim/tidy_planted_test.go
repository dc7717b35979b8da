package sim_test

import (
	"strings"
	"testing"
)

// Each house rule is broken here once, so that it has been seen red, and nearly
// broken once, so that it is not red always.
func TestTidyFindsPlantedViolations(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	tests := []struct{ path, src, want string }{ // want "" means no complaint
		{"model/x.go", `package model; import "ipamsim/sim"`, "model/x.go:1: layer: model may not import sim"},
		{"model/x.go", `package model; import "net/netip"`, ""},
		{"model/x.go", `package model; import "k8s.io/api/core/v1"`, "pure: model may not import k8s.io/api/core/v1"},
		{"model/x_test.go", `package model_test; import "pgregory.net/rapid"`, ""},
		{"model/invariant/x.go", `package invariant; import "ipamsim/model"`, ""},
		{"model/invariant/x.go", `package invariant; import "ipamsim/sim"`, "layer: model/invariant may not import sim"},
		{"sim/x.go", `package sim; import "ipamsim/sim/strategy"`, "layer: sim may not import sim/strategy"},
		{"sim/x_test.go", `package sim_test; import "ipamsim/sim/strategy"`, ""},
		{"sim/x.go", `package sim; import "ipamsim/model"`, "layer: sim may not import model"},
		{"sim/strategy/x.go", `package strategy; import "ipamsim/model"`, "layer:"},
		{"sim/etcd/x.go", `package etcd; import "ipamsim/sim/kube"`, "layer:"},
		{"sim/kube/x.go", `package kube; import "ipamsim/sim/cluster"`, "layer:"},
		{"sim/ipam/x.go", `package ipam; import "ipamsim/sim/ipam/calico"`, "layer:"},
		{"sim/ipam/calico/x.go", `package calico; import "ipamsim/sim/ipam/whereabouts"`, "layer:"},
		{"sim/ipam/calico/x.go", `package calico; import "ipamsim/sim/ipam"`, ""},
		{"sim/cluster/x.go", `package cluster; import "ipamsim/scenarios"`, "layer:"},
		{"reports/x.go", `package reports; import "ipamsim/scenarios"`, "layer:"},
		{"scenarios/x.go", `package scenarios; import ("ipamsim/reports"; "ipamsim/sim/ipam/calico")`, ""},
		{"cmd/hermetic/x.go", `package main; import "ipamsim/sim"`, "layer:"},
		{"cmd/cli/x.go", `package main; import ("ipamsim/fuzz"; "os"; "fmt"); func f() { fmt.Println(os.Stdout) }`, ""},
		{"plots/x.go", `package plots`, "layer: package plots is not in layers"},

		{"sim/cluster/x.go", `package cluster; import "github.com/k8snetworkplumbingwg/whereabouts/pkg/types"`, "module: sim/cluster may not import"},
		{"sim/cluster/x.go", `package cluster; import "github.com/k8snetworkplumbingwg/network-attachment-definition-client/pkg/utils"`, ""},
		{"sim/cluster/x_test.go", `package cluster; import "github.com/projectcalico/api/pkg/apis"`, "module:"},
		{"sim/ipam/calico/x.go", `package calico; import "github.com/projectcalico/calico/libcalico-go/lib/ipam"`, ""},
		{"sim/cluster/x.go", `package cluster; import "go.etcd.io/etcd/client/v3"`, "module:"},
		{"sim/kube/x.go", `package kube; import "go.etcd.io/etcd/client/v3"`, ""},
		{"sim/cluster/x.go", `package cluster; import "math/rand/v2"`, "nothing is random but the schedule"},
		{"sim/strategy/x.go", `package strategy; import "math/rand/v2"`, ""},
		{"sim/kube/x.go", `package kube; import "crypto/rand"`, "module:"},
		{"sim/kube/x.go", `package kube; import "log/slog"`, "module: sim/kube may not import log/slog"},

		{"sim/cluster/x.go", "package cluster\nfunc f() {\n\tgo f()\n}", "sim/cluster/x.go:3: goroutine: a bare go statement"},
		{"sim/etcd/x.go", `package etcd; func f() { go f() }`, ""},
		{"sim/cluster/x_test.go", `package cluster; func f() { go f() }`, ""},
		{"model/x.go", `package model; import "time"; var at = time.Now()`, "clock: time.Now: only code inside the bubble"},
		{"model/x.go", `package model; import "time"; var now = time.Now`, "clock:"},
		{"model/x.go", `package model; import clock "time"; var at = clock.Now()`, "clock: clock.Now"},
		{"model/x.go", `package model; import "time"; const second = time.Second`, ""},
		{"model/x.go", `package model; func f(time struct{ Now int }) int { return time.Now }`, ""},
		{"sim/strategy/x.go", `package strategy; import "time"; func f() { time.Sleep(1) }`, "clock:"},
		{"sim/cluster/x.go", `package cluster; import "time"; func f() { time.Sleep(1) }`, ""},
		{"reports/x.go", `package reports; import "fmt"; func f() { fmt.Println() }`, "print: fmt.Println"},
		{"reports/x.go", `package reports; import ("fmt"; "io"); func f(w io.Writer) { fmt.Fprintln(w) }`, ""},
		{"scenarios/x.go", `package scenarios; import "os"; func f() { os.Exit(1) }`, "print: os.Exit"},
		{"reports/x.go", `package reports; import "os"; func f() { os.Setenv("A", "b") }`, "process: os.Setenv"},
		{"fuzz/shrink/x.go", `package shrink; import "runtime/debug"; func f() { debug.SetGCPercent(1) }`, "process: debug.SetGCPercent"},
		{"sim/x.go", `package sim; func f() { println("here") }`, "print: println is for debugging"},

		{"fuzz/gate/x.go", `package gate; import "strings"; func f(v struct{ Message string }) bool { return strings.Contains(v.Message, "swallowed") }`, "prose: takes a sentence of our own apart"},
		{"fuzz/gate/x.go", `package gate; import "strings"; func f(v struct{ Message string }) bool { m := strings.TrimSpace(v.Message); return strings.HasPrefix(m+"x", "a") }`, "prose:"},
		{"fuzz/gate/x.go", `package gate; import "regexp"; var r *regexp.Regexp; func f(v struct{ Message string }) bool { return r.MatchString(v.Message) }`, "prose:"},
		{"fuzz/gate/x.go", `package gate; func f(e struct{ Text string }) bool { return e.Text == "up" }`, "prose:"},
		{"fuzz/gate/x.go", `package gate; func f(e struct{ Text string }) int { switch e.Text { case "up": return 1 }; return 0 }`, "prose:"},
		{"fuzz/gate/x.go", `package gate; import ("strings"; "ipamsim/reports/timeline"); func f() { s := timeline.Of(nil, nil); _, _, _ = strings.Cut(s, "=>") }`, "prose:"},
		{"reports/x.go", `package reports; import ("strings"; "ipamsim/reports/prose"); func f() bool { return strings.Contains(prose.Act(nil), "reads") }`, "prose:"},
		{"reports/x.go", `package reports; import ("strings"; "ipamsim/reports/prose"); func f() string { return strings.Join([]string{prose.Act(nil)}, " ") }`, ""},
		{"reports/x.go", `package reports; func f(e struct{ Text string }) bool { return e.Text == "" }`, ""},
		{"reports/x.go", `package reports; import ("bufio"; "strings"); func f(s *bufio.Scanner) bool { return strings.HasPrefix(s.Text(), "#") }`, ""},
		{"reports/x.go", `package reports; import "strings"; func f(e struct{ Text string }) []string { return strings.Split(e.Text, "\n") }`, ""},
		{"reports/x.go", `package reports; import "strings"; func wrap(text string) []string { return strings.Fields(text) }`, ""},
		{"reports/prose/x.go", `package prose; import "strings"; func f(e struct{ Text string }) bool { return strings.Contains(e.Text, " ") }`, ""},

		{"sim/x.go", "package sim\n" + lines(500), "size: 501 lines, at most 500"},
		{"sim/x.go", "package sim\n" + lines(499), ""},
		{"sim/x_test.go", "package sim\n" + lines(900), ""},
		{"sim/x.go", "package sim\nfunc long() {" + lines(70) + "}", "sim/x.go:2: size: func long has 71 lines, at most 70"},
		{"sim/x.go", "package sim\nfunc long() {" + lines(69) + "}", ""},
		{"sim/etcd/x.go", `package util`, `name: "util" says nothing`},
		{"sim/etcd/helpers.go", `package etcd`, `name: "helpers" says nothing`},
		{"sim/etcd/helpers_test.go", `package etcd`, `name: "helpers" says nothing`},
		{"sim/etcd/x.go", `package`, "syntax:"},
	}
	for _, tt := range tests {
		got := tidy(tt.path, []byte(tt.src))
		switch {
		case tt.want == "" && len(got) > 0:
			t.Errorf("%s: %.60q\ngot %q, want no complaint", tt.path, tt.src, got)
		case tt.want != "" && (len(got) != 1 || !strings.Contains(got[0], tt.want) || !strings.HasPrefix(got[0], tt.path+":")):
			t.Errorf("%s: %.60q\ngot %q, want one ...%s...", tt.path, tt.src, got, tt.want)
		}
	}
}
