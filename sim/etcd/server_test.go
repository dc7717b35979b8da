package etcd

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/zap"
)

// TestSockets: both have a name. One without is closed by removing a file in the
// working directory, and where that is read-only etcd never ends.
func TestSockets(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c.sock", "p.sock"} {
		if info, err := os.Stat(filepath.Join(s.dir, name)); err != nil || info.Mode().Type() != os.ModeSocket {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestLastWords: where etcd ends the process, it is as one that could not run, and
// the reason is there.
func TestLastWords(t *testing.T) {
	const childEnv = "IPAMSIM_TEST_LAST_WORDS"
	if os.Getenv(childEnv) != "" {
		log := lastWords()
		log.Error("not a word of this")
		end := map[string]func(string, ...zap.Field){"fatal": log.Fatal, "panic": log.Panic}[os.Getenv(childEnv)]
		end("no more", zap.Error(errors.New("of something")))
	}
	for _, how := range []string{"fatal", "panic"} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestLastWords$")
		cmd.Env = append(os.Environ(), childEnv+"="+how)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || string(out) != `fatal error: etcd: no more {"error": "of something"}`+"\n" {
			t.Errorf("%s: %v: %q", how, err, out)
		}
	}
}
