// Package codec turns the bytes of a file into pixels: the content decides the format, never the name.
package codec

import (
	"errors"
	"fmt"
	"image"

	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/pixel"
)

var (
	// ErrFormat is a file that is no picture, or one of a format that is not supported.
	ErrFormat = errors.New("unknown picture format")
	// ErrTooLarge is a picture over the limit of pixels.
	ErrTooLarge = errors.New("picture too large")
	// ErrIndices is a picture that holds no indices where they are asked for.
	ErrIndices = errors.New("not a picture of class indices")
	// ErrOptions is a decoder asked for what it cannot give.
	ErrOptions = errors.New("unsupported options")
)

// Options are the same for every picture of a loader.
type Options struct {
	DCT             jpeg.DCT
	MaxPixels       int64     // width times height, checked before the pixels are allocated
	Channels        int       // 1: gray, 3: RGB, 4: RGBA
	Depth           int       // bits a channel. 8: of 16-bit files the high byte; 16: of 8-bit files the value times 257
	Background      *[3]uint8 // 1 and 3 channels: the colour behind what is transparent; nil: alpha is dropped
	Orient          bool      // pictures are turned upright, as EXIF says
	Indices         bool      // for 1 channel of 8 bits: the numbers that the file holds in place of gray or a palette's colours
	AcceptTruncated bool      // what is missing of a truncated JPEG is filled, as TensorFlow's try_recover_truncated does
}

func (o Options) check() error {
	if o.Channels != 1 && o.Channels != 3 && o.Channels != 4 || o.Depth != 8 && o.Depth != 16 ||
		o.Background != nil && o.Channels == 4 || o.Indices && (o.Channels != 1 || o.Depth != 8) {
		return fmt.Errorf("%w: %d channels of %d bits, background %v", ErrOptions, o.Channels, o.Depth, o.Background)
	}
	return nil
}

// header is what a file says of its picture before the pixels.
type header struct {
	size        image.Point // of the stored frame
	orientation Orientation
	indices     bool // the samples are numbers of at most 8 bits, gray or of a palette
}

// format decodes the pictures of one format as they are stored. The picture that read gives has the options' channels
// and depth, or is brought to them by converter.
type format interface {
	open(data []byte) (header, error)
	read(window image.Rectangle) (pixel.Picture, error)
	warnings() int
	close()
}

// Decoder decodes one picture after another; it serves one goroutine at a time and must be closed.
type Decoder struct {
	options   Options
	formats   map[string]format
	name      string // of the format of the picture opened last
	format    format // nil where none is open
	header    header
	converter converter
	mover     mover
}

// NewDecoder makes a decoder.
func NewDecoder(options Options) (*Decoder, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	d := &Decoder{options: options, formats: map[string]format{}, converter: converter{options: options}}
	for name, make := range makers {
		f, err := make(options)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.formats[name] = f
	}
	return d, nil
}

// Close frees the decoder and the pixels it gave out.
func (d *Decoder) Close() {
	for _, f := range d.formats {
		f.close()
	}
}

// Open reads the header and gives the size, upright where the options say so; data must not change until the next Open.
func (d *Decoder) Open(data []byte) (image.Point, error) {
	d.format = nil
	d.name = Sniff(data)
	f, known := d.formats[d.name]
	if !known {
		return image.Point{}, unknown(data, d.name)
	}
	h, err := f.open(data)
	if err != nil {
		return image.Point{}, err
	}
	if h.size.X < 1 || h.size.Y < 1 {
		return image.Point{}, fmt.Errorf("%w: %s with dimensions %d x %d (width x height)", ErrFormat, d.name, h.size.X, h.size.Y)
	}
	if int64(h.size.X) > d.options.MaxPixels/int64(h.size.Y) {
		return image.Point{}, fmt.Errorf("%w: %d x %d pixels (width x height), the limit is %d pixels in all",
			ErrTooLarge, h.size.X, h.size.Y, d.options.MaxPixels)
	}
	if d.options.Indices && !h.indices {
		return image.Point{}, fmt.Errorf("%w: %s, not gray or paletted PNG, GIF or BMP of at most 8 bits", ErrIndices, d.name)
	}
	d.format, d.header = f, h
	return d.applied().size(h.size), nil
}

// Format names the format of the picture opened last.
func (d *Decoder) Format() string { return d.name }

// Orientation is what the picture opened last says of itself, whether it is applied or not.
func (d *Decoder) Orientation() Orientation { return d.header.orientation }

// Warnings is how many times the decoder of the picture opened last found something odd, and went on.
func (d *Decoder) Warnings() int {
	if d.format == nil {
		return 0
	}
	return d.format.warnings()
}

func (d *Decoder) applied() Orientation {
	if d.options.Orient {
		return d.header.orientation
	}
	return Upright
}

// Read decodes a window of the picture opened last, once; the pixels are valid until the next call, and the caller may
// change them.
func (d *Decoder) Read(window image.Rectangle) (pixel.Picture, error) {
	if d.format == nil {
		return pixel.Picture{}, fmt.Errorf("%w: no picture is open", ErrOptions)
	}
	orientation := d.applied()
	if window.Empty() || !window.In(image.Rectangle{Max: orientation.size(d.header.size)}) {
		return pixel.Picture{}, fmt.Errorf("%w: the window %v reaches out of the picture", ErrOptions, window)
	}
	picture, err := d.format.read(orientation.stored(window, d.header.size))
	if err != nil {
		return pixel.Picture{}, err
	}
	gray := pillowLuma
	if d.name == "PNG" {
		gray = libpngLuma
	}
	return d.mover.move(d.converter.convert(picture, gray), orientation), nil
}
