package invariant

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// judged are the codes of the violations that the tables of this package have seen, by
// invariant.
var judged = map[string][]string{}

func judgedAs(t *testing.T, i Invariant, code string) {
	t.Helper()
	if i.Sentence(code) == "" {
		t.Errorf("code %q is of none of the kinds", code)
	}
	judged[i.Name] = append(judged[i.Name], code)
}

// Every kind of every invariant must have been seen by a table, in its own words.
func TestMain(m *testing.M) {
	flag.Parse()
	status := m.Run()
	if status == 0 && flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.bench").Value.String() == "" {
		for _, i := range all {
			for _, k := range i.Kinds {
				if !slices.Contains(judged[i.Name], k.Code) {
					fmt.Printf("%s: no table has a violation with code %q\n", i.Name, k.Code)
					status = 1
				}
			}
		}
	}
	os.Exit(status)
}

func TestKinds(t *testing.T) {
	dashed := regexp.MustCompile(`^([a-z]+(-[a-z]+)*)?$`)
	name := regexp.MustCompile(`\{([^}]*)\}`)
	for _, i := range all {
		seen := map[string]bool{}
		if len(i.Kinds) == 0 {
			t.Errorf("%s has no kinds", i.Name)
		}
		for _, k := range i.Kinds {
			if seen[k.Code] || !dashed.MatchString(k.Code) || k.Code == "" && len(i.Kinds) > 1 {
				t.Errorf("%s: code %q", i.Name, k.Code)
			}
			seen[k.Code] = true
			if strings.Count(k.Text, "[") != strings.Count(k.Text, "]") || len(name.FindAllString(k.Text, -1)) == 0 {
				t.Errorf("%s: text %q", i.Name, k.Text)
			}
		}
	}
}

// All data of a message is available as facts: no placeholder is left in a sentence.
func TestMessagesSayAll(t *testing.T) {
	for _, v := range []*View{broken(), brokenBlocks()} {
		for _, i := range all {
			for _, f := range i.Check(*v) {
				if text := i.Say(&f); text == "" || strings.ContainsAny(text, "{}[]") {
					t.Errorf("%s %s: %s", i.Name, f.Code, text)
				}
			}
		}
	}
}
