// Program toy has something for every operator, and prints what came of it.
package main

import (
	"errors"
	"fmt"
	"log"
)

type object struct {
	Name            string
	ResourceVersion string
}

type operation struct{ Operation, Path string }

var (
	trace   string
	letters = 3
)

func note(s string) error { trace += s; return nil }

func find(all []int, low int) (int, error) {
	log.Printf("looked %d times", letters+1)
	for i := 0; i < len(all); i++ {
		if all[i] >= low && all[i] != 7 || all[i] == -1 {
			return i, nil
		}
	}
	return -1, errors.New("none")
}

func update(o object) (object, error) {
	var err error
	if o.Name == "" {
		err = fmt.Errorf("no name, %d letters", len(o.Name)+1)
	}
	if err != nil {
		return object{}, err
	}
	return object{Name: o.Name, ResourceVersion: o.ResourceVersion}, nil
}

func patch() []operation {
	return []operation{{"add", "/a"}, {Operation: "test", Path: "/version"}}
}

func several() {
	defer note("z")
	note("a")
	if err := note("b"); err != nil {
		return
	}
	note("c")
	switch {
	case len(trace) > 3:
		note("long")
	}
	log.Println(len(trace) + 1)
}

func (o object) String() string {
	if o.Name == "" {
		return "nobody"
	}
	return o.Name + "@" + o.ResourceVersion
}

func main() {
	log.SetFlags(log.Lshortfile)
	defer func() { fmt.Println("panic:", recover()) }()
	i, err := find([]int{3, 7, 5, 9}, 5)
	fmt.Print(i, " ", err)
	i, err = find([]int{-1, 4}, 5)
	fmt.Print(" ", i, " ", err)
	i, err = find(nil, 5)
	fmt.Print(" ", i, " ", err)
	o, err := update(object{"a", "1"})
	fmt.Print(" ", o, " ", err)
	o, err = update(object{})
	fmt.Print(" ", o, " ", err, " ", patch())
	several()
	fmt.Print(" ", trace, " ")
}

type events struct{}

func (events) Infof(string, ...any) {}

// tell makes an Event, and no mutant is made of it.
func tell() { events{}.Infof("%d letters", letters+1) }
