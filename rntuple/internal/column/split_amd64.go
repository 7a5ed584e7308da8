//go:build !purego

package column

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../../tools ./splitasm -out ../rntuple/internal/column/split_amd64.s -pkg column

// The kernels take blocks of 32 elements. page is where the first plane has the first of them, and stride the distance
// to the next plane.

//go:noescape
func unsplit2AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func unsplit4AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func unsplit8AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func unsplitZigzag2AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func unsplitZigzag4AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func unsplitZigzag8AVX2(dst, page *byte, stride, blocks int)

//go:noescape
func split2AVX2(page, src *byte, stride, blocks int)

//go:noescape
func split4AVX2(page, src *byte, stride, blocks int)

//go:noescape
func split8AVX2(page, src *byte, stride, blocks int)

// avx2 selects the kernels in assembly.
var avx2 = cpu.X86.HasAVX2

const kernelBlock = 32

// unsplitFast does what unsplit does for as many elements as it tells, and undoes zigzag encoding of these.
func unsplitFast(out, page []byte, n, from, width int, zigzag bool) (done int) {
	blocks := len(out) / width / kernelBlock
	if !avx2 || blocks == 0 {
		return 0
	}
	done = blocks * kernelBlock
	dst, src := &out[:done*width][0], &page[from : (width-1)*n+from+done][0]
	switch {
	case width == 2 && zigzag:
		unsplitZigzag2AVX2(dst, src, n, blocks)
	case width == 2:
		unsplit2AVX2(dst, src, n, blocks)
	case width == 4 && zigzag:
		unsplitZigzag4AVX2(dst, src, n, blocks)
	case width == 4:
		unsplit4AVX2(dst, src, n, blocks)
	case zigzag:
		unsplitZigzag8AVX2(dst, src, n, blocks)
	default:
		unsplit8AVX2(dst, src, n, blocks)
	}
	return done
}

// splitFast does what split does for as many elements as it tells.
func splitFast(page, in []byte, n, from, width int) (done int) {
	blocks := len(in) / width / kernelBlock
	if !avx2 || blocks == 0 {
		return 0
	}
	done = blocks * kernelBlock
	dst, src := &page[from : (width-1)*n+from+done][0], &in[:done*width][0]
	switch width {
	case 2:
		split2AVX2(dst, src, n, blocks)
	case 4:
		split4AVX2(dst, src, n, blocks)
	default:
		split8AVX2(dst, src, n, blocks)
	}
	return done
}
