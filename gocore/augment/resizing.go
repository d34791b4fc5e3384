package augment

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// how are the arguments that all resizers share.
type how struct {
	Interpolation string
	Antialias     bool
	Like          string
}

var interpolations = map[string]pixel.Interpolation{
	"nearest": pixel.Nearest, "bilinear": pixel.Bilinear, "bicubic": pixel.Bicubic, "area": pixel.Area,
	"lanczos3": pixel.Lanczos3, "lanczos4": pixel.Lanczos4, "lanczos5": pixel.Lanczos5,
	"gaussian": pixel.Gaussian, "mitchellcubic": pixel.MitchellCubic,
}

var conventions = map[string]pixel.Convention{
	"keras": pixel.LikeKeras, "pillow": pixel.LikePillow, "torchvision": pixel.LikeTorchvision, "opencv": pixel.LikeOpenCV,
}

// How the pixels come about; check has seen that both names are known.
func (h how) How() pixel.Resampling {
	return pixel.Resampling{Interpolation: interpolations[h.Interpolation], Antialias: h.Antialias, Convention: conventions[h.Like]}
}

func (h how) check() error {
	_, interpolation := interpolations[h.Interpolation]
	_, like := conventions[h.Like]
	if !interpolation || !like {
		return fmt.Errorf("unknown interpolation %q or like %q", h.Interpolation, h.Like)
	}
	if err := h.How().Check(); err != nil {
		return fmt.Errorf("interpolation %q like %q: %w", h.Interpolation, h.Like, err)
	}
	return nil
}

// Resizing is keras.layers.Resizing.
type Resizing struct {
	window
	how
	filling
	CropToAspectRatio bool `json:"crop_to_aspect_ratio"`
	PadToAspectRatio  bool `json:"pad_to_aspect_ratio"`
}

func (r *Resizing) String() string {
	return fmt.Sprintf("Resizing(height=%d, width=%d)", r.Height, r.Width)
}

// OutputSize is what the arguments say.
func (r *Resizing) OutputSize(image.Point) (image.Point, error) {
	err := r.how.check()
	if r.PadToAspectRatio {
		err = errors.Join(err, r.filling.check())
	}
	if err != nil {
		return image.Point{}, err
	}
	return r.window.OutputSize(image.Point{})
}

func (r *Resizing) levels() bool { return r.PadToAspectRatio && r.filling.levels() }

// Apply draws nothing.
func (r *Resizing) Apply(plan *Plan, _ *rand.Rand) error {
	size := plan.Size()
	switch {
	case r.CropToAspectRatio:
		plan.crop(r.inside(size))
	case r.PadToAspectRatio:
		plan.border(r.outside(size))
	}
	plan.resample(image.Pt(r.Width, r.Height), r.How())
	return nil
}

// outside is what is missing to the window's aspect ratio, half of it on either side, rounded as Keras rounds it.
func (r *Resizing) outside(size image.Point) pixel.Border {
	height := max(size.Y, int(float32(size.X*r.Height)/float32(r.Width)))
	width := max(size.X, int(float32(size.Y*r.Width)/float32(r.Height)))
	x, y := (width-size.X)/2, (height-size.Y)/2
	return pixel.Border{Left: x, Right: x, Top: y, Bottom: y, Fill: r.fill()}
}

func centred(size image.Point, width, height int) image.Rectangle {
	corner := image.Pt((size.X-width)/2, (size.Y-height)/2)
	return image.Rectangle{corner, corner.Add(image.Pt(width, height))}
}

// ResizeWithPad is tf.image.resize_with_pad: the picture becomes as large as fits, and lies in the middle of a constant.
type ResizeWithPad struct {
	window
	how
	filling
}

func (r *ResizeWithPad) String() string {
	return fmt.Sprintf("ResizeWithPad(height=%d, width=%d)", r.Height, r.Width)
}

// OutputSize is what the arguments say.
func (r *ResizeWithPad) OutputSize(image.Point) (image.Point, error) {
	if err := errors.Join(r.how.check(), r.filling.check()); err != nil {
		return image.Point{}, err
	}
	if r.Mode != "constant" {
		return image.Point{}, errors.New("fill_mode is constant")
	}
	return r.window.OutputSize(image.Point{})
}

// Apply draws nothing.
func (r *ResizeWithPad) Apply(plan *Plan, _ *rand.Rand) error {
	plan.frame(image.Pt(r.Width, r.Height), r.How(), r.fill())
	return nil
}

// ResizeShorter makes the shorter side so long and keeps the aspect ratio, as torchvision's Resize does with one number.
type ResizeShorter struct {
	how
	Size int
}

func (r *ResizeShorter) String() string { return fmt.Sprintf("ResizeShorter(size=%d)", r.Size) }

// OutputSize differs from picture to picture unless the input's does not.
func (r *ResizeShorter) OutputSize(in image.Point) (image.Point, error) {
	if err := r.check(); err != nil {
		return in, err
	}
	if r.Size < 1 {
		return in, errors.New("size is at least 1")
	}
	if in == (image.Point{}) {
		return in, nil
	}
	return r.to(in), nil
}

func (r *ResizeShorter) to(size image.Point) image.Point {
	if size.X < size.Y {
		return image.Pt(r.Size, r.Size*size.Y/size.X)
	}
	return image.Pt(r.Size*size.X/size.Y, r.Size)
}

// Apply draws nothing.
func (r *ResizeShorter) Apply(plan *Plan, _ *rand.Rand) error {
	plan.resample(r.to(plan.Size()), r.How())
	return nil
}

// RandomResizedCrop takes a part of random area and aspect ratio, by torchvision's rule, and resizes it.
type RandomResizedCrop struct {
	window
	how
	Scale, Ratio interval
}

func (r *RandomResizedCrop) String() string {
	return fmt.Sprintf("RandomResizedCrop(height=%d, width=%d)", r.Height, r.Width)
}

// OutputSize is what the arguments say.
func (r *RandomResizedCrop) OutputSize(image.Point) (image.Point, error) {
	if err := r.check(); err != nil {
		return image.Point{}, err
	}
	if !(r.Scale[0] > 0 && r.Scale[0] <= r.Scale[1] && r.Ratio[0] > 0 && r.Ratio[0] <= r.Ratio[1]) {
		return image.Point{}, errors.New("scale and ratio are ascending and above 0")
	}
	return r.window.OutputSize(image.Point{})
}

// Apply draws a part.
func (r *RandomResizedCrop) Apply(plan *Plan, random *rand.Rand) error {
	plan.crop(r.part(plan.Size(), random))
	plan.resample(image.Pt(r.Width, r.Height), r.How())
	return nil
}

// part draws an area and the logarithm of an aspect ratio, evenly, and then a place; after ten parts that do not fit it
// takes the middle.
func (r *RandomResizedCrop) part(size image.Point, random *rand.Rand) image.Rectangle {
	area := float64(size.X) * float64(size.Y)
	logarithm := math.Log(r.Ratio[1] / r.Ratio[0])
	for range 10 {
		target := area * r.Scale.draw(random)
		ratio := r.Ratio[0] / sample.Decay(random.Float64()*logarithm)
		width := int(math.RoundToEven(math.Sqrt(target * ratio)))
		height := int(math.RoundToEven(math.Sqrt(target / ratio)))
		if width < 1 || height < 1 || width > size.X || height > size.Y {
			continue
		}
		y := random.IntN(size.Y - height + 1)
		x := random.IntN(size.X - width + 1)
		return image.Rect(x, y, x+width, y+height)
	}
	width, height := size.X, size.Y
	switch ratio := float64(size.X) / float64(size.Y); {
	case ratio < r.Ratio[0]:
		height = int(math.RoundToEven(float64(width) / r.Ratio[0]))
	case ratio > r.Ratio[1]:
		width = int(math.RoundToEven(float64(height) * r.Ratio[1]))
	}
	return centred(size, max(1, width), max(1, height))
}
