//go:build !purego

#include "textflag.h"

// The kernels are those of kernels_amd64.s in NEON: a loop over rows of 128 bytes, which
// 8 registers hold. Words have 8<<size bits, and T is how the assembler calls registers
// of such words.
//
//	R0, R1  the chunk, and the row of packed words at hand
//	R2, R3  base, width
//	R4      the first bit of the value in its word
//	R5      the end of the packed words
//	R6      the order of the groups of 8 rows, 4 bits a group
//	R7, R8  the row in the chunk, the end of its group
//	V29     counts of shifts; V30 and V31 the base and the mask of a value, in each word

// USHL d, n, m, which the assembler does not know, shifts the words of n by those of m:
// to the left, or to the right where they are negative.
#define USHL(size, m, n, d) WORD $(0x6e204400 | (size)<<22 | (m)<<16 | (n)<<5 | (d))

// SHIFT shifts the 8 registers from n on by V29 to those from d on.
#define SHIFT(size, n, d) \
	USHL(size, 29, n+0, d+0); \
	USHL(size, 29, n+1, d+1); \
	USHL(size, 29, n+2, d+2); \
	USHL(size, 29, n+3, d+3); \
	USHL(size, 29, n+4, d+4); \
	USHL(size, 29, n+5, d+5); \
	USHL(size, 29, n+6, d+6); \
	USHL(size, 29, n+7, d+7);

// LOAD and STORE move a row between memory and V0 to V7, or V8 to V15.
#define LOAD0(p) \
	MOVD p, R9; \
	VLD1.P 64(R9), [V0.B16, V1.B16, V2.B16, V3.B16]; \
	VLD1 (R9), [V4.B16, V5.B16, V6.B16, V7.B16];
#define LOAD8(p) \
	MOVD p, R9; \
	VLD1.P 64(R9), [V8.B16, V9.B16, V10.B16, V11.B16]; \
	VLD1 (R9), [V12.B16, V13.B16, V14.B16, V15.B16];
#define STORE0(p) \
	MOVD p, R9; \
	VST1.P [V0.B16, V1.B16, V2.B16, V3.B16], 64(R9); \
	VST1 [V4.B16, V5.B16, V6.B16, V7.B16], (R9);
#define STORE8(p) \
	MOVD p, R9; \
	VST1.P [V8.B16, V9.B16, V10.B16, V11.B16], 64(R9); \
	VST1 [V12.B16, V13.B16, V14.B16, V15.B16], (R9);

// BEGIN sets up all registers but R0 to R3.
#define BEGIN(T, size) \
	VDUP R2, V30.T; \
	MOVD $-1, R9; \
	VDUP R9, V31.T; \
	SUB $(8<<size), R3, R9; \
	VDUP R9, V29.T; \
	USHL(size, 29, 31, 31); \
	ADD R3<<7, R1, R5; \
	MOVD ZR, R4; \
	MOVD $0x73516240, R6;

// GROUP goes to the next 8 rows, which are 128 values apart.
#define GROUP(size) \
	AND $15, R6, R7; \
	LSR $4, R6; \
	ADD R7<<(4+size), R0, R7; \
	ADD $(1024<<size), R7, R8;

// UNPACK is a kernel that unpacks to words of a size.
#define UNPACK(T, size) \
	MOVD dst+0(FP), R0; \
	MOVD src+8(FP), R1; \
	MOVD base+16(FP), R2; \
	MOVD width+24(FP), R3; \
	BEGIN(T, size); \
group: \
	GROUP(size); \
row: \
	LOAD0(R1); \
	NEG R4, R9; \
	VDUP R9, V29.T; \
	SHIFT(size, 0, 0); \
	ADD R3, R4; \
	CMP $(8<<size), R4; \
	BLT store; \
	ADD $128, R1; \
	SUBS $(8<<size), R4; \
	BEQ store; \
	/* The upper bits are the lowest of the next word. */ \
	SUB R4, R3, R9; \
	VDUP R9, V29.T; \
	LOAD8(R1); \
	SHIFT(size, 8, 8); \
	VORR V8.B16, V0.B16, V0.B16; \
	VORR V9.B16, V1.B16, V1.B16; \
	VORR V10.B16, V2.B16, V2.B16; \
	VORR V11.B16, V3.B16, V3.B16; \
	VORR V12.B16, V4.B16, V4.B16; \
	VORR V13.B16, V5.B16, V5.B16; \
	VORR V14.B16, V6.B16, V6.B16; \
	VORR V15.B16, V7.B16, V7.B16; \
store: \
	VAND V31.B16, V0.B16, V0.B16; VADD V30.T, V0.T, V0.T; \
	VAND V31.B16, V1.B16, V1.B16; VADD V30.T, V1.T, V1.T; \
	VAND V31.B16, V2.B16, V2.B16; VADD V30.T, V2.T, V2.T; \
	VAND V31.B16, V3.B16, V3.B16; VADD V30.T, V3.T, V3.T; \
	VAND V31.B16, V4.B16, V4.B16; VADD V30.T, V4.T, V4.T; \
	VAND V31.B16, V5.B16, V5.B16; VADD V30.T, V5.T, V5.T; \
	VAND V31.B16, V6.B16, V6.B16; VADD V30.T, V6.T, V6.T; \
	VAND V31.B16, V7.B16, V7.B16; VADD V30.T, V7.T, V7.T; \
	STORE0(R7); \
	ADD $(128<<size), R7; \
	CMP R8, R7; \
	BLO row; \
	CMP R5, R1; \
	BLO group; \
	RET;

// PACK is a kernel that packs words of a size.
#define PACK(T, size) \
	MOVD dst+0(FP), R1; \
	MOVD src+8(FP), R0; \
	MOVD base+16(FP), R2; \
	MOVD width+24(FP), R3; \
	BEGIN(T, size); \
	VEOR V8.B16, V8.B16, V8.B16; \
	VEOR V9.B16, V9.B16, V9.B16; \
	VEOR V10.B16, V10.B16, V10.B16; \
	VEOR V11.B16, V11.B16, V11.B16; \
	VEOR V12.B16, V12.B16, V12.B16; \
	VEOR V13.B16, V13.B16, V13.B16; \
	VEOR V14.B16, V14.B16, V14.B16; \
	VEOR V15.B16, V15.B16, V15.B16; \
group: \
	GROUP(size); \
row: \
	LOAD0(R7); \
	VSUB V30.T, V0.T, V0.T; VAND V31.B16, V0.B16, V0.B16; \
	VSUB V30.T, V1.T, V1.T; VAND V31.B16, V1.B16, V1.B16; \
	VSUB V30.T, V2.T, V2.T; VAND V31.B16, V2.B16, V2.B16; \
	VSUB V30.T, V3.T, V3.T; VAND V31.B16, V3.B16, V3.B16; \
	VSUB V30.T, V4.T, V4.T; VAND V31.B16, V4.B16, V4.B16; \
	VSUB V30.T, V5.T, V5.T; VAND V31.B16, V5.B16, V5.B16; \
	VSUB V30.T, V6.T, V6.T; VAND V31.B16, V6.B16, V6.B16; \
	VSUB V30.T, V7.T, V7.T; VAND V31.B16, V7.B16, V7.B16; \
	VDUP R4, V29.T; \
	SHIFT(size, 0, 16); \
	VORR V16.B16, V8.B16, V8.B16; \
	VORR V17.B16, V9.B16, V9.B16; \
	VORR V18.B16, V10.B16, V10.B16; \
	VORR V19.B16, V11.B16, V11.B16; \
	VORR V20.B16, V12.B16, V12.B16; \
	VORR V21.B16, V13.B16, V13.B16; \
	VORR V22.B16, V14.B16, V14.B16; \
	VORR V23.B16, V15.B16, V15.B16; \
	ADD R3, R4; \
	CMP $(8<<size), R4; \
	BLT next; \
	STORE8(R1); \
	ADD $128, R1; \
	SUB $(8<<size), R4; \
	/* The next word begins with the upper bits: with none, if all were stored. */ \
	SUB R3, R4, R9; \
	VDUP R9, V29.T; \
	SHIFT(size, 0, 8); \
next: \
	ADD $(128<<size), R7; \
	CMP R8, R7; \
	BLO row; \
	CMP R5, R1; \
	BLO group; \
	RET;

// func unpack8(dst *[1024]uint8, src *byte, base uint64, width int)
TEXT ·unpack8(SB), NOSPLIT, $0-32
	UNPACK(B16, 0)

// func pack8(dst *byte, src *[1024]uint8, base uint64, width int)
TEXT ·pack8(SB), NOSPLIT, $0-32
	PACK(B16, 0)

// func unpack16(dst *[1024]uint16, src *byte, base uint64, width int)
TEXT ·unpack16(SB), NOSPLIT, $0-32
	UNPACK(H8, 1)

// func pack16(dst *byte, src *[1024]uint16, base uint64, width int)
TEXT ·pack16(SB), NOSPLIT, $0-32
	PACK(H8, 1)

// func unpack32(dst *[1024]uint32, src *byte, base uint64, width int)
TEXT ·unpack32(SB), NOSPLIT, $0-32
	UNPACK(S4, 2)

// func pack32(dst *byte, src *[1024]uint32, base uint64, width int)
TEXT ·pack32(SB), NOSPLIT, $0-32
	PACK(S4, 2)

// func unpack64(dst *[1024]uint64, src *byte, base uint64, width int)
TEXT ·unpack64(SB), NOSPLIT, $0-32
	UNPACK(D2, 3)

// func pack64(dst *byte, src *[1024]uint64, base uint64, width int)
TEXT ·pack64(SB), NOSPLIT, $0-32
	PACK(D2, 3)
