package calico

import (
	"testing"

	"github.com/projectcalico/calico/pkg/cmdwrapper"

	"ipamsim/sim/ipam/calico/adapter"
)

// The code that asks the wrapper for a restart is upstream's.
func TestRestartReturnCode(t *testing.T) {
	if adapter.RestartReturnCode != cmdwrapper.RestartReturnCode {
		t.Errorf("RestartReturnCode is %d, upstream's %d", adapter.RestartReturnCode, cmdwrapper.RestartReturnCode)
	}
}
