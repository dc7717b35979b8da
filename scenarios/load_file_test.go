package scenarios_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"ipamsim/cmd/managers"
)

// TestLoadRefusesFiles checks that other files than scenarios are refused immediately, without reading
// them or waiting for them.
func TestLoadRefusesFiles(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(syscall.Mkfifo(in("fifo"), 0o600))
	must(os.Symlink(in("loop"), in("loop")))
	must(os.Symlink(in("nothing"), in("dangling")))
	must(os.WriteFile(in("huge"), nil, 0o600))
	must(os.Truncate(in("huge"), 100<<20)) // 100 MB without using the disk
	must(os.WriteFile(in("locked"), []byte("kind: Scenario\n"), 0))
	tests := []struct{ name, want string }{
		{in("missing.yaml"), "no such file"},
		{in("dangling"), "no such file"},
		{dir, "is a directory, want a file"},
		{in("fifo"), "is not a regular file (a named pipe)"},
		{"/dev/zero", "is not a regular file (a device)"},
		{in("loop"), "symbolic links go round in a circle"},
		{in("huge"), "more than 8 MiB, too large for a scenario"},
		{in("locked"), "permission denied"},
		{in("a\x00b"), "invalid argument"},
	}
	for _, tt := range tests {
		if strings.HasSuffix(tt.name, "locked") && os.Geteuid() == 0 {
			continue // root may read everything
		}
		start := time.Now()
		_, err := managers.All().Load(tt.name)
		if want := tt.name + ": " + tt.want; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", tt.name, d)
		}
	}
}

// TestHostileText: text that is made to be expensive is refused within bounds.
func TestHostileText(t *testing.T) {
	times := strings.Repeat
	const (
		big  = 8<<20 - 64
		many = 1_000_000 - 64 // values
	)
	tests := []struct{ name, text string }{
		{"flow list", "a: [" + times("0,", big/2) + "]"},
		{"open lists", times("[", big)},
		{"open mappings", times("{", big)},
		{"nested dashes", times("- ", big/2)},
		{"question marks", times("? ", big/2)},
		{"lines", times("a\n", big/2)},
		{"empty documents", times("---\n", big/4)},
		{"comments", times("#\n", big/2)},
		{"one comment", "#" + times("c", big)},
		{"one word", times("a", big)},
		{"one key", times("a", big) + ": b"},
		{"spaces", times(" ", big) + "a"},
		{"colons", times(":", big)},
		{"stars", times("*", big)},
		{"bangs", "a: " + times("!", big)},
		{"anchors", times("&a ", big/3)},
		{"quotes", times("'", big)},
		{"double quotes", times("\"", big)},
		{"escapes", "\"" + times("\\n", big/2) + "\""},
		{"block", "a: |\n" + times(" b\n", big/3)},
		{"bars", times("|", big)},
		{"percents", times("%a b\n", big/5)},
		{"tabs", times("\t", big)},
		{"carriage returns", times("a\r", big/2)},
		{"flow list within bounds", "a: [" + times("0,", many) + "]"},
		{"open lists within bounds", times("[", many)},
		{"open mappings within bounds", times("{", many)},
		{"nested dashes within bounds", times("- ", many)},
		{"question marks within bounds", times("? ", many)},
		{"empty documents within bounds", times("---\n", many/4)},
		{"comments within bounds", times("#\n", many)},
		{"comments in a list within bounds", times("- #\n", many/2)},
		{"keys within bounds", keys(many / 2)},
		{"anchors within bounds", "[" + times("&a 0,", many) + "]"},
		{"aliases within bounds", "a: &a 0\nb: [" + times("*a,", many) + "]"},
		{"deeper and deeper", deeper(2000)},
		{"quadratic aliases", "a: &a [" + times("xxxxxxxx,", 5000) + "]\nb: [" + times("*a,", 5000) + "]"},
		{"merges of merges", merges(24)},
		{"long aliases", "a: &a " + times("x", 1<<20) + "\nb: [" + times("*a,", 100_000) + "]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			_, err := managers.All().Parse("hostile.yaml", []byte(tt.text))
			took := time.Since(start)
			runtime.ReadMemStats(&after)
			if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 400 {
				t.Errorf("not one line: %.500v", err)
			}
			t.Logf("%v, %d MiB in all: %v", took, (after.TotalAlloc-before.TotalAlloc)>>20, err)
			if took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if mib := (after.Sys - before.Sys) >> 20; mib > 1024 {
				t.Errorf("%d MiB more of memory", mib)
			}
		})
	}
}

func deeper(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// keys is a mapping of n keys, most of them different.
func keys(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("k" + strconv.Itoa(i) + ":\n")
	}
	return b.String()
}

// merges makes each mapping of two times the one before.
func merges(n int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 {k: v}\n")
	for i := 1; i < n; i++ {
		last, name := "a"+string(rune('a'+i-2)), "a"+string(rune('a'+i-1))
		if i == 1 {
			last = "a0"
		}
		b.WriteString(name + ": &" + name + " {x: *" + last + ", y: *" + last + ", <<: [*" + last + ", *" + last + "]}\n")
	}
	return b.String()
}
