package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"ipamsim/reports"
	"ipamsim/scenarios"
	"ipamsim/sim"
	"ipamsim/sim/attach"
	"ipamsim/sim/kube"
)

// visit is a run that is served to clients.
type visit struct {
	cmd     *cobra.Command
	session *attach.Session
	plain   *reports.Report // the run without clients
	file    string          // the kubeconfig
	hold    bool
	keeps   bool // the manager's record is not in the Kubernetes API

	next   int           // the step after which it stands still
	asked  chan<- string // receives the position; nil: no client asked
	shown  bool
	parted int // the first step that is another than in plain; 0: none
}

var errOver = errors.New("the run is over")

// run is the second run.
func (v *visit) run(ctx context.Context, r *scenarios.Runner, s *scenarios.Scenario, o scenarios.Options) error {
	defer v.session.Close()
	var step attach.Stepper
	if v.hold {
		step = v.step
	}
	server, err := attach.Listen(v.session, step)
	if err != nil {
		return err
	}
	defer server.Close()
	if err := server.Client.WriteKubeconfig(v.file); err != nil {
		return err
	}
	left := context.AfterFunc(ctx, func() { v.session.Send(attach.Order{}) })
	defer left()
	if v.hold {
		go v.listen(ctx)
	}
	o.Each = v.each
	rep, err := r.Run(ctx, s, o)
	switch {
	case ctx.Err() != nil:
		return nil // as it was asked to
	case err != nil:
		return (&session{}).broken(rep, err)
	}
	v.say("%s", reports.Line(rep))
	v.say("%s", v.ending(rep))
	return nil
}

// each is scenarios.Options.Each.
func (v *visit) each(w *sim.World, api *kube.Server, at *sim.Step) (stop bool, err error) {
	steps := v.plain.Trace.Steps
	if v.parted == 0 && (at.Step > len(steps) || steps[at.Step-1].String() != at.String()) {
		v.parted = at.Step
	}
	if at.Step < v.next && at.Step != len(steps) {
		return false, nil
	}
	where := fmt.Sprintf("step %d of %d, %s: %s", at.Step, len(steps), at.At, at.Choice.Op.String())
	if !v.shown {
		v.show(where)
		v.shown = true
	}
	if v.asked != nil {
		v.asked <- where
	}
	o, err := v.session.Attend(w, api)
	v.next, v.asked = at.Step+o.Steps, o.Arrived
	return o.Steps == 0, err
}

// show prints how to read the cluster.
func (v *visit) show(where string) {
	v.say("%s seed %d is paused after %s", v.plain.Scenario, v.plain.Seed, where)
	fmt.Fprintf(v.cmd.OutOrStdout(), "export KUBECONFIG=%s\n", v.file)
	if v.keeps {
		v.say("the manager keeps its record in %s, which is not served", v.plain.Datastore)
	}
	if v.hold {
		v.say("Enter: one step; a number: that many steps; from another terminal: ipamsim step N")
	}
	v.say("read-only; Ctrl-C ends it")
}

// listen takes steps from the terminal.
func (v *visit) listen(ctx context.Context) {
	lines := bufio.NewScanner(v.cmd.InOrStdin())
	for lines.Scan() && ctx.Err() == nil {
		n, err := 1, error(nil)
		if text := strings.TrimSpace(lines.Text()); text != "" {
			if n, err = stepsOf(text); err != nil {
				v.say("%s", err)
				continue
			}
		}
		where, err := v.step(ctx, n)
		if err != nil {
			return
		}
		v.say("%s", where)
	}
}

// step is an attach.Stepper.
func (v *visit) step(ctx context.Context, n int) (string, error) {
	arrived := make(chan string, 1)
	if !v.session.Send(attach.Order{Steps: n, Arrived: arrived}) {
		return "", errOver
	}
	select {
	case where := <-arrived:
		return where, nil
	case <-v.session.Over():
		return "", errOver
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (v *visit) say(format string, args ...any) {
	fmt.Fprintln(v.cmd.ErrOrStderr(), "ipamsim: "+reports.Clean(fmt.Sprintf(format, args...)))
}
