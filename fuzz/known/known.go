// Package known distinguishes known failures from new ones. Generated scenarios fail often, because
// the upstream code has known bugs. The lists in fuzz/testdata/known have one cause on each
// line: its signature | the rest of the cause | what is known about it.
package known

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ipamsim/fuzz"
	"ipamsim/fuzz/cause"
)

// Dir is the directory of the lists, relative to the module's root.
const Dir = "fuzz/testdata/known"

// The beginnings of what is known about a cause.
const (
	Shown = "scenarios: " // followed by the scenarios that show the cause
	Seen  = "seen: "      // no scenario shows the cause; followed by what a search saw
)

// SeenAs returns what is known about a cause from one violation in a search.
func SeenAs(message string) string {
	return Seen + strings.NewReplacer("|", "/", "\n", " ").Replace(message)
}

// Causes are the known causes of failures.
type Causes struct {
	whole      map[string]string // what is known about a cause, by cause.Cause.Key
	signatures map[string]string // about the first cause with a signature (cause.Cause.Signature)
	plain      map[string]string // about the first cause with a signature that needs no fault
	shown      map[string]bool   // signatures of causes that a scenario shows
}

// Cause returns what is known about the cause of a shrunk run, "" if it is new. A cause that is known
// without a fault is also known with one.
func (k Causes) Cause(c *cause.Cause) string {
	key := c.Key()
	return cmp.Or(k.whole[key], k.whole[strings.TrimSuffix(key, ", "+cause.AfterFault)])
}

// Find returns what is known about a failure before it is shrunk: about the first cause
// with its signature, "" if there is none. Causes that need a fault count only after one.
func (k Causes) Find(c *cause.Cause) string {
	if c.Faulted {
		return k.signatures[c.Signature()]
	}
	return k.plain[c.Signature()]
}

// Shown reports whether a scenario shows a cause with this signature. Then the result of shrinking
// failures with the signature is known; a cause that only searches have seen does not ensure that.
func (k Causes) Shown(signature string) bool { return k.shown[signature] }

// Len is the number of known causes.
func (k Causes) Len() int { return len(k.whole) }

// Each calls f for every known cause, in any order.
func (k Causes) Each(f func(key, what string)) {
	for key, what := range k.whole {
		f(key, what)
	}
}

// Learn adds a cause.
func (k *Causes) Learn(c *cause.Cause, what string) { k.learn(c.Signature(), c.Rest(), what) }

// LearnKey adds a cause by its Key, and reports whether it was new.
func (k *Causes) LearnKey(listed, what string) bool {
	signature, rest, ok := strings.Cut(listed, " | ")
	if !ok || k.whole[key(signature, rest)] != "" {
		return false
	}
	k.learn(signature, rest, what)
	return true
}

func (k *Causes) learn(signature, rest, what string) {
	if k.whole == nil {
		k.whole, k.signatures, k.plain, k.shown = map[string]string{}, map[string]string{}, map[string]string{}, map[string]bool{}
	}
	whole := key(signature, rest)
	k.whole[whole] = cmp.Or(k.whole[whole], what)
	k.shown[signature] = k.shown[signature] || strings.HasPrefix(what, Shown)
	k.signatures[signature] = cmp.Or(k.signatures[signature], what)
	if !strings.HasSuffix(rest, cause.AfterFault) {
		k.plain[signature] = cmp.Or(k.plain[signature], what)
	}
}

func key(signature, rest string) string {
	if rest == "" {
		return signature
	}
	return signature + ", " + rest
}

// Key returns a cause as in a list, without what is known about it.
func Key(c *cause.Cause) string { return c.Signature() + " | " + c.Rest() }

// Line returns a line of a list.
func Line(c *cause.Cause, what string) string { return Key(c) + " | " + what }

// Load reads lists from a directory. The first entry for a cause, or for a signature, counts.
func Load(dir string, lists ...string) (Causes, error) {
	var out Causes
	if err := out.load(os.DirFS(dir), dir, lists); err != nil {
		return Causes{}, err
	}
	return out, nil
}

func (k *Causes) load(from fs.FS, dir string, lists []string) error {
	for _, list := range lists {
		text, err := fs.ReadFile(from, list)
		if err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
		if err := k.parse(filepath.Join(dir, list), string(text)); err != nil {
			return err
		}
	}
	return nil
}

// LoadIf reads the lists in Dir, if it exists, and the lists embedded in the program. It reports
// whether there are any.
func LoadIf(lists ...string) (out Causes, found bool, err error) {
	built, err := fs.Sub(fuzz.Known, "testdata/known")
	if err != nil {
		return out, false, err
	}
	for _, from := range []fs.FS{os.DirFS(Dir), built} {
		switch err := out.load(from, Dir, lists); {
		case err == nil:
			found = true
		case !errors.Is(err, fs.ErrNotExist):
			return Causes{}, false, err
		}
	}
	return out, found, nil
}

// Parse parses a list. A cause that is listed twice, and a line of another form, are errors that name
// the line.
func Parse(file, text string) (Causes, error) {
	var out Causes
	err := out.parse(file, text)
	return out, err
}

func (k *Causes) parse(file, text string) error {
	here := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 3 {
			return fmt.Errorf("%s:%d: want SIGNATURE | REST OF THE CAUSE | WHAT IS KNOWN, have %q", file, i+1, line)
		}
		if whole := key(f[0], f[1]); here[whole] && !strings.HasPrefix(f[2], Seen) { // two processes may add the same cause
			return fmt.Errorf("%s:%d: %s is listed twice", file, i+1, whole)
		}
		here[key(f[0], f[1])] = true
		k.learn(f[0], f[1], f[2])
	}
	return nil
}
