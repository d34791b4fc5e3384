package pixel

// #cgo noescape pixel_blend_uint8
// #cgo nocallback pixel_blend_uint8
// #cgo noescape pixel_blend_uint16
// #cgo nocallback pixel_blend_uint16
// #cgo noescape pixel_blend_float16
// #cgo nocallback pixel_blend_float16
// #cgo noescape pixel_blend_bfloat16
// #cgo nocallback pixel_blend_bfloat16
// #cgo noescape pixel_blend_float32
// #cgo nocallback pixel_blend_float32
// #include "blend.h"
import "C"

import (
	"fmt"
	"unsafe"
)

// Blend makes of every sample x, a number of the given type, weight*x + (1-weight)*y, computed in float32. Integers are
// rounded to the nearest, of two to the upper one; halves to the nearest, of two to the even one. Both begin at a multiple of the type's size and do not overlap.
func Blend(dtype DType, x, y []byte, weight float32) { blend(dtype, x, y, weight, best()) }

func blend(dtype DType, x, y []byte, weight float32, set instructions) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("pixel: %d bytes blended with %d", len(x), len(y)))
	}
	to, from, count, w := unsafe.Pointer(start(x)), unsafe.Pointer(start(y)), C.size_t(len(x)), C.float(weight)
	switch dtype {
	case Uint8:
		C.pixel_blend_uint8(uint32(set), (*C.uint8_t)(to), (*C.uint8_t)(from), count, w)
	case Uint16:
		C.pixel_blend_uint16(uint32(set), (*C.uint16_t)(to), (*C.uint16_t)(from), count/2, w)
	case Float16:
		C.pixel_blend_float16(uint32(set), (*C.uint16_t)(to), (*C.uint16_t)(from), count/2, w)
	case BFloat16:
		C.pixel_blend_bfloat16(uint32(set), (*C.uint16_t)(to), (*C.uint16_t)(from), count/2, w)
	case Float32:
		C.pixel_blend_float32(uint32(set), (*C.float)(to), (*C.float)(from), count/4, w)
	default:
		panic(fmt.Sprintf("pixel: no blending of dtype %d", dtype))
	}
}
