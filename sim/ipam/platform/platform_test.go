package platform_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/containernetworking/cni/pkg/invoke"

	"ipamsim/sim"
	"ipamsim/sim/hermetic"
	"ipamsim/sim/ipam/platform"
	"ipamsim/sim/ipam/platform/cni"
	"ipamsim/sim/ipam/platform/flock"
	os "ipamsim/sim/ipam/platform/std"
	"ipamsim/sim/strategy"
)

// machine is a host with a runtime that executes the given programs.
func machine(crashed func(any), executables map[string]func()) platform.Exec {
	return platform.Exec{From: &platform.Program{
		Host: platform.NewHost(map[string][]byte{}), Ctx: context.Background(), Executables: executables,
		Crash: func(v any, _ string) { crashed(v) },
	}}
}

func exec(e platform.Exec, name, args string) (string, error) {
	env := (&invoke.Args{Command: "ADD", PluginArgsStr: args}).AsEnv()
	out, err := e.ExecPlugin(context.Background(), name, []byte(`{"name":"n"}`), env)
	return string(out), err
}

// say prints what each program of a test has in its environment.
func say(words ...string) {
	for _, w := range words {
		if _, err := os.Stdout.Write([]byte(w + " ")); err != nil {
			panic(err)
		}
	}
}

// Each program has its own environment. A program that it starts inherits it, no program has the
// environment of the real process, and a goroutine belongs to the program that started it.
func TestEnvironment(t *testing.T) {
	t.Setenv("CNI_ARGS", "of the shell")
	t.Setenv("CNI_PATH", "of the shell")
	done := make(chan struct{})
	e := machine(nil, map[string]func(){
		"child": func() { say(os.Getenv("CNI_COMMAND"), os.Getenv("CNI_ARGS"), os.Getenv("CNI_PATH")) },
		"parent": func() {
			if err := os.Setenv("CNI_ARGS", os.Getenv("CNI_ARGS")+";more"); err != nil {
				panic(err)
			}
			go func() {
				defer close(done)
				if err := cni.ExecDel("child", []byte("{}")); err != nil {
					panic(err)
				}
			}()
			<-done
			say(os.Getenv("CNI_COMMAND"), os.Getenv("CNI_ARGS"))
		},
	})
	var child string
	e.From.Started = func(p *platform.Program, end platform.Ended) {
		if p.Name == "child" {
			child = string(end.Stdout)
		}
	}
	out, err := exec(e, "parent", "a=b")
	if want := "ADD a=b;more "; out != want || err != nil {
		t.Errorf("the parent says %q, want %q (%v)", out, want, err)
	}
	if want := "DEL a=b;more  "; child != want {
		t.Errorf("the child says %q, want %q", child, want)
	}
}

// The errors that a runtime gets for a plugin that fails, with the texts of CNI's own library.
func TestFailures(t *testing.T) {
	var crash any
	e := machine(func(v any) { crash = v }, map[string]func(){
		"silent":  func() { os.Exit(3) },
		"saying":  func() { say(`{"code": 11, "msg": "later"}`); os.Exit(1) },
		"garbled": func() { say("hm"); os.Exit(1) },
		"broken":  func() { panic("boom") },
	})
	for name, want := range map[string]string{
		"silent":  "netplugin failed with no error message: exit status 3",
		"saying":  "later",
		"garbled": `netplugin failed but error parsing its diagnostic message "hm ":`,
		"broken":  `netplugin failed: "panic: boom"`,
	} {
		crash = nil
		if _, err := exec(e, name, ""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if (crash != nil) != (name == "broken") {
			t.Errorf("%s: crashed by %v", name, crash)
		}
	}
	if _, err := e.FindInPath("none", []string{"/bin"}); err == nil {
		t.Error("a program that nobody installed is found")
	}
}

// An exit in a goroutine other than the main one is a crash of the program, because its main
// function would continue.
func TestExitOfAnotherGoroutine(t *testing.T) {
	var crash any
	e := machine(func(v any) { crash = v }, map[string]func(){"p": func() {
		done := make(chan struct{})
		go func() {
			defer close(done)
			os.Exit(3)
		}()
		<-done
	}})
	if _, err := exec(e, "p", ""); err != nil || crash != "exit status 3" {
		t.Errorf("crash %v, %v", crash, err)
	}
}

// A program opens files of its host: a file is read to its end; a folder exists if there are files
// under it, and cannot be read.
func TestOpen(t *testing.T) {
	e := machine(nil, map[string]func(){"look": func() {
		for _, name := range []string{"/etc/conf.d/a", "/etc/conf.d", "/etc/conf", "/etc/conf.d/a/b"} {
			f, err := os.Open(name)
			if err != nil {
				say(err.Error())
				continue
			}
			b, err := io.ReadAll(f)
			if say(string(b)); err != nil {
				say(err.Error())
			}
		}
		if _, found := os.LookupEnv("NODENAME"); !found {
			say("nameless")
		}
	}})
	e.From.Host.Disk.Put("/etc/conf.d/a", []byte("text"))
	out, err := exec(e, "look", "")
	if want := "text  read /etc/conf.d: is a directory open /etc/conf: no such file or directory open /etc/conf.d/a/b: not a directory nameless "; out != want || err != nil {
		t.Errorf("%q, want %q (%v)", out, want, err)
	}
}

// A lock belongs to its host and file. A file that one program creates exists for the next.
func TestFiles(t *testing.T) {
	e := machine(nil, map[string]func(){
		"make": func() {
			if _, err := os.Create("/run/x"); err != nil {
				panic(err)
			}
			if err := flock.New("/run/xtables.lock").Lock(); err != nil {
				panic(err)
			}
		},
		"look": func() {
			for _, f := range []string{"/run/x", "/run/y"} {
				_, err := os.Stat(f)
				if say(f); os.IsNotExist(err) {
					say("missing")
				}
			}
			if err := flock.New("/run/other").Lock(); err == nil {
				say("locked")
			}
			if err := flock.New("/run/xtables.lock").Lock(); err != nil {
				say(err.Error())
			}
		},
	})
	if _, err := exec(e, "make", ""); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(context.Background())
	kill()
	other := machine(nil, e.From.Executables)
	other.From.Host, other.From.Ctx = e.From.Host, ctx // dead: it waits for no lock
	out, err := exec(other, "look", "")
	if err != nil || !strings.HasPrefix(out, "/run/x /run/y missing ") || !strings.HasSuffix(out, "context canceled ") {
		t.Errorf("%q, %v", out, err)
	}
}

// No reference keeps a program that was killed, whatever it waits for: its goroutines end without
// running deferred functions.
func TestKilledProgramIsCollected(t *testing.T) {
	if !hermetic.Enabled {
		t.Skip("NOT TESTED: on the stock runtime a bubble cannot end with goroutines of killed processes; use: make test")
	}
	var kept weak.Pointer[platform.Program]
	st, err := strategy.Parse("timed", 1, strategy.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = sim.Run(t.Context(), sim.Options{Seed: 1, Strategy: st}, func(w *sim.World) error {
		w.Spawn(sim.Process{ID: "plugin", Run: func(ctx context.Context, g *sim.Gate) error {
			p := &platform.Program{Name: "plugin", Ctx: ctx, Gate: g, Crash: g.Crash}
			kept = weak.Make(p)
			p.Run(func() {
				if platform.Current() != p {
					t.Error("another program")
				}
				<-make(chan struct{})
			})
			return nil
		}})
		time.Sleep(time.Second)
		w.Kill("plugin")
		w.Finish()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the program is still reachable")
	}
}

// The profiler reads the labels.
func TestProgramsInProfiles(t *testing.T) {
	var out bytes.Buffer
	p := &platform.Program{Name: "whereabouts", Ctx: t.Context()}
	p.Run(func() {
		if err := pprof.Lookup("goroutine").WriteTo(&out, 1); err != nil {
			t.Error(err)
		}
	})
	if !strings.Contains(out.String(), `"program":"whereabouts"`) {
		t.Error(out.String())
	}
}
