package pixel

// #include "kernels.h"
import "C"

import "golang.org/x/sys/cpu"

// instructions is a set of vector instructions that the kernels are compiled for; each includes those before it.
type instructions uint32

const (
	sse2   instructions = C.PIXEL_SSE2
	avx2   instructions = C.PIXEL_AVX2
	avx512 instructions = C.PIXEL_AVX512
)

func (i instructions) String() string {
	return [...]string{sse2: "sse2", avx2: "avx2", avx512: "avx512"}[i]
}

// best returns the widest set that this processor and its operating system support.
func best() instructions {
	switch {
	case !cpu.X86.HasAVX2 || !bool(C.pixel_has_f16c()):
		return sse2
	case !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512BW || !cpu.X86.HasAVX512VL:
		return avx2
	default:
		return avx512
	}
}

// Instructions names the vector instructions in use: "avx512", "avx2" or "sse2".
func Instructions() string { return best().String() }
