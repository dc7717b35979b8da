package ipam

import (
	"encoding/json"
	"fmt"
	"path"
)

// FilesAnnotation of a Node are files that are on its disk before the first step: a JSON object of
// their contents by path. What a manager keeps on nodes is part of no other object, so that a
// cluster that does not begin empty has it here.
const FilesAnnotation = "ipamsim.dev/files"

// Files are the files of FilesAnnotation; nil: there are none.
func Files(annotations map[string]string) (files map[string]string, err error) {
	text := annotations[FilesAnnotation]
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &files); err != nil {
		return nil, fmt.Errorf(`metadata.annotations[%s]: want contents by path, e.g. {"/var/lib/cni/networks/pods/10.0.0.2": "CONTAINER\r\neth0"}: %w`, FilesAnnotation, err)
	}
	for name := range files {
		if !path.IsAbs(name) || path.Clean(name) != name || name == "/" {
			return nil, fmt.Errorf("metadata.annotations[%s]: %q is not an absolute path in its shortest form", FilesAnnotation, name)
		}
	}
	return files, nil
}
