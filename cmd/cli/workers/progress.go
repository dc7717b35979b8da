package workers

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"ipamsim/cmd/cli/terminal"
	"ipamsim/fuzz/campaign"
	"ipamsim/reports/layout"
)

// Bar is a bar on a terminal, and a plain line every few seconds
// elsewhere.
type Bar struct {
	stderr io.Writer
	bar    *progressbar.ProgressBar // nil: plain lines
	last   time.Time
	seen   campaign.Progress
	said   string // on the last line
}

func NewBar(stderr io.Writer, cfg campaign.Config) *Bar {
	b := &Bar{stderr: stderr, last: time.Now()}
	if !terminal.Is(stderr) {
		return b
	}
	b.bar = progressbar.NewOptions64(1000,
		progressbar.OptionSetWriter(stderr), progressbar.OptionSetDescription("starting"), progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false), progressbar.OptionSetWidth(20), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(true),
	)
	return b
}

// Show is where the campaign is.
func (b *Bar) Show(p campaign.Progress) {
	text := progressText(p, b.seen)
	if b.bar != nil {
		b.bar.Describe(b.fit(text))
		_ = b.bar.Set(min(permille(p), 999)) // a bar that cannot be drawn does no harm
	}
	if time.Since(b.last) < terminal.LinesEvery {
		return
	}
	if text == b.said && time.Since(b.last) < terminal.LineEvery {
		return // a long point
	}
	b.last, b.seen, b.said = time.Now(), p, text
	if b.bar == nil {
		fmt.Fprintln(b.stderr, "ipamsim: "+text)
	}
}

// fit cuts the text so that it stands on one line of the terminal with the bar.
func (b *Bar) fit(text string) string {
	width, _, err := term.GetSize(int(b.stderr.(*os.File).Fd()))
	if err != nil || width <= barWidth {
		width = 80
	}
	if r := []rune(text); len(r) > width-barWidth {
		return string(r[:width-barWidth-1]) + "…"
	}
	return text
}

// barWidth is what the bar itself takes.
const barWidth = 30

// permille of the way, by time or by runs, whichever is further.
func permille(p campaign.Progress) int {
	done := 0.
	if total := p.Elapsed + p.Left; total > 0 && p.Phase == "exploring" {
		done = p.Elapsed.Seconds() / total.Seconds()
	} else if p.Phase != "exploring" {
		done = 1
	}
	if p.RunsMax > 0 {
		done = max(done, float64(p.Runs)/float64(p.RunsMax))
	}
	return int(done * 1000)
}

// progressText is one line, what matters most first: how fast, how long still,
// what was found, what is new since before.
func progressText(p, before campaign.Progress) string {
	if p.Phase == "living" {
		return livingText(p)
	}
	parts := []string{fmt.Sprintf("%s, %.1f/s", layout.Plural(int(p.Runs), "run"), p.Rate)}
	switch {
	case p.Phase != "exploring":
		parts = append(parts, p.Phase)
	case p.Left > 0:
		parts = append(parts, p.Left.Round(time.Second).String()+" left")
	}
	parts = append(parts,
		layout.Plural(p.Findings, "finding"),
		fmt.Sprintf("states %d (+%d)", p.States, p.States-before.States),
		fmt.Sprintf("pairs %d (+%d)", p.Pairs, p.Pairs-before.Pairs),
	)
	if p.Open > 0 {
		parts = append(parts, fmt.Sprintf("%d more to shrink", p.Open))
	}
	return strings.Join(parts, " · ")
}

// livingText is the same of a plan.
func livingText(p campaign.Progress) string {
	text := fmt.Sprintf("%d of %s, %.1f/s", p.Runs, layout.Plural(int(p.RunsMax), "point"), p.Rate)
	if p.Left >= time.Second {
		text += " · " + p.Left.Round(time.Second).String() + " left"
	}
	return text
}

// Above prints over the bar, which is drawn again below.
func (b *Bar) Above(print func()) {
	if b.bar == nil {
		print()
		return
	}
	_ = b.bar.Clear()
	print()
	_ = b.bar.RenderBlank()
}

func (b *Bar) Finish() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}

// HostOf is a URL without what is secret in it.
func HostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "NATS"
	}
	return u.Host
}
