// Package dumptest checks what holds of any dump.
package dumptest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"

	"github.com/klauspost/compress/zstd"

	"ipamsim/scenarios"
	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
	"ipamsim/scenarios/strict"
)

// Archives are a dump as people send it: in a Markdown fence, in a terminal's log, in quotes,
// as .gz, .tar, .tar.gz, .zip and .tar.zst.
func Archives(dump []byte) [][]byte {
	var packed, tarball, directory bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(dump)
	_ = z.Close()
	zst, _ := zstd.NewWriter(nil)
	t := tar.NewWriter(&tarball)
	_ = t.WriteHeader(&tar.Header{Name: "a/dump.yaml", Size: int64(len(dump)), Mode: 0o600, Typeflag: tar.TypeReg})
	_, _ = t.Write(dump)
	_ = t.WriteHeader(&tar.Header{Name: "a/link", Linkname: "../..", Typeflag: tar.TypeSymlink})
	_ = t.Close()
	d := zip.NewWriter(&directory)
	for _, name := range []string{"a/dump.yaml", "a/b.tar"} {
		if w, err := d.Create(name); err == nil {
			_, _ = w.Write(map[string][]byte{"a/dump.yaml": dump, "a/b.tar": tarball.Bytes()}[name])
		}
	}
	_ = d.Close()
	text := string(dump)
	return [][]byte{
		packed.Bytes(), tarball.Bytes(), directory.Bytes(), zst.EncodeAll(tarball.Bytes(), nil),
		[]byte("Hello\n\n```yaml\n" + text + "```\n"),
		[]byte("[root@host ~]# kubectl get pods -A -o yaml\n" + text + "[root@host ~]#\nError from server (Forbidden): x\n"),
		[]byte(text + "[root@n1 ~]# ip route\nblackhole 10.0.0.0/26 proto bird\n[root@n1 ~]# ip -j addr\n[{\n" + text),
		[]byte("> " + strings.ReplaceAll(text, "\n", "\n> ")),
	}
}

// Check is what holds of any bytes: they are refused in one line, or make a scenario
// that loads, the same twice, with and without names.
func Check(managers scenarios.Managers, text []byte) error {
	for _, o := range []dump.Options{{}, {Anonymise: true}, {Anonymise: true, Addresses: true}} {
		first, err := written(managers, text, o)
		if err != nil {
			return err
		}
		second, err := written(managers, text, o)
		if err != nil {
			return err
		}
		if !bytes.Equal(first, second) {
			return fmt.Errorf("%+v: two scenarios of the same dump", o)
		}
	}
	return nil
}

func written(managers scenarios.Managers, text []byte, o dump.Options) ([]byte, error) {
	c := dump.New(managers)
	if err := (&bundle.Reader{Cluster: c, Stdin: bytes.NewReader(text)}).Read([]string{"-"}); err != nil {
		return nil, refusal(err)
	}
	out, report, err := c.Scenario(o)
	if err != nil {
		return nil, refusal(err)
	}
	if _, err := managers.Parse("scenario", out); err != nil {
		return nil, refusal(report.Trace(err))
	}
	return out, nil
}

// refusal returns nil for a refusal that is readable.
func refusal(err error) error {
	var bad *strict.Error
	switch s := err.Error(); {
	case !errors.As(err, &bad):
		return fmt.Errorf("a refusal without a place: %w", err)
	case strings.ContainsAny(s, "\n\r") || len(s) > 2000:
		return fmt.Errorf("a refusal of more than one line: %q", s)
	case bad.Problem == "":
		return fmt.Errorf("a refusal without a reason: %w", err)
	}
	return nil
}
