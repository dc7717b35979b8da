package cluster_test

import (
	"context"
	"strings"
	"testing"

	"ipamsim/sim"
	"ipamsim/sim/ipam"
	"ipamsim/sim/ipam/canary"
)

// broken is a canary whose ADD calls code of ours that panics.
func broken() *ipam.Manager {
	m := canary.New()
	open := m.Open
	m.Open = func(env ipam.Env) (ipam.Instance, error) {
		i, err := open(env)
		i.Add = func(context.Context, *sim.Gate, ipam.Call) (ipam.Result, error) { panic("a defect of ours") }
		return i, err
	}
	return m
}

// A panic of our own code is an error of the run, not a crash of the process that called it.
func TestOurPanicIsNoCrash(t *testing.T) {
	pod := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","annotations":{"k8s.v1.cni.cncf.io/networks":"net"}},
		"spec":{"nodeName":"a","containers":[{"name":"c","image":"i"}],"tolerations":[{"operator":"Exists"}]}}`
	c, err := runOne(t, broken(), "web", pod)
	if err == nil || !strings.Contains(err.Error(), "panicked: a defect of ours") || len(c.Checker.Violations()) > 0 {
		t.Errorf("ended with %v, violations %v", err, c.Checker.Violations())
	}
}
