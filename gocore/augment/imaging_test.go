package augment

import (
	"image"
	"image/color"
	"testing"

	"github.com/disintegration/imaging"

	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
)

// reference is the picture as the imaging library has it.
func reference(p pixel.Picture) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i := range p.Width * p.Height {
		copy(out.Pix[4*i:], p.Pix[3*i:3*i+3])
		out.Pix[4*i+3] = 255
	}
	return out
}

// smooth is a picture without sharp edges.
func smooth(width, height int) pixel.Picture {
	p := noisy(3, width, height, 3)
	for range 2 {
		(&blur{[]float32{0.4, 0.2, 0.1}, []float32{0.4, 0.2, 0.1}}).Apply(p, new(Work))
	}
	return p
}

// Operations against the same ones of the imaging library, within some levels, edges of some width left out.
func TestOperationsAreThoseOfTheImagingLibrary(t *testing.T) {
	const side = 60
	quarter := `{"op":"RandomRotation","factor":[0.25,0.25],` + filled("constant", "bilinear") + `}`
	for name, test := range map[string]struct {
		spec           string
		want           func(image.Image) *image.NRGBA
		within, margin int
	}{
		"crop":         {crop("CenterCrop", 30, 40), func(p image.Image) *image.NRGBA { return imaging.CropCenter(p, 40, 30) }, 0, 0},
		"quarter turn": {quarter, func(p image.Image) *image.NRGBA { return imaging.Rotate90(p) }, 0, 0},
		"half turn": {`{"op":"RandomRotation","factor":[0.5,0.5],` + filled("wrap", "bilinear") + `}`,
			func(p image.Image) *image.NRGBA { return imaging.Rotate180(p) }, 0, 1},
		"turn": {`{"op":"RandomRotation","factor":[0.1,0.1],` + filled("constant", "bilinear") + `}`,
			func(p image.Image) *image.NRGBA {
				turned := imaging.Rotate(p, 36, color.NRGBA{17, 200, 90, 255})
				return imaging.CropCenter(turned, side, side)
			}, 12, 10}, // the library turns around a middle that lies up to half a pixel aside
		"border": {`{"op":"Pad","padding":[[1,2],[3,4]],` + filled("constant", "nearest") + `}`,
			func(p image.Image) *image.NRGBA {
				return imaging.Paste(imaging.New(side+7, side+3, color.NRGBA{17, 200, 90, 255}), p, image.Pt(3, 1))
			}, 0, 0},
		"inversion": {inverted, func(p image.Image) *image.NRGBA { return imaging.Invert(p) }, 0, 0},
		"grayscale": {`{"op":"RandomGrayscale","factor":1}`, func(p image.Image) *image.NRGBA { return imaging.Grayscale(p) }, 1, 0},
		"brightness": {`{"op":"RandomBrightness","factor":[0.2,0.2]}`,
			func(p image.Image) *image.NRGBA { return imaging.AdjustBrightness(p, 20) }, 1, 0},
		"blur": {`{"op":"RandomGaussianBlur","factor":[1,1],"kernel_size":9,"sigma":[1.5,1.5]}`,
			func(p image.Image) *image.NRGBA { return imaging.Blur(p, 1.5) }, 2, 5},
		"lanczos": {`{"op":"Resizing","height":25,"width":33,"interpolation":"lanczos3","antialias":true,"like":"pillow"}`,
			func(p image.Image) *image.NRGBA { return imaging.Resize(p, 33, 25, imaging.Lanczos) }, 1, 0},
		"box": {`{"op":"Resizing","height":20,"width":30,"interpolation":"area","antialias":true,"like":"pillow"}`,
			func(p image.Image) *image.NRGBA { return imaging.Resize(p, 30, 20, imaging.Box) }, 1, 0},
		"nearest": {`{"op":"Resizing","height":120,"width":180,"interpolation":"nearest","antialias":false,"like":"pillow"}`,
			func(p image.Image) *image.NRGBA { return imaging.Resize(p, 180, 120, imaging.NearestNeighbor) }, 0, 0},
	} {
		picture := smooth(side, side)
		p := parse(t, crop("CenterCrop", side, side), test.spec)
		plan, err := p.Plan(image.Pt(side, side), new(sample.Draw), 1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		want := test.want(reference(picture))
		got := written(t, p.Size, plan, cutOut(t, picture, View{Window: plan.Decode}))
		if want.Rect.Size() != p.Size {
			t.Fatalf("%s: %v, want %v", name, p.Size, want.Rect.Size())
		}
		for y := test.margin; y < p.Size.Y-test.margin; y++ {
			for x := test.margin; x < p.Size.X-test.margin; x++ {
				for c := range 3 {
					a, b := int(got.Pix[3*(y*p.Size.X+x)+c]), int(want.Pix[y*want.Stride+4*x+c])
					if a-b > test.within || b-a > test.within {
						t.Errorf("%s: %d at (%d, %d), want %d within %d", name, a, x, y, b, test.within)
					}
				}
			}
		}
	}
}
