package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
)

// upstreams are the modules other than the address managers whose version affects the result of a
// run. Modules that are not linked into this build are not listed.
var upstreams = []string{
	"k8s.io/apiserver",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/kubernetes",
	"k8s.io/client-go",
	"go.etcd.io/etcd/server/v3",
}

// release and commit are of a release: its build sets them (make release).
var release, commit string

func versionCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the versions of ipamsim, of the upstreams in it, and of the runtime",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), versionText(m))
			return err
		},
	}
}

func versionText(managers scenarios.Managers) string {
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "%-44s %s\n", name, value) }
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	main := strings.TrimSpace(cmp.Or(release, info.Main.Version) + " " + commit)
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			main += " " + s.Value
		}
	}
	row(cmp.Or(info.Main.Path, ours), strings.TrimSpace(main))
	for _, m := range info.Deps { // in a user's own program
		if m.Path == ours {
			for ; m.Replace != nil; m = m.Replace {
			}
			row(ours, strings.TrimSpace(m.Version+" "+strings.TrimPrefix(m.Path, ours)))
		}
	}
	var paths []string
	for _, m := range managers {
		path, _, _ := strings.Cut(m.Upstream, "@")
		if len(m.Members) == 0 {
			paths = append(paths, path)
		}
	}
	paths = append(paths, upstreams...)
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			continue // two managers of one module
		}
		if v := ipam.Upstream(path, nil); v != "" {
			row(path, strings.TrimPrefix(v, path+"@"))
		}
	}
	rt := "stock: runs with the same seed may differ; make build uses the hermetic runtime"
	if hermetic.Enabled {
		rt = "hermetic: runs with the same seed are identical"
	}
	row("go", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	row("runtime", rt)
	return b.String()
}
