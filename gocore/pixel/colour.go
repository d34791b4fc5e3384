package pixel

// #cgo noescape pixel_count
// #cgo nocallback pixel_count
// #cgo noescape pixel_look_up
// #cgo nocallback pixel_look_up
// #cgo noescape pixel_change
// #cgo nocallback pixel_change
// #cgo noescape pixel_weighted_sum
// #cgo nocallback pixel_weighted_sum
// #cgo noescape pixel_sharpen
// #cgo nocallback pixel_sharpen
// #cgo noescape pixel_blur
// #cgo nocallback pixel_blur
// #include "colour.h"
import "C"

import (
	"fmt"
	"image"
	"unsafe"
)

const (
	// Levels is how many values a sample of 8 bits can have.
	Levels = C.PIXEL_LEVELS
	// MaxChannels is how many channels a picture can have.
	MaxChannels = C.PIXEL_MAX_CHANNELS
)

// The changes of pixels.
const (
	fadeChange     = C.PIXEL_FADE
	saturateChange = C.PIXEL_SATURATE
	turnChange     = C.PIXEL_TURN
)

// Table gives a new value for each value of a channel.
type Table [Levels]uint8

// Counts says how often each value occurs in a channel.
type Counts [Levels]uint32

// Colours returns the number of channels that are not alpha.
func (p Picture) Colours() int { return min(p.Channels, 3) }

// Part returns the window of the picture, which shares its pixels.
func (p Picture) Part(window image.Rectangle) Picture {
	first := window.Min.Y*p.Stride + window.Min.X*p.PixelBytes()
	last := (window.Max.Y-1)*p.Stride + window.Max.X*p.PixelBytes()
	p.Pix, p.Width, p.Height = p.Pix[first:last], window.Dx(), window.Dy()
	return p
}

// Count sets the counts of each channel.
func Count(counts *[MaxChannels]Counts, p Picture) {
	p.mustBeBytes()
	*counts = [MaxChannels]Counts{}
	C.pixel_count((*C.uint32_t)(unsafe.Pointer(counts)), start(p.Pix), p.stride(), p.width(), p.height(), C.int(p.Channels))
}

// LookUp replaces every value by its channel's table.
func LookUp(tables *[MaxChannels]Table, p Picture) {
	p.mustBeBytes()
	C.pixel_look_up((*C.uint8_t)(unsafe.Pointer(tables)), start(p.Pix), p.stride(), p.width(), p.height(), C.int(p.Channels))
}

// Fade blends with gray, 0.2989 R + 0.5870 G + 0.1140 B: the amount 0 changes nothing, 1 leaves gray alone.
func Fade(p Picture, amount float64) { p.change(best(), fadeChange, amount) }

// Saturate multiplies the saturation, in HSV, by a factor that is at least 0; samples are clipped, the saturation is not.
func Saturate(p Picture, factor float64) {
	p.change(best(), saturateChange, min(factor, Levels)) // that much moves whatever is not gray to 0 already
}

// TurnHue adds to the hue, in HSV; it counts in turns, from -1 to 1.
func TurnHue(p Picture, turns float64) { p.change(best(), turnChange, 6*turns) }

// change leaves pictures of one channel as they are: they have no colour.
func (p Picture) change(set instructions, change uint32, amount float64) {
	p.mustBeBytes()
	if p.Channels > 1 {
		C.pixel_change(uint32(set), change, C.float(amount), start(p.Pix), p.stride(), p.width(), p.height(), C.int(p.Channels))
	}
}

// WeightedSum makes of every sample that is not alpha own times itself plus the weights times the samples in its place
// in others, which are one picture of the same size for each weight, without gaps. It is computed in float32, in that
// order, and rounded to the nearest level.
func WeightedSum(p Picture, own float32, others []byte, weights []float32) {
	p.weightedSum(best(), own, others, weights)
}

func (p Picture) weightedSum(set instructions, own float32, others []byte, weights []float32) {
	p.mustBeBytes()
	if size := p.Width * p.Height * p.Channels; len(others) != size*len(weights) {
		panic(fmt.Sprintf("pixel: %d bytes of other pictures, not %d times %d", len(others), len(weights), size))
	}
	C.pixel_weighted_sum(uint32(set), C.float(own), (*C.float)(unsafe.SliceData(weights)), C.size_t(len(weights)),
		start(others), start(p.Pix), p.stride(), p.width(), p.height(), C.int(p.Channels))
}

// Sharpen blends with the mean of the 3 by 3 pixels around, of which the middle one counts five times: the weight 0
// changes nothing, 1 leaves the mean alone, -1 doubles the distance to it. Outside the picture lie zeros. The buffer is
// made larger where it must be.
func Sharpen(p Picture, weight float64, buffer *[]float32) { p.sharpen(best(), weight, buffer) }

func (p Picture) sharpen(set instructions, weight float64, buffer *[]float32) {
	p.mustBeBytes()
	bytes := grow(buffer, (int(C.pixel_sharpen_buffer(p.width(), C.int(p.Channels)))+3)/4)
	C.pixel_sharpen(uint32(set), C.float(weight), (*C.uint8_t)(unsafe.Pointer(bytes)), start(p.Pix),
		p.stride(), p.width(), p.height(), C.int(p.Channels))
}

// Blur sums the pixels around, each times the weights of its distance along the row and across the rows, which are
// equally many. Outside the picture lie zeros. The buffer is made larger where it must be.
func Blur(p Picture, along, across []float32, buffer *[]float32) {
	p.blur(best(), along, across, buffer)
}

func (p Picture) blur(set instructions, along, across []float32, buffer *[]float32) {
	p.mustBeBytes()
	if len(along) == 0 || len(along) != len(across) {
		panic(fmt.Sprintf("pixel: weights for %d and %d distances", len(along), len(across)))
	}
	radius := C.size_t(len(along) - 1)
	floats := grow(buffer, int(C.pixel_blur_buffer(p.width(), C.int(p.Channels), radius)))
	C.pixel_blur(uint32(set), (*C.float)(unsafe.SliceData(along)), (*C.float)(unsafe.SliceData(across)), radius,
		(*C.float)(floats), start(p.Pix), p.stride(), p.width(), p.height(), C.int(p.Channels))
}

// kept is how large a buffer may be to wait for the next picture.
const kept = 16 << 20

// grow makes a buffer of a size, whose values are undefined. One that only a giant picture needed is given back.
func grow(buffer *[]float32, size int) *float32 {
	if cap(*buffer) < size || cap(*buffer) > kept {
		*buffer = make([]float32, size)
	}
	return unsafe.SliceData(*buffer)
}

// mustBeBytes panics where the picture is not one of 8 bits, which is a defect of the caller.
func (p Picture) mustBeBytes() {
	if err := p.check(); err != nil {
		panic(err)
	}
	if p.Wide || p.Channels != 1 && p.Channels != 3 && p.Channels != 4 {
		panic(fmt.Sprintf("pixel: colour operations on %d channels (wide: %t)", p.Channels, p.Wide))
	}
}

func (p Picture) stride() C.size_t { return C.size_t(p.Stride) }
func (p Picture) width() C.size_t  { return C.size_t(p.Width) }
func (p Picture) height() C.size_t { return C.size_t(p.Height) }
