package golden

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// CheckMember is Check for a member of a txtar archive. With -update it rewrites the
// archive; a member that is not there yet follows the last one of its name without the
// extension, so that NAME.err stands behind NAME.yaml.
//
// got ends in a newline and has no line like "-- x --": an archive cannot hold other text.
func CheckMember(t testing.TB, archive, name, got string) {
	t.Helper()
	a, err := txtar.ParseFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	want, ok := member(a, name)
	switch {
	case *update && ok && want == got:
	case *update:
		put(a, name, got)
		text := txtar.Format(a)
		if back, _ := member(txtar.Parse(text), name); back != got {
			t.Fatalf("%s: no archive can hold %s: %q", archive, name, got)
			return
		}
		if err := os.WriteFile(archive, text, 0o644); err != nil {
			t.Fatal(err)
		}
	case !ok:
		t.Fatalf("%s has no member %s; -update adds it", archive, name)
	case want != got:
		t.Errorf("%s: %s changed (-want +got); -update rewrites it, read the diff before you commit it:\n%s",
			archive, name, cmp.Diff(want, got))
	}
}

func member(a *txtar.Archive, name string) (text string, ok bool) {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

// put sets the text of a member, or adds the member.
func put(a *txtar.Archive, name, text string) {
	at := len(a.Files)
	for i, f := range a.Files {
		if f.Name == name {
			a.Files[i].Data = []byte(text)
			return
		}
		if stem(f.Name) == stem(name) {
			at = i + 1
		}
	}
	a.Files = slices.Insert(a.Files, at, txtar.File{Name: name, Data: []byte(text)})
}

func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
