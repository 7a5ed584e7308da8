package fastlanes

// Pack writes src[i]-base, cut to its low w bits, to dst[:PackedLen(w)]. It
// panics if dst is shorter or w is not in 1..bits of W.
func Pack[W Word](dst []byte, src *[ChunkLen]W, base W, w int) { packSimple(dst, src, base, w) }

// Unpack sets dst to the values packed in src[:PackedLen(w)], plus base
// (wrapping). It panics if src is shorter or w is not in 1..bits of W.
func Unpack[W Word](dst *[ChunkLen]W, src []byte, base W, w int) { unpackSimple(dst, src, base, w) }
