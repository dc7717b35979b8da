package bundle_test

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ipamsim/scenarios/dump"
	"ipamsim/scenarios/dump/bundle"
)

// What XZ Utils 5.4.1 makes, for there is no writer here: of object with xz -9, with xz
// and with xz --lzma2=dict=256MiB; and twice xz -9 of a tar archive that begins a file of 4 GiB with
// 100 MiB of zeros.
const (
	xzObject = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jMAQAuYXBpVmVyc2lvbjogdjEKa2luZDogTm9kZQptZXRhZGF0YToKICBuYW1lOiBuMQoAAHROFeQAUhpOAAFHL7BRbzQftvN9AQAAAAAEWVo="
	xzInner  = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+WjAQAuYXBpVmVyc2lvbjogdjEKa2luZDogTm9kZQptZXRhZGF0YToKICBuYW1lOiBuMQoAAHROFeQAUhpOAAFHL7BRbzQftvN9AQAAAAAEWVo="
	xzWide   = "/Td6WFoAAATm1rRGAgAhASAAAAAJiKV2AQAuYXBpVmVyc2lvbjogdjEKa2luZDogTm9kZQptZXRhZGF0YToKICBuYW1lOiBuMQoAAHROFeQAUhpOAAFHL7BRbzQftvN9AQAAAAAEWVo="
	xzBomb   = "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4DxDAfRdAH6Ny0WC5oM4+eHt0vlHXxXkfjN8w/5/SNSTgDXGkra1zQvtf9ONIrfqhAEcYejOStPD4l6cAsDkGQyEvOIjLBKBluOY9hw6hWx4XQNYhVrGNCEexHwiMmiaHLIZCbkMRs45z+vJ30ChKE8sWjBY187LtccW+Htj37I0Nd5ObbOJy9JOnYXVAH3hO7d9+v+2MaslzkmZlHBkEejZm8OXpPqKRTg6Nh4Woep2JhMQZcQYYmp0Z8EFYOpqChhmrGV6KeHje0OZzvTtnHIRtkCtFLUhySoPjI7kWQ2K5e202ppHtaGFQYSm92nqxRPV86zNcGaAhokV1brfadKuEeYnCOLcu3t4r5BKhhR+/ligCBp3oycuO/7C5EQvAmgFefvBv6xLkYO3TbeUSWQsn+kAbx4/4g3xed9dP9U+TF3gjBByKWDK9VWUXh5POyIZUNjTCffDCHA+xg03GHKjPjUPGwqOwxTjGT0AmWOQkXqUTQObCHO1LtT7dEME/Gy6qMyslplY9iQpuVlxUKzPjouCyTOZdbZPzePK2YpUeYu9V8Pk/MwJg7WQ4jPAlzzn+qstn+40CZlhOKVay97c2iMQjLZ0zkvBPmJFnP+8MDPeXFBNTYRK11H32HXxnuwft0QhkdRRW/Q5MOSnKjWeYBET8cx7XpAlAJRukUUqW8DxAAGQBMR4AADnJH6IscRn+wIAAAAABFla"
)

func xzOf(t testing.TB, text string) []byte {
	t.Helper()
	out, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// zstdOf packs data, which may be unpacked with so much memory.
func zstdOf(t testing.TB, window int, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithWindowSize(window), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// archive is a tar archive of one file.
func archive(t testing.TB, name string, data []byte, times int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range times {
		if err := w.WriteHeader(&tar.Header{Name: strings.Replace(name, "*", fmt.Sprint(i), 1), Size: int64(len(data)), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCompressed: an object is read of each form, whatever its file is called.
func TestCompressed(t *testing.T) {
	plain := func(w io.Writer) { _, _ = io.WriteString(w, object) }
	packed := zstdOf(t, 1<<20, plain)
	for name, data := range map[string][]byte{
		"n.yaml.xz": xzOf(t, xzObject), "n.yaml.zst": packed,
		"two-streams.xz":   append(xzOf(t, xzObject), xzOf(t, xzObject)...),
		"of-xz.tar":        archive(t, "a/n.yaml.xz", xzOf(t, xzObject), 1),
		"of-zst.tar":       archive(t, "a/n.yaml.zst", packed, 1),
		"of-many-xz.tar":   archive(t, "a/n*.yaml.xz", xzOf(t, xzObject), 3),
		"n.tar.zst":        zstdOf(t, 1<<20, func(w io.Writer) { _, _ = w.Write(archive(t, "a/n.yaml", []byte(object), 1)) }),
		"of-xz.tar.zst":    zstdOf(t, 1<<20, func(w io.Writer) { _, _ = w.Write(archive(t, "a/n.yaml.xz", xzOf(t, xzInner), 2)) }),
		"called-something": packed,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			c := dump.New(nil)
			if err := (&bundle.Reader{Cluster: c}).Read([]string{path}); err != nil {
				t.Fatal(err)
			}
			if len(c.Nodes) != 1 || c.Nodes["n1"] == nil {
				t.Errorf("read %v, want node n1", c.Nodes.Keys())
			}
		})
	}
}

// TestDamaged: bytes that are changed are an error, or change nothing; none ends the program.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	whole := [][]byte{xzOf(t, xzObject), xzOf(t, xzBomb), zstdOf(t, 1<<20, func(w io.Writer) { _, _ = w.Write(archive(t, "a/n.yaml", []byte(object), 3)) })}
	for i := range 300 {
		data := bytes.Clone(whole[i%len(whole)])
		for range 1 + i%4 {
			data[6+random.IntN(len(data)-6)] ^= byte(1 << random.IntN(8))
		}
		c := dump.New(nil)
		if err := (&bundle.Reader{Cluster: c, Stdin: bytes.NewReader(data[:len(data)-i%7])}).Read([]string{"-"}); err != nil && strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("not one line: %q", err)
		}
	}
}
