// Package show does findings of the library again on upstream's own programs alone.
package show

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/grpclog"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"ipamsim/cmd/oracle/upstream"
)

// finding is a finding of the library, reproduced with upstream's own programs, always including
// kube-apiserver with its etcd: the same requests, and the same fault.
type finding struct {
	scenario string
	program  string         // the other one, that is built for it; "": there is none
	ranges   []netip.Prefix // of Services
	manager  string         // whose custom resources kube-apiserver has; "": there are none
	steps    []step
}

// step is a request, a fault or an observation, which it prints. The finding is shown as soon
// as a step has set cluster.shown.
type step func(context.Context, *cluster) error

// errNotShown is returned by a step that did not see what the next ones need.
var errNotShown = errors.New("not shown")

var findings = []finding{
	{"found-services-second-family-leaks", "", prefixes("10.96.0.0/29", "fd00:10:96::/125"), "", secondFamilyLeaks},
	{"found-services-lost-reply-frees-address", "", prefixes("10.96.0.0/29", "fd00:10:96::/112"), "", lostReplyFreesAddress},
	{"found-nodeipam-released-twice", "kube-controller-manager", wide, "", releasedTwice},
	{"found-nodeipam-replaced-under-its-name", "kube-controller-manager", wide, "", replacedUnderItsName},
	{"found-nodeipam-range-leaks", "kube-controller-manager", wide, "", rangeLeaks},
	{"found-nodeipam-deposed-leader", "kube-controller-manager", wide, "", deposedLeader},
	{"found-metallb-second-family-at-restart", "metallb-controller", wide, "metallb", secondFamilyAtRestart},
}

// wide are ranges of Services that say nothing of a finding.
var wide = prefixes("10.96.0.0/24", "fd00:10:96::/112")

func prefixes(all ...string) (out []netip.Prefix) {
	for _, p := range all {
		out = append(out, netip.MustParsePrefix(p))
	}
	return out
}

// Definitions are the custom resources of a manager, by its name.
type Definitions func(manager string) ([]*apiextv1.CustomResourceDefinition, error)

// Show reproduces one finding or "all" with a kube-apiserver, and prints the result; ok is false if one was not
// reproduced.
func Show(ctx context.Context, scenario, apiserver string, of Definitions, out *os.File) (ok bool, err error) {
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)) // that etcd is not there yet
	if os.Getenv(aloneVariable) != "" {
		if err := loopback(); err != nil {
			return false, err
		}
	}
	ok = true
	var names []string
	for _, f := range findings {
		if names = append(names, f.scenario); scenario != "all" && scenario != f.scenario {
			continue
		}
		var binary string
		if f.program != "" { // here, where there is a network
			if binary, err = upstream.Build(ctx, f.program, os.Stderr); err != nil {
				return false, err
			}
		}
		if upstream.Programs[f.program].Everywhere && os.Getenv(aloneVariable) == "" {
			seen, err := inNetworkOfItsOwn(ctx, f.scenario, apiserver, out)
			if err != nil {
				return false, err
			}
			ok = ok && seen
			continue
		}
		seen, err := f.run(ctx, apiserver, binary, of, out)
		if err != nil {
			return false, fmt.Errorf("%s: %w", f.scenario, err)
		}
		fmt.Fprintf(out, "  => %s\n", map[bool]string{true: "shown", false: "NOT shown"}[seen])
		ok = ok && seen
	}
	if scenario != "all" && !slices.Contains(names, scenario) {
		return false, fmt.Errorf("-show %s: want all or one of %s", scenario, strings.Join(names, ", "))
	}
	return ok, nil
}

// run is one finding on a server of its own.
func (f *finding) run(ctx context.Context, apiserver, binary string, of Definitions, out io.Writer) (bool, error) {
	dir, err := os.MkdirTemp("", "ipamsim-oracle-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lose := &losing{}
	s, err := upstream.Serve(ctx, apiserver, dir, upstream.Setup{Ranges: f.ranges, Through: lose.listen})
	if s != nil && s.Process != nil {
		defer s.Stop()
	}
	if err != nil {
		return false, err
	}
	if f.manager != "" {
		crds, err := of(f.manager)
		if err == nil {
			err = s.Define(ctx, crds)
		}
		if err != nil {
			return false, err
		}
	}
	release, err := upstream.Programs["apiserver"].Release(ctx)
	on := "kube-apiserver " + release
	if f.program != "" && err == nil {
		release, err = upstream.Programs[f.program].Release(ctx)
		on += " and " + f.program + " " + release
	}
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s, on %s, with Services in %s and %s\n", f.scenario, on, f.ranges[0], f.ranges[1])
	c := &cluster{Server: s, lose: lose, dir: dir, binary: binary, out: out, seen: map[string]string{}, atEnd: func() {}}
	defer func() { c.atEnd() }()
	if err := all(f.steps...)(ctx, c); err != nil && !errors.Is(err, errNotShown) {
		return false, err
	}
	return c.shown, nil
}

// all does steps until one shows the finding or returns an error.
func all(steps ...step) step {
	return func(ctx context.Context, c *cluster) error {
		for _, do := range steps {
			if err := do(ctx, c); err != nil || c.shown {
				return err
			}
		}
		return nil
	}
}

// say prints what steps before it have done.
func say(what string) step {
	return act(func(c *cluster) { fmt.Fprintln(c.out, "  "+what) })
}

// act is a step that cannot fail.
func act(do func(*cluster)) step {
	return func(_ context.Context, c *cluster) error {
		do(c)
		return nil
	}
}

// post makes an object.
func post(uri, name string, o object) step {
	return func(ctx context.Context, c *cluster) error { return c.write(ctx, http.MethodPost, uri, name, o) }
}

// object is a manifest or a part of one.
type object = map[string]any

// cluster is a server as a user sees it, and what steps leave to those that follow.
type cluster struct {
	*upstream.Server
	lose *losing
	dir  string // for what programs write
	// binary is of the finding's program.
	binary string
	out    io.Writer

	program *upstream.Process // the finding's that was started last
	net     *between          // before it
	coming  []<-chan struct{} // closed when a request has come that net loses or keeps
	release func(lose bool)   // ends what net keeps
	heal    func()            // ends the partition of net
	seen    map[string]string // addresses, by the object that had them
	atEnd   func()
	shown   bool
}

func (c *cluster) get(ctx context.Context, uri string, into any) error {
	resp, answer, err := c.Send(ctx, http.MethodGet, uri, "", "application/json", nil)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", uri, resp.Status)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// write sends a request that must succeed, and reports it. A nil object is none.
func (c *cluster) write(ctx context.Context, method, uri, name string, o object) (err error) {
	to, body := uri, []byte(nil)
	if o != nil {
		if body, err = json.Marshal(o); err != nil {
			return err
		}
	}
	if method != http.MethodPost {
		to += "/" + name
	}
	resp, answer, err := c.Send(ctx, method, to, "application/json", "application/json", body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s %s", method, to, resp.Status, answer)
	}
	if err == nil {
		fmt.Fprintf(c.out, "  %s %s/%s\n", method, path.Base(uri), name)
	}
	return err
}

// patienceMax is how long a controller may take that has something to do.
const patienceMax = time.Minute

// within polls a condition, and reports whether it became true in time.
func within(ctx context.Context, patience time.Duration, is func(context.Context) (bool, error)) (bool, error) {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, is)
	if err != nil && ctx.Err() == nil && wait.Interrupted(err) {
		return false, nil
	}
	return err == nil, err
}
