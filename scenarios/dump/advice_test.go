package dump_test

import (
	"fmt"
	"slices"
	"strings"

	"ipamsim/scenarios/dump/diagnosis"
)

// act is one thing that a printed command line does to one object, in the words of
// truthRemedy. Lines that only show or prepare something are none.
type act struct{ do, of string }

func (a act) String() string { return strings.TrimSpace(a.do + " " + a.of) }

const networksResource = "network-attachment-definitions.k8s.cni.cncf.io"

// fromReport frees whatever calicoctl's own check calls leaked.
const fromReport = "release-report"

// resources say what it is to delete one.
var resources = map[string]string{
	"blockaffinities.crd.projectcalico.org":                  "delete-affinity",
	"ipamblocks.crd.projectcalico.org":                       "delete-block",
	"ipamhandles.crd.projectcalico.org":                      "release-handle",
	"overlappingrangeipreservations.whereabouts.cni.cncf.io": "delete-reservation",
}

// actsOf reads the command lines of one remedy. A command that it does not know is an
// act of its own, so that no advice goes unseen.
func actsOf(lines []string) (out []act) {
	for _, line := range lines {
		for _, one := range strings.Split(line, " && ") {
			out = append(out, actOf(one)...)
		}
	}
	return out
}

func actOf(line string) []act {
	w := strings.Fields(line)
	switch {
	case checks(line):
		return nil
	case strings.HasPrefix(line, "calicoctl ipam release --ip="):
		return []act{{"release", strings.TrimPrefix(w[3], "--ip=")}}
	case strings.HasPrefix(line, "calicoctl ipam release --from-report="):
		return []act{{do: fromReport}}
	case strings.HasPrefix(line, "calicoctl ipam configure "):
		return []act{{"configure", strings.Join(w[3:], " ")}}
	case w[0] == "calicoctl", slices.Contains([]string{"get", "logs", "describe", "cordon", "uncordon"}, w[1]):
		return nil // shows, locks, or prepares
	case w[0] == "virtctl" && w[1] == "migrate":
		return []act{{"migrate", w[4] + "/" + w[2]}}
	case strings.Contains(line, "VirtualMachineInstanceMigration"):
		return []act{{"migrate", field(line, "namespace") + "/" + field(line, "vmiName")}}
	case w[1] == "delete" && w[2] == "pod":
		var out []act
		for _, name := range w[5:] {
			out = append(out, act{"delete-pod", w[4] + "/" + name})
		}
		return out
	case w[1] == "delete" && resources[w[2]] != "":
		return []act{{resources[w[2]], w[3]}}
	case w[1] == "patch" && w[2] == networksResource:
		return []act{{"exclude", w[3]}}
	case w[1] == "patch" && w[2] == "ippools.whereabouts.cni.cncf.io":
		return []act{{"free-allocation", w[3]}}
	}
	return []act{{"unknown", line}}
}

// field is a string of a JSON object.
func field(line, name string) string {
	_, rest, _ := strings.Cut(line, `"`+name+`":"`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// acts are what a right remedy does.
func (r *truthRemedy) acts() (out []act) {
	for _, of := range r.Of {
		switch r.Do {
		case "give-back": // a block, by its CIDR: the name of the IPAMBlock follows
			out = append(out, act{"delete-block", strings.NewReplacer(".", "-", "/", "-", ":", "-").Replace(of)})
		case "free-allocation":
			return []act{{r.Do, r.Of[0]}}
		default:
			out = append(out, act{r.Do, of})
		}
	}
	return out
}

// remedies compares what is advised for all findings with what is right for all of
// them: one remedy may be for several.
func (x *truth) remedies(f *diagnosis.Findings) (wrong []string) {
	first := actsOf(f.Commands())
	report := slices.Contains(first, act{do: fromReport})
	right := []act{{do: fromReport}}
	for i := range x.Findings {
		r := &x.Findings[i].Remedy
		has := r.Do == "none"
		for or := r; or != nil; or = or.Either {
			acts := or.acts()
			right = append(right, acts...)
			if or.With != nil {
				right = append(right, or.With.acts()...)
			}
			if or.Do == "give-back" { // with its affinity, whatever its node is called
				for _, a := range first {
					if a.do == "delete-affinity" && strings.HasSuffix(a.of, "-"+acts[0].of) {
						right = append(right, a)
					}
				}
			}
			missing := slices.ContainsFunc(acts, func(a act) bool { return !slices.Contains(first, a) })
			has = has || !missing || report && (or.Do == "release" || or.Do == "release-handle")
			if or.Do == "free-allocation" { // and the reservation of the same address
				right = append(right, reservationsFor(first, or.Of[1])...)
			}
		}
		if !has {
			wrong = append(wrong, fmt.Sprintf("no remedy: %s for %s", &remedyText{r}, &x.Findings[i]))
		}
	}
	for _, a := range first {
		if !slices.Contains(right, a) {
			wrong = append(wrong, "wrong advice: "+a.String())
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// reservationsFor are the acts that delete the reservation of an address.
func reservationsFor(acts []act, addr string) []act {
	name := strings.ReplaceAll(addr, ":", "-")
	return slices.DeleteFunc(slices.Clone(acts), func(a act) bool {
		return a.do != "delete-reservation" || a.of != name && !strings.HasSuffix(a.of, "-"+name)
	})
}

// remedyText is a remedy for people.
type remedyText struct{ *truthRemedy }

func (r *remedyText) String() string {
	out := strings.TrimSpace(r.Do + " " + strings.Join(r.Of, ", "))
	if r.Either != nil {
		out += ", or " + (&remedyText{r.Either}).String()
	}
	return out
}
