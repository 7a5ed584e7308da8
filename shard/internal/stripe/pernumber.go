package stripe

import (
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// PerNumber has something for each type of stored numbers, such as the instances of a generic function: for the signed integers by
// their width, the unsigned ones, and the floats.
type PerNumber[F any] [10]F

// Of is the one for a stored type; ok is false if that is not of numbers.
func (p *PerNumber[F]) Of(t schema.BasicType, signed bool) (f F, ok bool) {
	switch {
	case t.IsInteger() && signed:
		return p[t-schema.Int8], true
	case t.IsInteger():
		return p[4+t-schema.Int8], true
	case t == schema.DateTime:
		return p[7], true
	case t == schema.Float32:
		return p[8], true
	case t == schema.Float64:
		return p[9], true
	}
	return f, false
}

var numberTypes = PerNumber[numeric.Type]{
	numeric.I8, numeric.I16, numeric.I32, numeric.I64, numeric.U8, numeric.U16, numeric.U32, numeric.U64, numeric.F32, numeric.F64,
}

// NumberType is the type of stored numbers; ok is false for other stored types.
func NumberType(t schema.BasicType, signed bool) (_ numeric.Type, ok bool) {
	return numberTypes.Of(t, signed)
}
