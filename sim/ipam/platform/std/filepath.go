package std

import (
	"io/fs"
	real "path/filepath"

	"ipamsim/sim/disk"
	"ipamsim/sim/ipam/platform"
)

// Join, Split, Base and Dir are Go's own.
var (
	Join  = real.Join
	Split = real.Split
	Base  = real.Base
	Dir   = real.Dir
)

// WalkFunc and SkipDir are Go's own.
type WalkFunc = real.WalkFunc

var (
	SkipDir = real.SkipDir
	SkipAll = real.SkipAll
)

// Walk calls fn for each file and directory of the program's host under root, root included,
// by name.
//
// Source: path/filepath, Walk (Go 1.26).
func Walk(root string, fn WalkFunc) error {
	p := platform.Current().Files()
	info, err := p.Stat(root)
	if err != nil {
		err = fn(root, nil, err)
	} else {
		err = walk(p, root, info, fn)
	}
	if err == SkipDir || err == SkipAll {
		return nil
	}
	return err
}

func walk(p *disk.Process, path string, info fs.FileInfo, fn WalkFunc) error {
	if !info.IsDir() {
		return fn(path, info, nil)
	}
	entries, err := p.ReadDir(path)
	if walkErr := fn(path, info, err); err != nil || walkErr != nil {
		return walkErr
	}
	for _, e := range entries {
		name := Join(path, e.Name())
		info, err := p.Stat(name)
		if err != nil {
			if err := fn(name, info, err); err != nil && err != SkipDir {
				return err
			}
			continue
		}
		if err := walk(p, name, info, fn); err != nil && (!info.IsDir() || err != SkipDir) {
			return err
		}
	}
	return nil
}
