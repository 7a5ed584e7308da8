package layout

import "github.com/amudai/amudai-go/blockpack/internal/column"

// Value is a value of a base type: a key, or a bound.
type Value struct {
	Type column.Type
	Bits uint64 // Int64, Uint64, Float64 (IEEE bits), Bool (0, 1)
	Data []byte // String, Bytes
}
