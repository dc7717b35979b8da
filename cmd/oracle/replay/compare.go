package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
)

// unlike says in what two answers differ beyond what is known; "" if in nothing. Ours is in
// the other server's terms already. Both are changed.
func unlike(ours, theirs any, controlled bool) string {
	return gocmp.Diff(plain(ours, controlled), plain(theirs, controlled))
}

// plain takes out of an object, or of a list, what is known to differ.
func plain(tree any, controlled bool) any {
	m, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	if items, ok := m["items"].([]any); ok {
		listed, _ := m["metadata"].(map[string]any)
		delete(listed, "resourceVersion") // in order: terms.disorder
		for i := range items {
			if o, ok := items[i].(map[string]any); ok && o["kind"] == nil { // of a built-in list
				kind, _ := strings.CutSuffix(field(m, "kind"), "List")
				o["kind"] = kind
			}
			items[i] = plain(items[i], controlled)
		}
		slices.SortFunc(items, byName) // names that are drawn have another order, see unordered
		return m
	}
	for i := range differences {
		d := &differences[i]
		if !d.applies(controlled) || d.kind != "" && d.kind != m["kind"] {
			continue
		}
		for _, f := range d.leftOut {
			change(m, strings.Split(f, "."), func(any) (any, bool) { return nil, false })
		}
		for _, f := range d.masked {
			change(m, strings.Split(f, "."), func(x any) (any, bool) {
				if d.like(x) {
					x = d.name
				}
				return x, true
			})
		}
	}
	return m
}

func byName(a, b any) int { return cmp.Compare(identity(a), identity(b)) }

// unordered reports whether an answer is a list that is not in the order of its names.
func unordered(tree any) bool {
	m, _ := tree.(map[string]any)
	items, _ := m["items"].([]any)
	return !slices.IsSortedFunc(items, byName)
}

// change puts something else in the place of a field, or takes it out.
func change(tree any, path []string, to func(any) (is any, stays bool)) {
	m, ok := tree.(map[string]any)
	if !ok {
		return
	}
	name, kind, each := strings.Cut(path[0], "[")
	kind = strings.TrimSuffix(kind, "]")
	was, ok := m[name]
	switch last := len(path) == 1; {
	case !ok:
	case each:
		items, _ := was.([]any)
		for i := range items {
			if kind != "" && field(items[i], "type") != kind && field(items[i], "reason") != kind {
				continue
			}
			if !last {
				change(items[i], path[1:], to)
			} else if is, stays := to(items[i]); stays {
				items[i] = is
			}
		}
	case last:
		if is, stays := to(was); stays {
			m[name] = is
		} else {
			delete(m, name)
		}
	default:
		change(was, path[1:], to)
	}
}

// system reports whether kube-apiserver itself has stored an object.
func system(o any) bool {
	m, _ := o.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	fields, _ := meta["managedFields"].([]any)
	return slices.ContainsFunc(fields, func(f any) bool { return field(f, "manager") == "kube-apiserver" })
}

// strange reports whether an object is the real server's own, and none of the run.
func (p *Replay) strange(o any) bool { return system(o) && !p.shared[identity(o)] }

// finding is an unexplained difference.
type finding struct {
	scenario string
	message  int // of the run, from 1 on
	request  string
	what     string
}

func (f *finding) String() string {
	return fmt.Sprintf("%s message %d: %s\n%s", f.scenario, f.message, f.request, indent(f.what))
}

func indent(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
