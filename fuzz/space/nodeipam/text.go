package nodeipam

import "sigs.k8s.io/yaml"

// text returns a document within a manifest.
func text(o object) string {
	b, err := yaml.Marshal(o)
	if err != nil {
		panic(err) // strings and lists always marshal
	}
	return string(b)
}
