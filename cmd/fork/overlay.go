package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// overlay is what the go command lays over files, by their paths; "" hides one.
type overlay struct{ Replace map[string]string }

func readOverlay(file string) (overlay, error) {
	var o overlay
	if file == "" {
		return o, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(b, &o); err != nil {
		return o, fmt.Errorf("%s: %w", file, err)
	}
	return o, nil
}

// overlayFor is the path of the overlay that belongs to a go.mod for forks.
func overlayFor(modfile string) string { return strings.TrimSuffix(modfile, ".mod") + ".json" }

// lay writes the overlay that belongs to a go.mod for forks: what the overlay of
// every build says (its file, or ""), and in the place of our copies of upstream's
// files those of the forks. It says on stderr what is the fork's.
func lay(modfile, every string, forks map[string]string) error {
	o, err := readOverlay(every)
	if err != nil {
		return err
	}
	all, err := allCopies()
	if err != nil {
		return err
	}
	over := map[string]string{}
	maps.Copy(over, o.Replace)
	under, err := filepath.Abs(strings.TrimSuffix(modfile, ".mod"))
	if err != nil {
		return err
	}
	for _, c := range all {
		if forks[c.module] == "" {
			continue
		}
		made, err := c.make(forks)
		if err != nil {
			return err
		}
		files, which, err := c.moved(made)
		if err != nil {
			return err
		}
		for _, w := range which {
			fmt.Fprintf(os.Stderr, "fork: of the fork: %s\n", w)
		}
		shaped, err := c.shaped(forks)
		if err != nil {
			return err
		}
		for _, path := range slices.Sorted(maps.Keys(shaped)) {
			if files[path] = shaped[path]; files[path] != nil {
				fmt.Fprintf(os.Stderr, "fork: for the fork's shape: %s\n", path)
			}
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			abs, err := filepath.Abs(path)
			if err != nil {
				return err
			}
			if over[abs] = ""; files[path] != nil {
				over[abs] = filepath.Join(under, path)
			}
		}
		maps.DeleteFunc(files, func(_ string, text []byte) bool { return text == nil })
		if err := writeAll(files, under); err != nil {
			return err
		}
	}
	b, err := json.Marshal(overlay{over})
	if err != nil {
		return err
	}
	return os.WriteFile(overlayFor(modfile), b, 0o666)
}
