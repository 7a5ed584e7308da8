package fastlanes

const errWidth = "fastlanes: width out of range"

// Pack writes the low w bits of each src[i]-base to dst[:PackedLen(w)]. It panics if dst is shorter or w is not in
// 1..bits of W.
func Pack[W Word](dst []byte, src *[ChunkLen]W, base W, w int) {
	dst = dst[:packedLen(base, w)]
	if !packFast(dst, src, base, w) {
		packWords(dst, src, base, w)
	}
}

// Unpack sets dst to the values packed in src[:PackedLen(w)], plus base
// (wrapping). It panics if src is shorter or w is not in 1..bits of W.
func Unpack[W Word](dst *[ChunkLen]W, src []byte, base W, w int) {
	src = src[:packedLen(base, w)]
	if !unpackFast(dst, src, base, w) {
		unpackWords(dst, src, base, w)
	}
}

// packedLen is PackedLen of a width, which it checks.
func packedLen[W Word](_ W, w int) int {
	if w < 1 || w > bitsOf[W]() {
		panic(errWidth)
	}
	return PackedLen(w)
}
