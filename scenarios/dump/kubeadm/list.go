package kubeadm

import "strings"

// Split are the parts of a list with commas; "" has none.
func Split(list string) (out []string) {
	for _, s := range strings.Split(list, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}
