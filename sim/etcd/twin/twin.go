// Package twin compares both of our stores with etcd: one client executes the same operations
// on each and on a plain etcd, and every answer, error, event and revision, and the final
// store, must be the same, at the same time.
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

// Program is a client's operations, in order.
type Program []operation

// operation is one call. It returns the answer as text, which must contain everything that the
// store decides.
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

// GoString is String, for printed test failures.
func (p Program) GoString() string { return "\n" + p.String() }

// operationsMax is the maximum number of operations of a fuzzer's input.
const operationsMax = 200

// Decode converts any bytes to a program; longer input has more operations.
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

// ErrDiffer is wrapped by the error of Play if the stores differ.
var ErrDiffer = errors.New("the stores differ")

// Play decodes a program and plays it on etcd and on the memory store.
func Play(s *etcd.Server, data []byte) error { return Decode(data).Play(s) }

// Play plays the program on plain etcd, on etcd under the bridge and on the memory store. It
// must not be called in a bubble, and ends the server's previous run.
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

// orders is the number of goroutine orders in which etcd plays a program before a difference
// counts. etcd revokes all expired leases at the same time, each in a goroutine: the order of
// their deletions is not defined. With three and more leases the matching order may be missing
// among these; programs have few that end together.
const orders = 16

// reordered counts the programs whose results matched only under another order.
var reordered atomic.Int64

// compare compares the results of each operation.
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

// play plays the program on the store that start creates in the bubble, and returns the result
// of each operation and the final state. The seed orders goroutines.
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
