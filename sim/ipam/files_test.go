package ipam_test

import (
	"fmt"
	"strings"
	"testing"

	"ipamsim/sim/ipam"
)

func ExampleFiles() {
	files, err := ipam.Files(map[string]string{ipam.FilesAnnotation: `{"/var/lib/cni/networks/pods/10.0.0.2": "c1\r\neth0"}`})
	fmt.Printf("%q %v\n", files, err)
	// Output: map["/var/lib/cni/networks/pods/10.0.0.2":"c1\r\neth0"] <nil>
}

// Files refuses what is no file of a disk.
func TestFiles(t *testing.T) {
	for text, want := range map[string]string{"": "", "{}": "", "[]": "want contents by path", `{"a": "b"}`: `"a" is not an absolute path`, `{"/a/../b": ""}`: "in its shortest form", `{"/": ""}`: "in its shortest form", `{"/a": 1}`: "want contents by path"} {
		_, err := ipam.Files(map[string]string{ipam.FilesAnnotation: text})
		if got := fmt.Sprint(err); (err != nil) != (want != "") || !strings.Contains(got, want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
