package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	_ "unsafe" // for linkname

	v3 "github.com/projectcalico/api/pkg/apis/projectcalico/v3"
	cipam "github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam"
	bapi "github.com/projectcalico/calico/libcalico-go/lib/backend/api"
	"github.com/projectcalico/calico/libcalico-go/lib/backend/model"
	"github.com/projectcalico/calico/libcalico-go/lib/clientv3"
	libipam "github.com/projectcalico/calico/libcalico-go/lib/ipam"
	"github.com/projectcalico/calico/libcalico-go/lib/options"

	"ipamsim/sim/ipam/calico/store"
)

//go:linkname releaseFromReports github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.releaseFromReports
func releaseFromReports(ctx context.Context, c clientv3.Interface, force bool, files []string, version string) error

//go:linkname mergeReports github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.mergeReports
func mergeReports([]cipam.Report) (map[string]libipam.ReleaseOptions, map[string]cipam.HandleInfo)

//go:linkname deleteHandle github.com/projectcalico/calico/calicoctl/calicoctl/commands/ipam.deleteHandle
func deleteHandle(bapi.Client, cipam.HandleInfo) error

// reports are what check --output wrote in this run, by the file's name; to the
// real file system nothing is written.
type reports map[string][]byte

// open is a nameless file in memory with the content of a report.
func (r reports) open(name string) (*os.File, error) {
	b, ok := r[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOENT}
	}
	f, err := memory(name)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(b)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// releaseReports is calicoctl ipam release --from-report.
//
// Upstream deletes handles with one worker for each processor; here it is as on
// a machine with one, so that a run does not depend on the machine.
func (op *execution) releaseReports(ctx context.Context, c clientv3.Interface, names []string, force bool) (string, error) {
	var paths, back []string // back: pathOf to name, for messages
	var read []cipam.Report
	for _, name := range names {
		f, err := op.console.reports.open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		paths = append(paths, pathOf(f))
		var r cipam.Report
		if err := json.Unmarshal(op.console.reports[name], &r); err != nil {
			return "", err
		}
		read = append(read, r)
		back = append(back, pathOf(f), name)
	}
	out, err := op.console.capture(func(s *screen) error {
		return releaseFromReports(ctx, &releasing{Interface: c, screen: s, reports: read}, force, paths, store.Version)
	})
	if err != nil {
		return out, errors.New(strings.NewReplacer(back...).Replace(err.Error()))
	}
	return out + "You may now unlock the data store.\n", nil
}

// releasing is the client for release --from-report, which talks to the
// datastore between its lines.
type releasing struct {
	clientv3.Interface
	screen  *screen
	reports []cipam.Report
}

func (r *releasing) ClusterInformation() clientv3.ClusterInformationInterface {
	return releasingCluster{r.Interface.ClusterInformation(), r.screen}
}

type releasingCluster struct {
	clientv3.ClusterInformationInterface
	screen *screen
}

func (r releasingCluster) Get(ctx context.Context, name string, o options.GetOptions) (*v3.ClusterInformation, error) {
	return away(ctx, r.screen, func(ctx context.Context) (*v3.ClusterInformation, error) {
		return r.ClusterInformationInterface.Get(ctx, name, o)
	})
}

func (r *releasing) IPAM() libipam.Interface { return releasingIPAM{r.Interface.IPAM(), r.screen} }

type releasingIPAM struct {
	libipam.Interface
	screen *screen
}

// Backend is asked for once, by the function that deletes the handles. They are
// deleted here, by its own deleteHandle; the backend it gets repeats the answers
// while it prints, because its workers and its printing overlap.
func (r *releasing) Backend() bapi.Client {
	_, leaked := mergeReports(r.reports)
	d := &deletions{errs: map[string]error{}, handles: leaked}
	_, _ = away(context.Background(), r.screen, func(context.Context) (any, error) {
		for _, id := range slices.Sorted(maps.Keys(leaked)) {
			d.errs[id] = deleteHandle(store.Backend(r.Interface), leaked[id])
		}
		return nil, nil
	})
	return d
}

// deletions repeats how the deletions of handles ended.
type deletions struct {
	bapi.Client
	errs    map[string]error
	handles map[string]cipam.HandleInfo
}

func (d *deletions) Get(_ context.Context, k model.Key, _ string) (*model.KVPair, error) {
	id := k.(model.IPAMHandleKey).HandleID
	if err := d.errs[id]; err != nil {
		return nil, err
	}
	h := d.handles[id]
	return &model.KVPair{Key: k, Revision: h.Revision, UID: h.UID}, nil
}

func (d *deletions) DeleteKVP(_ context.Context, kv *model.KVPair) (*model.KVPair, error) {
	return kv, nil
}
