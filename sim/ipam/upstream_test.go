package ipam

import (
	"runtime/debug"
	"testing"
)

// TestUpstream: what go.mod replaces must show, or a report of a fork reads like
// one of the release.
func TestUpstream(t *testing.T) {
	// As go version -m prints them.
	const deps = `dep	example.org/plain	v0.9.4
dep	example.org/monorepo	v0.0.0-20251021213802-b1f3c43f8437
dep	example.org/folder	v0.0.0-20251021213802-b1f3c43f8437
=>	../my fork	(devel)	
dep	example.org/pinned	v0.34.1
=>	example.org/pinned	v0.34.1	h1:pl3Nd1qWl9t7PHyWTTqUpW3DGH8zZtDT1bZKsIS1FbE=
dep	example.org/renamed	v0.9.4
=>	example.com/mine	v0.9.5-rc1	h1:pl3Nd1qWl9t7PHyWTTqUpW3DGH8zZtDT1bZKsIS1FbE=
`
	info, err := debug.ParseBuildInfo("path	ipamsim/cmd/ipamsim\n" + deps)
	if err != nil {
		t.Fatal(err)
	}
	released := map[string]string{"v0.0.0-20251021213802-b1f3c43f8437": "v3.31.0"}
	for module, want := range map[string]string{
		"example.org/plain":    "example.org/plain@v0.9.4",
		"example.org/monorepo": "example.org/monorepo@v3.31.0",
		"example.org/folder":   "example.org/folder@v3.31.0 => ../my fork",
		"example.org/pinned":   "example.org/pinned@v0.34.1",
		"example.org/renamed":  "example.org/renamed@v0.9.4 => example.com/mine@v0.9.5-rc1",
		"example.org/absent":   "",
	} {
		if got := upstream(info, module, released); got != want {
			t.Errorf("%s: %q, want %q", module, got, want)
		}
	}
}
