// Package collect writes the command that makes a dump.
package collect

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/decode"
	"ipamsim/sim/ipam"
)

// Command returns a command line for a POSIX shell that writes resources to a file, each under its name:
// the given ones, by full name, or all that kubectl shows. kubectl reports what the cluster does not have.
// The number of objects follows each list, so an edited list is not taken to be complete.
func Command(managers []*ipam.Manager, file string, names ...string) string {
	var all, apart []string
	resources := dump.Resources(managers)
	for i := range resources {
		r := &resources[i]
		switch {
		case r.By != dump.Kubectl || len(names) > 0 && !slices.Contains(names, r.Name()):
		case r.Only != "":
			apart = append(apart, fmt.Sprintf(`echo "%s%s"; kubectl get %s -n %s --field-selector metadata.name=%s -o yaml; `, decode.Heading, r.Name(), r.Name(), r.Namespace, r.Only))
		default:
			all = append(all, r.Name())
		}
	}
	loop := fmt.Sprintf(`for r in %s; do echo "%s$r"; kubectl get $r --all-namespaces -o yaml | awk -v r=$r '{print} /^- /{n++} END{print "%s" n+0, r}'; done`, strings.Join(all, " "), decode.Heading, decode.Heading)
	switch {
	case len(apart) == 0:
		return loop + " > " + file
	case len(all) == 0:
		loop = ":"
	}
	return "{ " + strings.Join(apart, "") + loop + "; } > " + file
}
