package printed

import "regexp"

// CNI is Calico's CNI configuration for pod addresses: the families in which every pod gets one.
// Delegates means that host-local assigns them from the nodes' podCIDRs.
type CNI struct{ V4, V6, Delegates bool }

var (
	delegated = regexp.MustCompile(`"ipam"\s*:\s*\{\s*"type"\s*:\s*"host-local"`)
	assigns   = regexp.MustCompile(`"assign_ipv([46])"\s*:\s*"(true|false)"`)
)

// Configuration reads it.
func Configuration(text string) CNI {
	c := CNI{V4: true, Delegates: delegated.MatchString(text)}
	for _, m := range assigns.FindAllStringSubmatch(text, -1) {
		if m[1] == "4" {
			c.V4 = m[2] == "true"
		} else {
			c.V6 = m[2] == "true"
		}
	}
	return c
}
