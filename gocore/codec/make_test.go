package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	stdpng "image/png"
	"math/rand/v2"
	"testing"

	"golang.org/x/image/tiff"
)

// exif is the smallest EXIF block that holds an orientation.
func exif(order binary.AppendByteOrder, orientation uint16) []byte {
	out := map[binary.AppendByteOrder][]byte{binary.LittleEndian: []byte("II*\x00"), binary.BigEndian: []byte("MM\x00*")}[order]
	out = order.AppendUint16(order.AppendUint32(bytes.Clone(out), 8), 2)
	out = entry(out, order, 0x010F, 2, 1, 'x') // something in front of it
	out = entry(out, order, 0x0112, 3, 1, orientation)
	return order.AppendUint32(out, 0)
}

func entry(out []byte, order binary.AppendByteOrder, tag, kind uint16, count uint32, value uint16) []byte {
	out = order.AppendUint32(order.AppendUint16(order.AppendUint16(out, tag), kind), count)
	return order.AppendUint16(order.AppendUint16(out, value), 0)
}

// photo is a noisy picture, with alpha if asked for.
func photo(width, height int, alpha bool) *image.NRGBA {
	random := rand.New(rand.NewPCG(3, 4))
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.NRGBA{uint8(x*3 + random.IntN(40)), uint8(y ^ x), uint8(random.IntN(256)), 255}
			if alpha {
				c.A = uint8(random.IntN(256))
			}
			picture.SetNRGBA(x, y, c)
		}
	}
	return picture
}

func encodeJPEG(t testing.TB, picture image.Image, exif []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stdjpeg.Encode(&out, picture, &stdjpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return addExif(out.Bytes(), exif)
}

// addExif puts an EXIF segment behind the start of a JPEG file.
func addExif(jpeg, exif []byte) []byte {
	segment := append([]byte(exifPrefix), exif...)
	app1 := append(binary.BigEndian.AppendUint16([]byte{0xFF, 0xE1}, uint16(len(segment)+2)), segment...)
	return bytes.Join([][]byte{jpeg[:2], app1, jpeg[2:]}, nil)
}

func encodePNG(t testing.TB, picture image.Image, exif []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := stdpng.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	chunk := append(binary.BigEndian.AppendUint32(nil, uint32(len(exif))), "eXIf"...)
	chunk = append(chunk, exif...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	const afterHeader = 8 + 25
	return bytes.Join([][]byte{out.Bytes()[:afterHeader], chunk, out.Bytes()[afterHeader:]}, nil)
}

// encodeTIFF writes RGBA, and the orientation into a directory of its own that takes the place of the encoder's.
func encodeTIFF(t testing.TB, picture image.Image, orientation uint16) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := tiff.Encode(&out, picture, &tiff.Options{Compression: tiff.Deflate, Predictor: true}); err != nil {
		t.Fatal(err)
	}
	order, data := binary.LittleEndian, out.Bytes()
	old := data[order.Uint32(data[4:]):]
	count := int(order.Uint16(old))
	directory := order.AppendUint16(nil, uint16(count+1))
	for i := range count {
		if e := old[2+12*i:][:12]; order.Uint16(e) < 0x0112 || i > 0 && order.Uint16(old[2+12*(i-1):]) > 0x0112 {
			directory = append(directory, e...)
		} else {
			directory = append(entry(directory, order, 0x0112, 3, 1, orientation), e...)
		}
	}
	data = bytes.Clone(data)
	order.PutUint32(data[4:], uint32(len(data)))
	return append(append(data, directory...), 0, 0, 0, 0)
}

// riff joins the chunks of a WebP file.
func riff(chunks ...[]byte) []byte {
	body := append([]byte("WEBP"), bytes.Join(chunks, nil)...)
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

func riffChunk(kind string, body []byte) []byte {
	out := append(binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body))), body...)
	return append(out, make([]byte, len(body)%2)...)
}

// number24 is a number of a WebP header.
func number24(n int) []byte { return []byte{byte(n), byte(n >> 8), byte(n >> 16)} }

// extendWebP gives a simple file a header that can hold EXIF.
func extendWebP(simple []byte, size image.Point, exif []byte) []byte {
	const hasExif = 0x08
	header := append(append([]byte{hasExif, 0, 0, 0}, number24(size.X-1)...), number24(size.Y-1)...)
	return riff(riffChunk("VP8X", header), simple[12:], riffChunk("EXIF", exif))
}

// animateWebP puts a simple file as the first frame on a canvas.
func animateWebP(simple []byte, size, canvas, at image.Point) []byte {
	const animated, alpha = 0x02, 0x10
	header := append(append([]byte{animated | alpha, 0, 0, 0}, number24(canvas.X-1)...), number24(canvas.Y-1)...)
	frame := bytes.Join([][]byte{
		number24(at.X / 2), number24(at.Y / 2), number24(size.X - 1), number24(size.Y - 1), number24(100), {0}, simple[12:],
	}, nil)
	return riff(riffChunk("VP8X", header), riffChunk("ANIM", make([]byte, 6)), riffChunk("ANMF", frame), riffChunk("ANMF", frame))
}
