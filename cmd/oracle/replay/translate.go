package replay

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// terms is what the two servers call the same: what a server draws or counts by itself.
type terms struct {
	names     map[string]string // UIDs, and names that the server completed
	objects   map[string]string // revisions of objects
	lists     map[string]string // revisions of lists
	replacer  *strings.Replacer
	early     map[string]bool // revisions of objects that the other server has from before
	conflicts []string        // revisions and UIDs that mean two things
}

func newTerms() *terms {
	return &terms{names: map[string]string{}, objects: map[string]string{}, lists: map[string]string{}, early: map[string]bool{}, replacer: strings.NewReplacer()}
}

// learn takes from a pair of answers, which are objects or lists of them, what they call
// their objects.
func (t *terms) learn(ours, theirs any) {
	a, okA := ours.(map[string]any)
	b, okB := theirs.(map[string]any)
	if !okA || !okB {
		return
	}
	if items, ok := a["items"].([]any); ok {
		others, _ := b["items"].([]any)
		t.lists[field(a, "metadata", "resourceVersion")] = field(b, "metadata", "resourceVersion")
		by := map[string]any{}
		for _, o := range others {
			by[identity(o)] = o
		}
		for _, o := range items {
			t.learn(o, by[t.say(identity(o))])
		}
		return
	}
	if a["kind"] == "Status" || b["kind"] == "Status" {
		return
	}
	t.same(t.names, "UID", field(a, "metadata", "uid"), field(b, "metadata", "uid"))
	t.same(t.objects, "revision", field(a, "metadata", "resourceVersion"), field(b, "metadata", "resourceVersion"))
	if field(a, "metadata", "generateName") != "" {
		t.same(t.names, "name", field(a, "metadata", "name"), field(b, "metadata", "name"))
	}
}

// same notes that two words mean one thing.
func (t *terms) same(in map[string]string, what, ours, theirs string) {
	if ours == "" || theirs == "" {
		return
	}
	was, ok := in[ours]
	switch {
	case !ok:
		in[ours] = theirs
		t.replacer = nil
	case was != theirs:
		t.conflicts = append(t.conflicts, fmt.Sprintf("%s %s is %s and %s", what, ours, was, theirs))
	}
}

// say is a text in the other server's terms, but for revisions.
func (t *terms) say(text string) string {
	if t.replacer == nil {
		var pairs []string
		for _, ours := range slices.SortedFunc(maps.Keys(t.names), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }) {
			pairs = append(pairs, ours, t.names[ours])
		}
		t.replacer = strings.NewReplacer(pairs...)
	}
	return t.replacer.Replace(text)
}

// body is a request's or answer's body in the other server's terms. What is no JSON stays.
func (t *terms) body(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	tree, err := decode([]byte(t.say(string(b))))
	if err != nil {
		return b
	}
	out, err := json.Marshal(t.revisions(tree))
	if err != nil {
		return b
	}
	return out
}

// tree is body of what is decoded, but for revisions.
func (t *terms) tree(x any) any {
	b, err := json.Marshal(x)
	if err != nil {
		return x
	}
	out, err := decode([]byte(t.say(string(b))))
	if err != nil {
		return x
	}
	return out
}

// revisions translates them in an object, a patch or a DeleteOptions.
func (t *terms) revisions(tree any) any {
	switch v := tree.(type) {
	case map[string]any:
		p, _ := v["path"].(string) // of a JSON patch
		for k, x := range v {
			rv, is := x.(string)
			if is && (k == "resourceVersion" || k == "value" && strings.HasSuffix(p, "/resourceVersion")) {
				v[k] = t.revision(rv, t.objects, t.lists)
				continue
			}
			v[k] = t.revisions(x)
		}
	case []any:
		for i := range v {
			v[i] = t.revisions(v[i])
		}
	}
	return tree
}

func (t *terms) revision(ours string, in ...map[string]string) string {
	for _, m := range in {
		if theirs, ok := m[ours]; ok {
			return theirs
		}
	}
	return ours
}

// knows reports whether a revision has been seen on both sides.
func (t *terms) knows(ours string) bool {
	return t.objects[ours] != "" || t.lists[ours] != ""
}

// since is a revision from which the same is still to come: the last before it that both
// know, where it is that of a deletion, or of a list that was not asked for there.
func (t *terms) since(ours string) string {
	if theirs := t.revision(ours, t.lists, t.objects); theirs != ours {
		return theirs
	}
	rev, err := strconv.ParseInt(ours, 10, 64)
	if err != nil {
		return ours
	}
	best, out := int64(0), ours
	for _, in := range []map[string]string{t.objects, t.lists} {
		for a, b := range in {
			if x, err := strconv.ParseInt(a, 10, 64); err == nil && x <= rev && x > best {
				best, out = x, b
			}
		}
	}
	return out
}

// uri is a request's target in the other server's terms.
func (t *terms) uri(uri string) (string, error) {
	u, err := url.ParseRequestURI(t.say(uri))
	if err != nil {
		return "", err
	}
	q := u.Query()
	if rv := q.Get("resourceVersion"); rv != "" && rv != "0" {
		q.Set("resourceVersion", t.since(rv))
		u.RawQuery = q.Encode()
	}
	return u.RequestURI(), nil
}

// disorder is a pair of objects' revisions that are in another order there; "" if none is.
func (t *terms) disorder() string {
	type pair struct{ ours, theirs int64 }
	var all []pair
	for a, b := range t.objects {
		x, errX := strconv.ParseInt(a, 10, 64)
		y, errY := strconv.ParseInt(b, 10, 64)
		if errX == nil && errY == nil && !t.early[a] {
			all = append(all, pair{x, y})
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.ours, b.ours) })
	for i := 1; i < len(all); i++ {
		if all[i].theirs <= all[i-1].theirs {
			return fmt.Sprintf("%d before %d is %d before %d", all[i-1].ours, all[i].ours, all[i-1].theirs, all[i].theirs)
		}
	}
	return ""
}

// before reports whether a revision of the other server's was there here up to a revision
// of ours: an object has it, or a later one, that was.
func (t *terms) before(theirs string, ours int64) bool {
	rev, err := strconv.ParseInt(theirs, 10, 64)
	if err != nil {
		return false
	}
	for a, b := range t.objects {
		x, errX := strconv.ParseInt(a, 10, 64)
		y, errY := strconv.ParseInt(b, 10, 64)
		if errX == nil && errY == nil && y >= rev && x <= ours {
			return true
		}
	}
	return false
}

func decode(b []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	err = d.Decode(&tree)
	return tree, err
}

// field is a string in a tree, or "".
func field(tree any, path ...string) string {
	for _, p := range path {
		m, _ := tree.(map[string]any)
		tree = m[p]
	}
	s, _ := tree.(string)
	return s
}

// identity is what an object is called in a list.
func identity(o any) string {
	return field(o, "metadata", "namespace") + "/" + field(o, "metadata", "name")
}
