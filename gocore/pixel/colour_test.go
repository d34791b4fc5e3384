package pixel

import (
	"bytes"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// canvas is a picture of noise with bytes between its rows, which must stay as they are.
func canvas(random *rand.Rand, width, height, channels int) Picture {
	const gap = 5
	stride := width*channels + gap
	return Picture{
		Pix: randomBytes(random, stride*(height-1)+width*channels), Stride: stride, Width: width, Height: height, Channels: channels,
	}
}

func (p Picture) clone() Picture {
	p.Pix = bytes.Clone(p.Pix)
	return p
}

func (p Picture) at(x, y, c int) float64 {
	if x < 0 || y < 0 || x >= p.Width || y >= p.Height {
		return 0
	}
	return float64(p.Pix[y*p.Stride+x*p.Channels+c])
}

// expect says what every colour sample has to be, to one level where the reference's exact sum is rounded differently.
func expect(t *testing.T, got, before Picture, want func(x, y, c int) float64) {
	t.Helper()
	off := 0
	reference := before.clone()
	for y := range got.Height {
		for x := range got.Width {
			for c := range got.Colours() {
				value := min(max(want(x, y, c), 0), 255)
				if math.Abs(got.at(x, y, c)-value) > 0.501 {
					t.Fatalf("sample (%d, %d, %d) is %v, want %v", x, y, c, got.at(x, y, c), value)
				}
				at := y*got.Stride + x*got.Channels + c
				if got.Pix[at] != before.Pix[at] {
					off++
				}
				reference.Pix[at] = got.Pix[at]
			}
		}
	}
	if !bytes.Equal(reference.Pix, got.Pix) {
		t.Fatal("alpha or the bytes between rows changed")
	}
	if off == 0 && got.Width*got.Height > 50 {
		t.Fatal("nothing changed")
	}
}

// forCanvases calls test for each instruction set, number of channels and several sizes.
func forCanvases(t *testing.T, test func(t *testing.T, set instructions, p Picture)) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, set := range available() {
		for _, channels := range []int{1, 3, 4} {
			for _, size := range []image.Point{{1, 1}, {2, 1}, {1, 2}, {9, 7}, {64, 3}, {65, 5}, {131, 20}} {
				t.Run(fmt.Sprintf("%s/%d/%v", set, channels, size), func(t *testing.T) {
					test(t, set, canvas(random, size.X, size.Y, channels))
				})
			}
		}
	}
}

// forColours is forCanvases without those of one channel, which must stay as they are.
func forColours(t *testing.T, change func(p Picture, set instructions), test func(t *testing.T, got, before Picture)) {
	forCanvases(t, func(t *testing.T, set instructions, p Picture) {
		before := p.clone()
		change(p, set)
		if p.Channels > 1 {
			test(t, p, before)
		} else if !bytes.Equal(p.Pix, before.Pix) {
			t.Error("a picture without colours changed")
		}
	})
}

func TestFadeBlendsWithGray(t *testing.T) {
	for _, amount := range []float64{0.3, 1} {
		forColours(t, func(p Picture, set instructions) { p.change(set, fadeChange, amount) }, func(t *testing.T, got, before Picture) {
			expect(t, got, before, func(x, y, c int) float64 {
				gray := 0.2989*before.at(x, y, 0) + 0.5870*before.at(x, y, 1) + 0.1140*before.at(x, y, 2)
				return (1-amount)*before.at(x, y, c) + amount*gray
			})
		})
	}
}

// hsv is the textbook's conversion; the hue counts from 0 to 1.
func hsv(r, g, b float64) (hue, saturation, value float64) {
	value = max(r, g, b)
	distance := value - min(r, g, b)
	if distance == 0 {
		return 0, 0, value
	}
	switch value {
	case r:
		hue = math.Mod((g-b)/distance+6, 6)
	case g:
		hue = (b-r)/distance + 2
	default:
		hue = (r-g)/distance + 4
	}
	return hue / 6, distance / value, value
}

// rgb turns hsv round; channels are numbered 0 to 2.
func rgb(hue, saturation, value float64, channel int) float64 {
	k := math.Mod([]float64{5, 3, 1}[channel]+hue*6, 6)
	return value - value*saturation*max(0, min(k, 4-k, 1))
}

func TestSaturateMultipliesTheSaturation(t *testing.T) {
	for _, factor := range []float64{0, 0.5, 3} {
		forColours(t, func(p Picture, set instructions) { p.change(set, saturateChange, factor) }, func(t *testing.T, got, before Picture) {
			expect(t, got, before, func(x, y, c int) float64 {
				hue, saturation, value := hsv(before.at(x, y, 0), before.at(x, y, 1), before.at(x, y, 2))
				return rgb(hue, saturation*factor, value, c)
			})
		})
	}
}

func TestTurnHueAddsToTheHue(t *testing.T) {
	for _, turns := range []float64{0.1, -0.4, 0.5, 1. / 3} {
		forColours(t, func(p Picture, set instructions) { p.change(set, turnChange, 6*turns) }, func(t *testing.T, got, before Picture) {
			expect(t, got, before, func(x, y, c int) float64 {
				hue, saturation, value := hsv(before.at(x, y, 0), before.at(x, y, 1), before.at(x, y, 2))
				return rgb(math.Mod(hue+turns+1, 1), saturation, value, c)
			})
		})
	}
}

func TestSharpenBlendsWithTheMeanAround(t *testing.T) {
	var buffer []float32
	for _, weight := range []float64{1, 0.4, -1} {
		forCanvases(t, func(t *testing.T, set instructions, p Picture) {
			before := p.clone()
			p.sharpen(set, weight, &buffer)
			expect(t, p, before, func(x, y, c int) float64 {
				sum := 4 * before.at(x, y, c)
				for i := range 9 {
					sum += before.at(x+i%3-1, y+i/3-1, c)
				}
				return before.at(x, y, c) + weight*(sum/13-before.at(x, y, c))
			})
		})
	}
}

func TestBlurSumsThePixelsAround(t *testing.T) {
	var buffer []float32
	along, across := []float32{0.4, 0.2, 0.1}, []float32{0.5, 0.05, 0.2}
	forCanvases(t, func(t *testing.T, set instructions, p Picture) {
		before := p.clone()
		p.blur(set, along, across, &buffer)
		expect(t, p, before, func(x, y, c int) float64 {
			sum := 0.
			for dy := -2; dy <= 2; dy++ {
				for dx := -2; dx <= 2; dx++ {
					sum += float64(along[max(dx, -dx)]) * float64(across[max(dy, -dy)]) * before.at(x+dx, y+dy, c)
				}
			}
			return sum
		})
	})
}

// Filters are applied to pictures that are to be mirrored later, so they must not prefer a side.
func TestFiltersCommuteWithMirrors(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	weights := []float32{0.41233, 0.2073, 0.07, 0.0131}
	for name, filter := range map[string]func(Picture){
		"sharpen": func(p Picture) { Sharpen(p, -0.7123, new([]float32)) },
		"blur":    func(p Picture) { Blur(p, weights, weights, new([]float32)) },
	} {
		for _, flip := range flips {
			p := canvas(random, 97, 41, 3)
			w, err := NewWriter(3, Uint8, ChannelsLast, nil)
			if err != nil {
				t.Fatal(err)
			}
			mirrored := func(p Picture, flipX, flipY bool) Picture {
				out := Picture{Pix: make([]byte, w.Bytes(p.Width, p.Height)), Stride: p.Width * 3, Width: p.Width, Height: p.Height, Channels: 3}
				if err := w.Write(out.Pix, p, flipX, flipY); err != nil {
					t.Fatal(err)
				}
				return out
			}
			first := mirrored(p, flip[0], flip[1])
			filter(first)
			filter(p)
			if !bytes.Equal(first.Pix, mirrored(p, flip[0], flip[1]).Pix) {
				t.Errorf("%s of the mirrored picture is not the mirrored result", name)
			}
		}
	}
}

func TestEverySetGivesTheSameBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	p := canvas(random, 301, 47, 3)
	for name, filter := range map[string]func(Picture, instructions){
		"fade":     func(p Picture, set instructions) { p.change(set, fadeChange, 0.377) },
		"saturate": func(p Picture, set instructions) { p.change(set, saturateChange, 1.377) },
		"turn":     func(p Picture, set instructions) { p.change(set, turnChange, 0.377) },
		"sharpen":  func(p Picture, set instructions) { p.sharpen(set, 0.377, new([]float32)) },
		"blur": func(p Picture, set instructions) {
			p.blur(set, []float32{0.377, 0.31}, []float32{0.1, 0.45}, new([]float32))
		},
	} {
		sameOnEverySet(t, func(set instructions) []byte {
			filtered := p.clone()
			filter(filtered, set)
			return filtered.Pix
		}, name)
	}
}

func TestWeightedSumIsThatOfFloat32(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	own, weights := float32(0.493), []float32{0.3, -0.4, 0.7}
	for _, channels := range []int{1, 3, 4} {
		p := canvas(random, 1031, 9, channels)
		row := p.Width * channels
		others := randomBytes(random, len(weights)*p.Height*row)
		want := p.clone()
		for y := range p.Height {
			for i := range row {
				sample := &want.Pix[y*p.Stride+i]
				sum := own * float32(*sample)
				for k, weight := range weights {
					sum += float32(weight * float32(others[(k*p.Height+y)*row+i]))
				}
				if channels < 4 || i%4 != 3 {
					*sample = byte(nearest(min(max(sum, 0), 255)))
				}
			}
		}
		for _, set := range available() {
			got := p.clone()
			if got.weightedSum(set, own, others, weights); !bytes.Equal(got.Pix, want.Pix) {
				t.Errorf("%v, %d channels: differs", set, channels)
			}
		}
	}
}

func TestCountAndLookUp(t *testing.T) {
	forCanvases(t, func(t *testing.T, _ instructions, p Picture) {
		var tables [MaxChannels]Table
		var want, counts [MaxChannels]Counts
		random := rand.New(rand.NewPCG(11, 12))
		for c := range tables {
			for i, level := range random.Perm(Levels) {
				tables[c][i] = uint8(level)
			}
		}
		before := p.clone()
		for y := range p.Height {
			for x := range p.Width {
				for c := range p.Channels {
					want[c][int(p.at(x, y, c))]++
				}
			}
		}
		if Count(&counts, p); counts != want {
			t.Error("wrong counts")
		}
		LookUp(&tables, p)
		for y := range p.Height {
			for x := range p.Width {
				for c := range p.Channels {
					if got, want := p.at(x, y, c), float64(tables[c][int(before.at(x, y, c))]); got != want {
						t.Fatalf("sample (%d, %d, %d) is %v, want %v", x, y, c, got, want)
					}
				}
			}
		}
	})
}

func TestPartSharesThePixels(t *testing.T) {
	p := canvas(rand.New(rand.NewPCG(1, 1)), 20, 10, 3)
	part := p.Part(image.Rect(3, 2, 20, 10))
	if err := part.check(); err != nil || part.at(0, 0, 1) != p.at(3, 2, 1) || part.at(16, 7, 2) != p.at(19, 9, 2) {
		t.Errorf("wrong part: %v", err)
	}
	part.Pix[0]++
	if part.at(0, 0, 0) != p.at(3, 2, 0) {
		t.Error("the part is a copy")
	}
}

func TestWhatIsNoPictureOfBytesIsRefused(t *testing.T) {
	for name, p := range map[string]Picture{
		"too short":    {Pix: make([]byte, 10), Stride: 6, Width: 2, Height: 2, Channels: 3},
		"wide":         {Pix: make([]byte, 12), Stride: 12, Width: 2, Height: 1, Channels: 3, Wide: true},
		"two channels": {Pix: make([]byte, 4), Stride: 4, Width: 2, Height: 1, Channels: 2},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is accepted", name)
				}
			}()
			Saturate(p, 1)
		}()
	}
}
