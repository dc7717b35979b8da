package finding

import (
	"fmt"
	"strings"
	"time"

	"ipamsim/fuzz/cause"
	"ipamsim/model"
	"ipamsim/model/invariant"
	"ipamsim/reports"
	"ipamsim/reports/timeline"
)

// Issue returns the text of an issue for the address manager's maintainers, in Markdown: expected and
// seen behavior, the steps, the lines of their code, the configuration, and the command that
// reproduces it. rep is a replay of the finding.
func (f *Finding) Issue(rep *reports.Report, v *model.Violation) []byte {
	var b strings.Builder
	para := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n\n", args...) }
	fence := func(language, text string) {
		marks := strings.Repeat("`", 3+strings.Count(text, "```"))
		para("%s%s\n%s\n%s", marks, language, strings.TrimRight(text, "\n"), marks)
	}
	para("# %s", reports.Clean(v.Message))
	para("%s. Trigger: %s. Found by ipamsim, which runs the real code in a simulated cluster; fingerprint %s.", f.Upstream, f.Cause.Trigger, f.Fingerprint)
	para("## Expected")
	para("%s", meaning(v.Invariant))
	para("## Seen")
	para("%s at %s of virtual time: %s", v.Invariant, v.At.Round(time.Millisecond), reports.Clean(v.Message))
	if s, err := f.Scenario(); err == nil && s.Manager().Terms != "" {
		para("%s", s.Manager().Terms)
	}
	if len(f.Also) > 0 {
		para("Other invariants that broke for the same cause: %s.", strings.Join(f.Also, ", "))
	}
	para("## Cause")
	for _, l := range f.Cause.Lines()[1:] {
		fmt.Fprintf(&b, "- %s\n", reports.Clean(l))
	}
	b.WriteString("\n")
	if site := firstSite(&f.Cause); site != "" {
		para("The module is `%s`.", site)
	}
	if text := f.RealText(); text != "" {
		para("%s.", text)
	}
	if f.Sampled > 0 {
		para("Of %d random continuations from its last decision %d fail, too.", f.Sampled, f.Failing)
	}
	para("## Steps")
	fence("", timeline.Of(rep, v))
	para("## Reproduce")
	fence("sh", "ipamsim replay "+File(f.Fingerprint))
	para("The file, with the configuration:")
	fence("yaml", uncommented(f.YAML))
	return []byte(strings.TrimRight(b.String(), "\n") + "\n")
}

func meaning(name string) string {
	for _, i := range invariant.All() {
		if i.Name == name {
			return i.Doc
		}
	}
	return name
}

// firstSite returns the module of the first link with a known place in the code.
func firstSite(c *cause.Cause) string {
	for _, l := range c.Links {
		if l.Site.Module != "" {
			return l.Site.Module
		}
	}
	return ""
}

// uncommented returns a finding's file without the comment at its top, which repeats the issue.
func uncommented(text []byte) string {
	rest := string(text)
	for strings.HasPrefix(rest, "#") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	return rest
}
