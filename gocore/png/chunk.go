package png

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const signature = "\x89PNG\r\n\x1a\n"

// chunk is one of the named parts that a file consists of.
type chunk struct {
	kind string
	body []byte
	end  int // where the next one begins
}

// critical chunks must be understood; the others may be left out.
func (c chunk) critical() bool { return c.kind[0]&0x20 == 0 }

// sound says whether the checksum is right.
func (c chunk) sound(data []byte) bool {
	covered := data[c.end-8-len(c.body) : c.end-4]
	return crc32.ChecksumIEEE(covered) == binary.BigEndian.Uint32(data[c.end-4:])
}

// chunkAt reads the frame of the chunk at an offset, which is not beyond the end.
func chunkAt(data []byte, at int) (chunk, error) {
	rest := data[at:]
	if len(rest) < 12 {
		return chunk{}, fmt.Errorf("%w: the file ends before its IEND chunk", ErrTruncated)
	}
	length, kind := binary.BigEndian.Uint32(rest), rest[4:8]
	for _, letter := range kind {
		if letter|0x20 < 'a' || letter|0x20 > 'z' {
			return chunk{}, fmt.Errorf("%w: invalid chunk name %q", ErrCorrupt, kind)
		}
	}
	if length >= 1<<31 {
		return chunk{}, fmt.Errorf("%w: invalid length of chunk %s", ErrCorrupt, kind)
	}
	if int(length) > len(rest)-12 {
		return chunk{}, fmt.Errorf("%w: the file ends within chunk %s", ErrTruncated, kind)
	}
	return chunk{string(kind), rest[8 : 8+length], at + 12 + int(length)}, nil
}

// file is what the chunks hold.
type file struct {
	width, height   int
	bits, colorType int
	interlaced      bool
	palette         []byte // red, green and blue of each entry
	transparency    []byte // tRNS: alpha of palette entries, or the transparent colour
	exif            []byte
	first, last     int // the first and the end of the last of the IDAT chunks that follow one another
	parts           int // how many those are
}

// colour types
const (
	gray      = 0
	rgb       = 2
	indexed   = 3
	grayAlpha = 4
	rgba      = 6
)

// parse walks through all chunks. Like libpng it refuses whatever is wrong with a critical chunk and leaves out any other
// that is wrong; none but those of file is looked into.
func parse(data []byte) (*file, error) {
	if len(data) < len(signature) || string(data[:len(signature)]) != signature {
		return nil, fmt.Errorf("%w: the signature is damaged", ErrCorrupt)
	}
	f := new(file)
	var seen struct{ palette, data, other bool }
	for at := len(signature); ; {
		c, err := chunkAt(data, at)
		if err != nil {
			return nil, err
		}
		if c.critical() && !c.sound(data) {
			return nil, fmt.Errorf("%w: wrong checksum of chunk %s", ErrCorrupt, c.kind)
		}
		if (at == len(signature)) != (c.kind == "IHDR") {
			return nil, fmt.Errorf("%w: IHDR is not the first chunk, or not the only one", ErrCorrupt)
		}
		switch c.kind {
		case "IHDR":
			if err := f.header(c.body); err != nil {
				return nil, err
			}
		case "PLTE":
			if seen.palette {
				return nil, fmt.Errorf("%w: two palettes", ErrCorrupt)
			}
			seen.palette = true
			if !seen.data && f.colorType == indexed {
				if len(c.body) == 0 || len(c.body)%3 != 0 || len(c.body) > 3*256 {
					return nil, fmt.Errorf("%w: invalid palette of %d bytes", ErrCorrupt, len(c.body))
				}
				f.palette = c.body[:min(len(c.body), 3<<f.bits)]
			}
		case "tRNS":
			if !seen.data && f.transparency == nil && f.fits(c.body) && c.sound(data) {
				f.transparency = c.body
			}
		case "eXIf":
			if f.exif == nil && c.sound(data) {
				f.exif = c.body
			}
		case "IDAT":
			if !seen.data {
				if f.colorType == indexed && f.palette == nil {
					return nil, fmt.Errorf("%w: the palette is missing", ErrCorrupt)
				}
				seen.data, f.first = true, at
			}
			if !seen.other {
				f.last = c.end
				f.parts++
			}
		case "IEND":
			if !seen.data {
				return nil, fmt.Errorf("%w: no image data", ErrCorrupt)
			}
			return f, nil
		default:
			if c.critical() {
				return nil, fmt.Errorf("%w: unknown critical chunk %s", ErrCorrupt, c.kind)
			}
		}
		seen.other = seen.data && c.kind != "IDAT"
		at = c.end
	}
}

func (f *file) header(body []byte) error {
	if len(body) != 13 {
		return fmt.Errorf("%w: IHDR of %d bytes", ErrCorrupt, len(body))
	}
	width, height := binary.BigEndian.Uint32(body), binary.BigEndian.Uint32(body[4:])
	f.bits, f.colorType, f.interlaced = int(body[8]), int(body[9]), body[12] == 1
	if width == 0 || height == 0 || width >= 1<<31 || height >= 1<<31 {
		return fmt.Errorf("%w: invalid dimensions %d x %d (width x height)", ErrCorrupt, width, height)
	}
	f.width, f.height = int(width), int(height)
	depths := map[int][]int{gray: {1, 2, 4, 8, 16}, rgb: {8, 16}, indexed: {1, 2, 4, 8}, grayAlpha: {8, 16}, rgba: {8, 16}}
	known := false
	for _, bits := range depths[f.colorType] {
		known = known || bits == f.bits
	}
	if !known || body[10] != 0 || body[11] != 0 || body[12] > 1 {
		return fmt.Errorf("%w: unknown kind: %d bits, colour type %d, compression %d, filter %d, interlace %d",
			ErrCorrupt, f.bits, f.colorType, body[10], body[11], body[12])
	}
	return nil
}

// fits says whether a tRNS chunk belongs to the kind of picture.
func (f *file) fits(transparency []byte) bool {
	switch f.colorType {
	case gray:
		return len(transparency) == 2
	case rgb:
		return len(transparency) == 6
	case indexed:
		return len(transparency) > 0 && len(transparency) <= len(f.palette)/3
	default:
		return false
	}
}

// samples is how many there are to a pixel.
func (f *file) samples() int {
	return [...]int{gray: 1, rgb: 3, indexed: 1, grayAlpha: 2, rgba: 4}[f.colorType]
}

// rowBytes is the size of a row of a given number of pixels.
func (f *file) rowBytes(width int) int { return (width*f.bits*f.samples() + 7) / 8 }
