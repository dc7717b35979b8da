// Package twin holds both stores of ours against etcd: one client does the same things
// on each and on an etcd with which we have nothing to do, and every answer, error,
// event and revision, and the final store, must be the same, at the same time.
package twin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

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

// Play plays the program on etcd by itself, on etcd under the bridge and on the fast
// store. It must not be called in a bubble, and ends the server's run before it.
func (p Program) Play(s *etcd.Server) error {
	run, err := s.Begin()
	if err != nil {
		return err
	}
	bridge, wantSum, err := p.on(run)
	if err != nil {
		return fmt.Errorf("bridge: %w", err)
	}
	memory, sum, err := p.on(s.BeginMemory())
	if err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	if sum != wantSum {
		return fmt.Errorf("%w: at the end:\nbridge: %s\nmemory: %s\nof the program\n%s", ErrDiffer, wantSum, sum, p)
	}
	var first error
	for order := range uint64(orders) {
		want, err := p.onEtcd(s, 1+order)
		if err != nil {
			return fmt.Errorf("etcd: %w", err)
		}
		err = p.compare(want, bridge, memory)
		if err == nil {
			if order > 0 {
				reordered.Add(1)
			}
			return nil
		}
		first = cmp.Or(first, err)
	}
	return first
}

// orders is under how many orders of its goroutines etcd plays a program before a
// difference is one. It revokes leases that it finds over at once, each in a goroutine:
// whose keys go first is not said. Of three and more, one order is not always among as
// many; programs have few that end together.
const orders = 16

// reordered counts the programs that etcd did as we do under another order only.
var reordered atomic.Int64

// compare what each operation came to.
func (p Program) compare(want, bridge, memory []string) error {
	for i := range want {
		if want[i] != bridge[i] || want[i] != memory[i] {
			what := "at the end"
			if i < len(p) {
				what = fmt.Sprintf("operation %d, %s", i+1, p[i].text)
			}
			return fmt.Errorf("%w: %s:\netcd:   %s\nbridge: %s\nmemory: %s\nof the program\n%s", ErrDiffer, what, cut(want[i]), cut(bridge[i]), cut(memory[i]), p)
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

// play plays the program on the store that start makes in the bubble, and returns what
// each operation came to, and what was left at the end. The seed orders goroutines.
func (p Program) play(seed uint64, start func(*player) (store, *clientv3.Client, error)) (answers []string, err error) {
	_, err = sim.Run(context.Background(), sim.Options{Seed: seed}, func(w *sim.World) error {
		began := time.Now()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		pl := &player{ctx: ctx, next: began.Add(firstAt)}
		var err error
		if pl.store, pl.client, err = start(pl); err != nil {
			return err
		}
		pl.settle()
		for _, op := range p {
			answer := op.do(pl)
			answers = append(answers, pl.store.plain(answer)+pl.news())
		}
		answers = append(answers, pl.end())
		cancel()
		err = pl.store.end()
		time.Sleep(step)
		w.Finish()
		return errors.Join(pl.wrong, err)
	})
	if err != nil {
		err = fmt.Errorf("%w\nof the program\n%s", err, p)
	}
	return answers, err
}
