package main

import (
	"bytes"
	"fmt"
	"go/build/constraint"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
)

// Releases differ in more than their functions: packages are elsewhere, or do not exist yet. A table
// lists these differences (copies.txt): "elsewhere" and "lacks". They are detected from the contents
// of a fork, not from its version. Our code for one shape is in a file with a build tag, and the
// overlay of a fork selects the files that the compiler sees: tags would have to be passed to every
// command that builds.

// has reports whether the package is in one of these modules; of a package of another
// module nothing is known, and it is.
func has(pkg string, dirs map[string]string) bool {
	for path, dir := range dirs {
		if inside, ok := strings.CutPrefix(pkg, path+"/"); ok && dir != "" {
			if _, err := os.Stat(filepath.Join(dir, inside)); err != nil {
				return false
			}
		}
	}
	return true
}

// lacking reports whether a package is one that releases may lack, and these modules do.
func (c copies) lacking(pkg string, dirs map[string]string) bool {
	return c.lacks[pkg] != "" && !has(pkg, dirs)
}

// tags are the build tags of all shapes, and whether these modules have them. Without any it
// is the shape of the releases.
func (c copies) tags(dirs map[string]string) map[string]bool {
	tags := map[string]bool{"ignore": true} // the tag of files that go mod tidy does not read: they import what today's release lacks
	for pkg, tag := range c.lacks {
		tags[tag] = tags[tag] || c.lacking(pkg, dirs)
	}
	return tags
}

// shapes are the tags of all tables.
func shapes(tables []copies, dirs map[string]string) map[string]bool {
	tags := map[string]bool{}
	for _, c := range tables {
		maps.Copy(tags, c.tags(dirs))
	}
	return tags
}

// satisfied evaluates a build constraint for a shape; ok is false if it names other tags, too,
// and so says nothing about shapes.
func satisfied(expr constraint.Expr, tags map[string]bool) (on, ok bool) {
	ok = true
	on = expr.Eval(func(tag string) bool {
		on, known := tags[tag]
		ok = ok && known
		return on
	})
	return on, ok
}

// fits reports whether a build constraint, or none, lets a file into a build of these shapes.
func fits(expr constraint.Expr, tags map[string]bool) bool {
	if expr == nil {
		return true
	}
	on, ok := satisfied(expr, tags)
	return on || !ok
}

// known is the path by which our tables call a package, wherever a fork has it.
func (c copies) known(pkg string) string {
	for now, then := range c.elsewhere {
		if inside, ok := strings.CutPrefix(pkg, then); ok && (inside == "" || inside[0] == '/') {
			return now + inside
		}
	}
	return pkg
}

// verbatim are the files that are copied byte for byte, of the module in dir; "": none.
// One that the module does not have is none of ours, either.
func (c copies) verbatim(dir string) (map[string][]byte, error) {
	out := map[string][]byte{}
	if dir == "" {
		return out, nil
	}
	for ours, theirs := range c.files {
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(theirs)))
		switch {
		case err == nil:
			out[ours] = b
		case !os.IsNotExist(err):
			return nil, err
		}
	}
	return out, nil
}

// shaped are the files of ours that a fork's shape makes others, by their path; nil for one
// that is not of this shape.
func (c copies) shaped(dirs map[string]string) (map[string][]byte, error) {
	if dirs[c.module] == "" {
		return nil, nil
	}
	tags, then := c.tags(dirs), map[string]string{}
	for now, before := range c.elsewhere {
		if !has(now, dirs) {
			then[now] = before
		}
	}
	out := map[string][]byte{}
	err := filepath.WalkDir(filepath.Dir(c.table), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(src, []byte(generated)) {
			return err
		}
		text, err := shape(src, tags, then)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if !bytes.Equal(text, src) {
			out[path] = text
		}
		return nil
	})
	return out, err
}

// shape renders a file for a fork: nil if its build tag is of another shape, without that line if it is of no other
// build, and with the fork's package paths. A constraint with other tags stays as it is.
func shape(src []byte, tags map[string]bool, elsewhere map[string]string) ([]byte, error) {
	if line, rest, _ := bytes.Cut(src, []byte("\n")); constraint.IsGoBuild(string(line)) {
		expr, err := constraint.Parse(string(line))
		if err != nil {
			return nil, err
		}
		on, ours := satisfied(expr, tags)
		plain := expr.Eval(func(string) bool { return false })
		switch {
		case !ours || on == plain: // as every build has it
		case !on:
			return nil, nil
		default:
			src = append([]byte("//\n"), rest...) // its lines keep their numbers
		}
	}
	for now, then := range elsewhere {
		for _, end := range []string{"/", `"`} {
			src = bytes.ReplaceAll(src, []byte(now+end), []byte(then+end))
		}
	}
	return src, nil
}
