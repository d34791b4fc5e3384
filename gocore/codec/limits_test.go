package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"math"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"
)

// claims gives small files of every format whose headers claim a size, with no or next to no pixels behind.
func claims(t testing.TB, width, height int) map[string][]byte {
	t.Helper()
	jpeg := bytes.Clone(content(t, "progressive_420.jpg"))
	frame := bytes.Index(jpeg, []byte{0xFF, 0xC2})
	binary.BigEndian.PutUint16(jpeg[frame+5:], uint16(height))
	binary.BigEndian.PutUint16(jpeg[frame+7:], uint16(width))

	png := bytes.Clone(content(t, "interlaced_rgb.png"))
	binary.BigEndian.PutUint32(png[16:], uint32(width))
	binary.BigEndian.PutUint32(png[20:], uint32(height))
	binary.BigEndian.PutUint32(png[29:], crc32.ChecksumIEEE(png[12:29]))

	gif := bytes.Clone(content(t, "gif_named.jpg"))
	binary.LittleEndian.PutUint16(gif[6:], uint16(width))
	binary.LittleEndian.PutUint16(gif[8:], uint16(height))
	if at := bytes.IndexByte(gif[13+3*(2<<(gif[10]&7)):], ','); at >= 0 {
		frame := gif[13+3*(2<<(gif[10]&7))+at:]
		binary.LittleEndian.PutUint16(frame[5:], uint16(width))
		binary.LittleEndian.PutUint16(frame[7:], uint16(height))
	}

	bmp := bytes.Clone(content(t, "rgb24.bmp"))
	binary.LittleEndian.PutUint32(bmp[18:], uint32(width))
	binary.LittleEndian.PutUint32(bmp[22:], uint32(height))

	bits := uint32(width-1)&(1<<14-1) | uint32(height-1)&(1<<14-1)<<14
	webp := riff(riffChunk("VP8L", append(binary.LittleEndian.AppendUint32([]byte{0x2F}, bits), make([]byte, 40)...)))
	animation := animateWebP(content(t, "webp_named.jpg"), image.Pt(23, 17), image.Pt(width, height), image.Point{})
	return map[string][]byte{
		"JPEG": jpeg, "PNG": png, "GIF": gif, "BMP": bmp, "WebP": webp, "animated WebP": animation,
		"TIFF": tiffClaim(width, height, 1, 8), "TIFF of one strip": tiffClaim(width, height, uint32(height), 16),
	}
}

// tiffClaim is an RGB file whose strips all begin at the same few bytes.
func tiffClaim(width, height int, rowsPerStrip uint32, bits uint16) []byte {
	order := binary.LittleEndian
	long := func(out []byte, tag uint16, value int) []byte {
		return order.AppendUint32(entry(out, order, tag, 4, 1, 0)[:len(out)+8], uint32(value))
	}
	out := append([]byte("II*\x00"), 8, 0, 0, 0)
	out = order.AppendUint16(out, 9)
	out = long(out, 0x0100, width)
	out = long(out, 0x0101, height)
	out = entry(out, order, 0x0102, 3, 1, bits)
	out = entry(out, order, 0x0103, 3, 1, 8) // deflate
	out = entry(out, order, 0x0106, 3, 1, 2) // RGB
	out = long(out, 0x0111, 8)
	out = entry(out, order, 0x0115, 3, 1, 3)
	out = long(out, 0x0116, int(rowsPerStrip))
	out = long(out, 0x0117, 60)
	return order.AppendUint32(out, 0)
}

// peak is by how much the process was ever larger than before, in bytes.
func peak(t *testing.T, work func()) int {
	t.Helper()
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		t.Skip(err) // the kernel cannot forget the peak so far
	}
	before := status(t, "VmRSS")
	work()
	return status(t, "VmHWM") - before
}

func status(t *testing.T, field string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	kilobytes, err := strconv.Atoi(string(regexp.MustCompile(field + `:\s+(\d+) kB`).FindSubmatch(text)[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

const constant = 64 << 20 // what a file may cost whatever its size

func TestTheLimitComesBeforeThePixels(t *testing.T) {
	for format, data := range claims(t, 16_000, 16_000) {
		grown := peak(t, func() {
			if _, err := newDecoder(t, plain).Open(data); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v, want %v", format, err, ErrTooLarge)
			}
		})
		if grown > constant {
			t.Errorf("%s: %d MiB", format, grown>>20)
		}
	}
	exact := plain
	exact.MaxPixels = 23 * 17
	if _, err := newDecoder(t, exact).Open(content(t, "palette.png")); err != nil {
		t.Errorf("as many pixels as the limit: %v", err)
	}
	exact.MaxPixels--
	if _, err := newDecoder(t, exact).Open(content(t, "palette.png")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a pixel more than the limit: %v", err)
	}
}

func TestDimensionsDoNotOverflow(t *testing.T) {
	unlimited := plain
	unlimited.MaxPixels = math.MaxInt64
	for _, size := range []image.Point{{math.MaxInt32, math.MaxInt32}, {math.MaxInt32, 1}, {1, math.MaxInt32}, {1 << 24, 1 << 24}} {
		for format, data := range claims(t, size.X, size.Y) {
			if format == "JPEG" || format == "GIF" || format == "WebP" || format == "animated WebP" {
				continue // their headers cannot hold that
			}
			if _, err := decode(newDecoder(t, unlimited), data, image.Rect(0, 0, 1, 1)); err == nil {
				t.Errorf("%s of %v decodes", format, size)
			}
		}
	}
}

// TestClaimsCostNoMoreThanTheirPixels opens the window that costs most: the whole picture.
func TestClaimsCostNoMoreThanTheirPixels(t *testing.T) {
	const side = 8000
	for format, data := range claims(t, side, side) {
		grown := peak(t, func() {
			_, err := decode(newDecoder(t, plain), data, image.Rect(0, 0, 1, 1))
			if want := format == "JPEG" || format == "animated WebP"; (err == nil) != want { // both are valid
				t.Errorf("%s: %v", format, err)
			}
		})
		if grown > 4*side*side+constant {
			t.Errorf("%s: %d MiB", format, grown>>20)
		}
	}
}

func TestChunksWithoutEndCostNothing(t *testing.T) {
	png := content(t, "palette.png")
	const afterHeader = 8 + 25
	chunk := append([]byte{0, 0, 0, 1}, "zTXt\x00"...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	many := bytes.Join([][]byte{png[:afterHeader], bytes.Repeat(chunk, 1<<20), png[afterHeader:]}, nil)
	webp := content(t, "webp_named.jpg")
	frames := riff(extendWebP(webp, image.Pt(23, 17), nil)[12:], bytes.Repeat(riffChunk("abcd", nil), 1<<20))
	for format, data := range map[string][]byte{"PNG": many, "WebP": frames} {
		grown := peak(t, func() {
			if _, err := decode(newDecoder(t, plain), data, image.Rectangle{}); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		})
		if grown > constant {
			t.Errorf("%s: %d MiB", format, grown>>20)
		}
	}
}
