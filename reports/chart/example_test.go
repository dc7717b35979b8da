package chart_test

import (
	"bytes"
	"fmt"
	"os"

	"ipamsim/reports/chart"
)

func routes() *chart.Chart {
	return &chart.Chart{
		Title: "Routes against block size",
		X:     chart.Axis{Label: "block size", Names: []string{"/26", "/27", "/28"}},
		Y:     chart.Axis{Label: "routes (prefixes)"},
		Lines: []chart.Line{{Name: "mean", Points: []chart.Point{{X: 0, Y: 8}, {X: 1, Y: 16.5}, {X: 2, Y: 33}}, Band: []chart.Range{{X: 1, Low: 15, High: 18}}}},
	}
}

func ExampleCSV() {
	if err := chart.CSV(os.Stdout, routes()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// line,block size,routes (prefixes),low,high
	// mean,/26,8,,
	// mean,/27,16.5,15,18
	// mean,/28,33,,
}

func ExampleJSON() {
	if err := chart.JSON(os.Stdout, routes()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"kind":"chart","title":"Routes against block size","columns":["line","block size","routes (prefixes)","low","high"],"rows":[["mean","/26",8,null,null],["mean","/27",16.5,15,18],["mean","/28",33,null,null]]}
}

func ExampleInline() {
	svg, err := chart.Inline(routes(), "they double with each step")
	fmt.Println(string(svg[:86]), err)
	// Output:
	// <svg class="chart" role="img" aria-label="Routes against block size: they double with  <nil>
}

func ExampleSVG() {
	var file bytes.Buffer
	err := chart.SVG(&file, &chart.Heat{Title: "nothing"})
	fmt.Println(file.Len(), err)
	// Output:
	// 0 chart: "nothing": 0 columns and 0 rows, want 1 to 60 of each
}

func ExamplePNG() {
	var file bytes.Buffer
	err := chart.PNG(&file, routes())
	fmt.Printf("%q %v\n", file.Bytes()[1:4], err)
	// Output:
	// "PNG" <nil>
}
