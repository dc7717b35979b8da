package red

import (
	"fmt"
	"testing"
)

func TestRuns(t *testing.T) { t.Log("not a word of this") }

func TestFails(t *testing.T) {
	fmt.Println("printed")
	t.Run("inside", func(t *testing.T) { t.Error("wrong") })
}
