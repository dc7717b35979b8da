package chart

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/plot/vg/vgimg"
)

var update = flag.Bool("update", false, "rewrite the golden pictures; look at them before you commit them")

// at400 is the picture 400 pixels wide.
func at400(t testing.TB, p Picture) *image.RGBA {
	t.Helper()
	v, err := raster(p, 72)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: v}).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return decode(t, b.Bytes())
}

func decode(t testing.TB, data []byte) *image.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	out := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	for y := range out.Rect.Max.Y {
		for x := range out.Rect.Max.X {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}

// How much two pictures of the same thing may differ, of 255: a rasteriser that
// rounds otherwise moves each edge of a letter a little, and nothing far.
const (
	meanMost  = 1.0
	blockMost = 14
	blockSize = 8 // pixels
)

// difference of two pictures: "" if there is none that a reader could see.
func difference(want, got *image.RGBA) string {
	if want.Rect != got.Rect {
		return fmt.Sprintf("it is %v, want %v", got.Rect.Size(), want.Rect.Size())
	}
	var sum, worst float64
	var where image.Point
	size := want.Rect.Size()
	for y := 0; y < size.Y; y += blockSize {
		for x := 0; x < size.X; x += blockSize {
			of, n := 0.0, 0
			for by := y; by < min(y+blockSize, size.Y); by++ {
				for bx := x; bx < min(x+blockSize, size.X); bx++ {
					of += apart(want.RGBAAt(bx, by), got.RGBAAt(bx, by))
					n++
				}
			}
			sum += of
			if of/float64(n) > worst {
				worst, where = of/float64(n), image.Pt(x, y)
			}
		}
	}
	mean := sum / float64(size.X*size.Y)
	if mean <= meanMost && worst <= blockMost {
		return ""
	}
	return fmt.Sprintf("it differs by %.2f on average (at most %.2f), by %.1f (at most %d) in the %d pixels from %v", mean, meanMost, worst, blockMost, blockSize, where)
}

// apart is the largest difference of two colours in red, green or blue.
func apart(a, b color.RGBA) float64 {
	d := func(x, y uint8) uint8 { return max(x, y) - min(x, y) }
	return float64(max(d(a.R, b.R), d(a.G, b.G), d(a.B, b.B)))
}

// Every kind of picture equals a reviewed file.
func TestGoldenPictures(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", name+".png")
			got := at400(t, p)
			if *update {
				var b bytes.Buffer
				e := png.Encoder{CompressionLevel: png.BestCompression}
				if err := e.Encode(&b, got); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := difference(decode(t, data), got); d != "" {
				t.Errorf("%s: %s; -update rewrites it, look at it before you commit it", file, d)
			}
		})
	}
}

// The goldens are of use: they see a line that moves by two pixels, a band that is
// gone, a name in the legend that is, a mark that moved, one cell that has another
// value, and one block that has another owner.
func TestGoldensSee(t *testing.T) {
	moved := exhaustion()
	for n := range moved.Lines[1].Points {
		moved.Lines[1].Points[n].Y += 0.012
	}
	bandless := exhaustion()
	bandless.Lines[2].Band = nil
	nameless := growth()
	nameless.Lines[3].Name = ""
	elsewhere := pareto()
	elsewhere.Points[1].Recommended, elsewhere.Points[2].Recommended = false, true
	warmer := heat()
	warmer.Tiles[9].Z += 0.2
	stolen := staging()
	for n := 55; n < 61; n++ {
		stolen.Owner[n][0] = 2
	}
	longer := bars()
	longer.Bars[2].Value += 1
	small := panels()
	small.Panels[3].Lines = small.Panels[3].Lines[:1]
	for _, tt := range []struct {
		what      string
		was, is   Picture
		different bool
	}{
		{"nothing", exhaustion(), exhaustion(), false},
		{"a line that moved", exhaustion(), moved, true}, {"a band that is gone", exhaustion(), bandless, true},
		{"a name that is gone", growth(), nameless, true}, {"another recommendation", pareto(), elsewhere, true},
		{"another value", heat(), warmer, true}, {"another owner", staging(), stolen, true},
		{"a longer bar", bars(), longer, true}, {"a line less in a panel", panels(), small, true},
	} {
		d := difference(at400(t, tt.was), at400(t, tt.is))
		if (d != "") != tt.different {
			t.Errorf("%s: seen as %q", tt.what, d)
		}
	}
	was := at400(t, heat())
	rounded := *was
	rounded.Pix = slices.Clone(was.Pix)
	for n, v := range rounded.Pix {
		if v > 8 && v < 240 && n%4 != 3 {
			rounded.Pix[n] = v ^ 1
		}
	}
	if d := difference(was, &rounded); d != "" {
		t.Errorf("a rasteriser that rounds otherwise: %s", d)
	}
}
