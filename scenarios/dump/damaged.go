package dump

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/dump/kept"
	"ipamsim/scenarios/strict"
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
	to.Skipped = func(lines int) { c.skipped += lines }
	if err := decode.Read(name, r, to); err != nil || refused == nil {
		return err
	}
	return refusal{refused}
}

// refusal is the error of an object, or of a line of a tool, that is not as its kind has
// it.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// IsRefusal reports whether an error of Read is about one object: the rest of the file was
// read.
func IsRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// Unreadable remembers a file that could not be read.
func (c *Cluster) Unreadable(err *strict.Error) {
	same := func(d decode.Damage) bool { return d.Err == err || d.Err.Error() == err.Error() }
	if !slices.ContainsFunc(c.damages, same) {
		c.damages = append(c.damages, decode.Damage{Err: err})
	}
}

// Bundle is what came of a folder or an archive, in numbers of files.
type Bundle struct {
	Name    string
	Read    int
	Ignored int // logs, tables and other files of which nothing is read
	Unread  int // that look as if they could be read, and could not
	Links   int // that are not followed
}

// Nothing says that nothing of it could be read.
func (b *Bundle) Nothing() string {
	what := fmt.Sprintf("holds no file that is read: %s", Plural(b.Ignored, "file is of another kind", "files are of other kinds"))
	if b.Unread > 0 {
		what += fmt.Sprintf(", %d could not be read", b.Unread)
	}
	if b.Links > 0 {
		what += ", " + Plural(b.Links, "link is not followed", "links are not followed")
	}
	return what + "; want what kubectl get -o yaml prints, in whatever folder"
}

// Bundled remembers what came of a folder or an archive.
func (c *Cluster) Bundled(b Bundle) { c.bundles = append(c.bundles, b) }

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
		c.skipped++
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
	for _, b := range d.bundles {
		name := b.Name
		if d.Options.Anonymise {
			name = "a bundle"
		}
		d.Left("%s: %s read, %d ignored (logs, tables and other files), %s", name, Plural(b.Read, "file", "files"), b.Ignored, Plural(b.Links, "link not followed", "links not followed"))
	}
	if d.skipped > 0 {
		d.Left("%s that no command prints which is read", Plural(d.skipped, "line of text", "lines of text"))
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
