package disk_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/sim/disk"
)

// reference is a disk as a list of calls: the effect of each call on the files, and the files
// that are certainly on disk. Files are "/var/lib/a" to "/var/lib/d".
type reference struct {
	states []map[string]string // after each change of names and sizes, the first before all
	now    map[string]string
	sure   int               // a power loss leaves the names of states[sure] or later
	synced map[string]string // by file: synced content without a later change
}

// The law: a power loss leaves the names of one moment, not before the last fsync; a file that
// was synced and not changed since has its content; any other file has a prefix of some
// earlier content, or zeros in its place.
func TestLossLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := disk.New(nil, "node-a")
		p := d.Process(context.Background(), nil)
		r := &reference{states: []map[string]string{{}}, now: map[string]string{}, synced: map[string]string{}}
		names := []string{"a", "b", "c", "d"}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				name, text := rapid.SampledFrom(names).Draw(t, "file"), rapid.StringMatching(`[a-z]{1,6}`).Draw(t, "text")
				if err := p.WriteFile("/var/lib/"+name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, there := r.now[name]; !there {
					r.now[name] = ""
					r.state()
				}
				r.now[name] = text
				delete(r.synced, name)
				r.state()
			},
			"rename": func(t *rapid.T) {
				from, to := rapid.SampledFrom(names).Draw(t, "from"), rapid.SampledFrom(names).Draw(t, "to")
				err := p.Rename("/var/lib/"+from, "/var/lib/"+to)
				text, there := r.now[from]
				if there != (err == nil) {
					t.Fatalf("%v, there: %t", err, there)
				}
				if there && from != to {
					delete(r.now, from)
					r.now[to] = text
					delete(r.synced, from)
					delete(r.synced, to)
					r.state()
				}
			},
			"remove": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "file")
				_, there := r.now[name]
				if err := p.Remove("/var/lib/" + name); there != (err == nil) {
					t.Fatalf("%v, there: %t", err, there)
				}
				delete(r.now, name)
				delete(r.synced, name)
				r.state()
			},
			"sync": func(t *rapid.T) {
				name := rapid.SampledFrom(names).Draw(t, "file")
				f, err := p.Open("/var/lib/" + name)
				if err != nil {
					return
				}
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
				r.sure, r.synced[name] = len(r.states)-1, r.now[name]
			},
			"lose": func(t *rapid.T) {
				loss := disk.Loss{Journal: rapid.IntRange(0, 12).Draw(t, "journal"), Data: disk.Data(rapid.IntRange(0, int(disk.Datas)-1).Draw(t, "data"))}
				d.PowerLoss(loss)
				left := content(t, p)
				r.check(t, left)
				if loss == (disk.Loss{}) && !maps.Equal(left, r.now) {
					t.Fatalf("%v, want all of %v", left, r.now)
				}
				*r = reference{states: []map[string]string{left}, now: maps.Clone(left), synced: maps.Clone(left)}
			},
			"": func(t *rapid.T) {
				if got := content(t, p); !maps.Equal(got, r.now) {
					t.Fatalf("%v, want %v", got, r.now)
				}
			},
		})
	})
}

func (r *reference) state() { r.states = append(r.states, maps.Clone(r.now)) }

// check checks the law.
func (r *reference) check(t *rapid.T, left map[string]string) {
	names := func(m map[string]string) string { return fmt.Sprint(slices.Sorted(maps.Keys(m))) }
	if !slices.ContainsFunc(r.states[r.sure:], func(s map[string]string) bool { return names(s) == names(left) }) {
		t.Fatalf("%v are the names of no moment since the last fsync: %v", left, r.states[r.sure:])
	}
	for name, text := range r.synced {
		if got, there := left[name]; !there || got != text {
			t.Fatalf("%s was synced with %q and is %q (%t)", name, text, got, there)
		}
	}
	for name, got := range left {
		ever := slices.ContainsFunc(r.states, func(s map[string]string) bool { text, ok := s[name]; return ok && strings.HasPrefix(text, got) })
		if !ever {
			t.Fatalf("%s has %q, which it never had: %v", name, got, r.states)
		}
	}
}

func content(t *rapid.T, p *disk.Process) map[string]string {
	entries, err := p.ReadDir("/var/lib")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		b, err := p.ReadFile(path.Join("/var/lib", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(b)
	}
	return out
}
