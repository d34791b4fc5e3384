// Includes SET_FILE once for each instruction set: SET names it, WIDTH is how many words of 32 bits its vectors have.
#define NAME3(name, set) name##_##set
#define NAME2(name, set) NAME3(name, set)
#define NAME(name) NAME2(name, SET)

#define SET sse2
#define WIDTH 4
#pragma GCC push_options
#pragma GCC target("sse2")
#include SET_FILE
#pragma GCC pop_options
#undef SET
#undef WIDTH

#define SET avx2
#define WIDTH 8
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#include SET_FILE
#pragma GCC pop_options
#undef SET
#undef WIDTH

#define SET avx512
#define WIDTH 16
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl")
#include SET_FILE
#pragma GCC pop_options
#undef SET
#undef WIDTH

// The function of an instruction set.
#define OF_SET(instructions, name)                                                                                     \
	((instructions) == PIXEL_AVX512 ? name##_avx512 : (instructions) == PIXEL_AVX2 ? name##_avx2 : name##_sse2)
