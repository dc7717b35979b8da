package dump

import (
	"slices"
	"strings"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump/kept"
)

// sawImages remembers tags of the managers' own images. What is given by digest has
// none.
func (c *Cluster) sawImages(all []string) {
	for _, image := range all {
		name, tag, ok := kept.Image(image)
		if !ok {
			continue
		}
		for _, r := range c.readings {
			program := r.manager.Name
			if slices.ContainsFunc(r.importer.Images, func(m Image) bool { return m.Name.MatchString(name) && m.Tag.MatchString(tag) }) && kept.Release(tag) {
				if c.images[program] == nil {
					c.images[program] = map[string]int{}
				}
				c.images[program][c.Word(tag)]++
			}
		}
	}
}

// versionsOf returns the versions of the managers, by name; several of a program during an
// upgrade. A version that the dump does not show is reported as unknown.
func (d *Draft) versionsOf() []scenarios.Version {
	var out []scenarios.Version
	for _, r := range d.present {
		program := r.manager.Name
		found := kept.Keys(d.images[program])
		if r.Versions != nil {
			found = append(found, r.Versions()...)
		}
		found = slices.DeleteFunc(found, func(v string) bool { return !kept.Release(v) })
		for i, v := range found {
			found[i] = "v" + strings.TrimPrefix(v, "v")
		}
		slices.Sort(found)
		if found = slices.Compact(found); len(found) == 0 && len(r.importer.Images) > 0 {
			d.Unknown("the version of %s: the dump has neither ClusterInformation nor an image of it", program)
		}
		for _, v := range found {
			out = append(out, scenarios.Version{Program: program, Found: v})
		}
	}
	return out
}
