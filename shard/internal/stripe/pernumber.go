package stripe

import "github.com/amudai/amudai-go/internal/format/schema"

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
