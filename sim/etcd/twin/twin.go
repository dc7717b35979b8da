// Package twin holds the fast store against etcd: one client does the same things
// on both, and every answer, error, event and revision and the final store must be
// the same.
package twin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ipamsim/sim"
	"ipamsim/sim/etcd"
)

// Program is what a client does, one operation after another.
type Program []operation

// operation is one call. What it returns is the answer as text; whatever the store
// decides must be in it.
type operation struct {
	text string
	do   func(*player) string
}

func (p Program) String() string {
	var b strings.Builder
	for i, op := range p {
		fmt.Fprintf(&b, "%3d %s\n", i+1, op.text)
	}
	return b.String()
}

// GoString is String, for whoever prints what was drawn.
func (p Program) GoString() string { return "\n" + p.String() }

// operationsMax is how many a fuzzer's input can ask for.
const operationsMax = 200

// Decode makes a program of any bytes; longer ones do more.
func Decode(data []byte) Program {
	var p Program
	choose := func(n int) int {
		if len(data) == 0 {
			return 0
		}
		c := int(data[0]) % n
		data = data[1:]
		return c
	}
	for len(data) > 0 && len(p) < operationsMax {
		p = append(p, Draw(choose))
	}
	return p
}

// ErrDiffer is what the error of Play wraps if the two stores are not the same.
var ErrDiffer = errors.New("the stores differ")

// Play decodes a program and plays it on etcd and on the fast store.
func Play(s *etcd.Server, data []byte) error { return Decode(data).Play(s) }

// Play plays the program on etcd and on the fast store. It must not be called in a
// bubble, and ends the server's run before it.
func (p Program) Play(s *etcd.Server) error {
	run, err := s.Begin()
	if err != nil {
		return err
	}
	want, err := p.on(run)
	if err != nil {
		return err
	}
	got, err := p.on(s.BeginMemory())
	if err != nil {
		return err
	}
	for i := range want {
		if want[i] != got[i] {
			what := "at the end"
			if i < len(p) {
				what = fmt.Sprintf("operation %d, %s", i+1, p[i].text)
			}
			return fmt.Errorf("%w: %s:\netcd:   %s\nmemory: %s\nof the program\n%s", ErrDiffer, what, cut(want[i]), cut(got[i]), p)
		}
	}
	return nil
}

// cut shortens an answer for people.
func cut(text string) string {
	const most = 4000
	if len(text) > most {
		return fmt.Sprintf("%s… (%d bytes)", text[:most], len(text))
	}
	return text
}

// on plays the program on one store and returns what each operation came to, and
// what was left at the end.
func (p Program) on(run *etcd.Run) (told []string, err error) {
	defer run.End()
	_, err = sim.Run(context.Background(), sim.Options{Seed: 1}, func(w *sim.World) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		pl := newPlayer(ctx, run)
		for _, op := range p {
			answer := op.do(pl)
			told = append(told, answer+pl.news())
		}
		told = append(told, pl.end())
		w.Finish()
		return pl.wrong
	})
	if err != nil {
		err = fmt.Errorf("%w\nof the program\n%s", err, p)
	}
	return told, err
}
