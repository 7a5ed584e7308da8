package bytestring

import (
	"github.com/amudai/amudai-go/encoding/internal/fsst"
	"github.com/amudai/amudai-go/encoding/internal/onpair"
	"github.com/amudai/amudai-go/encoding/internal/radixpack"
	"github.com/amudai/amudai-go/encoding/internal/template"
	"github.com/amudai/amudai-go/encoding/internal/vector"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/decompress"
)

// Scratch is the working memory of a decoder, kept between blocks so that
// decoding does not allocate. The zero value is ready. It grows to what the
// largest block needed, and serves one goroutine at a time.
type Scratch struct {
	block       Block
	shared      *nesting // of the block that this one is in, or its own
	own         nesting
	level       int        // 0 for the outermost tree of byte strings
	children    []*Scratch // of nested trees
	used        int        // of children, by the block
	num         numeric.Scratch
	offsets     []uint64
	integers    []int64
	codes       []uint32
	lengths     []uint32
	dictOffsets []int64
	table       vector.Table
	bits        []byte
	data        []byte
	texts       []byte
	templates   template.Set
	marks       []uint64
	patterns    *patterns
	keep        []byte
	part        []byte
	fsst        fsst.Decoder
	layout      radixpack.Layout
	ends        []int32
	skipped     []int32
	radix       radixpack.Decoder
	heads       []byte
	starts      []uint32
	pairs       []uint16
	pairMarks   *onpair.Marks
	pairChunk   [numeric.ChunkLen]uint16
	pairEnds    [numeric.ChunkLen + 1]uint32
	onpair      onpair.Decoder
	zstd        decompress.Zstd
}
