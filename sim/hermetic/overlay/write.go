package overlay

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// write stores the edited files and the overlay.json that maps them onto src in a directory under
// base named by version and content, and returns the path of overlay.json. It does not overwrite
// existing files: go build only compares content, but other builds may be reading them.
func write(base, src, version string, text map[string]string) (string, error) {
	content, err := json.Marshal(text) // keys are sorted
	if err != nil {
		return "", err
	}
	// src is part of the name: overlay.json holds absolute paths.
	sum := sha256.Sum256(append(content, src...))
	dir := filepath.Join(base, fmt.Sprintf("%s-%x", strings.Fields(version)[0], sum[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for file, s := range text {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := writeFile(path, []byte(s)); err != nil {
			return "", err
		}
		replace[filepath.Join(src, file)] = path
	}
	overlay, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "  ")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, writeFile(path, append(overlay, '\n'))
}

// writeFile makes path hold b. Readers see the old content or the new, never a part: two
// builds may run at the same time.
func writeFile(path string, b []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(b) {
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already after the rename
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Chmod(f.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
