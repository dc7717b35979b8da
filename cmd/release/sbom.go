package main

import (
	"debug/buildinfo"
	"os"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
)

// licencesOf reads the table of NOTICE: module, version and SPDX name in each line. The result
// is by module.
func licencesOf(notice string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(notice) {
		if f := strings.Fields(line); len(f) >= 3 && strings.HasPrefix(f[1], "v") {
			out[f[0]] = strings.Join(f[2:], " ")
		}
	}
	return out
}

// writeSBOM lists the modules that a program is linked with, from its build information, as
// CycloneDX 1.6.
func writeSBOM(file string, p program, version string, licences map[string]string, at time.Time) error {
	info, err := buildinfo.ReadFile(p.Path)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: at.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "ipamsim", Type: cyclonedx.ComponentTypeApplication, Name: "ipamsim", Version: version,
			Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	components := []cyclonedx.Component{{
		BOMRef: "pkg:golang/std@" + info.GoVersion, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion, PackageURL: "pkg:golang/std@" + info.GoVersion,
		Description: "the Go runtime and standard library; make release generates parts of the runtime",
	}}
	for _, m := range info.Deps {
		for m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
		if l := licences[m.Path]; l != "" {
			c.Licenses = &cyclonedx.Licenses{{License: &cyclonedx.License{Name: l}}}
		}
		components = append(components, c)
	}
	bom.Components = &components
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	return cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cyclonedx.SpecVersion1_6)
}
