package scratch

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const childEnv = "IPAMSIM_TEST_SCRATCH_CHILD"

var kept *Dir // keeps it from being collected, and its lock with it

// TestMain lets this binary be a process that holds a directory until it is killed.
func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	var err error
	if kept, err = New("test"); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString(kept.Path + "\n")
	time.Sleep(time.Hour) // select {} would panic: all goroutines are asleep
}

// child starts another process with its directory.
func child(t *testing.T) (dir string, kill func()) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), kill
}

func there(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}

// TestSweep: the next process removes the directories of a killed process, but neither that of
// a running process nor one that is being created.
func TestSweep(t *testing.T) {
	killed, kill := child(t)
	alive, _ := child(t)
	parent := filepath.Dir(alive)
	young, err := os.MkdirTemp(parent, prefix+"test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(young)
	killed = filepath.Join(killed, "more") // the directory's name may be drawn again
	if err := os.WriteFile(killed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	kill()
	if !there(killed) {
		t.Fatal("nothing was left behind to sweep")
	}
	mine, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if there(killed) || !there(alive) || !there(young) || !there(mine.Path) {
		t.Errorf("killed: %v, alive: %v, being made: %v, mine: %v", there(killed), there(alive), there(young), there(mine.Path))
	}
	if err := mine.Remove(); err != nil || there(mine.Path) {
		t.Error(err)
	}
}

// TestNames: no process gets the name of another process, even of an ended one.
func TestNames(t *testing.T) {
	had := map[string]bool{}
	for range 8 {
		dir, kill := child(t)
		kill()
		if had[dir] {
			t.Fatalf("%s again", dir)
		}
		had[dir] = true
		sweep(filepath.Dir(dir))
	}
}

// TestNameAgain: a process that opened the lock of a dead directory gets no lock once another
// process has created a directory with that name.
func TestNameAgain(t *testing.T) {
	parent := t.TempDir()
	dead, err := Make(parent, "test-1")
	if err != nil {
		t.Fatal(err)
	}
	_ = dead.lock.Close() // as the end of its process does
	opened, err := os.OpenFile(filepath.Join(dead.Path, lockName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	sweep(parent)
	if err := seize(opened); err != ErrTaken {
		t.Errorf("the directory is gone: %v, want %v", err, ErrTaken)
	}
	alive, err := Make(parent, "test-1")
	if err != nil {
		t.Fatal(err)
	}
	defer alive.lock.Close()
	if err := seize(opened); err != ErrTaken {
		t.Errorf("the directory is another's: %v, want %v", err, ErrTaken)
	}
}

// TestSweptYoung: a directory that a sweep has locked belongs to the sweep.
func TestSweptYoung(t *testing.T) {
	young := t.TempDir()
	swept, err := Lock(filepath.Join(young, lockName))
	if err != nil {
		t.Fatal(err)
	}
	defer swept.Close()
	if _, err := hold(young); err != ErrTaken || !there(swept.Name()) {
		t.Errorf("%v, want %v; the lock is there: %v", err, ErrTaken, there(swept.Name()))
	}
}

// TestMake: a name can be created once.
func TestMake(t *testing.T) {
	parent := t.TempDir()
	d, err := Make(parent, "whereabouts-1-1")
	if err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if _, err := Make(parent, "whereabouts-1-1"); err != ErrTaken || !there(d.Path) {
		t.Error(err)
	}
	if err := d.Remove(); err != nil {
		t.Error(err)
	}
	if d, err = Make(parent, "whereabouts-1-1"); err != nil {
		t.Fatal(err)
	}
	_ = d.lock.Close() // as the end of its process does
	sweep(parent)
	if there(d.Path) {
		t.Error("not swept")
	}
}

// TestFree: a missing directory has no room.
func TestFree(t *testing.T) {
	if n := free("/no/such/directory"); n != 0 {
		t.Error(n)
	}
	if n := free(t.TempDir()); n <= 0 {
		t.Error(n)
	}
}
