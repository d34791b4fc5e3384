package codec

import (
	"bytes"
	"fmt"
)

// signatures are the first bytes of what data sets hold, in the order they are tried.
var signatures = []struct {
	offset int
	magic  string
	name   string
}{
	{0, "\xff\xd8", "JPEG"},
	{0, "\x89PNG", "PNG"},
	{0, "GIF87a", "GIF"},
	{0, "GIF89a", "GIF"},
	{0, "BM", "BMP"},
	{8, "WEBP", "WebP"},
	{0, "II*\x00", "TIFF"},
	{0, "MM\x00*", "TIFF"},
	{0, "II+\x00", "TIFF"}, // BigTIFF
	{0, "MM\x00+", "TIFF"},
	{4, "ftypavi", "AVIF"},
	{4, "ftyphe", "HEIC"},
	{4, "ftypmif1", "HEIF"},
	{4, "ftypmsf1", "HEIF"},
	{4, "ftyp", "MP4 or another ISO media file"},
	{0, "\xff\x0a", "JPEG XL"},
	{4, "JXL \r\n\x87\n", "JPEG XL"},
	{4, "jP  \r\n\x87\n", "JPEG 2000"},
	{0, "\xff\x4f\xff\x51", "JPEG 2000"},
	{0, "8BPS", "Photoshop"},
	{0, "\x00\x00\x01\x00", "an icon (ICO)"},
	{0, "\x76\x2f\x31\x01", "OpenEXR"},
	{0, "\x93NUMPY", "a NumPy array"},
	{0, "\x1f\x8b", "gzip"},
	{0, "PK\x03\x04", "ZIP"},
	{0, "%PDF", "PDF"},
}

// Sniff names the format by the content, or gives "".
func Sniff(data []byte) string {
	for _, s := range signatures {
		if len(data) >= s.offset && bytes.HasPrefix(data[s.offset:], []byte(s.magic)) {
			return s.name
		}
	}
	text := bytes.ToLower(bytes.TrimLeft(data[:min(len(data), 256)], "\ufeff \t\r\n"))
	for _, s := range []struct{ start, name string }{
		{"<!doctype html", "HTML"}, {"<html", "HTML"}, {"<svg", "SVG"}, {"<?xml", "XML"}, {"<", "HTML or XML"},
		{"{", "JSON"}, {"[", "JSON"},
	} {
		if bytes.HasPrefix(text, []byte(s.start)) {
			return s.name
		}
	}
	return ""
}

// unknown says what a file looks like that no decoder takes.
func unknown(data []byte, name string) error {
	switch {
	case len(data) == 0:
		return fmt.Errorf("%w: empty file (0 bytes)", ErrFormat)
	case name != "":
		return fmt.Errorf("%w: the content looks like %s, which is not supported", ErrFormat, name)
	case len(data) < 4:
		return fmt.Errorf("%w: too short (%d bytes)", ErrFormat, len(data))
	default:
		return fmt.Errorf("%w: not an image, the content starts with %q", ErrFormat, data[:min(len(data), 16)])
	}
}
