package pixel

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The working set of training: windows of 224 by 224 pixels, just decoded, go to successive places of several batches
// that together exceed the caches.
const (
	benchSide    = 224
	benchBatch   = 128
	benchBatches = 4
)

var benchValues = &Affine{
	Scale:  []float64{1 / 127.5, 1 / 127.5, 1 / 127.5},
	Offset: []float64{-1, -1, -1},
}

func benchPicture() Picture {
	const stride = (benchSide + 32) * 3 // a decoder's row is wider than the window
	pix := make([]byte, stride*benchSide)
	for i := range pix {
		pix[i] = byte(i * 7)
	}
	return Picture{Pix: pix, Stride: stride, Width: benchSide, Height: benchSide, Channels: 3}
}

// benchPlaces returns the places of all batches, in huge pages if there are any, touched once.
func benchPlaces(b *testing.B, size int) [][]byte {
	count := benchBatch * benchBatches
	memory := mapMemory(b, count*size)
	_ = syscall.Madvise(memory, syscall.MADV_HUGEPAGE) // advice: kernels without huge pages refuse it
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	places := make([][]byte, count)
	for i := range places {
		places[i] = memory[i*size : (i+1)*size]
	}
	return places
}

// benchPlace times write place by place, and reports the median too, which other work on the machine moves less.
func benchPlace(b *testing.B, places [][]byte, write func(place []byte)) {
	var times []time.Duration
	for i := 0; b.Loop(); i++ {
		start := time.Now()
		write(places[i%len(places)])
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "median-ns/op")
}

// benchWriter makes bytes as they are and floats from -1 to 1.
func benchWriter(b *testing.B, dtype DType, layout Layout, set instructions) *Writer {
	if dtype == Uint8 {
		return form{3, dtype, layout, nil}.writer(b, set)
	}
	return form{3, dtype, layout, benchValues}.writer(b, set)
}

func BenchmarkWrite(b *testing.B) {
	src := benchPicture()
	for _, dtype := range []DType{Float32, Uint8} {
		for _, layout := range []Layout{ChannelsLast, ChannelsFirst} {
			for _, set := range available() {
				w := benchWriter(b, dtype, layout, set)
				for _, flip := range []bool{false, true} {
					name := fmt.Sprintf("%s/%s/%s/flip=%t", [...]string{"uint8", "float32"}[dtype],
						[...]string{"last", "first"}[layout], set, flip)
					b.Run(name, func(b *testing.B) {
						places := benchPlaces(b, w.Bytes(src.Width, src.Height))
						benchPlace(b, places, func(place []byte) {
							if err := w.Write(place, src, flip, false); err != nil {
								b.Fatal(err)
							}
						})
					})
				}
			}
		}
	}
}

// BenchmarkTable is what the kernels replace: a loop over samples that looks each up in a table.
func BenchmarkTable(b *testing.B) {
	src := benchPicture()
	var table [256]float32
	for i := range table {
		table[i] = float32(float64(i)*benchValues.Scale[0] + benchValues.Offset[0])
	}
	places := benchPlaces(b, src.Width*src.Height*3*4)
	benchPlace(b, places, func(place []byte) {
		dst := unsafe.Slice((*float32)(unsafe.Pointer(&place[0])), len(place)/4)
		for y := range src.Height {
			row := src.Pix[y*src.Stride:][:src.Width*3]
			out := dst[y*len(row):][:len(row)]
			for x, sample := range row {
				out[x] = table[sample]
			}
		}
	})
}
