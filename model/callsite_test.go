package model_test

import (
	"testing"

	"ipamsim/model"
)

func TestCallSite(t *testing.T) {
	const up = "github.com/a/up"
	update := model.Frame{Function: up + "/pkg/storage.(*Pool).Update", File: "pkg/storage/pool.go", Line: 231}
	retry := model.Frame{Function: up + "/pkg/storage.retry.func1", File: "pkg/storage/pool.go", Line: 40}
	loop := model.Frame{Function: up + "/pkg/loop.Loop.Free", File: "pkg/loop/loop.go", Line: 200}
	for _, c := range []struct {
		name  string
		site  model.CallSite
		want  string
		known bool
	}{
		{"not known", model.CallSite{Module: up + "@v1"}, "", false},
		{"one", model.CallSite{Frames: []model.Frame{update}}, "storage.(*Pool).Update (pool.go:231)", true},
		{"its package", model.CallSite{Frames: []model.Frame{update, retry}}, "storage.(*Pool).Update (pool.go:231), called by storage.retry.func1 (pool.go:40)", true},
		{"another package", model.CallSite{Frames: []model.Frame{update, retry, loop}}, "storage.(*Pool).Update (pool.go:231), called by loop.Loop.Free (loop.go:200)", true},
		{"an informer", model.CallSite{Informer: true}, "an informer of client-go", true},
		{"whose function it calls", model.CallSite{Informer: true, Frames: []model.Frame{loop}}, "an informer of client-go, loop.Loop.Free (loop.go:200)", true},
	} {
		if got := c.site.String(); got != c.want || c.site.Known() != c.known {
			t.Errorf("%s: %q, known %v; want %q, %v", c.name, got, c.site.Known(), c.want, c.known)
		}
	}
	if got := update.Name() + ", " + retry.Name(); got != "(*Pool).Update, retry.func1" {
		t.Error(got)
	}
	if got := retry.Package(); got != up+"/pkg/storage" {
		t.Error(got)
	}
}
