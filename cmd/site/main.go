// Command site writes the documents of this repository as a static site: plain HTML with a
// search, and the track record with filters.
//
//	go run ./cmd/site bin/site
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	flag.Parse()
	out := flag.Arg(0)
	if out == "" || flag.NArg() > 1 {
		fmt.Fprintln(os.Stderr, "usage: site FOLDER")
		os.Exit(2)
	}
	pages, err := build(os.DirFS("."), out)
	if err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(2)
	}
	fmt.Printf("%s: %d pages\n", filepath.Join(out, "index.html"), pages)
}

// build writes the site of a repository into an empty or new folder, and returns the number
// of pages. The error of a link without a target names the document and the link.
func build(repository fs.FS, out string) (int, error) {
	s := &site{repository: repository, files: map[string]bool{}}
	if err := s.load(); err != nil {
		return 0, err
	}
	files := map[string][]byte{}
	for _, p := range s.pages {
		html, err := s.html(p)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", p.source, err)
		}
		files[p.path] = html
	}
	index, err := s.index()
	if err != nil {
		return 0, err
	}
	files["search.js"] = index
	for name := range s.files { // what pages link to
		if files[name], err = fs.ReadFile(repository, name); err != nil {
			return 0, err
		}
	}
	if left, err := os.ReadDir(out); err == nil && len(left) > 0 {
		if _, err := os.Stat(filepath.Join(out, "search.js")); err != nil {
			return 0, fmt.Errorf("%s is not empty, and not a site", out)
		}
		if err := os.RemoveAll(out); err != nil {
			return 0, err
		}
	}
	for name, text := range files {
		file := filepath.Join(out, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return 0, err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return 0, err
		}
	}
	return len(s.pages), nil
}
