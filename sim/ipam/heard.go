package ipam

import "encoding/json"

// Heard decodes the object of a watch event and reports whether it was deleted; ok is false if
// the event cannot be decoded.
func Heard(event []byte) (object json.RawMessage, gone, ok bool) {
	var e struct {
		Type   string          `json:"type"`
		Object json.RawMessage `json:"object"`
	}
	ok = json.Unmarshal(event, &e) == nil
	return e.Object, e.Type == "DELETED", ok
}
