package bundle

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tar reads the files of a tar archive, in their order.
func (w *walk) tar(name string, b *bufio.Reader, depth int) error {
	t := tar.NewReader(b)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := w.entry(); err != nil {
			return err
		}
		inside, err := w.inside(h.Name)
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			if h.Size == 0 {
				w.bundle.Ignored++
				continue
			}
			if err := w.part(name+"/"+inside, t, depth); err != nil {
				return err
			}
		case tar.TypeLink, tar.TypeSymlink:
			w.bundle.Links++
			w.links[inside] = true
		case tar.TypeDir:
		default:
			w.bundle.Ignored++
		}
	}
}

// part reads one file of an archive. What is wrong with it alone is reported.
func (w *walk) part(name string, r io.Reader, depth int) error {
	err := w.open(name, w.buffered(r, depth+1), nil, depth+1)
	if err == nil || errors.Is(err, errLimit) {
		return err
	}
	if over := w.over(); over != nil {
		return over
	}
	w.failed(name, err)
	return nil
}

// zip reads the files of a zip archive, in the order of its directory, which stands at its
// end: an archive that is not a file of its own is kept in memory.
func (w *walk) zip(name string, b *bufio.Reader, at io.ReaderAt, depth int) error {
	size := w.size
	if at == nil {
		all, err := io.ReadAll(io.LimitReader(b, innerMax+1))
		if err != nil {
			return err
		}
		if len(all) > innerMax {
			return limit("a zip archive of more than %d MiB that is not a file of its own: unpack it first", innerMax>>20)
		}
		at, size = bytes.NewReader(all), int64(len(all))
	} else {
		w.in = size
	}
	directory := &directory{at: at, meter: w.meter}
	z, err := zip.NewReader(directory, size)
	if directory.over != nil {
		return directory.over
	}
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return err
	}
	directory.done = true
	for _, f := range z.File {
		if err := w.entry(); err != nil {
			return err
		}
		inside, err := w.inside(f.Name)
		if err != nil {
			return err
		}
		switch mode := f.Mode(); {
		case strings.HasSuffix(f.Name, "/"):
			continue
		case mode&fs.ModeSymlink != 0:
			w.bundle.Links++
			w.links[inside] = true
			continue
		case !mode.IsRegular():
			w.bundle.Ignored++
			continue
		case f.Flags&1 != 0:
			w.failed(name+"/"+inside, errEncrypted)
			continue
		}
		if err := w.zipped(name+"/"+inside, f, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) zipped(name string, f *zip.File, depth int) error {
	r, err := f.Open()
	if err != nil {
		w.failed(name, err)
		return nil
	}
	defer r.Close()
	return w.part(name, &unpacking{r, w.meter}, depth)
}

var errEncrypted = errors.New("encrypted: unpack the archive first")

// directory counts the entries of a zip archive's directory while it is read, before there
// are objects of them.
type directory struct {
	at   io.ReaderAt
	n    int
	done bool
	over error
	*meter
}

// entryMark begins an entry of the directory.
var entryMark = []byte("PK\x01\x02")

func (d *directory) ReadAt(p []byte, off int64) (int, error) {
	if d.over != nil {
		return 0, d.over
	}
	n, err := d.at.ReadAt(p, off)
	if !d.done {
		if d.n += bytes.Count(p[:n], entryMark); d.n > entriesMax {
			d.over = limit("more than %d files: pass the folders that hold YAML or JSON alone", entriesMax)
			return 0, d.over
		}
	}
	return n, err
}

// folder reads the files below a folder, by name. Links are not followed, and nothing outside the folder
// is opened.
func (w *walk) folder(name string) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return err
	}
	defer root.Close()
	return w.below(root, name, ".", 0)
}

func (w *walk) below(root *os.Root, name, dir string, depth int) error {
	if depth > foldersMax {
		return limit("folders within folders, more than %d deep", foldersMax)
	}
	entries, err := w.list(root, dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			err = w.below(root, name, path, depth+1)
		case e.Type()&fs.ModeSymlink != 0:
			w.bundle.Links++
		case !e.Type().IsRegular():
			w.bundle.Ignored++
		default:
			err = w.inFolder(root, name, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foldersMax bounds folders within folders.
const foldersMax = 100

// list is what a folder holds, by name.
func (w *walk) list(root *os.Root, dir string) ([]fs.DirEntry, error) {
	f, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []fs.DirEntry
	for {
		some, err := f.ReadDir(1000)
		for range some {
			if err := w.entry(); err != nil {
				return nil, err
			}
		}
		all = append(all, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// inFolder reads a file of a folder, with a meter of its own for what is packed in it.
func (w *walk) inFolder(root *os.Root, name, path string) error {
	f, err := root.Open(path)
	if err != nil {
		w.failed(filepath.Join(name, path), err)
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		w.bundle.Ignored++
		return nil
	}
	var in io.Reader = f
	if w.Until != nil {
		in = w.Until(in)
	}
	outer := w.meter
	w.meter = &meter{size: info.Size(), entries: outer.entries}
	defer func() { outer.entries, w.meter = w.entries, outer }()
	b := w.buffered(&counted{in, w.meter}, 0)
	err = w.open(filepath.Join(name, path), b, f, 0)
	if err == nil || errors.Is(err, errLimit) && w.entries > entriesMax {
		return err
	}
	w.failed(filepath.Join(name, path), err)
	return nil
}
