package replay

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"ipamsim/cmd/oracle/upstream"
)

// Pool has a server for each set of definitions of custom resources, with and without admission. One run after the
// other uses it: what a run has stored is taken out of its etcd before the next.
type Pool struct {
	Dir    string // of their files
	binary string
	by     map[[sha256.Size]byte]*Server
}

// NewPool has servers of a kube-apiserver that was built before.
func NewPool(binary string) (*Pool, error) {
	dir, err := os.MkdirTemp("", "ipamsim-oracle-")
	return &Pool{binary: binary, Dir: dir, by: map[[sha256.Size]byte]*Server{}}, err
}

// Server is one with these definitions and nothing else stored in it but its own.
func (p *Pool) Server(ctx context.Context, crds []*apiextv1.CustomResourceDefinition, controlled bool) (*Server, error) {
	b, err := json.Marshal([]any{controlled, crds})
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(b)
	if s := p.by[key]; s != nil {
		return s, s.reset(ctx)
	}
	dir := filepath.Join(p.Dir, strconv.Itoa(len(p.by)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	started, err := upstream.Serve(ctx, p.binary, dir, upstream.Setup{Controlled: controlled, Ranges: serviceRanges})
	s := &Server{Server: started}
	if started != nil && started.Process != nil {
		p.by[key] = s
	}
	if err != nil {
		return nil, err
	}
	if err := s.Define(ctx, crds); err != nil {
		return nil, err
	}
	return s, s.remember(ctx)
}

// Close stops them all.
func (p *Pool) Close() {
	for _, s := range p.by {
		s.Stop()
	}
	_ = os.RemoveAll(p.Dir)
}
