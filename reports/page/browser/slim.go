package browser

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"os"
	"slices"
)

// Slim gives a picture the 256 colours that it uses most: a page has few, and the
// edges of its letters many.
func Slim(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		return err
	}
	uses := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(img.At(x, y)).(color.RGBA) }
	bounds := img.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			uses[at(x, y)]++
		}
	}
	all := make([]color.RGBA, 0, len(uses))
	for c := range uses {
		all = append(all, c)
	}
	rank := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	slices.SortFunc(all, func(a, b color.RGBA) int { return cmp.Or(uses[b]-uses[a], rank(a)-rank(b)) })
	var palette color.Palette
	for _, c := range all[:min(256, len(all))] {
		palette = append(palette, c)
	}
	out, nearest := image.NewPaletted(bounds, palette), map[color.RGBA]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := at(x, y)
			if _, ok := nearest[c]; !ok {
				nearest[c] = uint8(palette.Index(c))
			}
			out.SetColorIndex(x, y, nearest[c])
		}
	}
	var slimmed bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&slimmed, out); err != nil {
		return err
	}
	return os.WriteFile(file, slimmed.Bytes(), 0o644)
}
