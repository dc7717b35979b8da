package dump

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
)

// Read takes everything that a file holds, as decode.Read does. A document that cannot be
// read is remembered (see Damages), and the rest is used. The error is a *strict.Error, one
// line with file and line: the file holds nothing that is whole, or an object in it is not
// as Kubernetes has it. What could be read stays in the cluster.
func (c *Cluster) Read(name string, r io.Reader, progress func(Progress)) error {
	c.Source(name)
	return c.ReadPart(name, r, progress)
}

// ReadPart reads a file of a folder or of an archive, whose name is the Source.
func (c *Cluster) ReadPart(name string, r io.Reader, progress func(Progress)) error {
	var refused error
	to := c.sink(progress)
	to.Object, to.List = c.Add, c.ended
	to.Damaged = func(d decode.Damage) {
		c.damage(d)
		if d.Object {
			refused = cmp.Or(refused, error(d.Err))
		}
	}
	to.Absent = c.absent
	to.Skipped = func(lines int) { c.ignored["lines of text"] += lines }
	err := decode.Read(name, r, to)
	return cmp.Or(err, refused)
}

// Damages are the documents that could not be read, or not to their ends.
func (c *Cluster) Damages() []decode.Damage { return c.damages }

// Absences are what commands printed in place of objects.
func (c *Cluster) Absences() []decode.Absent { return c.absences }

// Impaired reports whether an object or a list of a resource, by its full name, could not
// be read: those that were read are not all.
func (c *Cluster) Impaired(name string) bool { return sees(c, c.impaired, name) }

// damage remembers a document that could not be read, and of which kinds it was.
func (c *Cluster) damage(d decode.Damage) {
	c.damages = append(c.damages, d)
	for _, l := range append(slices.Clone(d.Kinds), d.List) {
		if l.Kind != "" {
			c.impaired[kindKey(l.Kind, kept.GroupOf(l.APIVersion))] = true
		}
	}
	for _, name := range append(asked(d.List.Command), d.List.Resource) {
		for i := range c.resources {
			if r := &c.resources[i]; name == r.Name() || name == r.Plural || name == strings.ToLower(r.Kind) {
				c.impaired[kindKey(r.Kind, r.Group())] = true
			}
		}
	}
}

// asked are the resources that a command lists, as they were typed.
func asked(command []string) []string {
	i := slices.Index(command, "get")
	if i < 0 {
		return nil
	}
	for _, word := range command[i+1:] {
		if !strings.HasPrefix(word, "-") {
			return strings.Split(word, ",")
		}
	}
	return nil
}

// absent remembers what a command printed in place of objects.
func (c *Cluster) absent(a decode.Absent) {
	if a.Resource == "" {
		a.Resource = strings.Join(asked(a.Command), ",")
	}
	if a.Resource == "" {
		c.ignored["lines of text"]++
		return
	}
	c.absences = append(c.absences, a)
}

// unreadableMax is how many documents that could not be read are listed.
const unreadableMax = 20

// unreadable reports what could not be read, and what commands printed in place of objects.
func (d *Draft) unreadable() {
	for i, x := range d.damages {
		switch {
		case d.Options.Anonymise:
			d.Unknown("%s could not be read", Plural(len(d.damages), "document", "documents"))
		case i == unreadableMax:
			d.Unknown("%d more documents could not be read", len(d.damages)-i)
		default:
			d.Unknown("not read: %s", x.Err)
			continue
		}
		break
	}
	for _, a := range d.absences {
		where, from := "", ""
		if !d.Options.Anonymise {
			from = fmt.Sprintf(" (%s)", a.From)
			if a.Namespace != "" {
				where = " in namespace " + a.Namespace
			}
		}
		d.Unknown("%s%s: %s%s", a.Resource, where, absences[a.Why], from)
	}
}

// absences are the reasons of decode.Absent.
var absences = map[decode.Reason]string{
	decode.Failed:     "the command that lists them failed: unknown",
	decode.Forbidden:  "the user may not list them: unknown",
	decode.NoSuchType: "the API server does not serve this resource",
	decode.NoneFound:  "kubectl found none: unknown, because it does not say where it looked",
}
