package write

import (
	"fmt"
	"math"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/rntuple/internal/column"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

// Options are those of [New]. All sizes must be set.
type Options struct {
	Name, Description string
	Program           string // that writes
	Compression       compress.Settings
	PageBytes         int   // of an unpacked page
	ClusterBytes      int64 // packed
	ClusterRows       int64 // 0: ClusterBytes decides
	NoChecksums       bool  // of pages
	NoSharedPages     bool
	NoNulls           bool // nullable fields are written as those that are not
	MaxKeySize        uint64
	Encodings         map[string]Encoding // of fields of numbers, by their paths
	Projections       []Projection
	StreamerInfo      string // a TList of the classes of fields that ROOT's streamers made
	Parallelism       int
	Budget            *storage.Budget
	TempDir           string

	streamed bool // there are such fields

	entries int64 // in front of the fields that are added
	used    map[string]bool
}

// Encoding is how a column stores numbers.
type Encoding struct {
	Type     column.Type
	Bits     uint16  // of Real32Trunc and Real32Quant
	Min, Max float64 // of Real32Quant
}

// checkRange tells whether the limits of a range are numbers of the field's type, and neither infinite nor tiny.
func (e Encoding) checkRange(k column.Kind) error {
	if e.Type != column.Real32Quant {
		return nil
	}
	for _, v := range []float64{e.Min, e.Max} {
		least := 0x1p-1022
		if k == column.KindFloat32 {
			least = 0x1p-126
			if v != float64(float32(v)) {
				return fault.Unsupportedf("a range that ends at %v, which is no float", v)
			}
		}
		if v != 0 && math.Abs(v) < least || math.IsInf(v, 0) || v != v {
			return fault.Unsupportedf("a range that ends at %v", v)
		}
	}
	return nil
}

// Projection is a field that shows another one.
type Projection struct{ Name, Source string }

// encoding is the usual one of numbers: bytes of equal place lie together if they are to be packed.
func (o *Options) encoding(k column.Kind) Encoding {
	return Encoding{Type: column.TypeOf(k, o.Compression.Algorithm() != compress.None)}
}

// checkUsed tells whether all encodings belong to fields.
func (o *Options) checkUsed() error {
	for path := range o.Encodings {
		if !o.used[path] {
			return fmt.Errorf("an encoding is given for %q, which is no field of numbers", path)
		}
	}
	return nil
}
