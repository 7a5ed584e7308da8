package merge

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/blockpack/internal/spans"
	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
)

// sum is a hash of all values of a span. Spans of equal sums are taken for equal: one of them is dropped, so that an attacker must not
// be able to make another span of the same sum.
type sum [sha256.Size / 2]byte

// summarize gives the ids and sums of the rows of a batch.
func summarize(batch arrow.RecordBatch) ([]found, error) {
	known, err := newIDs(batch)
	if err != nil {
		return nil, err
	}
	columns, err := sortColumns(batch)
	if err != nil {
		return nil, err
	}
	kinds, _ := column(batch, spans.Kind).(*array.Int64)
	out := make([]found, batch.NumRows())
	var row []byte
	for i := range out {
		row = row[:0]
		for _, c := range columns {
			if c.arr.IsNull(i) {
				continue
			}
			row = append(row, c.name[:]...)
			row = c.append(row, i)
		}
		out[i].id = known.at(i)
		if kinds != nil && kinds.IsValid(i) {
			out[i].kind = kinds.Value(i)
		}
		full := sha256.Sum256(row)
		copy(out[i].sum[:], full[:])
	}
	return out, nil
}

// summed is a column of a batch. All rows of all batches have columns in one order, and those without a value are left out.
type summed struct {
	name   sum // of name and type
	arr    arrow.Array
	append func(dst []byte, i int) []byte
}

func sortColumns(batch arrow.RecordBatch) ([]summed, error) {
	var list []summed
	for k, arr := range batch.Columns() {
		f, err := spans.Of(batch.Schema().Field(k))
		if err != nil {
			return nil, err
		}
		c := summed{arr: arr}
		full := sha256.Sum256(append([]byte(f.Name), byte(f.Type)))
		copy(c.name[:], full[:])
		if c.append, err = appender(arr); err != nil {
			return nil, fault.InColumn(err, f.Name)
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b summed) int { return bytes.Compare(a.name[:], b.name[:]) })
	return list, nil
}

// appender gives a function that appends a value.
func appender(arr arrow.Array) (func(dst []byte, i int) []byte, error) {
	if a, ok := arr.(*array.Boolean); ok {
		return func(dst []byte, i int) []byte {
			if a.Value(i) {
				return append(dst, 1)
			}
			return append(dst, 0)
		}, nil
	}
	if at := arrowutil.Integers(arr); at != nil {
		return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(at(i))) }, nil
	}
	if at := arrowutil.Floats(arr); at != nil {
		return func(dst []byte, i int) []byte { return binary.LittleEndian.AppendUint64(dst, math.Float64bits(at(i))) }, nil
	}
	value, err := byteValues(arr)
	return func(dst []byte, i int) []byte {
		v := value(i)
		return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	}, err
}

// byteValues gives a function for the values of an array of byte strings. Nulls are nil.
func byteValues(arr arrow.Array) (func(i int) []byte, error) {
	value := arrowutil.BytesOf(arr)
	if value == nil {
		return nil, fault.Unsupportedf("an array of type %v", arr.DataType())
	}
	return func(i int) []byte {
		if arr.IsNull(i) {
			return nil
		}
		return value(i)
	}, nil
}
