// Package known tells failures that are known from news. Worlds that are drawn fail
// often: the upstream code has known bugs. The lists in fuzz/testdata/known hold their
// causes, a line each: its signature | the rest of the cause | what is known of it.
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

// Dir of the lists, from the module's top.
const Dir = "fuzz/testdata/known"

// What is known of a cause begins with one of these.
const (
	Shown = "scenarios: " // the scenarios that show it follow
	Seen  = "seen: "      // no scenario shows it yet; what a search saw follows
)

// SeenAs is what is known of a cause of which a search saw one violation.
func SeenAs(message string) string {
	return Seen + strings.NewReplacer("|", "/", "\n", " ").Replace(message)
}

// Causes are the known causes of failures.
type Causes struct {
	whole      map[string]string // what is known of a cause, by cause.Cause.Key
	signatures map[string]string // of the first cause with it, by cause.Cause.Signature
	plain      map[string]string // of the first cause with it that needs no fault
	shown      map[string]bool   // signatures of causes that a scenario shows
}

// Cause returns what is known of the cause of a run that was shrunk, "" if it is new. A cause
// that is known without a fault is also known with one.
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

// Shown reports whether a scenario shows a cause with this signature. Then it is known what
// failures with the signature are when they are shrunk; searches alone do not show that.
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

// Key is a cause in a list, without what is known of it.
func Key(c *cause.Cause) string { return c.Signature() + " | " + c.Rest() }

// Line is a cause in a list.
func Line(c *cause.Cause, what string) string { return Key(c) + " | " + what }

// Load lists from the folder that they lie in. The first entry for a cause, or for a signature, counts.
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

// LoadIf reads the lists of Dir, if it is there, and those that the program was built with. It reports whether there are any.
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

// Parse a list. A cause that is listed twice is an error that names its line; so is a
// line of another form.
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
			return fmt.Errorf("%s:%d: want LOOK | REST OF THE CAUSE | WHAT IS KNOWN, have %q", file, i+1, line)
		}
		if whole := key(f[0], f[1]); here[whole] && !strings.HasPrefix(f[2], Seen) { // two processes may learn the same
			return fmt.Errorf("%s:%d: %s is listed twice", file, i+1, whole)
		}
		here[key(f[0], f[1])] = true
		k.learn(f[0], f[1], f[2])
	}
	return nil
}
