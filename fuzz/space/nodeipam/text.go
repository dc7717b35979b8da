package nodeipam

import "sigs.k8s.io/yaml"

// text is a document within a manifest.
func text(o object) string {
	b, err := yaml.Marshal(o)
	if err != nil {
		panic(err) // made of text and lists
	}
	return string(b)
}
