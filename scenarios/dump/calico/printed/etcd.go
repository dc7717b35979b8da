package printed

import "strings"

// Key is a key of Calico's record in etcd. Kind is the kind that Kubernetes' datastore has
// in its place, "" for a key of something else.
//
// Source: libcalico-go/lib/backend/model, BlockAffinityKey, BlockKey, IPAMHandleKey,
// IPAMConfigKey (v3.31).
type Key struct {
	Kind string
	Name string // of a handle; the block of all others, as 10.0.0.0-26
	Host string // of an affinity
	Type string // of an affinity: host or virtual
}

// ParseKey reads a key of etcd's.
func ParseKey(key string) Key {
	parts := strings.Split(key, "/")
	if len(parts) < 5 || parts[1] != "calico" || parts[2] != "ipam" || parts[3] != "v2" {
		return Key{}
	}
	switch what := parts[4]; {
	case what == "assignment" && len(parts) == 8 && parts[6] == "block":
		return Key{Kind: "IPAMBlock", Name: parts[7]}
	case what == "handle" && len(parts) == 6:
		return Key{Kind: "IPAMHandle", Name: parts[5]}
	case what == "config":
		return Key{Kind: "IPAMConfig"}
	case len(parts) == 9 && parts[7] == "block":
		return Key{Kind: "BlockAffinity", Name: parts[8], Host: parts[5], Type: what}
	}
	return Key{}
}
