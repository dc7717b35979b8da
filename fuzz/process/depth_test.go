package process

import (
	"slices"
	"testing"
)

// A program that ignores its arguments would start itself recursively.
func TestSelfEnds(t *testing.T) {
	if cmd := Self(nil, "worker"); cmd.Err != nil || !slices.Contains(cmd.Env, "IPAMSIM_PROCESS_DEPTH=1") {
		t.Errorf("the first start: %v, %q", cmd.Err, cmd.Env)
	}
	t.Setenv(depthEnv, "1")
	if cmd := Self([]string{"A=b"}, "worker"); cmd.Err != nil || !slices.Equal(cmd.Env, []string{"A=b", "IPAMSIM_PROCESS_DEPTH=2"}) {
		t.Errorf("a worker's start: %v, %q", cmd.Err, cmd.Env)
	}
	t.Setenv(depthEnv, "3")
	if err := Self(nil, "worker").Start(); err == nil {
		t.Error("a worker process started another one")
	}
}
