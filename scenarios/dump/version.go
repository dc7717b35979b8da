package dump

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"ipamsim/scenarios"
)

// addInformation keeps the version that Calico writes of itself.
func (c *Cluster) addInformation(h *head, raw json.RawMessage) error {
	var o struct {
		CalicoVersion string `json:"calicoVersion"`
	}
	if err := specOf(raw, &o); err != nil {
		return err
	}
	if o.CalicoVersion == "" {
		return nil
	}
	return put(c, c.information, h.Metadata.Name, h, o.CalicoVersion)
}

// images are those by which a manager's version can be told, as rebuilders call them,
// too: docker.io/calico/node, rancher/mirrored-calico-node, ghcr.io/…/whereabouts. A tag
// that is none of upstream's kind, as calico-node:1.17 of a house that counts by itself,
// says nothing: Calico has had three numbers, the first of them 3, for as long as it has
// kept its record as it does.
var images = []struct {
	name, tag *regexp.Regexp
	program   string
}{
	{regexp.MustCompile(`(^|[/-])calico[/-](node|cni|kube-controllers)$`), regexp.MustCompile(`^v?3\.[0-9]+\.[0-9]+`), "calico"},
	{regexp.MustCompile(`(^|[/-])whereabouts(-cni)?$`), regexp.MustCompile(`^v?0\.[0-9]+`), "whereabouts"},
}

// sawImages remembers tags of the managers' own images. What is given by digest has
// none.
func (c *Cluster) sawImages(all []container) {
	for _, x := range all {
		name, _, _ := strings.Cut(x.Image, "@")
		i := strings.LastIndexByte(name, ':')
		if i < strings.LastIndexByte(name, '/') || i < 0 {
			continue
		}
		name, tag := name[:i], name[i+1:]
		for _, m := range images {
			if m.name.MatchString(name) && m.tag.MatchString(tag) && release.MatchString(tag) {
				if c.images[m.program] == nil {
					c.images[m.program] = map[string]int{}
				}
				c.images[m.program][c.word(tag)]++
			}
		}
	}
}

// release is what upstream's versions look like, with what rebuilders add.
var release = regexp.MustCompile(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+.][-+.0-9A-Za-z]*)?$`)

// tagMax bounds a version that is told.
const tagMax = 60

// versions are those of the managers, calico first; of a program that is being upgraded
// several. What the dump does not say is told as not known.
func (d *draft) versions() []scenarios.Version {
	var out []scenarios.Version
	for _, m := range []struct {
		program string
		here    bool
	}{{"calico", d.calico}, {"whereabouts", d.ranges}} {
		if !m.here {
			continue
		}
		found := keysOf(d.Cluster.images[m.program])
		if m.program == "calico" {
			for _, name := range d.information.keys() {
				found = append(found, d.information[name].value)
			}
		}
		found = slices.DeleteFunc(found, func(v string) bool { return len(v) > tagMax || !release.MatchString(v) })
		for i, v := range found {
			found[i] = "v" + strings.TrimPrefix(v, "v")
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) == 0 {
			d.unknown("the version of %s: neither ClusterInformation nor an image of it in the dump says", m.program)
		}
		for _, v := range found {
			out = append(out, scenarios.Version{Program: m.program, Found: v})
		}
	}
	return out
}
