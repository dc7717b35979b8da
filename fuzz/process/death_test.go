package process

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestClassify: why a process died, and whether ipamsim is the cause.
func TestClassify(t *testing.T) {
	killed := exec.Command("sh", "-c", "kill -9 $$").Run()
	exited := exec.Command("sh", "-c", "exit 3").Run()
	for _, x := range []struct {
		name, stderr  string
		end           error
		cause, shape  string
		killed, ours  bool
		wantInvariant string
	}{
		{"out of memory", "", killed, "killed by SIGKILL", "killed by SIGKILL", true, false, "actor-crash"},
		{"os.Exit", "bye\n", exited, "exit status 3", "exit status #", false, false, "actor-crash"},
		{"a panic in a goroutine of upstream", upstreamPanic, exited, "panic: runtime error: index out of range [7] with length 3",
			"panic: runtime error: index out of range [#] with length #|github.com/projectcalico/calico/libcalico-go/lib/ipam.(*blockReaderWriter).claim|k8s.io/client-go/util/workqueue.(*Type).Get", false, false, "actor-crash"},
		{"a panic of our own", "panic: oops\n\ngoroutine 1 [running]:\nipamsim/sim.(*World).loop(0x1)\n\t/x.go:1\n", exited, "panic: oops", "panic: oops", false, true, "actor-crash"},
		{"etcd ends it", "fatal error: etcd: failed to save {\"error\": \"write x: no space left on device\"}\n", exited, "fatal error: etcd: failed to save", "fatal error: etcd: failed to save", false, true, "actor-crash"},
		{"no room for its pages", "panic: write /dev/shm/db: no space left on device\n\ngoroutine 7 [running]:\ngo.etcd.io/bbolt.(*DB).Update(0x1)\n\t/x.go:1\n", exited,
			"panic: write /dev/shm/db: no space", "panic: write /dev/shm/db: no space left on device|go.etcd.io/bbolt.(*DB).Update", false, true, "actor-crash"},
		{"a map that two goroutines write", "noise\nfatal error: concurrent map writes\n\ngoroutine 8 [running]:\ngithub.com/a/b.f(...)\n\t/x.go:1\n", exited,
			"fatal error: concurrent map writes", "fatal error: concurrent map writes|github.com/a/b.f", false, false, "actor-crash"},
	} {
		d := classify(x.end, x.stderr)
		if !strings.HasPrefix(d.Cause, x.cause) || d.Killed != x.killed || d.Ours != x.ours || d.Invariant != x.wantInvariant {
			t.Errorf("%s: %q killed %t ours %t %s", x.name, d.Cause, d.Killed, d.Ours, d.Invariant)
		}
		if want := strings.Split(x.shape, "|"); !slices.EqualFunc(d.Shape, want, strings.HasPrefix) {
			t.Errorf("%s: shape %q, want %q", x.name, d.Shape, want)
		}
	}
}

// TestStuck: a process that hangs in upstream is identified by the place.
func TestStuck(t *testing.T) {
	d := stuckDeath("sim: no progress for 30s", "goroutine 5 [sync.Mutex.Lock, synctest bubble 3]:\ngithub.com/a/b.f(0x1)\n\t/x.go:1\n")
	if d.Invariant != "stuck" || !slices.Equal(d.Shape, []string{"stuck", "github.com/a/b.f"}) {
		t.Errorf("%+v", d)
	}
}

const upstreamPanic = `I0101 a line of a log
panic: runtime error: index out of range [7] with length 3

goroutine 4711 [running, synctest bubble 12]:
panic({0x1234, 0xc000})
	/go/src/runtime/panic.go:783 +0x132
github.com/projectcalico/calico/libcalico-go/lib/ipam.(*blockReaderWriter).claim(0xc000123, {0x1, 0x2})
	/go/pkg/mod/x/ipam_block.go:12 +0x1f
sync.(*Once).doSlow(0x1)
	/go/src/sync/once.go:1
k8s.io/client-go/util/workqueue.(*Type).Get(...)
	/go/pkg/mod/queue.go:200
created by k8s.io/client-go/tools/cache.New in goroutine 1
	/x.go:1

goroutine 1 [select]:
github.com/other/thing.f()
`

// TestTail: the beginning and the end of the output since the mark.
func TestTail(t *testing.T) {
	var x Tail
	_, _ = x.Write([]byte("before"))
	x.mark()
	_, _ = x.Write([]byte("panic: first"))
	for range 5000 {
		_, _ = x.Write([]byte(strings.Repeat("x", 99) + "\n"))
	}
	_, _ = x.Write([]byte("the end"))
	s := x.String()
	if !strings.HasPrefix(s, "panic: first") || !strings.HasSuffix(s, "the end") || !strings.Contains(s, "bytes left out") || len(s) > 4*tailMax {
		t.Errorf("%d bytes, %q … %q", len(s), s[:20], s[len(s)-20:])
	}
}
