package augment

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"

	"tfgoloader/gocore/pixel"
)

// Resizer makes a new picture of what it sees, of another size.
type Resizer interface {
	sizing
	// Resize draws which part of a picture of the given size becomes a picture of which size.
	Resize(size image.Point, random *rand.Rand) (part image.Rectangle, to image.Point)
	// How the pixels come about.
	How() pixel.Resampling
}

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

func (h how) check(name string) error {
	_, interpolation := interpolations[h.Interpolation]
	_, like := conventions[h.Like]
	if !interpolation || !like {
		return fmt.Errorf("%s: unknown interpolation %q or like %q", name, h.Interpolation, h.Like)
	}
	if err := h.How().Check(); err != nil {
		return fmt.Errorf("%s: interpolation %q like %q: %w", name, h.Interpolation, h.Like, err)
	}
	return nil
}

// Resizing is keras.layers.Resizing.
type Resizing struct {
	window
	how
	CropToAspectRatio bool `json:"crop_to_aspect_ratio"`
}

func (r *Resizing) String() string {
	return fmt.Sprintf("Resizing(height=%d, width=%d)", r.Height, r.Width)
}

// OutputSize is what the arguments say.
func (r *Resizing) OutputSize(image.Point) (image.Point, error) {
	if err := r.check(r.String()); err != nil {
		return image.Point{}, err
	}
	return r.outputSize(image.Point{}, r.String())
}

// Resize draws nothing. The part that has the output's aspect ratio is rounded as Keras rounds it.
func (r *Resizing) Resize(size image.Point, _ *rand.Rand) (image.Rectangle, image.Point) {
	to := image.Pt(r.Width, r.Height)
	if !r.CropToAspectRatio {
		return image.Rectangle{Max: size}, to
	}
	height := max(1, min(size.Y, int(float64(size.X)*float64(r.Height)/float64(r.Width))))
	width := max(1, min(size.X, int(float64(size.Y)*float64(r.Width)/float64(r.Height))))
	return centred(size, width, height), to
}

func centred(size image.Point, width, height int) image.Rectangle {
	corner := image.Pt((size.X-width)/2, (size.Y-height)/2)
	return image.Rectangle{corner, corner.Add(image.Pt(width, height))}
}

// ResizeShorter makes the shorter side so long and keeps the aspect ratio, as torchvision's Resize does with one number.
type ResizeShorter struct {
	how
	Size int
}

func (r *ResizeShorter) String() string { return fmt.Sprintf("ResizeShorter(size=%d)", r.Size) }

// OutputSize differs from picture to picture unless the input's does not.
func (r *ResizeShorter) OutputSize(in image.Point) (image.Point, error) {
	if err := r.check(r.String()); err != nil {
		return in, err
	}
	if r.Size < 1 {
		return in, fmt.Errorf("%s: size is at least 1", r)
	}
	if in == (image.Point{}) {
		return in, nil
	}
	_, to := r.Resize(in, nil)
	return to, nil
}

// Resize draws nothing.
func (r *ResizeShorter) Resize(size image.Point, _ *rand.Rand) (image.Rectangle, image.Point) {
	to := image.Pt(r.Size, r.Size)
	if size.X < size.Y {
		to.Y = r.Size * size.Y / size.X
	} else {
		to.X = r.Size * size.X / size.Y
	}
	return image.Rectangle{Max: size}, to
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
	if err := r.check(r.String()); err != nil {
		return image.Point{}, err
	}
	if !(r.Scale[0] > 0 && r.Scale[0] <= r.Scale[1] && r.Ratio[0] > 0 && r.Ratio[0] <= r.Ratio[1]) {
		return image.Point{}, fmt.Errorf("%s: scale and ratio are ascending and above 0", r)
	}
	return r.outputSize(image.Point{}, r.String())
}

// Resize draws an area and the logarithm of an aspect ratio, evenly, and then a place; after ten parts that do not fit it
// takes the middle.
func (r *RandomResizedCrop) Resize(size image.Point, random *rand.Rand) (image.Rectangle, image.Point) {
	to := image.Pt(r.Width, r.Height)
	area := float64(size.X) * float64(size.Y)
	logarithm := math.Log(r.Ratio[1] / r.Ratio[0])
	for range 10 {
		target := area * r.Scale.draw(random)
		ratio := r.Ratio[0] / decay(random.Float64()*logarithm)
		width := int(math.RoundToEven(math.Sqrt(target * ratio)))
		height := int(math.RoundToEven(math.Sqrt(target / ratio)))
		if width < 1 || height < 1 || width > size.X || height > size.Y {
			continue
		}
		y := random.IntN(size.Y - height + 1)
		x := random.IntN(size.X - width + 1)
		return image.Rect(x, y, x+width, y+height), to
	}
	width, height := size.X, size.Y
	switch ratio := float64(size.X) / float64(size.Y); {
	case ratio < r.Ratio[0]:
		height = int(math.RoundToEven(float64(width) / r.Ratio[0]))
	case ratio > r.Ratio[1]:
		width = int(math.RoundToEven(float64(height) * r.Ratio[1]))
	}
	return centred(size, max(1, width), max(1, height)), to
}
