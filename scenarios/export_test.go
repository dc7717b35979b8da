package scenarios

// All are the managers, for tests inside of this package: what lists them imports it.
var All Managers

// SchemaText is schema.json as it is in the program.
func SchemaText() string { return string(schema) }
