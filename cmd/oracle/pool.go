package main

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

// pool has a server for each set of definitions of custom resources, with and without admission. One run after the
// other uses it: what a run has stored is taken out of its etcd before the next.
type pool struct {
	binary, dir string
	by          map[[sha256.Size]byte]*server
}

func newPool(binary string) (*pool, error) {
	dir, err := os.MkdirTemp("", "ipamsim-oracle-")
	return &pool{binary: binary, dir: dir, by: map[[sha256.Size]byte]*server{}}, err
}

// get is a server with these definitions and nothing else stored in it but its own.
func (p *pool) get(ctx context.Context, crds []*apiextv1.CustomResourceDefinition, controlled bool) (*server, error) {
	b, err := json.Marshal([]any{controlled, crds})
	if err != nil {
		return nil, err
	}
	key := sha256.Sum256(b)
	if s := p.by[key]; s != nil {
		return s, s.reset(ctx)
	}
	dir := filepath.Join(p.dir, strconv.Itoa(len(p.by)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	started, err := upstream.Serve(ctx, p.binary, dir, upstream.Setup{Controlled: controlled, Ranges: serviceRanges})
	s := &server{Server: started}
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

func (p *pool) close() {
	for _, s := range p.by {
		s.Stop()
	}
	_ = os.RemoveAll(p.dir)
}
