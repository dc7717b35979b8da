package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/scenarios"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam"
)

// upstreams are the modules, besides those of the address managers, whose version decides
// what a run finds. Those not
// linked into this build are not listed.
var upstreams = []string{
	"k8s.io/apiserver",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/kubernetes",
	"k8s.io/client-go",
	"go.etcd.io/etcd/server/v3",
}

func versionCommand(m scenarios.Managers) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the versions of ipamsim, of the upstreams in it, and of the runtime",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), versions(m))
			return err
		},
	}
}

func versions(managers scenarios.Managers) string {
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "%-44s %s\n", name, value) }
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	main := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			main += " " + s.Value
		}
	}
	row(cmp.Or(info.Main.Path, ours), strings.TrimSpace(main))
	for _, m := range info.Deps { // in a program of somebody else's
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
	for _, path := range append(paths, upstreams...) {
		if v := ipam.Upstream(path, nil); v != "" {
			row(path, strings.TrimPrefix(v, path+"@"))
		}
	}
	rt := "stock: the same seed may run differently; make build uses the hermetic one"
	if hermetic.Enabled {
		rt = "hermetic: the same seed runs the same"
	}
	row("go", runtime.Version()+" "+runtime.GOOS+"/"+runtime.GOARCH)
	row("runtime", rt)
	return b.String()
}
