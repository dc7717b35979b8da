package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the "nonroot" of distroless images, and that of the CronJob.
const user = "65532:65532"

// writeImage writes an OCI archive with an image for each Linux program. An image has
// /ipamsim, the CA certificates of Mozilla, and an empty /tmp.
func writeImage(file string, programs []program, version string, at time.Time) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		if p.Goos != "linux" {
			continue
		}
		img, err := imageOf(p, version, at)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: p.Goos, Architecture: p.Goarch}, Annotations: map[string]string{"org.opencontainers.image.ref.name": version},
		}})
	}
	dir, err := os.MkdirTemp(filepath.Dir(file), "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if _, err := layout.Write(dir, index); err != nil {
		return err
	}
	return archive(file, dir, at)
}

func imageOf(p program, version string, at time.Time) (v1.Image, error) {
	text, err := os.ReadFile(p.Path)
	if err != nil {
		return nil, err
	}
	layer, err := layerOf(at, []entry{
		{"etc/", nil, 0o755}, {"etc/ssl/", nil, 0o755}, {"etc/ssl/certs/", nil, 0o755},
		{"etc/ssl/certs/ca-certificates.crt", certificates(), 0o644},
		{"ipamsim", text, 0o755}, {"tmp/", nil, 0o1777},
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1), layer)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.Goos, p.Goarch, v1.Time{Time: at}
	config.Config = v1.Config{Entrypoint: []string{"/ipamsim"}, User: user, WorkingDir: "/tmp", Env: []string{"HOME=/tmp", "PATH=/"},
		Labels: map[string]string{"org.opencontainers.image.title": "ipamsim", "org.opencontainers.image.version": version, "org.opencontainers.image.licenses": "Apache-2.0"}}
	return mutate.ConfigFile(img, config)
}

// certificates are the CA certificates of Mozilla, as PEM. Those that are trusted only with
// constraints, which a file cannot express, are left out.
func certificates() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // to memory
		}
	}
	return b.Bytes()
}

// entry is a file of a layer, or a folder if its name ends in a slash.
type entry struct {
	name string
	text []byte
	mode int64
}

func layerOf(at time.Time, entries []entry) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := add(w, e, at); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }, tarball.WithMediaType(types.OCILayer))
}

func add(w *tar.Writer, e entry, at time.Time) error {
	h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.text)), ModTime: at, Typeflag: tar.TypeReg}
	if e.name[len(e.name)-1] == '/' {
		h.Typeflag = tar.TypeDir
	}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err := w.Write(e.text)
	return err
}

// archive writes the files of dir as a tar file, sorted by name.
func archive(file, dir string, at time.Time) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return add(w, entry{filepath.ToSlash(name), text, 0o644}, at)
	})
	if err != nil {
		return err
	}
	return w.Close()
}
