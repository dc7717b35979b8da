// Package sarifs has what all our SARIF 2.1.0 logs have in common.
package sarifs

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// SrcRoot is code scanning's name of the root of a repository.
const SrcRoot = "%SRCROOT%"

// NewRun returns a run of a tool such as "ipamsim gate". id is the automation ID, which
// distinguishes the analyses of a repository.
func NewRun(tool, id string, rules []*sarif.ReportingDescriptor) *sarif.Run {
	driver := sarif.NewToolComponent().WithName("ipamsim").WithFullName(tool).WithRules(rules)
	return sarif.NewRun().WithTool(sarif.NewTool().WithDriver(driver)).WithColumnKind("unicodeCodePoints").
		WithAutomationDetails(sarif.NewRunAutomationDetails().WithID(id))
}

// Write a log with one run, indented, with a newline at its end.
func Write(w io.Writer, run *sarif.Run) error {
	if err := sarif.NewReport().AddRun(run).PrettyWrite(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Sort rules by ID.
func Sort(rules []*sarif.ReportingDescriptor) {
	slices.SortFunc(rules, func(a, b *sarif.ReportingDescriptor) int { return cmp.Compare(*a.ID, *b.ID) })
}

// Result is one of a rule, by the place of that in rules. What has the same key is the same
// the next time.
func Result(rules []*sarif.ReportingDescriptor, id, text, key string) *sarif.Result {
	out := sarif.NewRuleResult(id).WithMessage(Message(text))
	out.RuleIndex = slices.IndexFunc(rules, func(d *sarif.ReportingDescriptor) bool { return *d.ID == id })
	sum := sha256.Sum256([]byte(key))
	out.PartialFingerprints = map[string]string{"ipamsim/v1": fmt.Sprintf("%x", sum[:16])}
	return out
}

// Message is a text without links: a bracket and a parenthesis would be one, to wherever a
// name in a scenario or a dump likes.
func Message(text string) *sarif.Message {
	return sarif.NewTextMessage(strings.ReplaceAll(text, "](", "] ("))
}

// Physical is a line of a file below a base, or of an absolute file; of a line that is
// none only the file is said.
func Physical(file, base string, line int) *sarif.PhysicalLocation {
	u := url.URL{Path: filepath.ToSlash(file)}
	at := sarif.NewArtifactLocation()
	if filepath.IsAbs(file) {
		u.Scheme = "file"
	} else {
		at.WithURIBaseID(base)
	}
	l := sarif.NewPhysicalLocation().WithArtifactLocation(at.WithURI(u.String()))
	if line > 0 {
		l.WithRegion(sarif.NewRegion().WithStartLine(line))
	}
	return l
}
