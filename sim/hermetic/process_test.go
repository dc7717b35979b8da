package hermetic_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const asChild = "IPAMSIM_HERMETIC_CHILD"

// TestChild is what TestAcrossProcesses runs in other processes.
func TestChild(t *testing.T) {
	if os.Getenv(asChild) == "" {
		t.Skip("only as a child of TestAcrossProcesses")
	}
	o := newOutside(t)
	for seed := range uint64(3) {
		digest, foreign := mixed(t, seed, o)
		fmt.Printf("DIGEST %d %s %d\n", seed, digest, foreign)
	}
}

// One seed gives one run in every process, with any GOMAXPROCS and GOGC.
func TestAcrossProcesses(t *testing.T) {
	needHermetic(t)
	want := ""
	for _, env := range []string{"GOMAXPROCS=1", "GOMAXPROCS=4", "GOGC=5", "GOGC=off"} {
		for range 2 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestChild$")
			cmd.Env = append(os.Environ(), asChild+"=1", env)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", env, err, out)
			}
			got := digests(string(out))
			if want == "" {
				want = got
				t.Log("\n" + want)
			}
			if got != want || got == "" {
				t.Errorf("%s: %s\nfirst process: %s", env, got, want)
			}
		}
	}
}

func digests(out string) string {
	var b strings.Builder
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "DIGEST ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The zone of the machine does not reach a bubble.
func TestLocalTime(t *testing.T) {
	needHermetic(t)
	if os.Getenv(asChild) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLocalTime$")
		cmd.Env = append(os.Environ(), asChild+"=1", "TZ=Asia/Tokyo")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	inBubble(t, 1, func() {
		if got := time.Now().Format("2006-01-02 15:04 MST"); got != "2000-01-01 00:00 UTC" {
			t.Errorf("local time is %s", got)
		}
	})
	if got := time.Unix(0, 0).Format("15:04"); got != "09:00" {
		t.Errorf("outside, local time is %s", got)
	}
}
