// Package unread keeps what could not be read of a dump: documents that are damaged, what
// commands printed in place of objects, files of archives that hold nothing that is read.
package unread

import (
	"errors"
	"io"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/decode"
	"ipamsim/scenarios/strict"
)

// Ledger is all of it, in the order in which it was read.
type Ledger struct {
	Damages  []decode.Damage // documents that could not be read, or not to their ends
	Messages []decode.Absent // what commands printed in place of objects
	Bundles  []Bundle        // folders and archives
	Skipped  int             // lines of unknown text
	lists    []string        // see Unread
}

// Bundle is what came of a folder or an archive, in numbers of files.
type Bundle struct {
	Name    string
	Read    int
	Ignored int // logs, tables and other files that are not read
	Damaged int // that look as if they could be read, and could not
	Links   int // that are not followed
}

// damagesMax bounds what is kept: a hostile file may have a fault in each line.
const damagesMax = 10_000

// Read is decode.Read into a sink whose file may be damaged: the rest of it is used. An
// error for which IsRefusal holds is about one object, and all others were read.
func (l *Ledger) Read(name string, r io.Reader, to decode.Sink) error {
	var refused error
	to.Damaged = func(d decode.Damage) {
		if len(l.Damages) < damagesMax {
			l.Damages = append(l.Damages, d)
		}
		if d.Object && refused == nil {
			refused = refusal{d.Err}
		}
	}
	to.Absent = l.absent
	to.Skipped = func(lines int) { l.Skipped += lines }
	if err := decode.Read(name, r, to); err != nil {
		return err
	}
	return refused
}

// refusal is the error of an object, or of a line of a tool, that is not as its kind has
// it.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// IsRefusal reports whether an error of Read is about one object.
func IsRefusal(err error) bool {
	var r refusal
	return errors.As(err, &r)
}

// Unreadable remembers a file that could not be read.
func (l *Ledger) Unreadable(err *strict.Error) {
	same := func(d decode.Damage) bool { return d.Err == err }
	if len(l.Damages) < damagesMax && !slices.ContainsFunc(l.Damages, same) {
		l.Damages = append(l.Damages, decode.Damage{Err: err})
	}
}

// Unread records a list that could not be read, and why, for the report.
func (l *Ledger) Unread(what, why string) {
	l.lists = append(l.lists, strings.Join(strings.Fields(what+": "+why), " "))
}

// absent remembers what a command printed in place of objects.
func (l *Ledger) absent(a decode.Absent) {
	if a.Resource == "" {
		a.Resource = strings.Join(asked(a.Command), ",")
	}
	if a.Resource == "" || len(l.Messages) >= damagesMax {
		l.Skipped++
		return
	}
	l.Messages = append(l.Messages, a)
}

// Hits reports whether a document with objects of a kind could not be read: those that
// were read are not all. same compares the kind of an object; names are what a command may
// call the resource.
func (l *Ledger) Hits(same func(apiVersion, kind string) bool, names ...string) bool {
	return slices.ContainsFunc(l.Damages, func(d decode.Damage) bool {
		isSame := func(k decode.List) bool { return k.Kind != "" && same(k.APIVersion, k.Kind) }
		named := func(name string) bool { return name != "" && slices.Contains(names, name) }
		return isSame(d.List) || slices.ContainsFunc(d.Kinds, isSame) || named(d.List.Resource) || slices.ContainsFunc(asked(d.List.Command), named)
	})
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
