package pixel

// #cgo noescape pixel_warp_picture
// #cgo nocallback pixel_warp_picture
// #cgo noescape pixel_warp_scratch
// #cgo nocallback pixel_warp_scratch
// #include "warp.h"
import "C"

import (
	"errors"
	"fmt"
	"image"
	"math"
)

// FillMode says what lies beyond a picture's edges.
type FillMode int

const (
	FillConstant FillMode = C.PIXEL_FILL_CONSTANT // Fill.Value
	FillNearest  FillMode = C.PIXEL_FILL_NEAREST  // aaaa|abcd|dddd
	FillReflect  FillMode = C.PIXEL_FILL_REFLECT  // dcba|abcd|dcba
	FillWrap     FillMode = C.PIXEL_FILL_WRAP     // abcd|abcd|abcd
)

func (m FillMode) String() string {
	return [...]string{"constant", "nearest", "reflect", "wrap"}[m]
}

// Fill is what lies beyond a picture's edges. Value is by channel, in levels of 0 to 255.
type Fill struct {
	Mode  FillMode
	Value [MaxChannels]float64
}

func (f Fill) check() error {
	if f.Mode < FillConstant || f.Mode > FillWrap {
		return fmt.Errorf("%w: fill mode %d", ErrResampling, int(f.Mode))
	}
	for _, value := range f.Value {
		if math.IsNaN(value) || math.Abs(value) > math.MaxFloat32 {
			return fmt.Errorf("%w: fill value %g", ErrResampling, value)
		}
	}
	return nil
}

// Matrix maps the place x, y of an output pixel to the place x', y' of the input:
//
//	x' = (a x + b y + c) / (g x + h y + 1)
//	y' = (d x + e y + f) / (g x + h y + 1)
//
// Both count from the centres of pixels: the first is at 0, as in TensorFlow's ImageProjectiveTransformV3 and
// keras.ops.image.affine_transform.
type Matrix [8]float64

// Warp is projective resampling of a whole picture of the size Input, with the pixels of ImageProjectiveTransformV3:
// computed in float32, in its order, and with its rules of filling. The constant counts as pixels: places between these and
// the picture are interpolated; where the denominator is 0, it fills in every mode. FillWrap does not interpolate between
// the last pixel and the first one of the next copy, and the second copy and those after it come a pixel too early each.
// For Uint8, unlike TensorFlow, results are rounded half to even.
type Warp struct {
	Matrix        Matrix
	Input         image.Point
	Interpolation Interpolation // Nearest or Bilinear
	Fill          Fill
}

// Check wants an interpolation, a mode, finite values and a size that there are; its error wraps ErrResampling. Every
// matrix will do: what it maps to no place, or too far away, counts as outside.
func (w Warp) Check() error {
	if w.Interpolation != Nearest && w.Interpolation != Bilinear {
		return fmt.Errorf("%w: interpolation %d of a warp", ErrResampling, int(w.Interpolation))
	}
	if w.Input.X <= 0 || w.Input.Y <= 0 || w.Input.X > maxSide || w.Input.Y > maxSide {
		return fmt.Errorf("%w: warp of %d by %d pixels", ErrResampling, w.Input.X, w.Input.Y)
	}
	return w.Fill.check()
}

// Needs returns the part of the input that the part out of the output depends on: only that need be decoded. It is never
// empty. The warp must be valid.
func (w Warp) Needs(out image.Rectangle) image.Rectangle {
	all := image.Rectangle{Max: w.Input}
	x, y, ok := w.reach(out)
	if !ok {
		return all
	}
	fromX, toX := w.touched(x, w.Input.X)
	fromY, toY := w.touched(y, w.Input.Y)
	if needs := image.Rect(fromX, fromY, toX, toY); fromX < toX && fromY < toY {
		return needs
	}
	return image.Rect(0, 0, 1, 1) // all is filled
}

// interval is of places, both ends included.
type interval struct{ from, to float32 }

func (i *interval) add(place float32) { i.from, i.to = min(i.from, place), max(i.to, place) }

// reach returns between which places of the input the part's pixels lie; false where that cannot be said.
func (w Warp) reach(out image.Rectangle) (x, y interval, ok bool) {
	m := w.Matrix.float32()
	x = interval{float32(math.Inf(1)), float32(math.Inf(-1))}
	y = x
	last := out.Max.Sub(image.Pt(1, 1))
	for _, corner := range []image.Point{out.Min, {last.X, out.Min.Y}, {out.Min.X, last.Y}, last} {
		u, v := float32(corner.X), float32(corner.Y)
		if m[6] == 0 && m[7] == 0 {
			// As the kernels do. Rounding keeps order, so no pixel between the corners is further away than these.
			x.add(float32(float32(m[0]*u)+float32(m[1]*v)) + m[2])
			y.add(float32(float32(m[3]*u)+float32(m[4]*v)) + m[5])
			continue
		}
		// The quotient of rounded numbers need not keep order, so there are margins for all that is rounded. What comes
		// near the horizon may lie anywhere.
		sum := func(a, b, c float32) (sum, size float64) {
			terms := []float64{float64(a) * float64(u), float64(b) * float64(v), float64(c)}
			for _, term := range terms {
				sum += term
				size += math.Abs(term)
			}
			return sum, size
		}
		const rounding = 1.0 / (1 << 21)
		k, sizeK := sum(m[6], m[7], 1)
		if !(k > 1e-3*sizeK) {
			return x, y, false
		}
		add := func(axis *interval, place, size float64) {
			place /= k
			margin := rounding * (size/k + math.Abs(place)*(1+sizeK/k))
			axis.add(float32(place - margin))
			axis.add(float32(place + margin))
		}
		atX, sizeX := sum(m[0], m[1], m[2])
		atY, sizeY := sum(m[3], m[4], m[5])
		add(&x, atX, sizeX)
		add(&y, atY, sizeY)
	}
	finite := func(i interval) bool { return float64(i.to)-float64(i.from) < math.Inf(1) } // and no NaN
	return x, y, finite(x) && finite(y)
}

// touched returns the range of pixels that places on an axis of so many pixels are made of.
func (w Warp) touched(places interval, pixels int) (from, to int) {
	length, last := float32(pixels), float32(pixels-1)
	before, after := places.from < 0, places.to > last
	beyond := float32(1) // places nearer than that to the outermost pixels are made of these
	if w.Interpolation == Nearest {
		beyond = 0.5
	}
	switch {
	case w.Fill.Mode == FillReflect && before && !after && places.from >= -length:
		places = interval{0, max(places.to, -places.from-1)}
	case w.Fill.Mode == FillReflect && after && !before && places.to <= 2*length-1:
		places = interval{min(places.from, 2*length-places.to-1), last}
	case w.Fill.Mode == FillReflect && (before || after), w.Fill.Mode == FillWrap && (before || after):
		return 0, pixels
	case w.Fill.Mode == FillConstant && (places.to <= -beyond || places.from >= last+beyond):
		return 0, 0
	}
	clamp := func(place float32) float64 { return float64(max(0, min(place, last))) }
	if w.Interpolation == Nearest {
		return int(math.Round(clamp(places.from))), int(math.Round(clamp(places.to))) + 1
	}
	return int(clamp(places.from)), int(math.Ceil(clamp(places.to))) + 1
}

func (m Matrix) float32() (narrow [8]float32) {
	for i, value := range m {
		narrow[i] = float32(value)
	}
	return narrow
}

// Warp writes the part out of the warp's output to dst as Write does, its values and flips included. The pixel at origin
// of the whole picture is src's first; src must hold what the part needs. The samples are the same on every machine, and
// each is the same whichever others are made beside it. Errors wrap ErrResampling or ErrSize and leave dst as it was.
func (w *Writer) Warp(scratch *Scratch, dst []byte, src Picture, origin image.Point, warp Warp, out image.Rectangle,
	flipX, flipY bool) error {
	if err := errors.Join(warp.Check(), src.check()); err != nil {
		return err
	}
	if out.Empty() || out.Min.X < 0 || out.Min.Y < 0 || out.Max.X > maxSide || out.Max.Y > maxSide {
		return fmt.Errorf("%w: the part %v of a warp", ErrSize, out)
	}
	if err := w.fits(dst, src, out.Dx(), out.Dy()); err != nil {
		return err
	}
	window := image.Rectangle{origin, origin.Add(image.Pt(src.Width, src.Height))}
	if needs := warp.Needs(out); !needs.In(window) || !window.In(image.Rectangle{Max: warp.Input}) {
		return fmt.Errorf("%w: pixels %v of %v do not hold the window %v", ErrSize, window, warp.Input, needs)
	}
	if len(src.Pix) > math.MaxInt32 {
		return fmt.Errorf("%w: a warp of %d bytes", ErrSize, len(src.Pix))
	}
	form := C.struct_pixel_warp{
		instructions: uint32(w.instructions), channels: C.int(w.channels), nearest: warp.Interpolation == Nearest,
		sample: w.dtype.sample(), planar: w.layout == ChannelsFirst && w.channels > 1,
		flip_x: C.bool(flipX), flip_y: C.bool(flipY), fill: uint32(warp.Fill.Mode),
		width: C.int32_t(warp.Input.X), height: C.int32_t(warp.Input.Y),
		from_x: C.int32_t(window.Min.X), from_y: C.int32_t(window.Min.Y),
		to_x: C.int32_t(window.Max.X), to_y: C.int32_t(window.Max.Y),
		first_x: C.int32_t(out.Min.X), first_y: C.int32_t(out.Min.Y),
		outputs_x: C.int32_t(out.Dx()), outputs_y: C.int32_t(out.Dy()),
	}
	for i, value := range warp.Matrix.float32() {
		form.matrix[i] = C.float(value)
	}
	for c, value := range warp.Fill.Value {
		if w.dtype == Uint8 {
			value = max(-maxSide, min(value, maxSide)) // that much saturates, and an int32 holds it
		}
		form.value[c] = C.float(value)
	}
	size := C.pixel_warp_scratch(&form)
	if size > maxWords {
		return fmt.Errorf("%w: the part %v of a warp takes %d words of scratch", ErrSize, out, size)
	}
	return w.make(scratch, dst, out.Dx(), out.Dy(), w.dtype == Uint8, func(place []byte) {
		C.pixel_warp_picture(&form, &w.float32, scratch.c(size), start(place), start(src.Pix), C.size_t(src.Stride))
	})
}
