package pixel

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// turned maps the output to the input, both of which have the same centre in them: it turns, and zooms by the factor.
func turned(output, input image.Point, radians, zoom float64) Matrix {
	sin, cos := math.Sin(radians)*zoom, math.Cos(radians)*zoom
	fromX, fromY := float64(output.X-1)/2, float64(output.Y-1)/2
	toX, toY := float64(input.X-1)/2, float64(input.Y-1)/2
	return Matrix{cos, -sin, toX - cos*fromX + sin*fromY, sin, cos, toY - sin*fromX - cos*fromY, 0, 0}
}

// BenchmarkWarp turns 300 by 300 pixels by 0.3 radians, shrunk so that some of what comes out lies outside.
func BenchmarkWarp(b *testing.B) {
	input, output := image.Pt(300, 300), image.Pt(benchSide, benchSide)
	pix := randomBytes(rand.New(rand.NewPCG(1, 1)), input.X*input.Y*3)
	src := Picture{pix, input.X * 3, input.X, input.Y, 3, false}
	reflect := Warp{Interpolation: Bilinear, Fill: Fill{Mode: FillReflect}}
	for _, form := range []struct {
		name        string
		perspective float64
		warp        Warp
		dtype       DType
		layout      Layout
	}{
		{"bilinear/constant/float32", 0, Warp{Interpolation: Bilinear}, Float32, ChannelsLast},
		{"bilinear/reflect/float32", 0, reflect, Float32, ChannelsLast},
		{"bilinear/reflect/float32/first", 0, reflect, Float32, ChannelsFirst},
		{"bilinear/reflect/uint8", 0, reflect, Uint8, ChannelsLast},
		{"nearest/reflect/float32", 0, Warp{Fill: Fill{Mode: FillReflect}}, Float32, ChannelsLast},
		{"perspective/constant/float32", 3e-4, Warp{Interpolation: Bilinear}, Float32, ChannelsLast},
	} {
		form.warp.Input = input
		form.warp.Matrix = turned(output, input, 0.3, 1.3)
		form.warp.Matrix[6] = form.perspective
		for _, set := range available() {
			w := benchWriter(b, form.dtype, form.layout, set)
			var scratch Scratch
			b.Run(fmt.Sprintf("%s/%s", form.name, set), func(b *testing.B) {
				benchPlace(b, benchPlaces(b, w.Bytes(output.X, output.Y)), func(place []byte) {
					err := w.Warp(&scratch, place, src, image.Point{}, form.warp, image.Rectangle{Max: output}, true, false)
					if err != nil {
						b.Fatal(err)
					}
				})
			})
		}
	}
}
