package augment

import (
	"fmt"

	"tfgoloader/gocore/pixel"
)

// filling are the arguments that say what lies beyond a picture's edges.
type filling struct {
	Mode  string    `json:"fill_mode"`
	Value []float64 `json:"fill_value"` // in levels of 0 to 255: one for all channels, or one for each
}

var fillModes = map[string]pixel.FillMode{
	"constant": pixel.FillConstant, "nearest": pixel.FillNearest, "reflect": pixel.FillReflect, "wrap": pixel.FillWrap,
}

func (f filling) check() error {
	if _, known := fillModes[f.Mode]; !known || len(f.Value) == 0 || len(f.Value) > pixel.MaxChannels {
		return fmt.Errorf("unknown fill_mode %q or fill_value %v", f.Mode, f.Value)
	}
	return nil
}

func (f filling) fill() pixel.Fill {
	fill := pixel.Fill{Mode: fillModes[f.Mode]}
	if fill.Mode == pixel.FillConstant && len(f.Value) > 0 {
		for c := range fill.Value {
			fill.Value[c] = f.Value[min(c, len(f.Value)-1)]
		}
	}
	return fill
}

func (f filling) levels() bool { return f.Mode == "constant" }
