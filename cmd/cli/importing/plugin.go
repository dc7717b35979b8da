package importing

import (
	"os"
	"path/filepath"
	"strings"
)

// pluginName is the file name by which kubectl finds the plugin "ipam-check".
const pluginName = "kubectl-ipam_check"

// PluginArgs returns the arguments of import for a program that was started as the kubectl
// plugin ipam-check: it checks the cluster of the current context, and writes no scenario unless
// --out names a file. ok is false for any other name of the program.
//
// The kubeconfig is that of kubectl: --kubeconfig, the first file of KUBECONFIG, or
// ~/.kube/config.
func PluginArgs(argv []string) (args []string, ok bool) {
	if len(argv) == 0 || !strings.HasPrefix(filepath.Base(argv[0]), pluginName) {
		return nil, false
	}
	args = append([]string{"import", "--check", "--out=" + os.DevNull}, argv[1:]...)
	for _, a := range argv[1:] {
		if a == "-h" || a == "--help" || a == "--kubeconfig" || strings.HasPrefix(a, "--kubeconfig=") {
			return args, true
		}
	}
	file := filepath.Join(os.Getenv("HOME"), ".kube", "config")
	if list := filepath.SplitList(os.Getenv("KUBECONFIG")); len(list) > 0 && list[0] != "" {
		file = list[0]
	}
	return append(args, "--kubeconfig="+file), true
}
