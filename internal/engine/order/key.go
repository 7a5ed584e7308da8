// Package order sorts the rows of record batches by keys, and finds rows that repeat, in bounded memory: what does not
// fit goes to temporary files.
//
// A row's key is a byte string that compares as the row does ([Encoder]). So one comparison, one hash and one form
// in files serve all types.
package order

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
)

// Key is one of the values that rows are ordered by.
type Key struct {
	Type       arrow.DataType
	Descending bool
	NullsFirst bool // by default nulls are last, also in descending order
}

// null is the mark of a null.
func (k Key) null() byte {
	if k.NullsFirst {
		return nullFirst
	}
	return nullLast
}

// Check returns an error if values of a type have no order: unions, and types made of them.
func Check(dt arrow.DataType) (err error) {
	kinds.Has(dt, func(t arrow.DataType) bool {
		if kinds.Of(t) == kinds.Choice {
			err = fmt.Errorf("values of type %s have no order", t)
		}
		return err != nil
	})
	return err
}

// Keys are the encoded keys of rows, one behind the other.
type Keys struct {
	bytes []byte
	ends  []int // of each key
}

// Len is the number of keys.
func (k *Keys) Len() int { return len(k.ends) }

// Key is the key of a row. It is valid as long as the keys.
func (k *Keys) Key(row int) []byte {
	begin := 0
	if row > 0 {
		begin = k.ends[row-1]
	}
	return k.bytes[begin:k.ends[row]]
}

// add appends a key.
func (k *Keys) add(key []byte) {
	k.bytes = append(k.bytes, key...)
	k.ends = append(k.ends, len(k.bytes))
}

// take returns the keys of some rows, in their order.
func (k *Keys) take(rows []int64) Keys {
	var out Keys
	size := 0
	for _, r := range rows {
		size += len(k.Key(int(r)))
	}
	out.bytes, out.ends = make([]byte, 0, size), make([]int, 0, len(rows))
	for _, r := range rows {
		out.add(k.Key(int(r)))
	}
	return out
}

// array makes an array of the keys of rows.
func (k *Keys) array(mem memory.Allocator, rows []int64) arrow.Array {
	offsets := arrowutil.NewBuffer(mem, 8*(len(rows)+1))
	ends := arrowutil.As[int64](offsets.Bytes())
	ends[0] = 0
	for i, r := range rows {
		ends[i+1] = ends[i] + int64(len(k.Key(int(r))))
	}
	data := arrowutil.NewBuffer(mem, int(ends[len(rows)]))
	for i, r := range rows {
		copy(data.Bytes()[ends[i]:], k.Key(int(r)))
	}
	return arrowutil.Make(arrow.BinaryTypes.LargeBinary, len(rows), []*memory.Buffer{nil, offsets, data}, nil, 0)
}

// size is the number of bytes that the keys take.
func (k *Keys) size() int64 { return int64(cap(k.bytes) + 8*cap(k.ends)) }
