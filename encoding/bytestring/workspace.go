package bytestring

import (
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding/flatlz"
	"github.com/amudai/amudai-go/encoding/fsst"
	"github.com/amudai/amudai-go/encoding/lz4"
	"github.com/amudai/amudai-go/encoding/template"
	"github.com/amudai/amudai-go/internal/base/distinct"
)

// workspace is the large memory of an encoder. What it holds never changes what
// is written, so encoders of thousands of columns share a few.
type workspace struct {
	lz4          lz4.Encoder
	flat         flatlz.Encoder
	lzLen        int // what LZ4 or FlatLZ made of the last values
	zstd         map[zstdKey]*zstd.Encoder
	trainer      fsst.Trainer
	distinct     distinct.Set
	templates    template.Encoder
	codes        []uint32
	lengths      []uint32
	valueLengths []uint32
	offsets      []uint64

	// Decimals.
	integers   []int64
	exponents  []int16
	exceptions []uint32
	positions  []uint32
}

var workspaces = sync.Pool{New: func() any { return new(workspace) }}
