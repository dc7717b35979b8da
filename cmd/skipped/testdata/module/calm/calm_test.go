package calm

import (
	"fmt"
	"testing"
)

func TestRuns(t *testing.T)    { t.Log("not a word of this"); fmt.Println("nor of this") }
func TestWaits(t *testing.T)   { t.Skip("needs a browser") }
func TestWonders(t *testing.T) { t.SkipNow() }

func TestParts(t *testing.T) {
	t.Run("a", func(*testing.T) {})
	t.Run("b", func(t *testing.T) { t.Log("a log before"); t.Skip("needs a browser") })
}
