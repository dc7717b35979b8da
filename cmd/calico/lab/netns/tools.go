package netns

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tools are the programs that the lab runs.
type Tools struct {
	Birds    map[string]string // bird and bird6
	IP, Ping string
}

// birdVersion is what Calico's templates are written for: Calico's own BIRD is a
// fork of 1.6, and version 2 reads another language.
const birdVersion = "1.6."

// FindTools looks the programs up, also where only root looks. The error names
// the first that is missing and how to get it.
func FindTools() (t Tools, birdSays string, err error) {
	var four, six string
	for _, want := range []struct {
		name string
		at   *string
		from string
	}{{"bird", &four, "bird"}, {"bird6", &six, "bird"}, {"ip", &t.IP, "iproute2"}, {"ping", &t.Ping, "iputils-ping"}} {
		if *want.at, err = lookUp(want.name); err != nil {
			return Tools{}, "", fmt.Errorf("no %s: apt-get install %s", want.name, want.from)
		}
	}
	t.Birds = map[string]string{"bird": four, "bird6": six}
	out, err := exec.Command(four, "--version").CombinedOutput()
	birdSays = strings.TrimSpace(string(out))
	if _, version, ok := strings.Cut(birdSays, "BIRD version "); !ok || !strings.HasPrefix(version, birdVersion) {
		if birdSays == "" {
			birdSays = fmt.Sprint(err)
		}
		return Tools{}, "", fmt.Errorf("%s is not BIRD %sx: %s", four, birdVersion, firstLine([]byte(birdSays)))
	}
	return t, birdSays, nil
}

// lookUp is exec.LookPath, and then the directories that are not in everybody's
// PATH.
func lookUp(name string) (string, error) {
	p, err := exec.LookPath(name)
	if err == nil {
		return p, nil
	}
	for _, dir := range []string{"/usr/sbin", "/sbin", "/usr/local/sbin"} {
		at := filepath.Join(dir, name)
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return at, nil
		}
	}
	return "", errors.Join(err)
}
