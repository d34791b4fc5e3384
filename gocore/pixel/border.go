package pixel

import (
	"errors"
	"fmt"
	"image"
	"math"
)

// Border is how many pixels are put around a picture, and which: as numpy.pad has its modes constant, edge (FillNearest),
// symmetric (FillReflect) and wrap. The constant is rounded half to even, and brought within 0 to 255.
type Border struct {
	Left, Top, Right, Bottom int
	Fill                     Fill
}

// Check wants sides that are not negative, nor too large, and a fill; its error wraps ErrSize or ErrResampling.
func (b Border) Check() error {
	for _, side := range []int{b.Left, b.Top, b.Right, b.Bottom} {
		if side < 0 || side > maxSide {
			return fmt.Errorf("%w: border of %d, %d, %d and %d pixels", ErrSize, b.Left, b.Top, b.Right, b.Bottom)
		}
	}
	return b.Fill.check()
}

// Size returns the size of the padded picture.
func (b Border) Size(input image.Point) image.Point {
	return input.Add(image.Pt(b.Left+b.Right, b.Top+b.Bottom))
}

// Needs returns the part of the input that the part out of the padded picture depends on. It is never empty. The border
// must be valid, and the part lie within the padded picture.
func (b Border) Needs(input image.Point, out image.Rectangle) image.Rectangle {
	out = out.Sub(image.Pt(b.Left, b.Top))
	fromX, toX := b.Fill.Mode.touched(out.Min.X, out.Max.X, input.X)
	fromY, toY := b.Fill.Mode.touched(out.Min.Y, out.Max.Y, input.Y)
	if fromX < toX && fromY < toY {
		return image.Rect(fromX, fromY, toX, toY)
	}
	return image.Rect(0, 0, 1, 1) // all is filled
}

// touched returns the range of an axis' pixels that those of a range, which may exceed it, come from.
func (m FillMode) touched(first, end, pixels int) (from, to int) {
	switch {
	case m == FillConstant:
		return max(first, 0), min(end, pixels)
	case m == FillNearest:
		return m.source(first, pixels), m.source(end-1, pixels) + 1
	case end-first >= 2*pixels: // beyond, all comes again
		return 0, pixels
	}
	from = pixels
	for place := first; place < end; place++ {
		at := m.source(place, pixels)
		from, to = min(from, at), max(to, at+1)
	}
	return from, to
}

// source returns which of an axis' pixels stands at a place that may lie beyond the ends; -1 for the constant.
func (m FillMode) source(place, pixels int) int {
	if place >= 0 && place < pixels {
		return place
	}
	modulo := func(a, b int) int { return (a%b + b) % b }
	switch m {
	case FillNearest:
		return max(0, min(place, pixels-1))
	case FillReflect:
		place = modulo(place, 2*pixels)
		return min(place, 2*pixels-1-place)
	case FillWrap:
		return modulo(place, pixels)
	default:
		return -1
	}
}

// Copy writes the part out of the padded picture to dst, pixel by pixel without gaps. The input is of the size given, the
// pixel at origin of it is src's first, and src must hold what the part needs. Errors wrap ErrSize or ErrResampling and
// leave dst as it was.
func (b Border) Copy(dst []byte, src Picture, origin, input image.Point, out image.Rectangle) error {
	if err := errors.Join(b.Check(), src.check()); err != nil {
		return err
	}
	if input.X <= 0 || input.Y <= 0 || input.X > maxSide || input.Y > maxSide ||
		out.Empty() || !out.In(image.Rectangle{Max: b.Size(input)}) {
		return fmt.Errorf("%w: the part %v of %v pixels in a border %+v", ErrSize, out, input, b)
	}
	if src.Wide || src.Channels > MaxChannels {
		return fmt.Errorf("%w: a border around %d channels (wide: %t)", ErrSize, src.Channels, src.Wide)
	}
	window := image.Rectangle{origin, origin.Add(image.Pt(src.Width, src.Height))}
	if needs := b.Needs(input, out); !needs.In(window) {
		return fmt.Errorf("%w: pixels %v do not hold the window %v", ErrSize, window, needs)
	}
	row := out.Dx() * src.Channels
	if row > len(dst) || len(dst)/row != out.Dy() || len(dst)%row != 0 {
		return fmt.Errorf("%w: picture of %v for a place of %d bytes", ErrSize, out, len(dst))
	}

	constant := b.Fill.pixel(src.Channels)
	part := out.Sub(image.Pt(b.Left, b.Top)) // as the input counts
	first, end := max(part.Min.X, 0), min(part.Max.X, input.X)
	for y := part.Min.Y; y < part.Max.Y; y++ {
		to := dst[:row]
		dst = dst[row:]
		fromY := b.Fill.Mode.source(y, input.Y)
		if fromY < 0 || first >= end && b.Fill.Mode == FillConstant {
			for x := 0; x < len(to); x += len(constant) {
				copy(to[x:], constant)
			}
			continue
		}
		from := src.Pix[(fromY-origin.Y)*src.Stride:][:src.Width*src.Channels]
		pixel := func(x int) []byte { return from[(x-origin.X)*src.Channels:] }
		fill := func(first, end int) {
			for x := first; x < end; x++ {
				value := constant
				if fromX := b.Fill.Mode.source(x, input.X); fromX >= 0 {
					value = pixel(fromX)[:src.Channels]
				}
				copy(to[(x-part.Min.X)*src.Channels:], value)
			}
		}
		if first >= end {
			fill(part.Min.X, part.Max.X)
			continue
		}
		fill(part.Min.X, first)
		copy(to[(first-part.Min.X)*src.Channels:], pixel(first)[:(end-first)*src.Channels])
		fill(end, part.Max.X)
	}
	return nil
}

// pixel returns the constant's bytes.
func (f Fill) pixel(channels int) []byte {
	value := make([]byte, channels)
	for c := range value {
		value[c] = byte(math.RoundToEven(max(0, min(f.Value[c], math.MaxUint8))))
	}
	return value
}
