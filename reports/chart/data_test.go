package chart

import (
	"bytes"
	"testing"
)

// What is drawn is there as a table: as CSV for spreadsheets, and as JSON.
func TestTables(t *testing.T) {
	day := float64(86400)
	two := &Chart{Title: "two", X: Axis{Label: "time", Duration: true}, Y: Axis{Label: "P", Share: true}, Lines: []Line{
		{Name: "a", Points: []Point{{0, 0.1 + 0.2}, {day, 1}}, Band: []Range{{0, 0, 1. / 3}}}, {Name: "=b", Points: []Point{{day / 2, 1e-7}}}}}
	for _, tt := range []struct {
		what           string
		p              Picture
		table, written string
	}{
		{"lines: the band beside its value", two,
			"line,time (seconds),P,low,high\na,0,0.3,0,0.333333333333\na,86400,1,,\n'=b,43200,0.0000001,,\n",
			`{"kind":"chart","title":"two","columns":["line","time (seconds)","P","low","high"],"rows":[["a",0,0.3,0,0.333333333333],["a",86400,1,null,null],["=b",43200,1e-7,null,null]]}`},
		{"panels: with what each measures", &Panels{X: Axis{Label: "block size", Names: []string{"/26", "/27"}}, Y: Axis{Label: "routes"}, Panels: []Panel{
			{Title: "p", Lines: []Line{{Name: "a", Points: []Point{{0, 1}, {1, 2}}}}}, {Title: "q", Y: Axis{Label: "waste", Share: true}, Lines: []Line{{Name: "a", Points: []Point{{1, 0.5}}}}}}},
			"panel,unit,line,block size,value,low,high\np,routes,a,/26,1,,\np,routes,a,/27,2,,\nq,waste,a,/27,0.5,,\n", ""},
		{"options: which are on the front", &Pareto{X: Axis{Label: "routes"}, Y: Axis{Label: "waste"}, Points: []Named{
			{Name: "now", X: 4, Y: 0.5}, {Name: "same", X: 4, Y: 0.5}, {Name: "worse", X: 5, Y: 0.5}, {Name: "better", X: 8, Y: 0.25, Recommended: true}}},
			"option,routes,waste,front,recommended,fails\nnow,4,0.5,true,false,false\nsame,4,0.5,true,false,false\nworse,5,0.5,false,false,false\nbetter,8,0.25,true,true,false\n", ""},
		{"heat: every cell, empty without a value", &Heat{X: Axis{Label: "nodes", Names: []string{"2", "4"}}, Y: Axis{Label: "pods", Names: []string{"30"}}, Z: Axis{Label: "P", Share: true}, Tiles: []Tile{{X: 1, Z: 0.123}}},
			"nodes,pods,P,text\n2,30,,\n4,30,0.123,12%\n", ""},
		{"owners: runs of one owner, halfway between samples", &Owners{X: Axis{Label: "hour"}, Times: []float64{0, 1, 2, 3}, Blocks: []string{"b0", "b1"}, Nodes: []string{"n"},
			Owner: [][]int32{{1, 0}, {1, 0}, {0, 0}, {0, 1}}, Marks: [][]Mark{{0, 0}, {Empty, 0}, {0, 0}, {0, Borrowed}}},
			"block,owner,mark,from hour,to hour\nb0,n,,0,0.5\nb0,n,empty,0.5,1.5\nb0,,,1.5,3\nb1,,,0,2.5\nb1,n,borrowed,2.5,3\n", ""},
		{"bars: a whisker if there is one", &Bars{Bars: []Bar{{"a", 1, 0.5, 2}, {"b", -3, 0, 0}}}, "name,value,low,high\na,1,0.5,2\nb,-3,,\n", ""},
	} {
		var table, data bytes.Buffer
		if err := CSV(&table, tt.p); err != nil {
			t.Fatal(err)
		}
		if err := JSON(&data, tt.p); err != nil {
			t.Fatal(err)
		}
		if table.String() != tt.table {
			t.Errorf("%s: CSV\n%swant\n%s", tt.what, table.String(), tt.table)
		}
		if tt.written != "" && data.String() != tt.written+"\n" {
			t.Errorf("%s: JSON\n%swant\n%s", tt.what, data.String(), tt.written)
		}
	}
}
