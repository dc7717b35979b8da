package dump_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"ipamsim/cmd/managers"
	"ipamsim/model"
	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/diagnosis"
	"ipamsim/scenarios/scenariotest"
)

// truth is the expected diagnosis of a dump in testdata/truth, by an expert in the address
// manager. It was written by hand, with the dump and before the importer had read it.
//
// Most dumps omit fields of Pods and Nodes that the importer does not read: volumes, mounts,
// container statuses, images, capacity. node-gone (JSON) and quiet-vxlan (YAML, with
// managedFields) are as kubectl prints them, so that skipping these fields is tested.
type truth struct {
	Title                          string
	Calico, Whereabouts, Datastore string
	Kubernetes                     string   // of a dump with podCIDRs or Services
	Files                          []string // in the order in which they are read
	Wrong, Why                     string   // for people
	Refused                        bool     // the dump is too small for any diagnosis
	Findings                       []truthFinding
	Uncovers                       []truthFinding // findings that appear when these are fixed, and did not exist before
	Borrowed                       []string       // addresses
	Unknown, LeftOut               []string       // what must be reported: codes of lacking and mentioned, or version
	Never                          []string       // texts that must not be printed, in a command or elsewhere
}

// truthFinding is one thing that is wrong. A finding of the importer's is this one if
// it is of the invariant and the code and has all these objects; it may have more,
// such as a container or a network.
type truthFinding struct {
	Invariant, Code string
	Objects         []model.Ref
	Remedy          truthRemedy
}

// truthRemedy is a remediation: the actions and their objects, in this order. With are actions
// that may be added. Either is another correct remediation.
type truthRemedy struct {
	Do           string // none: there is no command that is safe
	Of           []string
	With, Either *truthRemedy
}

func truths(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/truth/*/truth.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		names[i] = filepath.Base(filepath.Dir(n))
	}
	if len(names) < 30 {
		t.Fatalf("%d dumps", len(names))
	}
	return names
}

func truthOf(t *testing.T, name string) *truth {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/truth", name, "truth.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	x := &truth{}
	if err := yaml.UnmarshalStrict(text, x); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return x
}

// is reports whether a finding is the one that is meant.
func (x *truthFinding) is(f *diagnosis.Finding) bool {
	if f.Invariant != x.Invariant || f.Code != x.Code {
		return false
	}
	for _, o := range x.Objects {
		if !slices.Contains(f.Objects, o) {
			return false
		}
	}
	return true
}

func (x *truthFinding) String() string {
	return fmt.Sprintf("%s %s %v", x.Invariant, x.Code, x.Objects)
}

// answer is what the importer says of one dump.
type answer struct {
	text     string // the scenario
	report   *dump.Report
	findings *diagnosis.Findings
	printed  string // what stands on the standard error
	podSet   podSet
	err      error
}

// importDump does what ipamsim import does.
func importDump(t *testing.T, r *scenarios.Runner, name string, files []string) answer {
	t.Helper()
	c := dump.New(managers.All())
	for _, file := range files {
		f, err := os.Open(filepath.Join("testdata/truth", name, file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := c.Read(file, f, nil); err != nil {
			return answer{err: err}
		}
	}
	out := importAll(r, c, name)
	out.podSet = podSetOf(t, name, files)
	return out
}

// importAll does the rest of it.
func importAll(r *scenarios.Runner, c *dump.Cluster, name string) answer {
	out, s, v := judged(r, c, name)
	if out.err != nil {
		return out
	}
	report := out.report
	if err := out.findings.Prove(context.Background(), r, s, v, diagnosis.Bound{Wall: time.Hour}); err != nil {
		return answer{err: err}
	}
	var b bytes.Buffer
	out.findings.Write(&b)
	for _, l := range slices.Concat(report.Unknown, report.Left) {
		fmt.Fprintln(&b, l)
	}
	out.printed = b.String()
	return out
}

// judged is what is found wrong in a dump that was read, without remedies.
func judged(r *scenarios.Runner, c *dump.Cluster, name string) (answer, *scenarios.Scenario, *scenarios.View) {
	text, report, err := c.Scenario(dump.Options{Name: name})
	if err != nil {
		return answer{err: err}, nil, nil
	}
	c.Forget()
	s, err := managers.All().Parse("the imported scenario", text)
	if err != nil {
		return answer{err: report.Trace(err)}, nil, nil
	}
	v, err := r.Inspect(context.Background(), s)
	if err != nil {
		return answer{err: report.Trace(err)}, nil, nil
	}
	apart, err := diagnosis.Apart(context.Background(), r, report)
	if err != nil {
		return answer{err: report.Trace(err)}, nil, nil
	}
	return answer{text: string(text), report: report, findings: diagnosis.Of(c, v, true, apart...)}, s, v
}

// What the importer says of each of these dumps is what is true of it: each finding is
// there, none is invented, what must not be said is not, and what is printed can be
// typed.
func TestTruth(t *testing.T) {
	r := scenariotest.Runner(t)
	for _, name := range truths(t) {
		t.Run(name, func(t *testing.T) {
			x := truthOf(t, name)
			is := importDump(t, r, name, x.Files)
			wrong := x.compare(is)
			if is.err == nil {
				if a := actOut(r, x, is); !a.passes() {
					wrong = append(wrong, fmt.Sprint("simulated: ", a))
				}
			}
			for _, w := range wrong {
				t.Error(w)
			}
		})
	}
}

// compare lists in what the importer is wrong.
func (x *truth) compare(is answer) (wrong []string) {
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if is.err != nil {
		if !x.Refused {
			fail("refused: %v", is.err)
		}
		return wrong
	}
	if x.Refused {
		fail("taken, though %s", x.Wrong)
		return wrong
	}
	left := slices.Clone(is.findings.All)
	for i := range x.Findings {
		at := slices.IndexFunc(left, func(f diagnosis.Finding) bool { return x.Findings[i].is(&f) })
		if at < 0 {
			fail("not found: %s", &x.Findings[i])
			continue
		}
		left = slices.Delete(left, at, at+1)
	}
	for _, f := range left {
		fail("invented: %s %s %v: %s", f.Invariant, f.Code, f.Objects, f.Message)
	}
	for _, never := range x.Never {
		if i := strings.Index(is.printed, never); i >= 0 {
			fail("says %q: …%s…", never, line(is.printed, i))
		}
	}
	return slices.Concat(wrong, x.borrowed(is.findings), x.remedies(is.findings), x.doubts(is))
}

// lacking are the codes of truth.Unknown for resources that the dump has not, by their
// full names.
var lacking = map[string]string{
	"no-bgp": "bgpconfigurations.crd.projectcalico.org", "no-handles": "ipamhandles.crd.projectcalico.org",
	"no-nodes": "nodes", "no-pods": "pods", "no-services": "services", "no-configmaps": "configmaps", "no-advertisements": "l2advertisements.metallb.io",
}

// mentioned are the codes of truth.Unknown and truth.LeftOut without data: a part of the sentence
// that reports each.
var mentioned = map[string]string{
	"configuration-path": "apps/flat", "host-local": "according to calico-config, host-local assigns pod addresses", "static-pod": "kube-controller-manager runs with --cluster-cidr=10.244.0.0/22", "node-silent": "the state of worker-03", "other-manager-pods": "2 pods on Windows nodes without Calico",
}

// doubts lists what is unknown or skipped but not reported.
func (x *truth) doubts(is answer) (wrong []string) {
	sentences := slices.Concat(is.report.Unknown, is.report.Left)
	for _, u := range is.report.Unjudged {
		sentences = append(sentences, u.String())
	}
	for _, code := range slices.Concat(x.Unknown, x.LeftOut) {
		resource, reported := lacking[code], false
		switch {
		case code == "version":
			reported = slices.ContainsFunc(is.report.Versions, func(v scenarios.Version) bool { return v.Program == "calico" && v.Found == x.Calico })
		case resource != "":
			reported = slices.ContainsFunc(is.report.Unjudged, func(u scenarios.Unjudged) bool { return slices.Contains(u.Without, resource) })
		default:
			reported = mentioned[code] != "" && slices.ContainsFunc(sentences, func(s string) bool { return strings.Contains(s, mentioned[code]) })
		}
		if !reported {
			wrong = append(wrong, "not reported: "+code)
		}
	}
	return wrong
}

// borrowed compares what is lent by addresses.
func (x *truth) borrowed(is *diagnosis.Findings) (wrong []string) {
	for _, b := range is.Borrowed {
		if !slices.Contains(x.Borrowed, b.Addr.String()) {
			wrong = append(wrong, fmt.Sprintf("not borrowed: %s by %s", b.Addr, b.Node))
		}
	}
	for _, a := range x.Borrowed {
		if !slices.ContainsFunc(is.Borrowed, func(b diagnosis.Borrowed) bool { return b.Addr.String() == a }) {
			wrong = append(wrong, "borrowed, and not reported: "+a)
		}
	}
	return wrong
}

// line is the line of a text around a position.
func line(text string, at int) string {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	if to := strings.IndexByte(text[at:], '\n'); to >= 0 {
		return text[from : at+to]
	}
	return text[from:]
}
