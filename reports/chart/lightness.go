package chart

import (
	"image/color"
	"math"
)

// luminance of a colour, 0 to 1.
//
// Source: IEC 61966-2-1 (sRGB).
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		if f := float64(v) / 255; f > 0.04045 {
			return math.Pow((f+0.055)/1.055, 2.4)
		}
		return float64(v) / 255 / 12.92
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
