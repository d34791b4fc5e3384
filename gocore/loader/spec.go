package loader

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"

	"tfgoloader/gocore/augment"
	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/mix"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/sample"
	"tfgoloader/gocore/source"
)

// Spec is what the user asked for. The Python package has checked every value and named the field that was wrong;
// what is checked here again is what memory safety and termination rest on.
type Spec struct {
	Ops           []json.RawMessage `json:"ops"`
	BatchOps      []json.RawMessage `json:"batch_ops"`
	OneHot        *OneHot           `json:"one_hot"`
	Boxes         *Boxes            `json:"boxes"`
	Views         int               `json:"views"` // of each sample, each with its own random numbers
	BatchSize     int               `json:"batch_size"`
	Shuffle       bool              `json:"shuffle"`
	Seed          uint64            `json:"seed"`
	DropRemainder bool              `json:"drop_remainder"`
	DType         string            `json:"dtype"`
	DataFormat    string            `json:"data_format"`
	DCTMethod     string            `json:"dct_method"`
	Workers       int               `json:"num_workers"`
	Prefetch      int               `json:"prefetch"`
	MaxPixels     int64             `json:"max_pixels"`
	Channels      int               `json:"channels"`
	Background    *[3]uint8         `json:"background"`
	EXIF          bool              `json:"exif"`
	Truncated     string            `json:"truncated"` // raise or accept
	OnError       string            `json:"on_error"`  // raise, skip or replace
	MaxBad        int64             `json:"max_bad"`   // bad files that are put up with
	Exclude       []int64           `json:"exclude"`   // indices in the source, ascending
	ReturnMeta    bool              `json:"return_meta"`
	PadLast       bool              `json:"pad_last"`
}

// plan is a checked specification.
type plan struct {
	Spec
	segments  []*augment.Pipeline // between operations of somebody else's
	pipeline  *augment.Pipeline   // the last one
	writer    *pixel.Writer
	wholes    []whole // for batches
	pictures  mix.Pictures
	codec     codec.Options
	layout    *layout
	seeds     []uint64 // of each view
	images    []*Array // of each view
	labels    *Array   // nil where there are none, as are masks
	masks     *Array
	boxes     *boxArrays
	weights   *Array        // nil without PadLast
	meta      *meta         // nil without ReturnMeta
	bytes     *pixel.Writer // writes pictures that are not finished
	indices   *pixel.Writer // writes masks
	available int64         // samples that are not excluded
	batches   int64         // of an epoch
}

func newPlan(spec Spec, list *source.List) (*plan, error) {
	p := &plan{Spec: spec, codec: codec.Options{
		MaxPixels: spec.MaxPixels, Channels: spec.Channels, Depth: 8, Background: spec.Background, Orient: spec.EXIF,
		AcceptTruncated: spec.Truncated == "accept",
	}}
	if spec.BatchSize < 1 || spec.BatchSize > math.MaxInt32 || spec.Workers < 1 || spec.Prefetch < 0 || spec.MaxPixels < 1 {
		return nil, configError("batch_size, num_workers and max_pixels are at least 1, prefetch at least 0")
	}
	if spec.Channels != 1 && spec.Channels != 3 && spec.Channels != 4 {
		return nil, configError("channels are 1, 3 or 4")
	}
	var err error
	if p.segments, err = augment.Parse(spec.Ops, spec.Channels); err != nil {
		return nil, configError(err.Error())
	}
	p.pipeline = p.segments[len(p.segments)-1]
	dtype, known := map[string]pixel.DType{
		"uint8": pixel.Uint8, "uint16": pixel.Uint16,
		"float32": pixel.Float32, "float16": pixel.Float16, "bfloat16": pixel.BFloat16,
	}[spec.DType]
	if !known {
		return nil, configError(fmt.Sprintf("unknown dtype %q", spec.DType))
	}
	if dtype == pixel.Uint16 {
		if p.pipeline.Bytes {
			return nil, configError("dtype: uint16 takes crops and flips alone: other operations are for pictures of 8 bits")
		}
		p.codec.Depth = 16
	}
	format, known := map[string]pixel.Layout{"channels_last": pixel.ChannelsLast, "channels_first": pixel.ChannelsFirst}[spec.DataFormat]
	if !known {
		return nil, configError(fmt.Sprintf("unknown data_format %q", spec.DataFormat))
	}
	if p.codec.DCT, known = map[string]jpeg.DCT{"accurate": jpeg.Accurate, "fast": jpeg.Fast}[spec.DCTMethod]; !known {
		return nil, configError(fmt.Sprintf("unknown dct_method %q", spec.DCTMethod))
	}
	if p.writer, err = pixel.NewWriter(spec.Channels, dtype, format, p.pipeline.Values); err != nil {
		return nil, configError(err.Error())
	}
	if spec.OneHot != nil {
		if err := spec.OneHot.check(list); err != nil {
			return nil, err
		}
	}
	for _, segment := range p.segments {
		if err := p.checkSize(segment.Size); err != nil {
			return nil, configError("ops: " + err.Error())
		}
		if err := p.checkExternal(segment.External, list); err != nil {
			return nil, err
		}
	}
	if p.indices, err = pixel.NewWriter(1, pixel.Uint8, format, nil); err != nil {
		return nil, configError(err.Error())
	}
	if p.bytes, err = pixel.NewWriter(spec.Channels, pixel.Uint8, pixel.ChannelsLast, nil); err != nil {
		return nil, configError(err.Error())
	}
	if err := p.parseBatchOps(list, dtype, format); err != nil {
		return nil, err
	}
	if spec.Views < 1 || spec.Views > 1 && (list.HasMasks() || list.HasBoxes()) {
		return nil, configError("views are at least 1, and no more with masks or boxes")
	}
	if spec.Boxes != nil && !list.HasBoxes() {
		return nil, configError("boxes: the source has none")
	}
	if err := p.arrange(list); err != nil {
		return nil, err
	}
	if spec.OnError != "raise" && spec.OnError != "skip" && spec.OnError != "replace" {
		return nil, configError(fmt.Sprintf("unknown on_error %q", spec.OnError))
	}
	p.available = int64(list.Len() - len(spec.Exclude))
	for i, index := range spec.Exclude {
		if index < 0 || index >= int64(list.Len()) || i > 0 && index <= spec.Exclude[i-1] {
			return nil, configError("the excluded indices are not ascending ones of the source")
		}
	}
	batch := int64(spec.BatchSize)
	p.batches = (p.available + batch - 1) / batch
	if spec.DropRemainder {
		p.batches = p.available / batch
	}
	return p, nil
}

// arrange says which arrays a batch has.
func (p *plan) arrange(list *source.List) (err error) {
	p.layout = newLayout(p.BatchSize)
	for view := range p.Views {
		name, seed := "images", p.Seed
		if p.Views > 1 {
			name = fmt.Sprintf("images_%d", view)
		}
		if view > 0 {
			seed = sample.Random(p.Seed, 0, int64(view), viewing).Uint64()
		}
		images, err := p.layout.add(name, p.DType, p.shape(p.Channels)...)
		if err != nil {
			return err
		}
		p.seeds, p.images = append(p.seeds, seed), append(p.images, images)
	}
	switch {
	case p.OneHot != nil:
		p.labels, err = p.layout.add("labels", "float32", p.OneHot.Classes)
	case list.HasLabels():
		p.labels, err = p.layout.add("labels", "int64")
	}
	if err != nil {
		return err
	}
	if list.HasMasks() {
		if p.masks, err = p.layout.add("segmentation_masks", "uint8", p.shape(1)...); err != nil {
			return err
		}
	}
	if p.Boxes != nil {
		if p.boxes, err = p.Boxes.parse(list, p.layout); err != nil {
			return err
		}
	}
	if p.PadLast {
		if p.weights, err = p.layout.add("sample_weight", "float32"); err != nil {
			return err
		}
	}
	if p.ReturnMeta {
		p.meta, err = newMeta(p.layout, p.Views)
	}
	return err
}

// shape is that of a picture of so many channels.
func (p *plan) shape(channels int) []int {
	size := p.pipeline.Size
	if p.DataFormat == "channels_first" {
		return []int{channels, size.Y, size.X}
	}
	return []int{size.Y, size.X, channels}
}

func (p *plan) skips() bool    { return p.OnError == "skip" }
func (p *plan) replaces() bool { return p.OnError == "replace" }

// index finds the sample in the source: its number among those that are not excluded, moved up by the excluded ones
// before it.
func (p *plan) index(number int64) int64 {
	before := sort.Search(len(p.Exclude), func(i int) bool { return p.Exclude[i]-int64(i) > number })
	return number + int64(before)
}

// fileLimit is the size over which a file cannot hold a picture within the limit of pixels: four channels of 16 bits
// each, and room for what is not pixels.
func (p *plan) fileLimit() int64 {
	const other = 64 << 20
	return min(p.MaxPixels, (math.MaxInt64-other)/8)*8 + other
}

// window is how many batches are under way or ready beyond the one in the user's hands: prefetch of them ready, and
// enough under way for every worker.
func (p *plan) window() int64 {
	return int64(p.Prefetch + max(1, (p.crew()+p.BatchSize-1)/p.BatchSize))
}
