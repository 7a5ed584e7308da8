package chunk

import (
	"bytes"
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/simd"
)

// nextText is where the byte string behind the one at a place begins, among plain ones:
//
//	u32 length | bytes | u32 length | …
//	^ at                 ^ next
func nextText(data []byte, at int) (next int, ok bool) {
	if at > len(data)-4 {
		return 0, false
	}
	size := binary.LittleEndian.Uint32(data[at:])
	return at + 4 + int(size), uint64(size) <= uint64(len(data)-at-4)
}

func skipTexts(data []byte, at, n int) (next int, err error) {
	for range n {
		var ok bool
		if at, ok = nextText(data, at); !ok {
			return 0, errValues
		}
	}
	return at, nil
}

// textEnds puts the places where byte strings end into ends, as if they followed one another from a place on, for the plain ones at a place
// of data. Beyond 2 GiB they overflow; size does not.
func textEnds(ends []int32, from int64, data []byte, at int) (size int64, next int, err error) {
	shift := from - int64(at)
	for i := range ends {
		var ok bool
		if at, ok = nextText(data, at); !ok {
			return 0, 0, errValues
		}
		shift -= 4
		ends[i] = int32(int64(at) + shift)
	}
	return int64(at) + shift, at, nil
}

// copyPlain copies plain byte strings of data to where they end. Padding follows both.
func copyPlain(out []byte, to int, ends []int32, data []byte, at int) {
	data = data[:len(data)+padding]
	for _, end := range ends {
		at += 4
		copyText(out, to, int(end), data, at)
		at += int(end) - to
		to = int(end)
	}
}

// copyText copies a byte string, and what is behind a short one, so that the compiler needs no call.
func copyText(out []byte, to, end int, from []byte, at int) {
	if end-to > padding {
		copy(out[to:end], from[at:])
		return
	}
	simd.Copy32(unsafe.Pointer((*[padding]byte)(out[to:])), unsafe.Pointer((*[padding]byte)(from[at:])))
}

// textEnds is textEnds for entries of the dictionary. ok is false if a code is beyond it.
func (d *dictionary) textEnds(ends []int32, size int64, codes []uint32) (_ int64, ok bool) {
	for i, c := range codes {
		if uint64(c) >= uint64(d.n) {
			return 0, false
		}
		size += int64(d.ends[c+1] - d.ends[c])
		ends[i] = int32(size)
	}
	return size, true
}

// copy copies entries of the dictionary to where they end. Padding follows them.
func (d *dictionary) copy(out []byte, to int, ends []int32, codes []uint32) {
	data := d.data[:len(d.data)+padding]
	for i, c := range codes {
		end := int(ends[i])
		copyText(out, to, end, data, int(d.ends[c]))
		to = end
	}
}

// addTexts adds the byte strings of n rows, of which some are null.
func (o *output) addTexts(cur *cursor, n, values int) (err error) {
	places := arrowutil.As[int32](o.ends.Bytes())[o.n : o.n+1+n]
	ends := places[1:]
	size, next, ok := int64(o.size), cur.at, true
	var codes []uint32
	if cur.coded {
		if codes, err = o.dictionaryCodes(cur, values); err != nil {
			return err
		}
		if size, ok = o.dict.textEnds(ends, size, codes); !ok {
			return errCode
		}
	} else if size, next, err = textEnds(ends[:values], size, cur.data, cur.at); err != nil {
		return err
	}
	if size > math.MaxInt32-padding || size > o.limit && o.rows > 1 {
		return fault.ErrBatchTooLarge
	}
	o.reserve(int(size), n)
	out := o.values.Buf()[:size+padding]
	if cur.coded {
		o.dict.copy(out, o.size, ends[:values], codes)
	} else {
		copyPlain(out, o.size, ends[:values], cur.data, cur.at)
		if o.s.Storage.ID() == arrow.STRING && !arrowutil.ValidUTF8(out[:size], places[:values+1]) {
			return errText
		}
	}
	if values < n {
		spreadEnds(ends, o.valid.Bytes(), o.n, values, int32(o.size))
	}
	o.size, cur.at = int(size), next
	return nil
}

// fold gives the byte strings that were just added their numbers, from first on. One that repeats the one before is dropped, and has its number.
func (o *output) fold(codes []uint32, first uint32) {
	ends, data := arrowutil.As[int32](o.ends.Bytes()), o.values.Buf()
	n, size, begin := o.n, ends[o.n], ends[o.n]
	for i := range codes {
		end := ends[o.n+i+1]
		if text := data[begin:end]; n == 0 || !bytes.Equal(text, data[ends[n-1]:size]) {
			if size < begin {
				copy(data[size:], text)
			}
			n++
			size += end - begin
			ends[n] = size
		}
		codes[i] = first + uint32(n-1)
		begin = end
	}
	o.n, o.size = n, int(size)
	o.values.ResizeNoShrink(o.size)
}

// spreadEnds moves the ends of values at the beginning of ends to the rows that have one. Nulls end where the row before does, the first
// ones at first.
func spreadEnds(ends []int32, valid []byte, at, values int, first int32) {
	for i, k := len(ends)-1, values-1; i > k; i-- {
		end := first
		if k >= 0 {
			end = ends[k]
		}
		if b := at + i; valid[b>>3]>>(b&7)&1 != 0 {
			k--
		}
		ends[i] = end
	}
}

// reserve makes room for size bytes with padding, and by these for those of the rows that follow.
func (o *output) reserve(size, n int) {
	if have := o.values.Cap(); size+padding > have {
		guess := int64(size) + int64(size-o.size)*int64(o.rows-o.n-n)/int64(max(n, 1))
		o.values.Reserve(int(min(max(guess, int64(size)), int64(2*size)+1<<20)) + padding)
	}
	o.values.ResizeNoShrink(size)
}
