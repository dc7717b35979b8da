package adapter

import (
	"fmt"

	"github.com/go-kit/log"
)

// Level is the level of upstream's log, which is discarded.
type Level string

// LevelDebug is the one that upstream compares with.
const LevelDebug = "debug"

// Levels are the levels that a flag can have.
var Levels fmt.Stringer = levels("info")

type levels string

func (l levels) String() string { return string(l) }

// Init is a log that says nothing.
func Init(string) (log.Logger, error) { return log.NewNopLogger(), nil }

// Each is what the program says of itself in the log: nothing.
func Version() string    { return "" }
func CommitHash() string { return "" }
func Branch() string     { return "" }
func GoString() string   { return "" }
func String() string     { return "" }
