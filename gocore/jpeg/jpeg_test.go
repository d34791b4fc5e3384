package jpeg

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const casesFolder = "../../tests/cases"

type expected struct {
	File, Expect string
	Shape        []int
	SHA256       string
	ReasonAny    []string `json:"reason_any"`
	AlsoAccept   *struct {
		ReasonAny []string `json:"reason_any"`
	} `json:"also_accept"`
}

// cases are the awkward files whose bytes are a JPEG, with TensorFlow's answers.
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
	var out []expected
	for _, c := range all.Cases {
		if bytes.HasPrefix(content(t, c.File), []byte{0xFF, 0xD8}) {
			out = append(out, c)
		}
	}
	return out
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(casesFolder, "files", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func newDecoder(t testing.TB) *Decoder {
	t.Helper()
	d, err := NewDecoder(Options{Channels: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// decode copies a window out of the decoder; the zero window is the whole picture.
func decode(d *Decoder, data []byte, window image.Rectangle) ([]byte, Header, error) {
	header, err := d.Open(data)
	if err != nil {
		return nil, header, err
	}
	if header.Width*header.Height > 10_000_000 {
		return nil, header, errors.New("too large for a test")
	}
	if window.Empty() {
		window = image.Rect(0, 0, header.Width, header.Height)
	}
	rows, err := d.Read(window)
	if err != nil {
		return nil, header, err
	}
	return dense(rows, window), header, nil
}

func dense(rows Rows, window image.Rectangle) []byte {
	out := make([]byte, 0, 3*window.Dx()*window.Dy())
	for y := range window.Dy() {
		out = append(out, rows.Pix[y*rows.Stride:][:3*window.Dx()]...)
	}
	return out
}

func TestAwkwardFilesAsTensorFlowReadsThem(t *testing.T) {
	d := newDecoder(t) // one for all: an error must not spoil the next picture
	for _, c := range cases(t) {
		t.Run(c.File, func(t *testing.T) {
			pixels, header, err := decode(d, content(t, c.File), image.Rectangle{})
			if c.Expect == "error" {
				if err == nil {
					t.Fatal("decoded, want an error")
				}
				text := strings.ToLower(err.Error())
				for _, word := range c.ReasonAny {
					if strings.Contains(text, word) {
						return
					}
				}
				t.Fatalf("%q holds none of %q", text, c.ReasonAny)
			}
			if err != nil {
				t.Fatal(err)
			}
			if header.Height != c.Shape[0] || header.Width != c.Shape[1] {
				t.Fatalf("%d x %d, want %v", header.Height, header.Width, c.Shape)
			}
			if sum := sha256.Sum256(pixels); hex.EncodeToString(sum[:]) != c.SHA256 {
				t.Fatal("other pixels than TensorFlow's")
			}
		})
	}
}

func checkWindows(t *testing.T, name string, data []byte, count int) {
	t.Helper()
	d := newDecoder(t)
	whole, header, err := decode(d, data, image.Rectangle{})
	if err != nil {
		return
	}
	random := rand.New(rand.NewPCG(1, uint64(len(data))))
	for range count {
		w, h := 1+random.IntN(header.Width), 1+random.IntN(header.Height)
		x, y := random.IntN(header.Width-w+1), random.IntN(header.Height-h+1)
		window := image.Rect(x, y, x+w, y+h)
		got, _, err := decode(d, data, window)
		if err != nil {
			t.Fatalf("%s %v: %v", name, window, err)
		}
		for row := range h {
			if !bytes.Equal(got[3*w*row:][:3*w], whole[3*((y+row)*header.Width+x):][:3*w]) {
				t.Fatalf("%s %v of %dx%d: row %d differs from the whole picture's", name, window, header.Width, header.Height, row)
			}
		}
	}
}

func TestWindowsEqualTheWholePicture(t *testing.T) {
	for _, c := range cases(t) {
		checkWindows(t, c.File, content(t, c.File), 400)
	}
	for _, size := range []image.Point{{333, 217}, {117, 91}, {64, 64}, {500, 375}} {
		checkWindows(t, fmt.Sprint(size), encoded(t, size.X, size.Y), 300)
	}
}

// encoded is a noisy picture as the standard library writes it (4:2:0).
func encoded(t testing.TB, width, height int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 4))
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			picture.SetRGBA(x, y, color.RGBA{uint8(x + random.IntN(40)), uint8(y ^ x), uint8(random.IntN(256)), 255})
		}
	}
	var out bytes.Buffer
	if err := stdjpeg.Encode(&out, picture, &stdjpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestATruncatedFileIsAnErrorWhateverTheWindow(t *testing.T) {
	d := newDecoder(t)
	data := encoded(t, 400, 300)
	top := image.Rect(0, 0, 400, 8)
	for _, keep := range []int{len(data) - 1, len(data) - 2, len(data) * 3 / 4, len(data) / 2} {
		if _, _, err := decode(d, data[:keep], top); !errors.Is(err, ErrTruncated) {
			t.Errorf("%d of %d bytes: %v, want %v", keep, len(data), err, ErrTruncated)
		}
	}
	if _, _, err := decode(d, append(bytes.Clone(data), "trailing"...), top); err != nil {
		t.Errorf("bytes after the end marker: %v", err)
	}
}

func TestMisuseIsAnError(t *testing.T) {
	d := newDecoder(t)
	if _, err := d.Read(image.Rect(0, 0, 1, 1)); !errors.Is(err, ErrMisuse) {
		t.Errorf("read before open: %v", err)
	}
	data := encoded(t, 40, 30)
	for _, window := range []image.Rectangle{image.Rect(0, 0, 41, 1), image.Rect(0, 0, 1, 31), image.Rect(39, 0, 41, 2), image.Rect(-1, 0, 2, 2), {}} {
		if _, err := d.Open(data); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Read(window); !errors.Is(err, ErrMisuse) {
			t.Errorf("%v: %v", window, err)
		}
	}
	if _, err := d.Open(data); err != nil {
		t.Fatal(err)
	}
	for want := range 2 {
		_, err := d.Read(image.Rect(0, 0, 40, 30))
		if got := err != nil; got != (want == 1) {
			t.Errorf("read number %d of one open: %v", want, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, c := range cases(f) {
		f.Add(content(f, c.File), uint16(3), uint16(5))
	}
	d := newDecoder(f)
	f.Fuzz(func(t *testing.T, data []byte, x, y uint16) {
		header, err := d.Open(data)
		if err != nil || header.Width*header.Height > 1<<20 {
			return
		}
		left, top := int(x)%header.Width, int(y)%header.Height
		window := image.Rect(left, top, min(left+64, header.Width), min(top+64, header.Height))
		if rows, err := d.Read(window); err == nil {
			dense(rows, window)
		}
	})
}

func BenchmarkWindow(b *testing.B) {
	d, data := newDecoder(b), encoded(b, 500, 375)
	for b.Loop() {
		if _, err := d.Open(data); err != nil {
			b.Fatal(err)
		}
		if _, err := d.Read(image.Rect(100, 80, 324, 304)); err != nil {
			b.Fatal(err)
		}
	}
}
