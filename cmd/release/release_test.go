package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
)

var dist = flag.String("dist", "", "the folder of a release (make release-test)")

// at is a commit's time.
var at = time.Unix(1_780_000_000, 0).UTC()

// TestFiles makes the SBOM and the image of a program, this test, twice: they are equal, and
// have what they should.
func TestFiles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	programs := []program{{Path: self, Goos: "linux", Goarch: "amd64", Type: "Binary"}, {Path: self, Goos: "darwin", Goarch: "arm64", Type: "Binary"}}
	licences := licencesOf("The licence is …\n\ngithub.com/CycloneDX/cyclonedx-go   v0.9.2   Apache-2.0\n")
	var sboms, images [2]string
	dir := t.TempDir()
	for i := range 2 {
		sbom, image := filepath.Join(dir, "a.cdx.json"), filepath.Join(dir, "image.tar")
		if err := errors.Join(writeSBOM(sbom, programs[0], "v0.1.0", licences, at), writeImage(image, programs, "v0.1.0", at)); err != nil {
			t.Fatal(err)
		}
		sboms[i], images[i] = read(t, sbom), read(t, image)
	}
	if sboms[0] != sboms[1] || images[0] != images[1] {
		t.Error("the second files differ from the first")
	}
	for _, part := range []string{`"specVersion": "1.6"`, `"purl": "pkg:golang/github.com/CycloneDX/cyclonedx-go@v`, `"Apache-2.0"`} {
		if !strings.Contains(sboms[0], part) {
			t.Errorf("the SBOM has no %s", part)
		}
	}
	files := unpackImage(t, filepath.Join(dir, "image.tar"), filepath.Join(dir, "root"))
	if files["ipamsim"] != 0o755 || files["etc/ssl/certs/ca-certificates.crt"] != 0o644 || len(files) != 2 {
		t.Errorf("files of the image: %v", files)
	}
	if pem := read(t, filepath.Join(dir, "root/etc/ssl/certs/ca-certificates.crt")); strings.Count(pem, "BEGIN CERTIFICATE") < 50 {
		t.Errorf("only %d CA certificates", strings.Count(pem, "BEGIN CERTIFICATE"))
	}
}

// TestSums replaces and sorts lines.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	sum := strings.Repeat("0", 64)
	write(t, filepath.Join(dir, "SHA256SUMS"), sum+"  c\n"+sum+"  b\n")
	write(t, filepath.Join(dir, "b"), "text")
	if err := addSums(dir, []string{"b"}); err != nil {
		t.Fatal(err)
	}
	const want = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
	if got := read(t, filepath.Join(dir, "SHA256SUMS")); got != want+"  b\n"+sum+"  c\n" {
		t.Errorf("SHA256SUMS:\n%s", got)
	}
}

// TestRelease uses a release as someone who has nothing else: no Go, no repository, no network,
// no other program.
func TestRelease(t *testing.T) {
	if *dist == "" {
		t.Skip("without -dist there is no release to test")
	}
	archives, err := filepath.Glob(filepath.Join(*dist, "ipamsim_v*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("archives of this platform: %q, %v", archives, err)
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "ipamsim")
	untar(t, archives[0], root)
	for _, file := range []string{"LICENSE", "NOTICE", "CHANGELOG.md", "man/ipamsim-run.1", "completions/ipamsim.bash"} {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			t.Error(err)
		}
	}
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) string {
		t.Helper()
		return alone(t, filepath.Join(root, "ipamsim"), work, want, args)
	}
	has := func(text, part string) {
		t.Helper()
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	has(run(0, "version"), "hermetic: ")
	began := time.Now()
	has(run(0, "demo"), "=> duplicate-address (critical)")
	t.Logf("ipamsim demo: %s", time.Since(began).Round(time.Millisecond))
	has(run(0, "gate", "r1-whereabouts-162"), "green: ")

	write(t, filepath.Join(work, "dump.yaml"), read(t, "../../scenarios/dump/testdata/truth/two-owners/dump.yaml"))
	has(run(1, "import", "--check", "--out", "cluster.yaml", "dump.yaml"), "findings: ")
	run(0, "plan", "tkg-small-range", "--out", "plan")
	if _, err := os.Stat(filepath.Join(work, "plan/index.html")); err != nil {
		t.Error(err)
	}
	run(1, "explore", "--space", "calico", "--time", "1m", "--out", "found")
	findings, _ := filepath.Glob(filepath.Join(work, "found/*.yaml"))
	if len(findings) == 0 {
		t.Fatal("explore found nothing in a minute")
	}
	has(run(0, "replay", "found/"+filepath.Base(findings[0])), "reproduced as recorded")
}

// TestReproducible builds the program of this platform again, from the source archive in another
// folder. It is equal byte for byte.
func TestReproducible(t *testing.T) {
	if *dist == "" {
		t.Skip("without -dist there is no release to test")
	}
	dir := t.TempDir()
	sources, err := filepath.Glob(filepath.Join(*dist, "ipamsim_v*_source.tar.gz"))
	if err != nil || len(sources) != 1 {
		t.Fatalf("source archives: %q, %v", sources, err)
	}
	untar(t, sources[0], dir)
	name := strings.TrimSuffix(filepath.Base(sources[0]), "_source.tar.gz")
	untar(t, filepath.Join(*dist, name+"_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"), filepath.Join(dir, "first"))
	first := filepath.Join(dir, "first", "ipamsim")
	version, err := exec.Command(first, "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	commit := strings.Fields(string(version))[2] // ipamsim v0.1.0 COMMIT
	build := exec.Command("bash", "-c", `set -euo pipefail
		overlay=$(go run ./cmd/hermetic); go run ./cmd/fork -overlay="$overlay"
		go build -overlay="$overlay" -tags=hermetic -gcflags=all=-dwarf=false -trimpath -buildvcs=false \
			-ldflags="-s -w -X ipamsim/cmd/cli.release=$VERSION -X ipamsim/cmd/cli.commit=$COMMIT" -o again ./cmd/ipamsim`)
	build.Dir = filepath.Join(dir, name+"_source")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "VERSION="+strings.TrimPrefix(name, "ipamsim_"), "COMMIT="+commit)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if read(t, first) != read(t, filepath.Join(build.Dir, "again")) {
		t.Error("the program differs from that of the release")
	}
}

// alone runs a program in folder work, without network and with nothing in its PATH.
func alone(t *testing.T, program, work string, want int, args []string) string {
	t.Helper()
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Fatal(err)
	}
	// Loopback is the only interface. The shell, which starts it, is gone when the program runs.
	script := ip + ` link set lo up && PATH=/nonexistent && export PATH && exec "$@"`
	cmd := exec.Command("unshare", append([]string{"--net", "--map-root-user", "/bin/sh", "-c", script, "sh", program}, args...)...)
	cmd.Dir, cmd.Env = work, []string{"HOME=" + work}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if code := cmd.ProcessState.ExitCode(); code != want {
		t.Fatalf("ipamsim %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
	return string(out)
}

// TestImage runs the image of this platform with chroot, as its user.
func TestImage(t *testing.T) {
	if *dist == "" {
		t.Skip("without -dist there is no release to test")
	}
	if os.Getuid() != 0 {
		t.Skip("chroot wants root")
	}
	images, err := filepath.Glob(filepath.Join(*dist, "ipamsim_v*_image.tar"))
	if err != nil || len(images) != 1 {
		t.Fatalf("images: %q, %v", images, err)
	}
	root := t.TempDir()
	unpackImage(t, images[0], root)
	if err := errors.Join(os.Chmod(root, 0o755), os.Mkdir(filepath.Join(root, "tmp"), 0o777), os.Chmod(filepath.Join(root, "tmp"), 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("chroot", "--userspec="+user, root, "/ipamsim", "demo")
	cmd.Env = []string{"HOME=/tmp", "PATH=/", "TMPDIR=/tmp"}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "=> duplicate-address (critical)") {
		t.Errorf("%v\n%s", err, out)
	}
}

// unpackImage unpacks the image of this platform in an OCI archive, and returns the mode of
// each file.
func unpackImage(t *testing.T, file, root string) map[string]int64 {
	t.Helper()
	dir := t.TempDir()
	untar(t, file, dir)
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]int64{}
	for _, d := range manifest.Manifests {
		if d.Platform.Architecture != runtime.GOARCH {
			continue
		}
		img, err := index.Image(d.Digest)
		if err != nil {
			t.Fatal(err)
		}
		layers, err := img.Layers()
		if err != nil {
			t.Fatal(err)
		}
		r, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		extract(t, r, root, files)
	}
	return files
}

func untar(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	extract(t, r, dir, map[string]int64{})
}

func extract(t *testing.T, r io.Reader, dir string, files map[string]int64) {
	t.Helper()
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, os.FileMode(h.Mode))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, tr); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		files[h.Name] = h.Mode
	}
}

// TestKrew: the manifest of the kubectl plugin names the archives with their checksums.
func TestKrew(t *testing.T) {
	if *dist == "" {
		t.Skip("without -dist there is no release to test")
	}
	manifest := read(t, filepath.Join(*dist, "krew/ipam-check.yaml"))
	for line := range strings.Lines(read(t, filepath.Join(*dist, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if platform := strings.HasSuffix(name, "64.tar.gz"); platform && (!strings.Contains(manifest, name) || !strings.Contains(manifest, sum)) {
			t.Errorf("the manifest lacks %s or its checksum", name)
		}
	}
	var artifacts []map[string]any
	if err := json.Unmarshal([]byte(read(t, filepath.Join(*dist, "artifacts.json"))), &artifacts); err != nil || len(artifacts) == 0 {
		t.Errorf("%d artifacts, %v", len(artifacts), err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
