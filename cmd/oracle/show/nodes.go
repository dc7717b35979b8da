package show

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"ipamsim/cmd/oracle/upstream"
)

const nodes = "/api/v1/nodes"

const alone = "--leader-elect=false"

// unanswered: n0 is given a podCIDR whose answer is lost, and the next attempt waits.
var unanswered = []step{
	manage(alone), lose("n0"), keep("n0"), join("n0"), come,
	say("kube-controller-manager: PATCH nodes/n0, done, and the answer lost; PATCH nodes/n0 hangs"), gets("n0"),
}

// releasedTwice: the last attempt for n0, which is gone, is answered with 404, and its
// podCIDR is released while m0 has it.
var releasedTwice = slices.Concat(unanswered, []step{
	join("n1"), gets("n1"), replace("n0", "m0"), gets("m0"), fails,
	replace("n1", "m1"), gets("m1"), both("m0", "m1"),
	replace("m1", "m2"), gets("m2"), both("m0", "m2"),
})

// replacedUnderItsName: the last attempt for n0 gives its podCIDR to another machine of that
// name, while n2 has it.
var replacedUnderItsName = slices.Concat(unanswered, []step{
	join("n1", "n2"), gets("n1"), leave("n0"), gets("n2"), join("n0"), fails, gets("n0"), both("n2", "n0"),
})

// rangeLeaks: while kube-controller-manager has no watch, n0 is replaced under its name, and
// etcd is compacted, so that it must list again. No Node has the podCIDR of the old n0 then,
// and none gets it until there is another kube-controller-manager.
var rangeLeaks = []step{
	manage(alone), join("n0", "n1"), gets("n0"), remember("n0", "the old n0"), gets("n1"),
	partition, replace("n0", "n0"), compact, restore,
	leave("n1"), gets("n0"), join("n2"), getsNone("n2", 30*time.Second),
	stop, manage(alone), say("kube-controller-manager is started again"), gets("n2"), equal("the old n0", "n2"),
}

// deposedLeader: a leader stands still with a PATCH in flight. Its successor gives what that
// names to another Node; then it arrives.
var deposedLeader = []step{
	manage(), join("n0"), gets("n0"), keep("n4"), join("n4"), come, suspend,
	say("kube-controller-manager: PATCH nodes/n4 is under way; it stands still (SIGSTOP), and another one is started"),
	join("n3"), manage(), gets("n3"), release(false), say("PATCH nodes/n4 arrives"), gets("n4"), both("n3", "n4"),
}

// manage starts kube-controller-manager with node IPAM alone, which gives each Node a /24 of
// 10.244.0.0/23, and a proxy before it.
func manage(flags ...string) step {
	return func(ctx context.Context, c *cluster) (err error) {
		if c.net, err = stand(ctx, c.Server); err != nil {
			return err
		}
		dir, err := os.MkdirTemp(c.dir, "manager-")
		if err != nil {
			return err
		}
		file, err := c.net.kubeconfig(c.Server, dir)
		if err != nil {
			return err
		}
		c.program, err = upstream.Start(ctx, "kube-controller-manager", c.binary, dir, nil, append([]string{
			"--kubeconfig=" + file, "--controllers=node-ipam-controller", "--allocate-node-cidrs", "--cluster-cidr=10.244.0.0/23", "--node-cidr-mask-size=24", "--secure-port=0",
		}, flags...)...)
		return err
	}
}

// stop ends it.
var stop = act(func(c *cluster) { c.program.Stop() })

// suspend stops it with SIGSTOP, until the finding ends.
func suspend(_ context.Context, c *cluster) error {
	p := c.program.Cmd.Process
	c.atEnd = func() { _ = p.Signal(syscall.SIGCONT) }
	return p.Signal(syscall.SIGSTOP)
}

// join makes Nodes.
func join(names ...string) step {
	var steps []step
	for _, name := range names {
		steps = append(steps, post(nodes, name, object{"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name}}))
	}
	return all(steps...)
}

// leave deletes a Node.
func leave(name string) step {
	return func(ctx context.Context, c *cluster) error { return c.write(ctx, http.MethodDelete, nodes, name, nil) }
}

// replace deletes a Node and makes another one, or one of its name.
func replace(name, as string) step { return all(leave(name), join(as)) }

// gets waits until a Node has a podCIDR.
func gets(name string) step {
	return func(ctx context.Context, c *cluster) error { return c.watch(ctx, name, patienceMax) }
}

// getsNone waits, and a Node must have no podCIDR for that long.
func getsNone(name string, patience time.Duration) step {
	return func(ctx context.Context, c *cluster) error {
		err := c.watch(ctx, name, patience)
		if err == nil && c.seen[name] != "" {
			err = errNotShown
		}
		return err
	}
}

// watch waits until a Node has a podCIDR, and records it; "" if it gets none for as long as
// patience lasts.
func (c *cluster) watch(ctx context.Context, name string, patience time.Duration) error {
	var n corev1.Node
	has, err := within(ctx, patience, func(ctx context.Context) (bool, error) {
		err := c.get(ctx, nodes+"/"+name, &n)
		return n.Spec.PodCIDR != "", err
	})
	switch {
	case err != nil:
		return err
	case has:
		fmt.Fprintf(c.out, "  GET nodes/%s: %s\n", name, n.Spec.PodCIDR)
	default:
		fmt.Fprintf(c.out, "  GET nodes/%s: none within %v\n", name, patience)
	}
	c.seen[name] = n.Spec.PodCIDR
	return nil
}

// remember keeps what a Node had under another name.
func remember(name, as string) step {
	return act(func(c *cluster) { c.seen[as] = c.seen[name] })
}

// equal shows the finding if two Nodes had the same podCIDR.
func equal(first, second string) step {
	return act(func(c *cluster) { c.shown = c.seen[second] != "" && c.seen[first] == c.seen[second] })
}

// both is equal for two Nodes that exist, and prints it.
func both(first, second string) step {
	return act(func(c *cluster) {
		if c.shown = c.seen[second] != "" && c.seen[first] == c.seen[second]; c.shown {
			fmt.Fprintf(c.out, "  nodes/%s and nodes/%s both have %s\n", first, second, c.seen[second])
		}
	})
}

// lose loses the answer to the next PATCH of a Node.
func lose(name string) step {
	return act(func(c *cluster) { c.coming = append(c.coming, c.net.lose(http.MethodPatch, nodes+"/"+name)) })
}

// keep keeps the next PATCH of a Node, behind those that lose their answer.
func keep(name string) step {
	return act(func(c *cluster) {
		met, end := c.net.keep(http.MethodPatch, nodes+"/"+name)
		c.coming, c.release = append(c.coming, met), end
	})
}

// come waits for the requests that are lost and kept.
func come(ctx context.Context, c *cluster) error {
	for _, met := range c.coming {
		select {
		case <-met:
		case <-time.After(patienceMax):
			return errors.New("PATCH nodes: it did not come")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// release passes on the request that is kept, or loses it.
func release(lose bool) step { return act(func(c *cluster) { c.release(lose) }) }

// fails loses the request that is kept, and gives what follows from it a moment.
var fails = all(release(true), say("kube-controller-manager: PATCH nodes/n0 fails, and is sent again"),
	act(func(*cluster) { time.Sleep(2 * time.Second) }))

// partition ends the watches of Nodes, until restore.
var partition = act(func(c *cluster) { c.heal = c.net.partition(nodes) })

var restore = all(act(func(c *cluster) { c.heal() }),
	say("kube-controller-manager had no watch in the meantime, and etcd is compacted: it lists again"))

// compact forgets what etcd had before its last write.
func compact(ctx context.Context, c *cluster) error {
	now, err := c.Etcd.Get(ctx, "/")
	if err == nil {
		_, err = c.Etcd.Compact(ctx, now.Header.Revision)
	}
	return err
}
