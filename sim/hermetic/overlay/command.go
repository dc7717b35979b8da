package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// builds are the commands of go that compile, and take flags that say how.
var builds = []string{"build", "install", "list", "run", "test", "vet"}

// Command is "go ARGS…" with the flags and the environment that make a program with ipamsim a
// function of its seed: the overlay, the build tag hermetic, CGO_ENABLED=0, and for go test
// -count=1. A test whose result may be cached logs every file that it opens under one mutex, which
// simulated processes would share with the etcd outside of their bubble.
//
// It generates the packages of upstream that ipamsim is built from (cmd/fork). It keeps tags and a
// count in args. The error wraps ErrMisfit if the overlay does not fit the installed Go; the
// command is then the same without it, on the stock runtime.
func Command(args ...string) (*exec.Cmd, error) {
	if len(args) == 0 || !slices.Contains(builds, args[0]) {
		return command(args), nil
	}
	path, err := Path()
	if err != nil && !errors.Is(err, ErrMisfit) {
		return nil, err
	}
	if err := upstream(); err != nil {
		return nil, err
	}
	return command(flagged(args, path)), err
}

// upstream generates the packages of upstream's source, in ipamsim's folder as the module in the
// working directory sees it (cmd/fork). A module without ipamsim does not need them.
func upstream() error {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "ipamsim").Output()
	if err != nil {
		return nil
	}
	cmd := exec.Command("go", "run", "./cmd/fork")
	cmd.Dir = strings.TrimSpace(string(dir))
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("generating upstream's packages in %s: %w\n%s", cmd.Dir, err, bytes.TrimSpace(out))
	}
	return nil
}

// Run runs Command with the files of this process and returns the exit code: the go
// command's own, or 2 if it could not be run. Interrupts reach it as well.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd, err := Command(args...)
	if err != nil {
		fmt.Fprintf(stderr, "ipamsim: %v\n", err)
	}
	if cmd == nil {
		return 2
	}
	if err != nil {
		fmt.Fprintln(stderr, "ipamsim: building on the stock runtime: the same seed may run differently")
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	}
	fmt.Fprintf(stderr, "ipamsim: go: %v\n", err)
	return 2
}

func command(args []string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}

// flagged are the arguments with our flags behind the verb; path is "" for the stock
// runtime.
func flagged(args []string, path string) []string {
	verb, rest := args[0], args[1:]
	out := []string{verb}
	if path != "" {
		var tags string
		tags, rest = tagsOf(rest)
		out = append(out, "-overlay="+path, "-tags="+strings.TrimPrefix(tags+",hermetic", ","), withoutDWARF)
	}
	if verb == "test" && !slices.ContainsFunc(rest, isCount) {
		out = append(out, "-count=1")
	}
	return append(out, rest...)
}

// withoutDWARF saves an eighth of the compiler's time. The Makefile has it, too: packages that were
// compiled with other flags are compiled again. Tables of a debugger are not needed to name the
// functions and lines of a stack.
const withoutDWARF = "-gcflags=all=-dwarf=false"

func isCount(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
	return name == "-count" || name == "count"
}

// tagsOf takes the build tags out of arguments. What follows -args is the test
// binary's.
func tagsOf(args []string) (tags string, rest []string) {
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(strings.TrimPrefix(args[i], "-"), "=")
		switch {
		case args[i] == "-args" || args[i] == "--args":
			return tags, append(rest, args[i:]...)
		case name != "-tags" && name != "tags" || !strings.HasPrefix(args[i], "-"):
			rest = append(rest, args[i])
		case joined:
			tags = value
		case i+1 < len(args):
			i++
			tags = args[i]
		}
	}
	return tags, rest
}
