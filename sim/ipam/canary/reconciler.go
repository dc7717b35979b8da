package canary

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"ipamsim/sim"
)

// reconcilerName is of one pass over all ledgers, for cron to start.
const reconcilerName = "canary-reconciler"

// reconcile releases the claims of pod objects that no longer exist.
//
// The order matters: the claims are read first and each pod after them. A pod that is listed first
// could be created, get an address and be claimed between the two reads, and its claim would look
// like an orphan. A UID is never reused, so a missing pod object is still missing when the ledger
// is written, however often the write is retried.
func (i *instance) reconcile(ctx context.Context, g *sim.Gate, _ string) error {
	d, err := i.client(g)
	if err != nil {
		return err
	}
	list, err := d.client.Resource(poolsGVR).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("canary: reconcile: %w", err)
	}
	for n := range list.Items {
		l, err := decode(&list.Items[n])
		if err != nil {
			return err
		}
		if err := d.reconcile(ctx, &l); err != nil {
			return err
		}
		if bugs[l.Bug].spin && len(l.Claims) > 0 {
			return d.spin(ctx, &l)
		}
	}
	return nil
}

// controllerName is the name of a daemon that does nothing, unless a bug makes it exit once there
// are claims.
const controllerName = "canary-controller"

func (i *instance) control(ctx context.Context, g *sim.Gate, _ string) error {
	d, err := i.client(g)
	if err != nil {
		return err
	}
	for {
		list, err := d.client.Resource(poolsGVR).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for n := range list.Items {
			if l, err := decode(&list.Items[n]); err == nil && bugs[l.Bug].exits && len(l.Claims) > 0 {
				return fmt.Errorf("canary: %d claims are more than this controller can bear", len(l.Claims))
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// owner is the pod object that a claim was made for.
type owner struct{ pod, uid string }

func (d *client) reconcile(ctx context.Context, l *ledger) error {
	gone := map[owner]bool{}
	some := false
	for _, k := range l.Claims {
		o := owner{k.Pod, k.UID}
		if _, asked := gone[o]; asked {
			continue
		}
		alive, err := d.exists(ctx, k)
		if err != nil {
			return fmt.Errorf("canary: reconcile: %w", err)
		}
		gone[o] = !alive
		some = some || !alive
	}
	if !some && !l.loose() {
		return nil
	}
	return d.change(ctx, l.Network, func(l *ledger) (bool, error) {
		return l.release(func(k claim) bool { return gone[owner{k.Pod, k.UID}] }), nil
	})
}

// spin asks for the owner of a claim again and again.
func (d *client) spin(ctx context.Context, l *ledger) error {
	for {
		if _, err := d.exists(ctx, l.Claims[0]); err != nil {
			return err
		}
		select {
		case <-time.After(pause / 50):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// loose reports whether a reservation has no claim.
func (l *ledger) loose() bool {
	return slices.ContainsFunc(l.Reservations, func(r reservation) bool { return !l.claimed(r.Addr) })
}
