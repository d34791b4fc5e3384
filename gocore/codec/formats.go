package codec

import (
	"image"

	"tfgoloader/gocore/jpeg"
	"tfgoloader/gocore/pixel"
	"tfgoloader/gocore/png"
	"tfgoloader/gocore/tiff"
	"tfgoloader/gocore/webp"
)

// makers make the decoder of each format.
var makers = map[string]func(Options) (format, error){
	"JPEG": func(o Options) (format, error) {
		d, err := jpeg.NewDecoder(jpeg.Options{DCT: o.DCT, Channels: min(o.Channels, 3), AcceptTruncated: o.AcceptTruncated})
		return &jpegFormat{d, min(o.Channels, 3)}, err
	},
	"PNG": func(o Options) (format, error) {
		d, err := png.NewDecoder()
		return &pngFormat{options: o, decoder: d}, err
	},
	"WebP": func(o Options) (format, error) { return &webpFormat{options: o}, nil },
	"TIFF": func(o Options) (format, error) { return &tiffFormat{options: o}, nil },
	"GIF":  func(o Options) (format, error) { return &gifFormat{plainFormat{options: o}}, nil },
	"BMP":  func(o Options) (format, error) { return &bmpFormat{plainFormat: plainFormat{options: o}}, nil },
}

// channels is how many a decoder is asked for: 1 for indices, else 3 or 4, alpha only where it is wanted or shows.
func (o Options) channels(alpha bool) int {
	if o.Indices {
		return 1
	}
	if o.Channels == 4 || alpha && o.Background != nil {
		return 4
	}
	return 3
}

// dense is a picture whose rows follow one another without gaps.
func dense(pix []byte, size image.Point, channels int, wide bool) pixel.Picture {
	p := pixel.Picture{Pix: pix, Width: size.X, Height: size.Y, Channels: channels, Wide: wide}
	p.Stride = p.Width * p.PixelBytes()
	return p
}

type jpegFormat struct {
	decoder  *jpeg.Decoder
	channels int
}

func (f *jpegFormat) open(data []byte) (header, error) {
	h, err := f.decoder.Open(data)
	return header{size: image.Pt(h.Width, h.Height), orientation: exifOrientation(jpegExif(data))}, err
}

func (f *jpegFormat) read(window image.Rectangle) (pixel.Picture, error) {
	rows, err := f.decoder.Read(window)
	return pixel.Picture{Pix: rows.Pix, Stride: rows.Stride, Width: window.Dx(), Height: window.Dy(), Channels: f.channels}, err
}

func (f *jpegFormat) warnings() int { return f.decoder.Warnings() }
func (f *jpegFormat) close()        { f.decoder.Close() }

type pngFormat struct {
	options Options
	decoder *png.Decoder
	alpha   bool
}

func (f *pngFormat) open(data []byte) (header, error) {
	h, err := f.decoder.Open(data)
	f.alpha = h.Alpha
	return header{image.Pt(h.Width, h.Height), exifOrientation(h.Exif), h.Numbers}, err
}

func (f *pngFormat) read(window image.Rectangle) (pixel.Picture, error) {
	form := png.Form{Channels: f.options.channels(f.alpha), Wide: f.options.Depth == 16}
	pix, err := f.decoder.Read(window, form)
	return dense(pix, window.Size(), form.Channels, form.Wide), err
}

func (f *pngFormat) warnings() int { return 0 }
func (f *pngFormat) close()        { f.decoder.Close() }

type tiffFormat struct {
	options Options
	decoder tiff.Decoder
	header  tiff.Header
}

func (f *tiffFormat) open(data []byte) (header, error) {
	h, err := f.decoder.Open(data)
	f.header = h
	return header{size: image.Pt(h.Width, h.Height), orientation: validOrientation(int64(h.Orientation))}, err
}

func (f *tiffFormat) read(window image.Rectangle) (pixel.Picture, error) {
	form := tiff.Form{Channels: f.options.channels(f.header.Alpha), Wide: f.options.Depth == 16}
	if f.header.Premultiplied {
		form.Channels = 4
	}
	pix, err := f.decoder.Read(window, form)
	return dense(pix, window.Size(), form.Channels, form.Wide), err
}

func (f *tiffFormat) warnings() int { return 0 }
func (f *tiffFormat) close()        {}

type webpFormat struct {
	options Options
	decoder webp.Decoder
	header  webp.Header
}

func (f *webpFormat) open(data []byte) (header, error) {
	h, err := f.decoder.Open(data)
	f.header = h
	return header{size: image.Pt(h.Width, h.Height), orientation: exifOrientation(h.Exif)}, err
}

func (f *webpFormat) read(window image.Rectangle) (pixel.Picture, error) {
	channels := f.options.channels(f.header.Alpha)
	pix, err := f.decoder.Read(channels)
	if err != nil {
		return pixel.Picture{}, err
	}
	stride := f.header.Width * channels
	return pixel.Picture{
		Pix: pix[window.Min.Y*stride+window.Min.X*channels:], Stride: stride, Width: window.Dx(), Height: window.Dy(), Channels: channels,
	}, nil
}

func (f *webpFormat) warnings() int { return 0 }
func (f *webpFormat) close()        {}
