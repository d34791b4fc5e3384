package loader

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tfgoloader/gocore/codec"
	"tfgoloader/gocore/source"
)

// targeted gives pictures of 24 by 20 pixels masks, whose indices are ten times the picture's number, and a box each.
func targeted(t *testing.T, count int) *source.List {
	t.Helper()
	l, folder := pictures(t, count), t.TempDir()
	targets := source.Targets{Boxes: &source.Boxes{}}
	palette := make(color.Palette, 256)
	for i := range palette {
		palette[i] = color.Gray{uint8(255 - i)}
	}
	for i := range count {
		mask := image.NewPaletted(image.Rect(0, 0, 24, 20), palette)
		for p := range mask.Pix {
			mask.Pix[p] = byte(10 * i)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.png", i))
		targets.Masks = append(targets.Masks, path)
		writeMask(t, path, mask)
		targets.Boxes.Ends = append(targets.Boxes.Ends, i+1)
		targets.Boxes.Boxes = append(targets.Boxes.Boxes, [4]float64{0, 0, 24, 20})
		targets.Boxes.Labels = append(targets.Boxes.Labels, int64(i))
	}
	out, err := source.WithTargets(l, targets)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func writeMask(t *testing.T, path string, mask image.Image) {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, mask); err != nil {
		t.Fatal(err)
	}
	write(t, path, file.Bytes())
}

func withBoxes() Spec {
	s := spec()
	s.Boxes = &Boxes{Format: "rel_xyxy"}
	return s
}

func TestTargetsGoWithTheirSamples(t *testing.T) {
	s := withBoxes()
	s.Boxes.Format = "xyxy"
	loader := open(t, targeted(t, 22), s)
	at := map[string]*Array{}
	for _, array := range loader.Arrays() {
		at[array.Name] = array
	}
	for range 2 {
		epoch, seen := begin(t, loader), 0
		for {
			batch, err := take(epoch)
			if errors.Is(err, ErrEnd) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for slot := range int(batch.c.samples) {
				label := batch.row(at["labels"], slot)
				if !bytes.Equal(batch.row(at["box_labels"], slot), label) {
					t.Errorf("a box of another sample than %v", label)
				}
				index := byte(10 * binary.LittleEndian.Uint64(label))
				if mask := batch.row(at["segmentation_masks"], slot); !bytes.Equal(mask, bytes.Repeat([]byte{index}, 256)) {
					t.Errorf("the mask of another sample than %v: %v", label, mask)
				}
				for n, want := range []float32{0, 0, 16, 16} {
					if got := binary.LittleEndian.Uint32(batch.row(at["boxes"], slot)[4*n:]); got != math.Float32bits(want) {
						t.Errorf("the box of %v is not the picture", label)
					}
				}
				seen++
			}
			batch.release()
		}
		if seen != 22 {
			t.Errorf("%d samples", seen)
		}
	}
}

func TestAMaskThatDoesNotFitIsItsPicturesFailure(t *testing.T) {
	l := targeted(t, 3)
	writeMask(t, l.Mask(0), image.NewGray(image.Rect(0, 0, 24, 21)))
	writeMask(t, l.Mask(1), image.NewRGBA(image.Rect(0, 0, 24, 20)))
	write(t, l.Mask(2), nil)
	s := spec()
	s.BatchSize, s.Shuffle = 1, false
	epoch := begin(t, open(t, l, s))
	for i, want := range []error{ErrMask, codec.ErrIndices, codec.ErrFormat} {
		_, err := take(epoch)
		var failure *SampleError
		if !errors.Is(err, want) || !errors.As(err, &failure) || failure.Path != l.Path(i) || !strings.Contains(err.Error(), l.Mask(i)) {
			t.Errorf("got %v, want %v with both files", err, want)
		}
	}
}

func TestTargetsThatCannotBe(t *testing.T) {
	l, plain := targeted(t, 3), pictures(t, 3)
	for name, change := range map[string]func(*Spec){
		"format":  func(s *Spec) { s.Boxes.Format = "xy" },
		"most":    func(s *Spec) { s.Boxes.Most = -1 },
		"visible": func(s *Spec) { s.Boxes.MinVisible = math.NaN() },
		"views":   func(s *Spec) { s.Views = 2 },
		"mixing": func(s *Spec) {
			s.OneHot, s.BatchOps = &OneHot{Classes: 3}, []json.RawMessage{json.RawMessage(`{"op":"MixUp","alpha":1}`)}
		},
	} {
		s := withBoxes()
		change(&s)
		if _, err := New(l, s); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v, want %v", name, err, ErrConfig)
		}
	}
	if _, err := New(plain, withBoxes()); !errors.Is(err, ErrConfig) {
		t.Errorf("no boxes: %v, want %v", err, ErrConfig)
	}
}

func TestViewsAreDrawnApart(t *testing.T) {
	s := spec()
	s.Views = 2
	s.Ops = append(s.Ops, json.RawMessage(`{"op":"RandomInvert","factor":[0.5,0.5]}`))
	loader := open(t, pictures(t, 22), s)
	epoch, combinations := begin(t, loader), map[[2]bool]int{}
	for {
		batch, err := take(epoch)
		if errors.Is(err, ErrEnd) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		views := batch.layout.arrays
		for slot := range int(batch.c.samples) {
			gray := byte(10 * binary.LittleEndian.Uint64(batch.row(views[2], slot)))
			first, second := batch.row(views[0], slot)[0], batch.row(views[1], slot)[0]
			if first != gray && first != 255-gray || second != gray && second != 255-gray {
				t.Errorf("views %d and %d of gray %d", first, second, gray)
			}
			combinations[[2]bool{first == gray, second == gray}]++
		}
		batch.release()
	}
	if len(combinations) != 4 {
		t.Errorf("%v", combinations)
	}
}
