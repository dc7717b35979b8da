package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gocmp "github.com/google/go-cmp/cmp"
)

// unlike says in what two answers differ beyond what is known; "" if in nothing. Ours is in
// the other server's terms already. Both are changed.
func unlike(ours, theirs any) string {
	return gocmp.Diff(plain(ours), plain(theirs))
}

// plain leaves out of an object, or of a list, what is known to differ.
func plain(tree any) any {
	m, ok := tree.(map[string]any)
	if !ok {
		return tree
	}
	if items, ok := m["items"].([]any); ok {
		delete(m, "metadata") // its revision and pages
		items = slices.DeleteFunc(items, system)
		for i := range items {
			items[i] = plain(items[i])
		}
		slices.SortFunc(items, func(a, b any) int { return cmp.Compare(identity(a), identity(b)) })
		m["items"] = items
		return m
	}
	for _, d := range differences {
		for _, f := range d.fields {
			remove(m, strings.Split(f, "."))
		}
	}
	return m
}

// remove takes a field out of a tree.
func remove(tree any, path []string) {
	m, ok := tree.(map[string]any)
	if !ok {
		return
	}
	name, each := strings.CutSuffix(path[0], "[]")
	switch {
	case len(path) == 1:
		delete(m, name)
	case each:
		items, _ := m[name].([]any)
		for _, x := range items {
			remove(x, path[1:])
		}
	default:
		remove(m[name], path[1:])
	}
}

// system reports whether kube-apiserver itself has stored an object.
func system(o any) bool {
	m, _ := o.(map[string]any)
	meta, _ := m["metadata"].(map[string]any)
	fields, _ := meta["managedFields"].([]any)
	return slices.ContainsFunc(fields, func(f any) bool { return field(f, "manager") == "kube-apiserver" })
}

// finding is a difference that nobody has explained.
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
