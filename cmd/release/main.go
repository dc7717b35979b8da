// Command release completes the folder dist that goreleaser wrote: it adds the SBOM of each
// program, an OCI image of the Linux programs, the template for GitLab, and their checksums.
//
//	go run -C cmd/release . -version v0.1.0 ../../dist
//
// All files are a function of the programs, the commit's time and NOTICE: two builds of one
// commit are equal byte for byte.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// gitlabTemplate is the name of .gitlab/gate.yml in a release.
const gitlabTemplate = "gate.gitlab-ci.yml"

// program is an entry of dist/artifacts.json.
type program struct {
	Path, Goos, Goarch string
	Type               string
}

func main() {
	version := flag.String("version", "", "the version, vX.Y.Z")
	unix := flag.Int64("time", 0, "the commit's time, in seconds since 1970")
	flag.Parse()
	if err := run(flag.Arg(0), *version, time.Unix(*unix, 0).UTC()); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(2)
	}
}

func run(dist, version string, at time.Time) error {
	if dist == "" || version == "" {
		return fmt.Errorf("want -version and the folder dist")
	}
	programs, err := programsIn(dist)
	if err != nil {
		return err
	}
	notice, err := os.ReadFile(filepath.Join(dist, "..", "NOTICE"))
	if err != nil {
		return err
	}
	var made []string
	for _, p := range programs {
		name := fmt.Sprintf("ipamsim_%s_%s_%s.cdx.json", version, p.Goos, p.Goarch)
		if err := writeSBOM(filepath.Join(dist, name), p, version, licencesOf(string(notice)), at); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		made = append(made, name)
	}
	image := fmt.Sprintf("ipamsim_%s_image.tar", version)
	if err := writeImage(filepath.Join(dist, image), programs, version, at); err != nil {
		return fmt.Errorf("%s: %w", image, err)
	}
	template, err := os.ReadFile(filepath.Join(dist, "..", ".gitlab", "gate.yml"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dist, gitlabTemplate), template, 0o666); err != nil {
		return err
	}
	return addSums(dist, append(made, image, gitlabTemplate, "ipamsim_"+version+"_source.tar.gz"))
}

// programsIn returns the programs in dist, sorted by platform.
func programsIn(dist string) ([]program, error) {
	text, err := os.ReadFile(filepath.Join(dist, "artifacts.json"))
	if err != nil {
		return nil, err
	}
	var all []program
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("artifacts.json: %w", err)
	}
	all = slices.DeleteFunc(all, func(p program) bool { return p.Type != "Binary" })
	for i := range all {
		all[i].Path = filepath.Join(dist, "..", all[i].Path)
	}
	slices.SortFunc(all, func(a, b program) int { return strings.Compare(a.Goos+"/"+a.Goarch, b.Goos+"/"+b.Goarch) })
	if len(all) == 0 {
		return nil, fmt.Errorf("artifacts.json: no program in it")
	}
	return all, nil
}

// addSums adds the checksums of files to SHA256SUMS, or replaces them, and sorts it by name.
func addSums(dist string, files []string) error {
	path := filepath.Join(dist, "SHA256SUMS")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sums := map[string]string{} // by name
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			return err
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Fprintf(&out, "%s  %s\n", sums[name], name)
	}
	return os.WriteFile(path, []byte(out.String()), 0o666)
}
