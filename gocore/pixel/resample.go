package pixel

// #cgo noescape pixel_resample
// #cgo nocallback pixel_resample
// #cgo noescape pixel_resample_scratch
// #cgo nocallback pixel_resample_scratch
// #include "resample.h"
import "C"

import (
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"unsafe"
)

// ErrResampling is wrapped by the errors of Resampling.Check.
var ErrResampling = errors.New("pixel: unsupported resampling")

// Interpolation is the kernel that output pixels are sums of.
type Interpolation int

const (
	Nearest Interpolation = iota
	Bilinear
	Bicubic
	Area // Pillow's BOX
	Lanczos3
	Lanczos4 // OpenCV's
	Lanczos5
	Gaussian      // of sigma 0.5
	MitchellCubic // of B = C = 1/3
)

func (i Interpolation) String() string {
	return [...]string{"nearest", "bilinear", "bicubic", "area", "lanczos3", "lanczos4", "lanczos5",
		"gaussian", "mitchellcubic"}[i]
}

// Convention is the library whose pixels come out.
type Convention int

const (
	// LikeKeras is tf.image.resize, as keras.layers.Resizing calls it: float32, and for Uint8 rounded half to even.
	LikeKeras Convention = iota
	// LikePillow is Image.resize of Pillow 13, with a box: bytes after each axis. All but Nearest antialias.
	LikePillow
	// LikeTorchvision is torchvision.transforms.v2.functional.resize of uint8 tensors: bytes after each axis.
	LikeTorchvision
	// LikeOpenCV is cv2.resize of uint8 arrays, as OpenCV's wheels have it. Area alone antialiases.
	LikeOpenCV
)

func (c Convention) String() string {
	return [...]string{"keras", "pillow", "torchvision", "opencv"}[c]
}

// has says which interpolations each library has.
var has = [...][]Interpolation{
	LikeKeras:       {Nearest, Bilinear, Bicubic, Area, Lanczos3, Lanczos5, Gaussian, MitchellCubic},
	LikePillow:      {Nearest, Bilinear, Bicubic, Area, Lanczos3},
	LikeTorchvision: {Nearest, Bilinear, Bicubic, Lanczos3},
	LikeOpenCV:      {Nearest, Bilinear, Bicubic, Area, Lanczos4},
}

// Resampling is how pixels come from pixels. Antialias, which widens the kernel where a picture shrinks, is a choice
// only in Keras and torchvision.
type Resampling struct {
	Interpolation Interpolation
	Antialias     bool
	Convention    Convention
}

// Check tells whether the library has the interpolation; its error wraps ErrResampling.
func (r Resampling) Check() error {
	if r.Convention < 0 || int(r.Convention) >= len(has) {
		return fmt.Errorf("%w: convention %d", ErrResampling, int(r.Convention))
	}
	if !slices.Contains(has[r.Convention], r.Interpolation) {
		return fmt.Errorf("%w: interpolation %d like %s", ErrResampling, int(r.Interpolation), r.Convention)
	}
	if r.Convention == LikeTorchvision && r.Interpolation == Lanczos3 && !r.Antialias {
		return fmt.Errorf("%w: %s like %s without antialiasing", ErrResampling, r.Interpolation, r.Convention)
	}
	return nil
}

// Axis maps the interval [Start, Start+Length) of Input pixels to Output pixels, of which Count from First on are made.
// Input pixels outside the interval may have a part in them: where a crop is to be resampled as if there were nothing
// around it, the crop is the input.
type Axis struct {
	Input         int
	Start, Length float64
	Output        int
	First, Count  int
}

const (
	maxSide  = 1 << 24 // float32 still counts these
	maxWords = 1 << 26 // of a table or of the scratch
)

func (a Axis) check() error {
	if !(a.Input > 0 && a.Input <= maxSide && a.Output > 0 && a.Output <= maxSide &&
		a.Start >= 0 && a.Length > 0 && a.Start+a.Length <= float64(a.Input) &&
		a.First >= 0 && a.Count > 0 && a.Count <= a.Output && a.First <= a.Output-a.Count) {
		return fmt.Errorf("%w: axis %+v", ErrSize, a)
	}
	return nil
}

// Needs returns the range of input pixels that have a part in the output: only these need be decoded. The axis and the
// resampling must be valid.
func (r Resampling) Needs(a Axis) (from, to int) {
	from = a.Input
	for _, enlarges := range []bool{false, true} {
		s := recipe{a, r, false, enlarges, false}.spread()
		first, _ := s(a.First, nil)
		last, weights := s(a.First+a.Count-1, nil)
		from, to = min(from, first), max(to, last+len(weights))
	}
	return from, to
}

// Scratch is the memory that a goroutine resamples in; it keeps tables and buffers from picture to picture. The zero
// value is ready.
type Scratch struct {
	x, y  taps
	words []int32
	bytes []byte
}

// Resample writes src to dst as Write does, resampled on the way. The pixel at origin of the whole picture is src's
// first; src must hold what the axes need. Where the library makes bytes, so does Resample, before values apply. The
// samples are the same on every machine, and each is the same whichever others are made beside it. Errors wrap
// ErrResampling or ErrSize and leave dst as it was.
func (w *Writer) Resample(scratch *Scratch, dst []byte, src Picture, origin image.Point, x, y Axis, r Resampling,
	flipX, flipY bool) error {
	if err := r.Check(); err != nil {
		return err
	}
	if err := errors.Join(src.check(), x.check(), y.check()); err != nil {
		return err
	}
	if err := w.fits(dst, src, x.Count, y.Count); err != nil {
		return err
	}
	recipeX, recipeY := r.recipes(x, y)
	if err := errors.Join(scratch.x.make(recipeX), scratch.y.make(recipeY)); err != nil {
		return err
	}
	window := image.Rect(scratch.x.from, scratch.y.from, scratch.x.to, scratch.y.to)
	if !window.In(image.Rectangle{origin, origin.Add(image.Pt(src.Width, src.Height))}) {
		return fmt.Errorf("%w: %d by %d pixels at %v do not hold the window %v",
			ErrSize, src.Width, src.Height, origin, window)
	}
	form := r.form(&scratch.x, &scratch.y)
	form.instructions = uint32(w.instructions)
	form.channels = C.int(w.channels)
	bytes := w.dtype == Uint8 || r.Convention != LikeKeras
	form.sample = w.dtype.sample()
	if bytes {
		form.sample = C.PIXEL_UINT8
	}
	form.planar = C.bool(w.layout == ChannelsFirst && w.channels > 1)
	form.flip_x, form.flip_y = C.bool(flipX), C.bool(flipY)

	tx, ty := scratch.x.c(), scratch.y.c()
	size := C.pixel_resample_scratch(&form, tx, ty)
	if size > maxWords {
		return fmt.Errorf("%w: %d by %d pixels of the window %v take %d words of scratch",
			ErrSize, x.Count, y.Count, window, size)
	}
	picture := src.Pix[(window.Min.Y-origin.Y)*src.Stride+(window.Min.X-origin.X)*src.Channels:]
	return w.make(scratch, dst, x.Count, y.Count, bytes, func(out []byte) {
		C.pixel_resample(&form, &w.float32, tx, ty, scratch.c(size), start(out), start(picture), C.size_t(src.Stride))
	})
}

// fits tells whether what comes of the picture, width by height pixels, fits the writer and the place.
func (w *Writer) fits(dst []byte, src Picture, width, height int) error {
	if src.Channels != w.channels || src.Wide || w.dtype == Uint16 {
		return fmt.Errorf("%w: picture of %d channels (wide: %t) for a writer of %d (wide: %t)",
			ErrSize, src.Channels, src.Wide, w.channels, w.dtype == Uint16)
	}
	if size := w.Bytes(width, height); len(dst) != size {
		return fmt.Errorf("%w: picture of %d bytes for a place of %d", ErrSize, size, len(dst))
	}
	return nil
}

// make lets a kernel write to dst or, where it writes interleaved bytes and dst is not to hold these, writes them there.
func (w *Writer) make(scratch *Scratch, dst []byte, width, height int, bytes bool, kernel func(out []byte)) error {
	if !bytes || w.dtype == Uint8 && (w.layout == ChannelsLast || w.channels == 1) {
		kernel(dst)
		return nil
	}
	size := width * height * w.channels
	scratch.bytes = slices.Grow(scratch.bytes[:0], size)[:size]
	kernel(scratch.bytes)
	return w.Write(dst, Picture{scratch.bytes, width * w.channels, width, height, w.channels, false}, false, false)
}

// c returns the words, which are not set, as many as there are to be.
func (s *Scratch) c(size C.size_t) *C.int32_t {
	s.words = slices.Grow(s.words[:0], int(size))
	return (*C.int32_t)(unsafe.SliceData(s.words))
}

// form returns what the resampling says of the arithmetic.
func (r Resampling) form(x, y *taps) C.struct_pixel_resample {
	form := C.struct_pixel_resample{gain: C.float(r.gain(x.recipe, y.recipe)), fixed: C.bool(x.recipe.fixed()),
		y_first: C.bool(r.yFirst(x.recipe.Axis, y.recipe.Axis))}
	if r.Convention == LikeOpenCV {
		// Bicubic, and area that does not halve, are rounded half to even.
		halves := x.recipe.Length == 2*float64(x.recipe.Output) && y.recipe.Length == 2*float64(y.recipe.Output)
		form.half_up = C.bool(r.Interpolation == Lanczos4 || r.Interpolation == Area && halves)
		// Of fixed-point numbers, rows keep 7 of 11 bits, and each product in a column then 2 of 18.
		form.first = C.struct_pixel_shift{0, 4, math.MaxInt16}
		form.product_shift = 16
		form.last = C.struct_pixel_shift{2, 2, 0}
	} else if form.fixed {
		first, last := x.bits, y.bits
		if form.y_first {
			first, last = last, first
		}
		form.first = C.struct_pixel_shift{1 << (first - 1), C.int32_t(first), math.MaxUint8}
		form.last = C.struct_pixel_shift{1 << (last - 1), C.int32_t(last), 0}
	}
	return form
}

func (t *taps) c() C.struct_pixel_taps {
	words := func(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(s)) }
	return C.struct_pixel_taps{words(t.first), words(t.at), words(t.weights), C.int32_t(len(t.first)), C.int32_t(t.most),
		C.int32_t(t.from), C.int32_t(t.to)}
}
