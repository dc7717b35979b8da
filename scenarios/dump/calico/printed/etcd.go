package printed

import (
	"encoding/json"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
)

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

// CIDR undoes what Calico does to a block for a key: 10.0.0.0-26.
func CIDR(s string) string {
	if i := strings.LastIndex(s, "-"); i >= 0 {
		return s[:i] + "/" + s[i+1:]
	}
	return s
}

// Entry is a key of etcd's with its value, as an export has it.
type Entry struct {
	Key   string
	Value json.RawMessage
}

// Export reads the last part of what calicoctl datastore migrate export prints; n is without
// the settings.
//
// Source: calicoctl/calicoctl/commands/datastore/migrate, migrateIPAM (v3.31).
func Export(from decode.Origin, raw json.RawMessage) (all []Entry, n int, err error) {
	var o struct {
		Affinities []Entry `json:"block_affinities"`
		Blocks     []Entry `json:"blocks"`
		Handles    []Entry `json:"handles"`
		Config     *Entry  `json:"config"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, 0, from.Fail("", "", "looks like the end of a calicoctl datastore migrate export, but: %s", decode.OneLine(err))
	}
	all = slices.Concat(o.Affinities, o.Blocks, o.Handles)
	n = len(all)
	if o.Config != nil {
		all = append(all, *o.Config)
	}
	return all, n, nil
}
