package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"tfgoloader/gocore/pixel"
)

const casesFolder = "../../tests/cases"

type answer struct {
	Expect    string
	Shape     []int
	SHA256    string
	ReasonAny []string `json:"reason_any"`
}

type expected struct {
	answer
	File       string
	RefNpy     string  `json:"ref_npy"`
	MaskNpy    string  `json:"mask_npy"`
	AlsoAccept *answer `json:"also_accept"`
	Oriented   *struct {
		answer
		Orientation int
	}
	Lenient *struct {
		Shape     []int
		RowsExact int    `json:"rows_exact"`
		SHA256    string `json:"sha256_of_those_rows"`
	}
}

// cases are the awkward files, with what other decoders say of them.
func cases(t testing.TB) []expected {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(casesFolder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []expected }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all.Cases
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(casesFolder, "files", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// plain asks for what TensorFlow's decode_image gives.
var plain = Options{MaxPixels: 178_956_970, Channels: 3, Depth: 8}

func newDecoder(t testing.TB, options Options) *Decoder {
	t.Helper()
	d, err := NewDecoder(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// array is a picture whose rows follow one another.
type array struct {
	size image.Point
	pix  []byte
}

func (a array) shape() []int { return []int{a.size.Y, a.size.X, 3} }

// decode copies a window out of a decoder; the zero window is the whole picture.
func decode(d *Decoder, data []byte, window image.Rectangle) (array, error) {
	size, err := d.Open(data)
	if err != nil {
		return array{}, err
	}
	if window.Empty() {
		window = image.Rectangle{Max: size}
	}
	p, err := d.Read(window)
	if err != nil {
		return array{}, err
	}
	return array{window.Size(), rows(p)}, nil
}

func rows(p pixel.Picture) []byte {
	var out []byte
	for y := range p.Height {
		out = append(out, p.Pix[y*p.Stride:][:p.Width*p.PixelBytes()]...)
	}
	return out
}

func (a answer) check(t *testing.T, got array, err error) bool {
	t.Helper()
	if a.Expect == "error" {
		return err != nil && mentions(err, a.ReasonAny)
	}
	sum := sha256.Sum256(got.pix)
	return err == nil && sameShape(got, a.Shape) && hex.EncodeToString(sum[:]) == a.SHA256
}

func mentions(err error, words []string) bool {
	for _, word := range words {
		if strings.Contains(strings.ToLower(err.Error()), word) {
			return true
		}
	}
	return false
}

func sameShape(got array, shape []int) bool {
	return len(shape) == 3 && got.shape()[0] == shape[0] && got.shape()[1] == shape[1] && shape[2] == 3
}

func TestAwkwardFiles(t *testing.T) {
	d := newDecoder(t, plain) // one for all: an error must not spoil the next picture
	for _, c := range cases(t) {
		t.Run(c.File, func(t *testing.T) {
			got, err := decode(d, content(t, c.File), image.Rectangle{})
			switch {
			case c.MaskNpy != "":
				c.checkMasked(t, got, err)
			case c.check(t, got, err):
			case c.AlsoAccept != nil && c.AlsoAccept.check(t, got, err):
			default:
				t.Errorf("shape %v, error %v, want %+v", got.shape(), err, c.answer)
			}
		})
	}
}

// checkMasked compares the pixels that the mask names.
func (c expected) checkMasked(t *testing.T, got array, err error) {
	if err != nil || !sameShape(got, c.Shape) {
		t.Fatalf("shape %v, error %v, want %v", got.shape(), err, c.Shape)
	}
	want, mask := npy(t, c.RefNpy), npy(t, c.MaskNpy)
	if len(want) != len(got.pix) || len(mask) != got.size.X*got.size.Y || bytes.Count(mask, []byte{1}) == 0 {
		t.Fatalf("%d values in the reference, %d in the mask", len(want), len(mask))
	}
	for i, counts := range mask {
		if counts != 0 && !bytes.Equal(want[3*i:][:3], got.pix[3*i:][:3]) {
			t.Fatalf("pixel %d is %v, want %v", i, got.pix[3*i:][:3], want[3*i:][:3])
		}
	}
}

// npy gives the values of a NumPy file of bytes in C order.
func npy(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(casesFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	header := regexp.MustCompile(`'descr': '\|(?:u1|b1)', 'fortran_order': False, 'shape': \(([\d, ]+)\)`).FindSubmatch(data)
	if header == nil {
		t.Fatalf("%s is not of bytes in C order", name)
	}
	count := 1
	for size := range strings.FieldsFuncSeq(string(header[1]), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(size)
		if err != nil {
			t.Fatal(err)
		}
		count *= n
	}
	return data[len(data)-count:]
}

func TestAwkwardFilesUpright(t *testing.T) {
	options := plain
	options.Orient = true
	d := newDecoder(t, options)
	seen := 0
	for _, c := range cases(t) {
		if c.Oriented == nil {
			continue
		}
		seen++
		got, err := decode(d, content(t, c.File), image.Rectangle{})
		if !c.Oriented.check(t, got, err) || d.Orientation() != Orientation(c.Oriented.Orientation) {
			t.Errorf("%s: shape %v, orientation %d, error %v, want %+v", c.File, got.shape(), d.Orientation(), err, c.Oriented)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d cases", seen)
	}
}

func TestTruncatedFilesAreAcceptedWhereAsked(t *testing.T) {
	options := plain
	options.AcceptTruncated = true
	d := newDecoder(t, options)
	seen := 0
	for _, c := range cases(t) {
		if c.Lenient == nil {
			continue
		}
		seen++
		got, err := decode(d, content(t, c.File), image.Rectangle{})
		if err != nil || !sameShape(got, c.Lenient.Shape) {
			t.Errorf("%s: shape %v, error %v, want %v", c.File, got.shape(), err, c.Lenient.Shape)
			continue
		}
		sum := sha256.Sum256(got.pix[:c.Lenient.RowsExact*got.size.X*3])
		if hex.EncodeToString(sum[:]) != c.Lenient.SHA256 {
			t.Errorf("%s: other rows", c.File)
		}
		if d.Warnings() == 0 {
			t.Errorf("%s: no warning", c.File)
		}
	}
	if seen == 0 {
		t.Fatal("no case")
	}
}

func TestFormatIsThatOfTheContent(t *testing.T) {
	d := newDecoder(t, plain)
	for file, want := range map[string]string{
		"png_named.jpg": "PNG", "gif_named.jpg": "GIF", "webp_named.jpg": "WebP", "jpeg_named.png": "JPEG", "rgb24.bmp": "BMP",
	} {
		if _, err := d.Open(content(t, file)); err != nil || d.Format() != want {
			t.Errorf("%s: %q, %v", file, d.Format(), err)
		}
	}
}

func TestWhatIsNoPictureIsNamed(t *testing.T) {
	d := newDecoder(t, plain)
	for start, want := range map[string]string{
		"\x00\x00\x00\x20ftypavif....":           "AVIF",
		"\x00\x00\x00\x20ftypheix....":           "HEIC",
		"\x00\x00\x00\x20ftypmif1....":           "HEIF",
		"\x00\x00\x00\x20ftypisom....":           "MP4",
		"\x1f\x8b\x08\x00......":                 "gzip",
		"PK\x03\x04......":                       "ZIP",
		"%PDF-1.4......":                         "PDF",
		"\xef\xbb\xbf \n<!DOCTYPE HTML><html>":   "HTML",
		"<svg xmlns='http://www.w3.org/'></svg>": "SVG",
		"<?xml version='1.0'?>":                  "XML",
		" [1, 2]":                                "JSON",
		"\x00\x00\x00\x0cJXL \r\n\x87\n":         "JPEG XL",
		"GIF88a......":                           "not an image",
		"version https://git-lfs":                "not an image",
		"\x00\x01":                               "too short",
	} {
		if _, err := d.Open([]byte(start)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "unknown picture format") {
			t.Errorf("%q: %v, want %q", start, err, want)
		}
	}
}
