// Package testfiles is for tests: it reads the files of a testdata folder, which stand
// alone or are members of the folder's txtar archives. Hundreds of small files, grouped
// by subject, become a dozen archives that a person can read.
package testfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// File is a file of a folder.
type File struct {
	Name    string // without the folder
	Archive string // the path of the archive that holds it; "" if the file stands alone
	Data    []byte
}

// All returns the files of a folder whose names end in suffix, sorted by name.
//
// It returns an error if there is none, or if two have the same name: only one of them
// would be tested.
func All(dir, suffix string) ([]File, error) {
	var out []File
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
		case filepath.Ext(path) == ".txtar":
			a, err := txtar.ParseFile(path)
			if err != nil {
				return nil, err
			}
			for _, f := range a.Files {
				out = append(out, File{Name: f.Name, Archive: path, Data: f.Data})
			}
		case strings.HasSuffix(path, suffix):
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			out = append(out, File{Name: e.Name(), Data: data})
		}
	}
	out = slices.DeleteFunc(out, func(f File) bool { return !strings.HasSuffix(f.Name, suffix) })
	slices.SortStableFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(out); i++ {
		if a, b := out[i-1], out[i]; a.Name == b.Name {
			return nil, fmt.Errorf("%s: two files %s, in %q and %q", dir, a.Name, a.Archive, b.Archive)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no file *%s", dir, suffix)
	}
	return out, nil
}

// ReadFile is os.ReadFile for a file that stands alone or is a member of an archive of
// its folder. The error wraps fs.ErrNotExist if neither has it.
func ReadFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	archives, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.txtar")) // the pattern is valid
	for _, archive := range archives {
		a, err := txtar.ParseFile(archive)
		if err != nil {
			return nil, err
		}
		for _, f := range a.Files {
			if f.Name == filepath.Base(path) {
				return f.Data, nil
			}
		}
	}
	return nil, err
}
