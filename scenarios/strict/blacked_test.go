package strict_test

import (
	"strings"
	"testing"

	"ipamsim/scenarios/strict"
)

// TestBlackedOut: letters or stars in place of numbers are found, and text that only
// resembles them is not.
func TestBlackedOut(t *testing.T) {
	for s, want := range map[string]string{
		"172.xx.xx.192/27": "172.16.16.192", "10.x.y.4": "10.16.16.4", "xxx.xxx.xxx.7": "16.16.16.7", "10.***.**.4/24": "10.16.16.4",
		"172.xx.xx.192-27": "172.16.16.192", "10.A.B.4": "10.16.16.4", "2001:db8:xxxx::5": "2001:db8:16::5", "10.0.0.x": "10.0.0.16",
		"10.1xx.0.4":  "10.16.0.4",
		"10.0.0.4/24": "", "docker.io/x:1.2.3.4": "", "v3.26.x": "", "*.example.org": "", "linux": "", "a.b.c.d": "", "10:20:30": "", "": "", "nginx.x.y.z": "",
		"system:serviceaccount:x": "", "1.2.3.4.5.x.6": "",
	} {
		problem, _ := strict.BlackedOut(s)
		if want == "" && problem != "" || !strings.Contains(problem, want) {
			t.Errorf("%q: %q, want %q", s, problem, want)
		}
	}
}

// TestIllegible: the field that holds the address is named.
func TestIllegible(t *testing.T) {
	for raw, want := range map[string]string{
		`{"spec":{"cidr":"172.xx.xx.192/27"}}`:                                      "spec.cidr",
		`{"metadata":{"name":"172.xx.xx.192-27"}}`:                                  "metadata.name",
		`{"metadata":{"annotations":{"a.b/IPv4Address":"10.x.x.4/24"}}}`:            "metadata.annotations[a.b/IPv4Address]",
		`{"status":{"podIP":"<redacted>"}}`:                                         "status.podIP",
		`{"status":{"podIPs":[{"ip":"***"}]}}`:                                      "status.podIPs[0].ip",
		`{"status":{"podIP":"10.0.0.4"}}`:                                           "",
		`{"metadata":{"annotations":{"a":"see 10.x.x.4 for what <b> is removed"}}}`: "",
		`{"metadata":{"labels":{"a":"REDACTED"}}}`:                                  "",
	} {
		if field, problem := strict.Illegible([]byte(raw)); field != want && problem != "" || (want == "") != (problem == "") {
			t.Errorf("%s: %q: %s", raw, field, problem)
		}
	}
}
