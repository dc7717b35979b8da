// Package browser is headless Chromium for the tests of pages: it opens a page
// from disk, as a reader would, clicks and types in it, and keeps what went wrong
// there.
package browser

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Required is the environment variable that makes a missing Chromium a failure.
const Required = "IPAMSIM_CHROMIUM_REQUIRED"

// A page that does not answer for this long has hung: everything a test asks of it
// takes milliseconds, on a loaded machine seconds.
const patience = 90 * time.Second

// Browser is one running Chromium. It ends with its test.
type Browser struct{ ctx context.Context }

// Start runs Chromium without a window, or skips the test, saying so, where none is
// installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := find()
	if program == "" {
		if os.Getenv(Required) != "" {
			t.Fatalf("%s is set, and there is no chromium in PATH", Required)
		}
		t.Skip("SKIPPED: no page was looked at, because there is no chromium in PATH (Debian: apt-get install chromium)")
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.UserDataDir(t.TempDir()))
	if os.Getuid() == 0 { // Chromium refuses to sandbox for root
		opts = append(opts, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return &Browser{ctx}
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			return p
		}
	}
	return ""
}

// Window is how a reader looks at a page.
type Window struct {
	Width, Height int // CSS pixels
	Dark          bool
	Paper         bool // as it would be printed
	NoScript      bool
}

// Tab is an open page.
type Tab struct {
	t   testing.TB
	ctx context.Context
	url string

	mu         sync.Mutex
	complaints []string
}

// Open shows a file. A fragment, "#step=3", may follow its name.
func (b *Browser) Open(t testing.TB, file, fragment string, w Window) *Tab {
	t.Helper()
	abs, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(b.ctx)
	t.Cleanup(cancel)
	ctx, done := context.WithTimeout(ctx, patience)
	t.Cleanup(done)
	tab := &Tab{t: t, ctx: ctx, url: "file://" + abs + fragment}
	if err := chromedp.Listen(ctx, tab.hear); err != nil {
		t.Fatal(err)
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	if w.Dark {
		media.Features[0].Value = "dark"
	}
	if w.Paper {
		media.Media = "print"
	}
	tab.do(
		call(network.Enable, network.EnableParams{}),
		call(log.Enable, cdp.Empty{}),
		call(emulation.SetEmulatedMedia, media),
		call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: w.NoScript}),
		chromedp.EmulateViewport(int64(w.Width), int64(w.Height)),
		chromedp.Navigate(tab.url),
	)
	return tab
}

// hear records what a page must never do: send requests, throw, log errors, or open a dialog.
func (tab *Tab) hear(ev any) {
	complaint := ""
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		if ev.Request.URL+ev.Request.URLFragment != tab.url {
			complaint = "request: " + ev.Request.URL
		}
	case *runtime.EventExceptionThrown:
		complaint = "exception: " + ev.ExceptionDetails.Text
		if x := ev.ExceptionDetails.Exception; x != nil {
			complaint += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		complaint = "console: " + string(ev.Type)
		for _, a := range ev.Args {
			complaint += " " + string(a.Value) + a.Description
		}
	case *log.EventEntryAdded:
		complaint = "log: " + ev.Entry.Text
	case *page.EventJavascriptDialogOpening:
		complaint = "dialog: " + ev.Message
	}
	if complaint != "" {
		tab.mu.Lock()
		tab.complaints = append(tab.complaints, complaint)
		tab.mu.Unlock()
	}
}

// Complaints are what the page did that no page may: requests, exceptions, lines on
// the console (there a violated content security policy is, too), dialogs.
func (tab *Tab) Complaints() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.complaints...)
}

// Forgive are the complaints so far, which are then forgotten.
func (tab *Tab) Forgive() []string {
	defer func() {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		tab.complaints = nil
	}()
	return tab.Complaints()
}

func (tab *Tab) do(actions ...chromedp.Action[chromedp.Void]) {
	tab.t.Helper()
	if err := chromedp.Do(tab.ctx, actions...); err != nil {
		tab.t.Fatalf("%s: %v; the page said %q", filepath.Base(tab.url), err, tab.Complaints())
	}
}

func call[P, R any](cmd cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, t *chromedp.Target) (v chromedp.Void, err error) {
		_, err = cdp.Call(ctx, t, cmd, params)
		return v, err
	}
}
