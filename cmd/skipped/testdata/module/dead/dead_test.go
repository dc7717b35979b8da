package dead

import (
	"fmt"
	"os"
	"testing"
)

func TestDies(*testing.T) {
	fmt.Println("last words")
	os.Exit(3)
}
