package alias

import "strings"

// Names are all that a cluster calls something, by kind.
type Names map[string]map[string]bool

// Add adds names of a kind; "" is none.
func (n Names) Add(kind string, all ...string) {
	if n[kind] == nil {
		n[kind] = map[string]bool{}
	}
	for _, s := range all {
		if s != "" {
			n[kind][s] = true
		}
	}
}

// Ref adds namespace/name of a pod.
func (n Names) Ref(s string) {
	ns, name, ok := strings.Cut(s, "/")
	if !ok {
		ns, name = "", s
	}
	n.Add(Namespace, ns)
	n.Add(Pod, name)
}

// Labels adds the values of the labels that a selector uses.
func (n Names) Labels(m map[string]string) {
	for k, v := range m {
		if n[Label][k] {
			n.Add(Value, v)
		}
	}
}
