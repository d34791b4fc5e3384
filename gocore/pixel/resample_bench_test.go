package pixel

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// The pictures of training have 500 by 375 pixels.
const benchWidth, benchHeight = 500, 375

// benchCrops are those of RandomResizedCrop: a share of the area from 0.08 to 1, and a ratio from 3/4 to 4/3. Each is
// what is decoded, and all that the axes know.
func benchCrops() []image.Point {
	random := rand.New(rand.NewPCG(7, 8))
	var crops []image.Point
	for len(crops) < 512 {
		area := (0.08 + 0.92*random.Float64()) * benchWidth * benchHeight
		ratio := math.Exp((2*random.Float64() - 1) * math.Log(4.0/3))
		width, height := int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if width <= benchWidth && height <= benchHeight {
			crops = append(crops, image.Pt(width, height))
		}
	}
	return crops
}

// BenchmarkResample makes 224 by 224 pixels of random crops, each with tables of its own, and of the centre of pictures
// whose shorter side becomes 256, from the window that it needs.
func BenchmarkResample(b *testing.B) {
	pix := randomBytes(rand.New(rand.NewPCG(1, 1)), benchWidth*benchHeight*3)
	picture := Picture{pix, benchWidth * 3, benchWidth, benchHeight, 3, false}
	crops := benchCrops()
	for _, form := range []struct {
		name   string
		r      Resampling
		dtype  DType
		layout Layout
	}{
		{"keras/float32", Resampling{Bilinear, true, LikeKeras}, Float32, ChannelsLast},
		{"keras/float32/first", Resampling{Bilinear, true, LikeKeras}, Float32, ChannelsFirst},
		{"keras/uint8", Resampling{Bilinear, true, LikeKeras}, Uint8, ChannelsLast},
		{"keras/bicubic/float32", Resampling{Bicubic, true, LikeKeras}, Float32, ChannelsLast},
		{"pillow/uint8", Resampling{Bilinear, true, LikePillow}, Uint8, ChannelsLast},
		{"torchvision/uint8", Resampling{Bilinear, true, LikeTorchvision}, Uint8, ChannelsLast},
		{"opencv/uint8", Resampling{Bilinear, false, LikeOpenCV}, Uint8, ChannelsLast},
		{"opencv/area/uint8", Resampling{Area, false, LikeOpenCV}, Uint8, ChannelsLast},
	} {
		for _, set := range available() {
			w := benchWriter(b, form.dtype, form.layout, set)
			var scratch Scratch
			resample := func(place []byte, src Picture, origin image.Point, x, y Axis) {
				if err := w.Resample(&scratch, place, src, origin, x, y, form.r, true, false); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(fmt.Sprintf("random/%s/%s", form.name, set), func(b *testing.B) {
				next := 0
				benchPlace(b, benchPlaces(b, w.Bytes(benchSide, benchSide)), func(place []byte) {
					crop := crops[next%len(crops)]
					next++
					resample(place, picture.window(0, crop.X, 0, crop.Y), image.Point{},
						Axis{crop.X, 0, float64(crop.X), benchSide, 0, benchSide},
						Axis{crop.Y, 0, float64(crop.Y), benchSide, 0, benchSide})
				})
			})
			b.Run(fmt.Sprintf("centre/%s/%s", form.name, set), func(b *testing.B) {
				x := Axis{benchWidth, 0, benchWidth, 341, 58, benchSide}
				y := Axis{benchHeight, 0, benchHeight, 256, 16, benchSide}
				fromX, toX := form.r.Needs(x)
				fromY, toY := form.r.Needs(y)
				window := picture.window(fromX, toX, fromY, toY)
				benchPlace(b, benchPlaces(b, w.Bytes(benchSide, benchSide)), func(place []byte) {
					resample(place, window, image.Pt(fromX, fromY), x, y)
				})
			})
		}
	}
}
