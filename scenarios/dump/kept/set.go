package kept

// Set is the keys of all.
func Set[T any](all []T, key func(T) string) map[string]bool {
	out := map[string]bool{}
	for _, x := range all {
		out[key(x)] = true
	}
	return out
}
