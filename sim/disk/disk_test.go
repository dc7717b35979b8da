package disk_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"ipamsim/sim"
	"ipamsim/sim/disk"
	"ipamsim/sim/strategy"
)

// direct returns a disk and a process without a gate.
func direct() (*disk.Disk, *disk.Process) {
	d := disk.New(nil, "node-a")
	return d, d.Process(context.Background(), nil)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Errors are those of the operating system, with and without a gate.
func TestErrors(t *testing.T) {
	_, p := direct()
	must(t, p.MkdirAll("/var/lib/x/y", 0o755))
	must(t, p.WriteFile("/var/lib/x/f", []byte("text"), 0o600))
	for _, c := range []struct {
		what string
		do   func() error
		want error
	}{
		{"read what is not there", func() error { _, err := p.ReadFile("/nowhere"); return err }, fs.ErrNotExist},
		{"write where no directory is", func() error { return p.WriteFile("/nowhere/f", nil, 0o600) }, fs.ErrNotExist},
		{"make what is there", func() error { _, err := p.OpenFile("/var/lib/x/f", os.O_CREATE|os.O_EXCL, 0o600); return err }, fs.ErrExist},
		{"a directory that is there", func() error { return p.Mkdir("/var/lib/x", 0o755) }, fs.ErrExist},
		{"a file as a directory", func() error { _, err := p.Stat("/var/lib/x/f/g"); return err }, syscall.ENOTDIR},
		{"read a directory", func() error { _, err := p.ReadFile("/var/lib/x"); return err }, syscall.EISDIR},
		{"remove a directory that is not empty", func() error { return p.Remove("/var/lib/x") }, syscall.ENOTEMPTY},
		{"rename into memory", func() error { return p.Rename("/var/lib/x/f", "/run/f") }, syscall.EXDEV},
		{"rename into itself", func() error { return p.Rename("/var/lib/x", "/var/lib/x/y/z") }, syscall.EINVAL},
		{"rename over a directory", func() error { return p.Rename("/var/lib/x/f", "/var/lib/x/y") }, fs.ErrExist},
		{"remove what is not there, with all in it", func() error { return p.RemoveAll("/nowhere") }, nil},
		{"remove all", func() error { return p.RemoveAll("/var/lib/x") }, nil},
		{"it is gone", func() error { _, err := p.Stat("/var/lib/x"); return err }, fs.ErrNotExist},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.what, err, c.want)
		}
	}
}

// An open file keeps its offset, and its data after its removal.
func TestFile(t *testing.T) {
	_, p := direct()
	f, err := p.Create("/var/log/f")
	must(t, err)
	_, err = f.WriteString("one two")
	must(t, err)
	_, err = f.Seek(4, io.SeekStart)
	must(t, err)
	b, err := io.ReadAll(f)
	if string(b) != "two" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	more, err := p.OpenFile("/var/log/f", os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = more.WriteString(" three")
	must(t, err)
	must(t, f.Truncate(5))
	if got, _ := p.ReadFile("/var/run/../log/../../var/log/f"); string(got) != "one t" {
		t.Errorf("%q", got)
	}
	must(t, p.Remove("/var/log/f"))
	if _, err := more.WriteString("!"); err != nil {
		t.Errorf("a file that was removed cannot be written: %v", err)
	}
	must(t, f.Close())
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed twice: %v", err)
	}
}

// The system calls that each fault fails, and those that it does not.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault                     disk.Fault
		read, make, write, remove error
	}{
		{disk.Full, nil, nil, syscall.ENOSPC, nil},
		{disk.NoInodes, nil, syscall.ENOSPC, nil, nil},
		{disk.ReadOnly, nil, syscall.EROFS, syscall.EROFS, syscall.EROFS},
		{disk.Broken, syscall.EIO, syscall.EIO, syscall.EIO, syscall.EIO},
	} {
		d, p := direct()
		d.Put("/var/lib/there", []byte("text"))
		f, err := p.OpenFile("/var/lib/there", os.O_RDWR, 0)
		must(t, err)
		end := d.Fail(c.fault)
		_, read := p.ReadFile("/var/lib/there")
		_, made := p.OpenFile("/var/lib/new", os.O_CREATE|os.O_EXCL, 0o600)
		_, wrote := f.WriteString("more")
		removed := p.Remove("/var/lib/there")
		for i, got := range []error{read, made, wrote, removed} {
			if want := []error{c.read, c.make, c.write, c.remove}[i]; !errors.Is(got, want) {
				t.Errorf("fault %d, access %d: %v, want %v", c.fault, i, got, want)
			}
		}
		if err := p.WriteFile("/run/x", nil, 0o600); err != nil {
			t.Errorf("fault %d of a tmpfs: %v", c.fault, err)
		}
		end()
		must(t, p.WriteFile("/var/lib/after", []byte("text"), 0o600))
	}
}

// world runs processes of one node against one disk, and returns its trace.
func world(t *testing.T, st sim.Strategy, faults sim.Budget, setup func(*sim.World, *disk.Disk)) *sim.Trace {
	t.Helper()
	tr, err := sim.Run(t.Context(), sim.Options{Strategy: st, Faults: faults}, func(w *sim.World) error {
		setup(w, disk.New(w, "node-a"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// spawn starts a process, and signals left at its end.
func spawn(w *sim.World, d *disk.Disk, id string, left *int, run func(*disk.Process)) *sim.Actor {
	*left++
	return w.Spawn(sim.Process{ID: sim.ActorID(id), Group: "node-a", Run: func(ctx context.Context, g *sim.Gate) error {
		defer func() {
			if *left--; *left == 0 {
				w.Finish()
			}
		}()
		run(d.Process(ctx, g))
		return nil
	}})
}

// Only one of many processes creates a file with O_EXCL, in every order.
func TestExclusive(t *testing.T) {
	for seed := range uint64(20) {
		left, took := 0, 0
		world(t, strategy.NewRandom(seed, strategy.Settings{}), sim.Budget{}, func(w *sim.World, d *disk.Disk) {
			for i := range 4 {
				spawn(w, d, fmt.Sprint("p", i), &left, func(p *disk.Process) {
					if _, err := p.OpenFile("/var/lib/cni/10.0.0.2", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
						took++
					}
				})
			}
		})
		if took != 1 {
			t.Errorf("seed %d: %d took it", seed, took)
		}
	}
}

// A lock excludes others under every schedule, the schedule chooses the next holder among the
// waiting processes, and the death of the holder releases it.
func TestLock(t *testing.T) {
	orders := map[string]bool{}
	for seed := range uint64(30) {
		left, inside := 0, 0
		var order []string
		world(t, strategy.NewRandom(seed, strategy.Settings{}), sim.Budget{}, func(w *sim.World, d *disk.Disk) {
			for i := range 4 {
				id := fmt.Sprint("p", i)
				spawn(w, d, id, &left, func(p *disk.Process) {
					f, err := p.OpenFile("/run/lock/x", os.O_CREATE|os.O_RDONLY, 0o600)
					if err == nil {
						err = f.Lock()
					}
					if inside++; err != nil || inside != 1 {
						t.Errorf("seed %d: %s: %v, %d inside", seed, id, err, inside)
					}
					order = append(order, id)
					_, _ = p.Stat("/var/lib") // other processes run
					inside--
					if i == 0 {
						w.Kill(sim.ActorID(id))
					} else if err := f.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		})
		orders[strings.Join(order, " ")] = true
	}
	if len(orders) < 5 {
		t.Errorf("orders: %v", orders)
	}
}

// Two open files exclude each other, also of one process; shared locks do not; TryLock does
// not wait.
func TestLockKinds(t *testing.T) {
	_, p := direct()
	open := func() *disk.File {
		f, err := p.OpenFile("/run/lock/x", os.O_CREATE, 0o600)
		must(t, err)
		return f
	}
	a, b := open(), open()
	must(t, a.RLock())
	must(t, b.RLock())
	if err := a.TryLock(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("exclusive beside a shared one: %v", err)
	}
	must(t, b.Unlock())
	must(t, a.TryLock())
	if err := b.TryLock(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("a second one: %v", err)
	}
	must(t, a.Close())
	must(t, b.TryLock())
}

// The schedule may fail a system call; the file is then unchanged. The effects of a killed
// process stay.
func TestScheduleFails(t *testing.T) {
	got := map[string]bool{}
	for seed := range uint64(60) {
		left := 0
		var text []byte
		var failed error
		world(t, strategy.NewTimed(seed, strategy.Settings{Faults: strategy.FaultRates{sim.FailBefore: 0.4}}), sim.Budget{Allowed: sim.Of(sim.FailBefore), Max: 1}, func(w *sim.World, d *disk.Disk) {
			d.Put("/var/lib/x", []byte("old"))
			spawn(w, d, "writer", &left, func(p *disk.Process) {
				failed = p.WriteFile("/var/lib/x", []byte("new"), 0o600)
				text, _ = d.Process(context.Background(), nil).ReadFile("/var/lib/x")
			})
		})
		var no syscall.Errno
		if failed != nil && !errors.As(failed, &no) {
			t.Errorf("%v", failed)
		}
		got[fmt.Sprintf("%s %v", text, no)] = true
	}
	for _, want := range []string{"new errno 0", "old input/output error", " input/output error", " no space left on device"} {
		if !got[want] {
			t.Errorf("never %q: %v", want, got)
		}
	}
}

// A partition does not delay a system call; a slow disk delays each.
func TestNear(t *testing.T) {
	left, took := 0, time.Duration(0)
	tr := world(t, strategy.NewSerial(), sim.Budget{}, func(w *sim.World, d *disk.Disk) {
		w.Hold("node-a")
		end := d.Slow(time.Second)
		spawn(w, d, "writer", &left, func(p *disk.Process) {
			_ = p.Mkdir("/var/lib/x", 0o755)
			took = w.Now()
			end()
			_ = p.Mkdir("/var/lib/y", 0o755)
		})
	})
	if took < time.Second || took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	var keys []string
	for _, s := range tr.Steps {
		keys = append(keys, s.Choice.Op.Key)
	}
	if want := []string{"CREATE files/node-a/var/lib/x", "CREATE files/node-a/var/lib/y"}; !slices.Equal(keys, want) {
		t.Errorf("%q", keys)
	}
}

// The effect of time and fsync on the disk.
func TestJournal(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*disk.Process, func(time.Duration))
		loss disk.Loss
		want string // of /var/lib/f: its content, or -
	}{
		{"nothing is lost", plain, disk.Loss{}, "text"},
		{"the name is lost", plain, disk.Loss{Journal: 1}, "-"},
		{"the data is lost", plain, disk.Loss{Data: disk.AllData}, ""},
		{"of what was written last", plain, disk.Loss{Data: disk.LastWrite}, "te"},
		{"after five seconds the name is there", func(p *disk.Process, pass func(time.Duration)) { plain(p, pass); pass(5 * time.Second) }, disk.Loss{Journal: 9, Data: disk.AllData}, ""},
		{"after 35 seconds the data is there", func(p *disk.Process, pass func(time.Duration)) { plain(p, pass); pass(35 * time.Second) }, disk.Loss{Journal: 9, Data: disk.AllData}, "text"},
		{"fsync", synced, disk.Loss{Journal: 9, Data: disk.AllData}, "text"},
		{"renamed over another, kept", renamed, disk.Loss{Data: disk.AllData}, "new"},
		{"renamed over another, taken back", renamed, disk.Loss{Journal: 1, Data: disk.AllData}, "text"},
		{"emptied and written, kept", rewritten, disk.Loss{Data: disk.AllData}, "new"},
		{"emptied and written, between", rewritten, disk.Loss{Journal: 1, Data: disk.AllData}, ""},
		{"emptied and written, taken back", rewritten, disk.Loss{Journal: 2, Data: disk.AllData}, "text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := sim.Run(t.Context(), sim.Options{Strategy: strategy.NewSerial()}, func(w *sim.World) error {
				d := disk.New(w, "node-a")
				p := d.Process(t.Context(), nil)
				c.do(p, time.Sleep)
				must(t, p.WriteFile("/run/gone", nil, 0o600))
				d.PowerLoss(c.loss)
				got, err := p.ReadFile("/var/lib/f")
				if errors.Is(err, fs.ErrNotExist) {
					got = []byte("-")
				}
				if string(got) != c.want {
					t.Errorf("%q, want %q", got, c.want)
				}
				if _, err := p.Stat("/run/gone"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a tmpfs survives: %v", err)
				}
				if _, err := p.Stat("/run/lock"); err != nil {
					t.Error(err)
				}
				d.Reimage()
				if _, err := p.Stat("/var/lib/f"); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("a reimaged disk: %v", err)
				}
				w.Finish()
				return nil
			})
			must(t, err)
		})
	}
}

func plain(p *disk.Process, _ func(time.Duration)) {
	f, _ := p.OpenFile("/var/lib/f", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	_, _ = f.WriteString("te")
	_, _ = f.WriteString("xt")
	_ = f.Close()
}

func synced(p *disk.Process, _ func(time.Duration)) {
	f, _ := p.Create("/var/lib/f")
	_, _ = f.WriteString("text")
	_ = f.Sync()
}

func renamed(p *disk.Process, pass func(time.Duration)) {
	synced(p, pass)
	_ = p.WriteFile("/var/lib/f.tmp", []byte("new"), 0o600)
	_ = p.Rename("/var/lib/f.tmp", "/var/lib/f")
}

func rewritten(p *disk.Process, pass func(time.Duration)) {
	synced(p, pass)
	_ = p.WriteFile("/var/lib/f", []byte("new"), 0o600)
}

// The revision of a disk increases with every change that a process can see, and with nothing
// else.
func TestRevision(t *testing.T) {
	d := disk.New(nil, "n")
	was := d.Revision()
	rises := func(what string, want bool) {
		t.Helper()
		now := d.Revision()
		if now > was != want || now < was {
			t.Errorf("%s: %d after %d", what, now, was)
		}
		was = now
	}
	p := d.Process(t.Context(), nil)
	if _, err := p.ReadDir("/var/lib"); err != nil {
		t.Fatal(err)
	}
	rises("a look", false)
	if err := p.WriteFile("/var/lib/a", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	rises("a write", true)
	if err := p.Remove("/var/lib/a"); err != nil {
		t.Fatal(err)
	}
	rises("a removal", true)
	d.PowerLoss(disk.Loss{})
	rises("a loss of power", true)
	d.Reimage()
	rises("a new disk", true)
}

// An oracle can read a failing disk.
func TestInspect(t *testing.T) {
	d := disk.New(nil, "node-a")
	d.Put("/var/lib/cni/x", []byte("y"))
	defer d.Fail(disk.Broken)()
	if _, err := d.Process(t.Context(), nil).ReadFile("/var/lib/cni/x"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a process: %v", err)
	}
	if b, err := d.Inspect().ReadFile("/var/lib/cni/x"); string(b) != "y" || err != nil {
		t.Errorf("an oracle: %q, %v", b, err)
	}
}

// A nil file behaves as a nil os.File: system calls fail, and Name panics in the caller.
func TestNilFile(t *testing.T) {
	var f *disk.File
	_, write := f.WriteString("x")
	for what, err := range map[string]error{"write": write, "sync": f.Sync(), "close": f.Close()} {
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("it has a name")
		}
	}()
	_ = f.Name()
}
