package aggregate

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/column"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/keys"
	"github.com/amudai/amudai-go/internal/engine/aggregate/internal/sketch"
	"github.com/amudai/amudai-go/internal/engine/order"
)

// sketches estimate the number of distinct values of each group.
type sketches struct {
	perGroup[sketch.Distinct]
	encoder *order.Encoder
	code    []byte
	bytes   int64

	dictionary arrow.ArrayData // the last one
	entries    []uint64        // hashes of its values
}

func newSketches(dt arrow.DataType) (*sketches, error) {
	e, err := order.NewEncoder([]order.Key{{Type: kinds.Unwrapped(dt)}})
	return &sketches{encoder: e}, err
}

func (s *sketches) size() int64 { return s.bytes + s.perGroup.size() }

func (s *sketches) add(groups []uint32, arg *argument) error {
	if d, ok := column.Coded(arg.arr); ok {
		if arg.column.Array == nil || d.Dictionary().Len() < d.Len() {
			return s.addCoded(groups, d)
		}
	}
	if v, ok := arg.column.Ordinals(); ok && column.HasOrdinals(arg.column.Array.DataType()) {
		for i, g := range groups {
			if g != keys.None {
				s.bytes += s.n[g].Add(keys.Mix(keys.Mix(uint64(v[i]))))
			}
		}
		return nil
	}
	row := s.encoder.Rows(arg.column.Array)
	for i, g := range groups {
		if g != keys.None {
			s.code = row(s.code[:0], i)
			s.bytes += s.n[g].Add(xxh3.Hash(s.code))
		}
	}
	return nil
}

// addCoded hashes each value of a dictionary once.
func (s *sketches) addCoded(groups []uint32, arr *array.Dictionary) error {
	values := arr.Dictionary()
	if s.dictionary != values.Data() {
		s.dictionary, s.entries = values.Data(), s.entries[:0]
		row := s.encoder.Rows(values)
		for i := range values.Len() {
			s.code = row(s.code[:0], i)
			s.entries = append(s.entries, xxh3.Hash(s.code))
		}
	}
	for i, g := range groups {
		if g == keys.None {
			continue
		}
		if k := arr.GetValueIndex(i); k >= 0 && k < len(s.entries) {
			s.bytes += s.n[g].Add(s.entries[k])
		}
	}
	return nil
}

// digests estimate quantiles of each group.
type digests struct {
	perGroup[sketch.Digest]
	bytes int64
}

func (d *digests) size() int64 { return d.bytes + d.perGroup.size() }

func (d *digests) add(groups []uint32, arg *argument) error {
	for i, x := range arg.column.Reals() {
		g := groups[i]
		if g != keys.None && x == x {
			d.bytes += d.n[g].Add(x)
		}
	}
	return nil
}
