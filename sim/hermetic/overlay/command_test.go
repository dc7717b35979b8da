package overlay

import (
	"slices"
	"strings"
	"testing"
)

// TestFlagged: our flags stand behind the verb, and the user's stay.
func TestFlagged(t *testing.T) {
	for _, x := range []struct{ args, path, want string }{
		{"test ./...", "/o.json", "test -overlay=/o.json -tags=hermetic -gcflags=all=-dwarf=false -count=1 ./..."},
		{"test -count=3 -run X .", "/o.json", "test -overlay=/o.json -tags=hermetic -gcflags=all=-dwarf=false -count=3 -run X ."},
		{"build -tags e2e,linux -o x .", "/o.json", "build -overlay=/o.json -tags=e2e,linux,hermetic -gcflags=all=-dwarf=false -o x ."},
		{"test --tags=e2e . -args -tags=mine", "/o.json", "test -overlay=/o.json -tags=e2e,hermetic -gcflags=all=-dwarf=false -count=1 . -args -tags=mine"},
		{"run . tags count", "/o.json", "run -overlay=/o.json -tags=hermetic -gcflags=all=-dwarf=false . tags count"},
		{"test -tags e2e .", "", "test -count=1 -tags e2e ."},
	} {
		if got := flagged(strings.Fields(x.args), x.path); !slices.Equal(got, strings.Fields(x.want)) {
			t.Errorf("go %s: %q, want %q", x.args, strings.Join(got, " "), x.want)
		}
	}
}

// TestCommand: what compiles nothing is go's own affair, and CGO is off for all.
func TestCommand(t *testing.T) {
	cmd, err := Command("env", "GOOS")
	if err != nil || !slices.Equal(cmd.Args, []string{"go", "env", "GOOS"}) || !slices.Contains(cmd.Env, "CGO_ENABLED=0") {
		t.Errorf("%v: %v", cmd, err)
	}
	if cmd, err = Command("vet", "."); err != nil || !slices.ContainsFunc(cmd.Args, func(a string) bool { return strings.HasPrefix(a, "-overlay=/") }) {
		t.Errorf("%v: %v", cmd, err)
	}
}
