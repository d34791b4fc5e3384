package augment

import (
	"image"
	"math"

	"tfgoloader/gocore/pixel"
)

// published are the operations of AutoAugment and of the policies after it, as torchvision applies them: each has a
// magnitude, and those that have a direction take a negative one too.
type published struct {
	warp
}

// act applies an operation by its published name.
func (p *published) act(plan *Plan, name string, magnitude float64) {
	plan.trace.begin(name)
	defer plan.trace.end()
	if plan.trace != nil {
		plan.trace.note("magnitude", magnitude)
	}
	filter := plan.add
	switch name {
	case "ShearX":
		p.move(plan, cornered(magnitude, 0))
	case "ShearY":
		p.move(plan, cornered(0, magnitude))
	case "TranslateX":
		p.move(plan, pixel.Matrix{0: 1, 2: -math.Trunc(magnitude), 4: 1})
	case "TranslateY":
		p.move(plan, pixel.Matrix{0: 1, 4: 1, 5: -math.Trunc(magnitude)})
	case "Rotate":
		sin, cos := math.Sincos(magnitude * math.Pi / 180)
		p.move(plan, around(plan.Size(), cos, -sin, sin, cos))
	case "Brightness":
		filter(&fixed{tabulate(func(x float64) float64 { return x * (1 + magnitude) }), nil})
	case "Color":
		filter(fade(-magnitude))
	case "Contrast":
		filter(grayContrast(1 + magnitude))
	case "Sharpness":
		filter(sharpenInside(-magnitude))
	case "Posterize":
		filter(posterize(int(magnitude)))
	case "Solarize":
		filter(solarize(0, magnitude/255))
	case "AutoContrast":
		filter(counted(spread))
	case "Equalize":
		filter(counted(equalizePublished))
	case "Invert":
		filter(invert())
	}
}

// cornered shears from the corner of the corner pixel, which is half a pixel from its centre.
func cornered(x, y float64) pixel.Matrix {
	return pixel.Matrix{1, x, x / 2, y, 1, y / 2, 0, 0}
}

// grayContrast multiplies the distance to the mean gray level, which is one for all channels.
type grayContrast float64

func (grayContrast) Reach() int { return Whole }

func (g grayContrast) Apply(picture pixel.Picture, work *Work) {
	mean := math.Floor(pixel.MeanGray(picture) + 0.5)
	work.lookUp(picture, []Filter{&fixed{tabulate(func(x float64) float64 { return mean + (x-mean)*float64(g) }), nil}})
}

// sharpenInside leaves the outermost pixels as they are, for which there is no smooth value.
type sharpenInside float64

func (sharpenInside) Reach() int { return 1 }

func (s sharpenInside) Apply(picture pixel.Picture, work *Work) {
	width, height := picture.Width, picture.Height
	edges := []pixel.Picture{
		picture.Part(image.Rect(0, 0, width, 1)), picture.Part(image.Rect(0, height-1, width, height)),
		picture.Part(image.Rect(0, 0, 1, height)), picture.Part(image.Rect(width-1, 0, width, height)),
	}
	work.kept = work.kept[:0]
	for _, edge := range edges {
		for y := range edge.Height {
			work.kept = append(work.kept, edge.Pix[y*edge.Stride:][:edge.Width*edge.Channels]...)
		}
	}
	pixel.Sharpen(picture, float64(s), &work.buffer)
	kept := work.kept
	for _, edge := range edges {
		for y := range edge.Height {
			kept = kept[copy(edge.Pix[y*edge.Stride:][:edge.Width*edge.Channels], kept):]
		}
	}
}

// equalizePublished is PIL.ImageOps.equalize's table of one channel.
func equalizePublished(counts *pixel.Counts) *pixel.Table {
	var total, last, used uint64
	for _, count := range counts {
		if count > 0 {
			total, last, used = total+uint64(count), uint64(count), used+1
		}
	}
	table := new(pixel.Table)
	step := (total - last) / 255
	below := step / 2
	for x := range table {
		table[x] = uint8(x)
		if used > 1 && step > 0 {
			table[x] = uint8(min(below/step, 255))
		}
		below += uint64(counts[x])
	}
	return table
}
