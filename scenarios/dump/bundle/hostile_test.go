package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
)

// zeros are as many bytes of one kind.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// gzipped packs what write writes.
func gzipped(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tarred is a tar archive of these headers, without contents.
func tarred(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, strings.NewReader(object), min(h.Size, int64(len(object)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const object = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n"

var regular = tar.Header{Name: "a/n.yaml", Size: int64(len(object)), Mode: 0o600, Typeflag: tar.TypeReg}

// manyEntries are so many empty files.
func manyEntries(w io.Writer, n int) {
	t := tar.NewWriter(w)
	for i := range n {
		_ = t.WriteHeader(&tar.Header{Name: fmt.Sprint("f", i, ".yaml"), Mode: 0o600, Typeflag: tar.TypeReg})
	}
	_ = t.Close()
}

// processor is the time that this process has used: the machine may be busy with others.
func processor(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestHostile: archive bombs, links, paths that leave the archive and a million entries
// are refused within 2 s and 200 MiB, with an error of one line that names the archive.
func TestHostile(t *testing.T) {
	named := func(name string) []byte {
		h := regular
		h.Name = name
		return tarred(t, h)
	}
	deep := tarred(t, regular)
	for range 8 {
		inner := deep
		deep = gzipped(t, func(w io.Writer) { _, _ = w.Write(inner) })
	}
	tests := []struct {
		name, want string
		data       func() []byte
	}{
		{"bomb.tgz", "times its size", func() []byte {
			return gzipped(t, func(w io.Writer) {
				a := tar.NewWriter(w)
				_ = a.WriteHeader(&tar.Header{Name: "x.yaml", Size: 4 << 30, Typeflag: tar.TypeReg})
				_, _ = io.CopyN(a, zeros{}, 100<<20)
			})
		}},
		{"bomb.yaml.gz", "an object of more than 32 MiB", func() []byte {
			return gzipped(t, func(w io.Writer) {
				_, _ = io.WriteString(w, object+"data:\n")
				for range 1 << 13 {
					_, _ = io.WriteString(w, strings.Repeat("  a: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", 1<<8))
				}
			})
		}},
		{"bomb.xz.xz", "times its size", func() []byte { return xzOf(t, xzBomb) }},
		{"bomb.tar.zst", "times its size", func() []byte {
			return zstdOf(t, 8<<20, func(w io.Writer) {
				a := tar.NewWriter(w)
				_ = a.WriteHeader(&tar.Header{Name: "x.yaml", Size: 4 << 30, Typeflag: tar.TypeReg})
				_, _ = io.CopyN(a, zeros{}, 100<<20)
			})
		}},
		{"wide.xz", "more than 64 MiB of memory", func() []byte { return xzOf(t, xzWide) }},
		{"wide.zst", "more than 64 MiB of memory", func() []byte {
			return zstdOf(t, 256<<20, func(w io.Writer) {
				for range 300 {
					_, _ = io.WriteString(w, strings.Repeat(object, 1<<14))
				}
			})
		}},
		{"many-wide.tar", "", func() []byte { return archive(t, "n*.yaml.xz", xzOf(t, xzObject), 2000) }},
		{"bomb.zip", "times its size", func() []byte {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for i := range 3 {
				w, _ := z.Create(fmt.Sprint(i, ".tar"))
				h := regular
				h.Size = 40 << 20
				var head bytes.Buffer
				_ = tar.NewWriter(&head).WriteHeader(&h)
				_, _ = w.Write(head.Bytes())
				_, _ = io.CopyN(w, zeros{}, h.Size)
			}
			_ = z.Close()
			return b.Bytes()
		}},
		{"nested.gz", "archives within archives", func() []byte { return deep }},
		{"million.tar", "more than 100000 files", func() []byte {
			var b bytes.Buffer
			manyEntries(&b, 101_000)
			return b.Bytes()
		}},
		{"million.tgz", "refused", func() []byte { return gzipped(t, func(w io.Writer) { manyEntries(w, 101_000) }) }},
		{"million.zip", "more than 100000 files", func() []byte {
			var b bytes.Buffer
			z := zip.NewWriter(&b)
			for i := range 101_000 {
				_, _ = z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint("f", i, ".yaml")})
			}
			_ = z.Close()
			return b.Bytes()
		}},
		{"up.tar", `the path "../../etc/passwd" leaves the archive`, func() []byte { return named("../../etc/passwd") }},
		{"root.tar", "leaves the archive", func() []byte { return named("/etc/n.yaml") }},
		{"windows.tar", "leaves the archive", func() []byte { return named(`..\..\n.yaml`) }},
		{"drive.tar", "leaves the archive", func() []byte { return named(`C:\n.yaml`) }},
		{"link.tar", "goes through a link in the archive", func() []byte {
			return tarred(t, tar.Header{Name: "a", Linkname: "/etc", Typeflag: tar.TypeSymlink}, regular)
		}},
		{"links.tar", "1 link is not followed", func() []byte {
			return tarred(t, tar.Header{Name: "n.yaml", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink})
		}},
		{"device.tar", "has no file to read", func() []byte {
			return tarred(t, tar.Header{Name: "n.yaml", Typeflag: tar.TypeChar})
		}},
		{"odd\nname.tar", "", func() []byte { return named("a\x1b[2J\n.yaml") }},
		{"cut.tgz", "unexpected EOF", func() []byte {
			all := gzipped(t, func(w io.Writer) { _, _ = w.Write(tarred(t, regular)) })
			return all[:len(all)/2]
		}},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), strings.ReplaceAll(x.name, "\n", "_"))
			if err := os.WriteFile(path, x.data(), 0o600); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			debug.FreeOSMemory()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := processor(t)
			c := dump.New(nil)
			err := (&bundle.Reader{Cluster: c}).Read([]string{path})
			took := processor(t) - start
			runtime.ReadMemStats(&after)
			memory := (after.Sys - before.Sys) >> 20
			if took > 2*time.Second || memory > 200 {
				t.Errorf("took %v and %d MiB", took, memory)
			}
			if x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("got %v, want …%s…", err, x.want)
			}
			if err != nil && (strings.ContainsAny(err.Error(), "\n\x1b") || !strings.HasPrefix(err.Error(), path)) {
				t.Errorf("no line with a file: %q", err)
			}
			t.Logf("%v, %d MiB: %v", took.Round(time.Millisecond), memory, err)
		})
	}
}
