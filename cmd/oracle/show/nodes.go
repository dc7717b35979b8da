package show

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/cmd/oracle/upstream"
)

const nodes = "/api/v1/nodes"

// ranges is a cluster whose nodes kube-controller-manager gives a /24 each, of 10.244.0.0/23.
type ranges struct {
	*cluster
	net     *between // before kube-controller-manager
	manager *upstream.Process
}

// ranged starts kube-controller-manager with node IPAM alone.
func ranged(ctx context.Context, c *cluster, flags ...string) (*ranges, error) {
	b, err := stand(ctx, c.Server)
	if err != nil {
		return nil, err
	}
	r := &ranges{cluster: c, net: b}
	return r, r.manage(ctx, flags...)
}

// manage starts it, once more if it has run.
func (r *ranges) manage(ctx context.Context, flags ...string) error {
	dir, err := os.MkdirTemp(r.dir, "manager-")
	if err != nil {
		return err
	}
	file, err := r.net.kubeconfig(r.Server, dir)
	if err != nil {
		return err
	}
	r.manager, err = upstream.Start(ctx, "kube-controller-manager", r.binary, dir, nil, append([]string{
		"--kubeconfig=" + file, "--controllers=node-ipam-controller", "--allocate-node-cidrs", "--cluster-cidr=10.244.0.0/23", "--node-cidr-mask-size=24", "--secure-port=0",
	}, flags...)...)
	return err
}

const alone = "--leader-elect=false"

// join makes Nodes.
func (c *cluster) join(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := c.write(ctx, http.MethodPost, nodes, name, object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name}}); err != nil {
			return err
		}
	}
	return nil
}

// leave deletes a Node.
func (c *cluster) leave(ctx context.Context, name string) error {
	return c.write(ctx, http.MethodDelete, nodes, name, nil)
}

// replace deletes a Node and makes another one, or one of its name.
func (c *cluster) replace(ctx context.Context, name, as string) error {
	if err := c.leave(ctx, name); err != nil {
		return err
	}
	return c.join(ctx, as)
}

// gets waits until a Node has a podCIDR, and returns it; "" if it gets none for as long as
// patience lasts.
func (c *cluster) gets(ctx context.Context, name string, patience time.Duration) (string, error) {
	var n corev1.Node
	has, err := within(ctx, patience, func(ctx context.Context) (bool, error) {
		err := c.get(ctx, nodes+"/"+name, &n)
		return n.Spec.PodCIDR != "", err
	})
	switch {
	case err != nil:
		return "", err
	case has:
		fmt.Fprintf(c.out, "  GET nodes/%s: %s\n", name, n.Spec.PodCIDR)
	default:
		fmt.Fprintf(c.out, "  GET nodes/%s: none within %v\n", name, patience)
	}
	return n.Spec.PodCIDR, nil
}

// both reports whether a second Node has the podCIDR that a first one holds, and tells it.
func (c *cluster) both(first, held, second, got string) bool {
	if got == "" || got != held {
		return false
	}
	fmt.Fprintf(c.out, "  nodes/%s and nodes/%s both have %s\n", first, second, got)
	return true
}

// come waits for a request.
func come(ctx context.Context, met <-chan struct{}, what string) error {
	select {
	case <-met:
		return nil
	case <-time.After(patienceMax):
		return errors.New(what + ": it did not come")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unanswered has Nodes join, of which n0 is given a podCIDR whose answer is lost, and the
// next attempt waits until again is called, which lets it fail.
func (r *ranges) unanswered(ctx context.Context, others ...string) (again func(lose bool), err error) {
	first := r.net.lose(http.MethodPatch, nodes+"/n0")
	second, again := r.net.keep(http.MethodPatch, nodes+"/n0")
	if err := r.join(ctx, "n0"); err != nil {
		return nil, err
	}
	if err := come(ctx, first, "PATCH nodes/n0"); err != nil {
		return nil, err
	}
	if err := come(ctx, second, "PATCH nodes/n0 again"); err != nil {
		return nil, err
	}
	fmt.Fprintln(r.out, "  kube-controller-manager: PATCH nodes/n0, done, and the answer lost; PATCH nodes/n0 hangs")
	if _, err := r.gets(ctx, "n0", patienceMax); err != nil {
		return nil, err
	}
	if err := r.join(ctx, others...); err != nil {
		return nil, err
	}
	_, err = r.gets(ctx, others[0], patienceMax)
	return again, err
}

// releasedTwice: the last attempt for n0, which is gone, is answered with 404, and its
// podCIDR is released while m0 has it.
func releasedTwice(ctx context.Context, c *cluster) (bool, error) {
	r, err := ranged(ctx, c, alone)
	if err != nil {
		return false, err
	}
	again, err := r.unanswered(ctx, "n1")
	if err != nil {
		return false, err
	}
	if err := r.replace(ctx, "n0", "m0"); err != nil {
		return false, err
	}
	held, err := r.gets(ctx, "m0", patienceMax)
	if err != nil {
		return false, err
	}
	r.fails(again)
	for _, turn := range [][2]string{{"n1", "m1"}, {"m1", "m2"}} {
		if err := r.replace(ctx, turn[0], turn[1]); err != nil {
			return false, err
		}
		got, err := r.gets(ctx, turn[1], patienceMax)
		if err != nil || r.both("m0", held, turn[1], got) {
			return err == nil, err
		}
	}
	return false, nil
}

// fails lets the attempt that hangs fail, and gives what follows from it a moment.
func (r *ranges) fails(again func(lose bool)) {
	again(true)
	fmt.Fprintln(r.out, "  kube-controller-manager: PATCH nodes/n0 fails, and is sent again")
	time.Sleep(2 * time.Second)
}

// replacedUnderItsName: the last attempt for n0 gives its podCIDR to another machine of that
// name, while n2 has it.
func replacedUnderItsName(ctx context.Context, c *cluster) (bool, error) {
	r, err := ranged(ctx, c, alone)
	if err != nil {
		return false, err
	}
	again, err := r.unanswered(ctx, "n1", "n2")
	if err != nil {
		return false, err
	}
	if err := r.leave(ctx, "n0"); err != nil {
		return false, err
	}
	held, err := r.gets(ctx, "n2", patienceMax)
	if err == nil {
		err = r.join(ctx, "n0")
	}
	if err != nil {
		return false, err
	}
	r.fails(again)
	got, err := r.gets(ctx, "n0", patienceMax)
	return c.both("n2", held, "n0", got), err
}

// rangeLeaks: while kube-controller-manager has no watch, n0 is replaced under its name, and
// etcd is compacted, so that it must list again. Nobody has the podCIDR of the old n0 then,
// and nobody gets it until there is another kube-controller-manager.
func rangeLeaks(ctx context.Context, c *cluster) (bool, error) {
	r, err := ranged(ctx, c, alone)
	if err == nil {
		err = r.join(ctx, "n0", "n1")
	}
	if err != nil {
		return false, err
	}
	leaked, err := r.gets(ctx, "n0", patienceMax)
	if err == nil {
		_, err = r.gets(ctx, "n1", patienceMax)
	}
	if err != nil {
		return false, err
	}
	mend := r.net.part(nodes)
	if err := r.replace(ctx, "n0", "n0"); err != nil {
		return false, err
	}
	if err := c.compact(ctx); err != nil {
		return false, err
	}
	mend()
	fmt.Fprintln(r.out, "  kube-controller-manager had no watch meanwhile, and etcd is compacted: it lists again")
	if err := r.leave(ctx, "n1"); err != nil {
		return false, err
	}
	if _, err := r.gets(ctx, "n0", patienceMax); err != nil {
		return false, err
	}
	if err := r.join(ctx, "n2"); err != nil {
		return false, err
	}
	got, err := r.gets(ctx, "n2", 30*time.Second)
	if err != nil || got != "" {
		return false, err
	}
	r.manager.Stop()
	if err := r.manage(ctx, alone); err != nil {
		return false, err
	}
	fmt.Fprintln(r.out, "  kube-controller-manager is started again")
	got, err = r.gets(ctx, "n2", patienceMax)
	return got == leaked, err
}

// compact forgets what etcd had before its last write.
func (c *cluster) compact(ctx context.Context) error {
	now, err := c.Etcd.Get(ctx, "/")
	if err == nil {
		_, err = c.Etcd.Compact(ctx, now.Header.Revision)
	}
	return err
}

// deposedLeader: a leader stands still with a PATCH under way. Its successor gives what that
// names to another Node; then it arrives.
func deposedLeader(ctx context.Context, c *cluster) (bool, error) {
	first, err := ranged(ctx, c)
	if err == nil {
		err = c.join(ctx, "n0")
	}
	if err != nil {
		return false, err
	}
	if _, err := c.gets(ctx, "n0", patienceMax); err != nil {
		return false, err
	}
	met, arrive := first.net.keep(http.MethodPatch, nodes+"/n4")
	if err := c.join(ctx, "n4"); err != nil {
		return false, err
	}
	if err := come(ctx, met, "PATCH nodes/n4"); err != nil {
		return false, err
	}
	if err := first.manager.Cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return false, err
	}
	defer func() { _ = first.manager.Cmd.Process.Signal(syscall.SIGCONT) }()
	fmt.Fprintln(c.out, "  kube-controller-manager: PATCH nodes/n4 is under way; it stands still (SIGSTOP), and another one is started")
	if err := c.join(ctx, "n3"); err != nil {
		return false, err
	}
	if _, err := ranged(ctx, c); err != nil {
		return false, err
	}
	held, err := c.gets(ctx, "n3", patienceMax)
	if err != nil {
		return false, err
	}
	arrive(false)
	fmt.Fprintln(c.out, "  PATCH nodes/n4 arrives")
	got, err := c.gets(ctx, "n4", patienceMax)
	return c.both("n3", held, "n4", got), err
}
