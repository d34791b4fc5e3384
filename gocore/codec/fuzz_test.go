package codec

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"math/rand/v2"
	"testing"
)

// damaged changes a few bytes behind the signature; which ones the seed says, and 0 changes none. The fuzzer's own changes
// mostly hit the signature's checks and the checksums.
func damaged(data []byte, seed uint64) []byte {
	const behind = 16
	if seed == 0 || len(data) <= behind {
		return data
	}
	data = bytes.Clone(data)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 1 + random.IntN(4) {
		data[behind+random.IntN(len(data)-behind)] = byte(random.Uint32())
	}
	if Sniff(data) == "PNG" {
		mendChecksums(data)
	}
	return data
}

// mendChecksums makes the checksums of a PNG file's chunks right again.
func mendChecksums(data []byte) {
	for rest := data[8:]; len(rest) >= 12; {
		length := int64(binary.BigEndian.Uint32(rest))
		if length > int64(len(rest)-12) {
			return
		}
		binary.BigEndian.PutUint32(rest[8+length:], crc32.ChecksumIEEE(rest[4:8+length]))
		rest = rest[12+length:]
	}
}

// FuzzOpenRead decodes part of whatever opens, in every form.
func FuzzOpenRead(f *testing.F) {
	var files [][]byte
	for _, c := range cases(f) {
		files = append(files, content(f, c.File))
	}
	for orientation := uint16(1); orientation <= 8; orientation++ {
		for _, data := range orientedFiles(f, orientation) {
			files = append(files, data)
		}
	}
	for _, data := range claims(f, 100, 100) {
		files = append(files, data)
	}
	for i, data := range files {
		for seed := range uint64(20) {
			f.Add(data, uint8(i)+uint8(seed), uint8(3*i), seed)
		}
	}
	decoders := map[Options]*Decoder{}
	f.Cleanup(func() {
		for _, d := range decoders {
			d.Close()
		}
	})
	f.Fuzz(func(t *testing.T, data []byte, choice, corner uint8, seed uint64) {
		data = damaged(data, seed)
		options := Options{
			MaxPixels: 1 << 18, Channels: [...]int{3, 1, 4}[choice%3], Depth: 8 + 8*int(choice>>2&1), Orient: choice&8 != 0,
			AcceptTruncated: choice&16 != 0,
		}
		if choice&32 != 0 {
			options.Channels, options.Depth, options.Indices = 1, 8, true
		}
		d, known := decoders[options]
		if !known {
			var err error
			if d, err = NewDecoder(options); err != nil {
				t.Fatal(err)
			}
			decoders[options] = d
		}
		size, err := d.Open(data)
		if err != nil {
			return
		}
		if size.X < 1 || size.Y < 1 || size.X > 1<<18/size.Y {
			t.Fatalf("size %v", size)
		}
		from := image.Pt(size.X*int(corner&15)/16, size.Y*int(corner>>4)/16)
		window := image.Rectangle{from, size}
		p, err := d.Read(window)
		if err != nil {
			return
		}
		if p.Width != window.Dx() || p.Height != window.Dy() || p.Channels != options.Channels || p.Wide != (options.Depth == 16) {
			t.Fatalf("%d x %d of %d channels for %v and %+v", p.Width, p.Height, p.Channels, window, options)
		}
		if got := len(rows(p)); got != p.Width*p.Height*p.PixelBytes() {
			t.Fatalf("%d bytes", got)
		}
	})
}

func FuzzOrientation(f *testing.F) {
	for orientation := range uint16(10) {
		f.Add(exif(binary.LittleEndian, orientation))
		f.Add(append([]byte(exifPrefix), exif(binary.BigEndian, orientation)...))
	}
	for _, c := range cases(f) {
		f.Add(content(f, c.File))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, got := range []Orientation{exifOrientation(data), exifOrientation(jpegExif(data))} {
			if got < 1 || got > 8 {
				t.Errorf("orientation %d", got)
			}
		}
	})
}
