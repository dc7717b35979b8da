package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// NodeOf turns JSON into YAML in the order of its keys.
func NodeOf(body []byte) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return nextNode(d)
}

// errEnd is the end of a list or an object.
var errEnd = errors.New("end")

func nextNode(d *json.Decoder) (*yaml.Node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := t.(type) {
	case json.Delim:
		switch v {
		case '{':
			return fill(&yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, d)
		case '[':
			return fill(&yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}, d)
		}
		return nil, errEnd
	case string:
		return textNode(v), nil
	case json.Number:
		tag := "!!int"
		if strings.ContainsAny(string(v), ".eE") {
			tag = "!!float"
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: string(v)}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

func fill(n *yaml.Node, d *json.Decoder) (*yaml.Node, error) {
	for {
		c, err := nextNode(d)
		if errors.Is(err, errEnd) {
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, c)
	}
}

// inkGroup is a run of characters that leave ink.
const inkGroup = `[\pL\pM\pN\pP\pS]+`

// Text that is one word to every YAML there is, a time as Go prints it, and text
// that can stand as a block. Everything else is quoted.
var (
	plainText = regexp.MustCompile(`^([A-Za-z/][A-Za-z0-9_./@ -]*[A-Za-z0-9]|[a-z][A-Za-z0-9_./~#-]*[A-Za-z0-9]|([0-9]+(\.[0-9]+)?(h|m|s|ms|us))+)$`)
	micros    = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?µs$`)
	blockText = regexp.MustCompile(`^` + inkGroup + `([ ]*` + inkGroup + `)*(\n([ ]*` + inkGroup + `)*)+$`)
)

func textNode(s string) *yaml.Node {
	if micros.MatchString(s) {
		s = strings.Replace(s, "µ", "u", 1) // as the schema, and a keyboard, has it
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	_, word := oldBool(s)
	switch {
	case blockText.MatchString(s):
		n.Style = yaml.LiteralStyle
	case plainText.MatchString(s) && !word && !reserved(s):
		n.Style = 0
	}
	return n
}

// reserved words mean something without quotes.
func reserved(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "null":
		return true
	}
	return false
}
