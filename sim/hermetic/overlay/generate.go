package overlay

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed runtime/*.txt
var sources embed.FS

// added maps each new file of GOROOT/src to its file in sources.
var added = map[string]string{
	"runtime/sim.go":               "sim.go.txt",
	"runtime/simmutex.go":          "mutex.go.txt",
	"runtime/simprocess.go":        "simprocess.go.txt",
	"internal/abi/sim.go":          "abi.go.txt",
	"internal/runtime/maps/sim.go": "maps.go.txt",
	"internal/sync/sim.go":         "syncmap.go.txt",
}

// ErrMisfit: the generator is made for another Go than the installed one.
var ErrMisfit = errors.New("edits do not fit")

// generate applies all edits to copies of the files under src and returns the
// new text of each, by path relative to src, together with the added files.
//
// Every edit is tried. If any does not fit, the error joins one message for
// each: version, file, edit and the text that was looked for.
func generate(src, version string, all []edit) (map[string]string, error) {
	text := map[string]string{}
	var misfits []error
	for _, e := range all {
		if _, ok := text[e.file]; !ok {
			b, err := os.ReadFile(filepath.Join(src, e.file))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			} else if err != nil {
				misfits = append(misfits, fmt.Errorf("%s: edit %q: %w", version, e.why, err))
				continue
			}
			text[e.file] = string(b)
		}
		n := strings.Count(text[e.file], e.old)
		if n != 1 {
			misfits = append(misfits, fmt.Errorf("%s: src/%s: edit %q: text found %d times, want 1:\n%s", version, e.file, e.why, n, indent(e.old)))
			continue
		}
		text[e.file] = strings.Replace(text[e.file], e.old, e.new, 1)
	}
	if len(misfits) > 0 {
		misfits = append(misfits, fmt.Errorf("%d of %d %w %s: see what changed there, then move the anchors", len(misfits), len(all), ErrMisfit, version))
		return nil, errors.Join(misfits...)
	}
	for path, name := range added {
		b, err := sources.ReadFile("runtime/" + name)
		if err != nil {
			return nil, err
		}
		text[path] = string(b)
	}
	return text, nil
}

func indent(s string) string {
	return "\t| " + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n\t| ")
}
