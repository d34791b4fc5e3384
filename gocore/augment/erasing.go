package augment

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"sync"

	"tfgoloader/gocore/pixel"
)

// RandomErasing is keras.layers.RandomErasing: with a probability that is itself drawn from Factor, a rectangle is filled
// with Fill, or with noise where it is nil. The squares of the rectangle's sides, as shares of the picture's, are drawn
// from Scale.
type RandomErasing struct {
	Factor, Scale interval
	Fill          *[3]uint8 `json:"fill_value"`
}

func (r *RandomErasing) String() string {
	return fmt.Sprintf("RandomErasing(factor=%v, scale=%v)", r.Factor, r.Scale)
}

// Draw draws the probability, then whether, then width, height, left and top, and then the noise.
func (r *RandomErasing) Draw(random *rand.Rand) Filter {
	if !r.Factor.happens(random) {
		return nil
	}
	e := &erasing{fill: r.Fill}
	e.width, e.height = math.Sqrt(r.Scale.draw(random)), math.Sqrt(r.Scale.draw(random))
	e.left, e.top = random.Float64()*(1-e.width), random.Float64()*(1-e.height)
	if e.fill == nil {
		e.noise.Seed(random.Uint64(), random.Uint64())
	}
	return e
}

// erasing is a rectangle in shares of the picture's size.
type erasing struct {
	left, top, width, height float64
	fill                     *[3]uint8
	noise                    rand.PCG
}

// Reach says that the rectangle's place depends on the picture's size.
func (e *erasing) Reach() int { return Whole }

func (e *erasing) drawn() parameters {
	return parameters{{"top", e.top}, {"left", e.left}, {"height", e.height}, {"width", e.width}}
}

// rectangle holds the pixels whose coordinates lie between the sides.
func (e *erasing) rectangle(width, height int) image.Rectangle {
	at := func(share float64, size int) int { return int(math.Ceil(share * float64(size))) }
	return image.Rect(at(e.left, width), at(e.top, height), at(e.left+e.width, width), at(e.top+e.height, height)).
		Intersect(image.Rect(0, 0, width, height))
}

func (e *erasing) Apply(picture pixel.Picture, work *Work) {
	size := image.Pt(picture.Width, picture.Height)
	r := mirrored(e.rectangle(size.X, size.Y), size, work.FlipX, work.FlipY)
	if r.Empty() {
		return
	}
	part, colours := picture.Part(r), picture.Colours()
	values := noise{source: e.noise, levels: noiseLevels()}
	for y := range part.Height {
		row := part.Pix[y*part.Stride:][:part.Width*part.Channels]
		for at := 0; at < len(row); at += part.Channels {
			for c := range colours {
				if e.fill == nil {
					row[at+c] = values.next()
				} else {
					row[at+c] = e.fill[c]
				}
			}
		}
	}
}

// noise is 255 times normal noise, rounded and clipped to 0 to 255.
type noise struct {
	source rand.PCG
	levels *[1 << 16]uint8
	bits   uint64
	left   int // how many values the bits are good for
}

func (n *noise) next() uint8 {
	if n.left == 0 {
		n.bits, n.left = n.source.Uint64(), 4
	}
	value := n.levels[uint16(n.bits)]
	n.bits >>= 16
	n.left--
	return value
}

// noiseLevels is the inverse of the noise's distribution function, at the middles of 65,536 equal steps.
var noiseLevels = sync.OnceValue(func() *[1 << 16]uint8 {
	levels := new([1 << 16]uint8)
	level := 0
	for i := range levels {
		share := (float64(i) + 0.5) / float64(len(levels))
		for level < 255 && share > (1+math.Erf((float64(level)+0.5)/255/math.Sqrt2))/2 {
			level++
		}
		levels[i] = uint8(level)
	}
	return levels
})
