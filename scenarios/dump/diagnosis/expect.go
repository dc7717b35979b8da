package diagnosis

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/scenarios"
)

// foundMax bounds the violations of one invariant that are written one by one: more of them
// are one problem many times.
const foundMax = 5_000

// WriteFound writes a scenario of Scenario with the violations that exist already, each as a
// model.Identity. A run of it then expects exactly these. Of an invariant with more than
// foundMax violations only the name is written (expect.may).
func WriteFound(w io.Writer, text []byte, v *scenarios.View) error {
	const spec, imported = "\nspec:\n", "\n  import:\n"
	i := bytes.Index(text, []byte(spec))
	if i < 0 {
		return errors.New("diagnosis: the scenario has no spec")
	}
	i += len(spec)
	found, often := foundIn(v)
	head, at := "  import:\n", i
	if j := bytes.Index(text[i-1:], []byte(imported)); j >= 0 {
		head, at = "", i-1+j+len(imported)
	}
	b := bufio.NewWriter(w)
	b.Write(text[:i])
	if len(often) > 0 {
		fmt.Fprintf(b, "  expect: {may: [%s]}\n", strings.Join(often, ", "))
	}
	b.Write(text[i:at])
	b.WriteString(head)
	if len(found) == 0 {
		b.WriteString("    violations: []\n")
	} else {
		b.WriteString("    violations:\n")
	}
	for _, x := range found {
		writeIdentity(b, x)
	}
	b.Write(text[at:])
	return b.Flush() // keeps the first error
}

// writeIdentity writes an entry of spec.import.violations on one line. Objects are quoted as
// in JSON, because names may contain colons.
func writeIdentity(b *bufio.Writer, x model.Identity) {
	fmt.Fprintf(b, "    - {invariant: %s, ", x.Invariant)
	if x.Code != "" {
		fmt.Fprintf(b, "code: %s, ", x.Code)
	}
	b.WriteString("objects: [")
	for i, o := range x.Objects {
		if i > 0 {
			b.WriteString(", ")
		}
		quoted, _ := json.Marshal(o) // a text
		b.Write(quoted)
	}
	b.WriteString("]}\n")
}

// foundIn returns the violations by object, and the sorted names of invariants with more than
// foundMax violations.
func foundIn(v *scenarios.View) (found []model.Identity, often []string) {
	n, seen := map[string]int{}, map[string]bool{}
	for i := range v.Violations {
		n[v.Violations[i].Invariant]++
	}
	for i := range v.Violations {
		x := v.Violations[i].Identity()
		switch {
		case n[x.Invariant] > foundMax:
			if len(often) == 0 || often[len(often)-1] != x.Invariant {
				often = append(often, x.Invariant)
			}
			continue
		case x.Invariant == invariant.BlackholedAddress.Name && v.LeftOut > 0:
			// Not every node was checked: further nodes that cannot reach the address are not new.
			x = model.Identity{Invariant: x.Invariant, Objects: slices.DeleteFunc(slices.Clone(x.Objects), func(o model.Ref) bool { return o.Kind == model.RefNode })}
		}
		if key := x.String(); !seen[key] {
			seen[key] = true
			found = append(found, x)
		}
	}
	return found, often
}
