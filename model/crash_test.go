package model_test

import (
	"testing"

	"ipamsim/model"
)

const (
	hook   = "goroutine 7 [running, synctest bubble 1]:\nruntime/debug.Stack()\n\t/go/src/runtime/debug/stack.go:26 +0x5e\nipamsim/sim.(*World).crash(0x1, 0x2, {0x3, 0x4})\n\t/w/sim/actor.go:107 +0x8e\n"
	thrown = "panic({0xAA?, 0xBB?})\n\t/go/src/runtime/panic.go:860 +0x13a\n"
	run    = "k8s.io/client-go/tools/leaderelection.(*LeaderElector).Run(0x0, {0x1, 0x2})\n\t/m/k8s.io/client-go@v0.34.1/tools/leaderelection/leaderelection.go:211 +0x7b\n"
	manage = "github.com/k8snetworkplumbingwg/whereabouts/pkg/storage/kubernetes.IPManagement.func2.1()\n\t/m/ipam.go:502 +0x45\ncreated by x in goroutine 1\n\t/m/ipam.go:500 +0x1\n"
	again  = "panic({0xAA, 0xBB})\n\t/go/src/runtime/panic.go:860 +0x13a\nk8s.io/apimachinery/pkg/util/runtime.HandleCrash()\n\t/m/runtime.go:59 +0x11\n"
	other  = "panic({0xCC, 0xDD})\n\t/go/src/runtime/panic.go:860 +0x13a\ngithub.com/a/b/c.clean.func1()\n\t/m/clean.go:9 +0x11\n"
	signal = "runtime.panicmem(...)\n\t/go/src/runtime/panic.go:262\nruntime.sigpanic()\n\t/go/src/runtime/signal_unix.go:917 +0x359\n"
)

func TestCrashSite(t *testing.T) {
	const site = "leaderelection.(*LeaderElector).Run (leaderelection.go:211), called by kubernetes.IPManagement.func2.1 (ipam.go:502)"
	for _, c := range []struct{ name, stack, want string }{
		{"panic", hook + thrown + run + manage, site},
		{"signal", hook + thrown + signal + run + manage, site},
		{"raised again", hook + again + thrown + signal + run + manage, site},
		{"another while it unwound", hook + other + thrown + run + manage, "c.clean.func1 (clean.go:9), called by leaderelection.(*LeaderElector).Run (leaderelection.go:211)"},
		{"ours", hook + thrown + "ipamsim/sim/ipam/canary.(*instance).Add(0x1)\n\t/w/sim/ipam/canary/bugs.go:9 +0x1\n", "canary.(*instance).Add (bugs.go:9)"},
		{"no panic", hook + run, ""},
		{"not a stack", "boom", ""},
		{"cut short", hook + "panic({0x1, 0x2})", ""},
	} {
		if got := model.CrashSite(c.stack).String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := model.CrashedIn(hook + again + thrown + signal + run + manage); got != "k8s.io/client-go/tools/leaderelection.(*LeaderElector).Run" {
		t.Error(got)
	}
	if got := model.CrashedIn("boom"); got != "" {
		t.Error(got)
	}
}
