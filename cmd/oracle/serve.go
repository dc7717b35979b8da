package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ipamsim/cmd/managers"
	"ipamsim/cmd/oracle/replay"
)

// serve starts a kube-apiserver that knows the custom resources of a manager, prints the
// path of a kubeconfig for it, and stops when the input ends.
func serve(ctx context.Context, manager string) error {
	m := managers.All().Find(manager)
	if m == nil {
		return fmt.Errorf("-serve: no manager %q", manager)
	}
	crds, err := m.Definitions()
	if err != nil {
		return err
	}
	servers, err := replay.NewPool(*apiserver)
	if err != nil {
		return err
	}
	defer servers.Close()
	s, err := servers.Server(ctx, crds, false)
	if err != nil {
		return err
	}
	file := filepath.Join(servers.Dir, "kubeconfig")
	if err := os.WriteFile(file, s.Kubeconfig(s.URL, s.Certificate), 0o600); err != nil {
		return err
	}
	fmt.Println(file)
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, os.Stdin); ended <- err }()
	select {
	case err := <-ended:
		return err
	case <-s.Done:
		return fmt.Errorf("kube-apiserver has ended: %s", s.Said())
	case <-ctx.Done():
		return nil
	}
}
