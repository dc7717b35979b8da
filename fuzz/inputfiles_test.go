package fuzz_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ipamsim/fuzz/input"
)

// ParseFile is the inverse of File.
func TestInputFilesAndBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytesOf := rapid.SliceOfN(rapid.Byte(), 0, 50)
		in := input.Input{World: bytesOf.Draw(t, "world"), Schedule: bytesOf.Draw(t, "schedule")}
		got, err := input.ParseFile(in.File())
		if err != nil || !bytes.Equal(got.World, in.World) || !bytes.Equal(got.Schedule, in.Schedule) {
			t.Fatalf("%s\nread %q: %v", in.File(), got, err)
		}
	})
}

// Any file is parsed, or refused with an error of one line.
func TestHostileInputFiles(t *testing.T) {
	tests := []struct{ name, text, problem string }{
		{"good", "go test fuzz v1\n[]byte(\"a\\x00\")\n[]byte(\"\")\n", ""},
		{"good, raw", "go test fuzz v1\r\n[]byte(`a`)\r\n[]byte(\"\")", ""},
		{"empty", "", "line 1: "},
		{"another version", "go test fuzz v2\n[]byte(\"\")\n[]byte(\"\")\n", "line 1: "},
		{"a scenario", "apiVersion: ipamsim.dev/v1alpha1\n", "line 1: "},
		{"one argument", "go test fuzz v1\n[]byte(\"\")\n", "1 arguments, want 2"},
		{"three", "go test fuzz v1\n[]byte(\"\")\n[]byte(\"\")\nint(3)\n", "3 arguments, want 2"},
		{"of another type", "go test fuzz v1\n[]byte(\"\")\nstring(\"\")\n", "line 3: want []byte"},
		{"not closed", "go test fuzz v1\n[]byte(\"\n[]byte(\"\")\n", "line 2: want []byte"},
		{"bad escape", "go test fuzz v1\n[]byte(\"\\q\")\n[]byte(\"\")\n", "line 2: want []byte"},
		{"an expression", "go test fuzz v1\n[]byte(\"a\"+\"b\")\n[]byte(\"\")\n", "line 2: want []byte"},
		{"a character", "go test fuzz v1\n[]byte('a')\n[]byte(\"\")\n", "line 2: want []byte"},
		{"huge", strings.Repeat("x", input.FileMax+1), "want at most"},
	}
	for _, tt := range tests {
		_, err := input.ParseFile([]byte(tt.text))
		if (err == nil) != (tt.problem == "") || err != nil && (!strings.Contains(err.Error(), tt.problem) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.problem)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		_, _ = input.ParseFile([]byte(rapid.StringMatching(`go test fuzz v1\n(\[\]byte\(".{0,9}"\)\n?){0,3}`).Draw(t, "text")))
	})
}
