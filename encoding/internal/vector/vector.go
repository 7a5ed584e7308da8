// Package vector is byte strings in memory: [Values], one after the other, and [Table], which copies them by code.
package vector

// Values are N byte strings back to back. With Fixed > 0, value i is the i-th run of Fixed
// bytes of Data, and Offsets is nil. Else it is Data[Offsets[i]:Offsets[i+1]];
// the first offset may be other than 0. Null slots hold any filler, at best
// nothing (or zeros, with Fixed).
type Values struct {
	Data    []byte
	Offsets []int64 // N+1
	Fixed   int     // bytes of every value, 0 if lengths vary
	N       int     // number of values, nulls included
}

// At is value i, a view of Data.
func (v Values) At(i int) []byte {
	if v.Fixed > 0 {
		return v.Data[i*v.Fixed : (i+1)*v.Fixed]
	}
	return v.Data[v.Offsets[i]:v.Offsets[i+1]]
}

// Slice is the values from i up to (not including) j; it shares the memory of v.
func (v Values) Slice(i, j int) Values {
	if v.Fixed > 0 {
		return Values{Data: v.Data[i*v.Fixed : j*v.Fixed], Fixed: v.Fixed, N: j - i}
	}
	return Values{Data: v.Data, Offsets: v.Offsets[i : j+1], N: j - i}
}

// Size is the number of bytes of all values, which need not be in memory.
func (v Values) Size() int64 {
	switch {
	case v.Fixed > 0:
		return int64(v.N) * int64(v.Fixed)
	case v.N == 0:
		return 0
	}
	return v.Offsets[v.N] - v.Offsets[0]
}

// Bytes is all values back to back.
func (v Values) Bytes() []byte {
	if v.Fixed > 0 {
		return v.Data[:v.N*v.Fixed]
	}
	return v.Data[v.Offsets[0]:v.Offsets[v.N]]
}
