package codec

import (
	"bytes"
	"fmt"
)

// signatures are the first bytes of what data sets hold; only JPEG is decoded.
var signatures = []struct {
	offset int
	magic  string
	name   string
}{
	{0, "\xff\xd8", "JPEG"},
	{0, "\x89PNG", "PNG"},
	{0, "GIF8", "GIF"},
	{0, "BM", "BMP"},
	{8, "WEBP", "WebP"},
	{0, "II*\x00", "TIFF"},
	{0, "MM\x00*", "TIFF"},
	{4, "ftypheic", "HEIC"},
	{4, "ftypmif1", "HEIF"},
	{4, "ftypavif", "AVIF"},
	{0, "\x1f\x8b", "gzip"},
	{0, "%PDF", "PDF"},
}

// Sniff names the format by the content, or gives "".
func Sniff(data []byte) string {
	for _, s := range signatures {
		if len(data) >= s.offset && bytes.HasPrefix(data[s.offset:], []byte(s.magic)) {
			return s.name
		}
	}
	return ""
}

func check(data []byte) error {
	switch name := Sniff(data); {
	case len(data) == 0:
		return fmt.Errorf("%w: empty file (0 bytes)", ErrFormat)
	case name == "JPEG":
		return nil
	case name != "":
		return fmt.Errorf("%w: the content is %s, which is not supported", ErrFormat, name)
	case len(data) < 4:
		return fmt.Errorf("%w: too short (%d bytes)", ErrFormat, len(data))
	default:
		return fmt.Errorf("%w: not an image, the content starts with %q", ErrFormat, data[:min(len(data), 16)])
	}
}
