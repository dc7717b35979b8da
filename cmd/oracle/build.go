package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// upstream is the nested module, seen from the top of the repository.
const upstream = "cmd/oracle/testdata/upstream"

// versions are what a release says of itself.
const versions = " -X k8s.io/component-base/version.gitVersion=v1.34.1 -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34"

// build makes a program of the nested module, unless it was made before: kube-apiserver
// takes minutes. It lies in the user's cache, not in the tree.
func build(ctx context.Context, pkg, name string, say io.Writer) (string, error) {
	sum := sha256.New()
	for _, f := range []string{"go.mod", "go.sum", "apiserver/main.go"} {
		b, err := os.ReadFile(filepath.Join(upstream, f))
		if err != nil {
			return "", fmt.Errorf("%w; run it in the project's directory", err)
		}
		sum.Write(b)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "ipamsim", "oracle", hex.EncodeToString(sum.Sum(nil))[:16])
	file := filepath.Join(dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	fmt.Fprintf(say, "oracle: building %s (minutes, once)\n", name)
	cmd := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w"+versions, "-o", file+".new", pkg)
	cmd.Dir = upstream
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = say, say
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("%s cannot be built here: %w", name, err), os.RemoveAll(file+".new"))
	}
	return file, os.Rename(file+".new", file)
}
