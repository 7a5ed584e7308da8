package arrowutil

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/base/bitmap"
)

// Take makes an array of arr's values at the given indices; -1 makes a null.
// Indices must be below arr.Len(). The result has arr's type; the caller
// releases it.
func Take(mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	if ext, ok := arr.(array.ExtensionArray); ok {
		storage, err := Take(mem, ext.Storage(), indices)
		if err != nil {
			return nil, err
		}
		defer storage.Release()
		return array.NewExtensionArrayWithStorage(ext.ExtensionType(), storage), nil
	}
	d, n := arr.Data(), len(indices)
	switch l := kinds.LayoutOf(d.DataType()); l.Form {
	case kinds.Nothing:
		return array.NewNull(n), nil
	case kinds.Fixed:
		valid, nulls := takeValidity(mem, arr, indices)
		values := takeBits
		if l.Width != 1 {
			values = func(mem memory.Allocator, d arrow.ArrayData, indices []int64) *memory.Buffer {
				return takeFixed(mem, d, 1, l.Width/8, indices)
			}
		}
		return Make(d.DataType(), n, []*memory.Buffer{valid, values(mem, d, indices)}, nil, nulls), nil
	case kinds.Bytes:
		if l.Width == 4 {
			return takeBytes[int32](mem, arr, indices)
		}
		return takeBytes[int64](mem, arr, indices)
	case kinds.Rows:
		if l.Width == 4 {
			return takeList[int32](mem, arr, indices)
		}
		return takeList[int64](mem, arr, indices)
	case kinds.Views, kinds.RowViews, kinds.Codes:
		return takeReferences(mem, arr, l, indices), nil
	case kinds.Runs:
		return takeRuns(mem, arr.(*array.RunEndEncoded), indices)
	case kinds.Parallel:
		return takeParallel(mem, arr, l, indices)
	case kinds.Addressed:
		return takeAddressed(mem, arr.(array.Union), indices)
	}
	return nil, fmt.Errorf("rows of an array of type %s cannot be selected", d.DataType())
}

// takeValidity is the taken bitmap, nil without nulls, and the number of nulls.
func takeValidity(mem memory.Allocator, arr arrow.Array, indices []int64) (*memory.Buffer, int) {
	from := Validity(arr)
	if from.Data == nil && (len(indices) == 0 || slices.Min(indices) >= 0) {
		return nil, 0
	}
	b := NewZeroBuffer(mem, (len(indices)+7)/8)
	bits, nulls := b.Bytes(), 0
	for i, k := range indices {
		if k >= 0 && from.At(int(k)) {
			bits[i>>3] |= 1 << (i & 7)
		} else {
			nulls++
		}
	}
	if nulls == 0 {
		b.Release()
		return nil, 0
	}
	return b, nulls
}

func takeBits(mem memory.Allocator, d arrow.ArrayData, indices []int64) *memory.Buffer {
	b := NewZeroBuffer(mem, (len(indices)+7)/8)
	if d.Len() == 0 {
		return b
	}
	from := bitmap.Bits{Data: d.Buffers()[1].Bytes(), Off: d.Offset(), Len: d.Len()}
	for i, k := range indices {
		if k >= 0 && from.At(int(k)) {
			b.Bytes()[i>>3] |= 1 << (i & 7)
		}
	}
	return b
}

// takeFixed takes the values of buffer i, each of width bytes. Nulls become zeros.
func takeFixed(mem memory.Allocator, d arrow.ArrayData, i, width int, indices []int64) *memory.Buffer {
	b := NewZeroBuffer(mem, len(indices)*width)
	if d.Len() == 0 || width == 0 {
		return b
	}
	from, to := d.Buffers()[i].Bytes()[d.Offset()*width:], b.Bytes()
	switch width { // reads of values anywhere in memory wait for it together, those of a call to copy one after the other
	case 1:
		takeValues[uint8](from, to, indices)
	case 2:
		takeValues[uint16](from, to, indices)
	case 4:
		takeValues[uint32](from, to, indices)
	case 8:
		takeValues[uint64](from, to, indices)
	case 16:
		takeValues[[2]uint64](from, to, indices)
	default:
		for i, k := range indices {
			if k >= 0 {
				copy(to[i*width:(i+1)*width], from[int(k)*width:])
			}
		}
	}
	return b
}

func takeValues[T any](from, to []byte, indices []int64) {
	src, dst := As[T](from), As[T](to)
	for i, k := range indices {
		if k >= 0 {
			dst[i] = src[k]
		}
	}
}

func takeBytes[O int32 | int64](mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	n := len(indices)
	valid, nulls := takeValidity(mem, arr, indices)
	offsets := NewBuffer(mem, sizeOf[O]()*(n+1))
	from, to := Offsets[O](arr), As[O](offsets.Bytes())
	total := int64(0)
	to[0] = 0
	for i, k := range indices {
		if k >= 0 {
			total += int64(from[k+1] - from[k])
		}
		to[i+1] = O(total)
		if int64(to[i+1]) != total {
			offsets.Release()
			if valid != nil {
				valid.Release()
			}
			return nil, errTooLong(arr)
		}
	}
	data := NewBuffer(mem, int(total))
	if total > 0 {
		takeTexts(data.Bytes(), to, arr.Data().Buffers()[2].Bytes(), from, indices)
	}
	return Make(arr.DataType(), n, []*memory.Buffer{valid, offsets, data}, nil, nulls), nil
}

// takeTexts copies byte strings. Short ones are copied with bytes behind them, over which the next ones are written: reads of a call to copy would wait for
// memory one after the other.
func takeTexts[O int32 | int64](dst []byte, to []O, src []byte, from []O, indices []int64) {
	const short = 32
	for i, k := range indices {
		if k < 0 {
			continue
		}
		begin, n, at := int(from[k]), int(from[k+1]-from[k]), int(to[i])
		if n <= short && begin+short <= len(src) && at+short <= len(dst) {
			*(*[short]byte)(dst[at:]) = *(*[short]byte)(src[begin:])
			continue
		}
		copy(dst[at:at+n], src[begin:])
	}
}

func takeList[O int32 | int64](mem memory.Allocator, arr arrow.Array, indices []int64) (arrow.Array, error) {
	n := len(indices)
	from := Offsets[O](arr)
	offsets := NewBuffer(mem, sizeOf[O]()*(n+1))
	to := As[O](offsets.Bytes())
	to[0] = 0
	var inner []int64
	for i, k := range indices {
		if k >= 0 {
			for j := from[k]; j < from[k+1]; j++ {
				inner = append(inner, int64(j))
			}
		}
		to[i+1] = O(len(inner))
		if int(to[i+1]) != len(inner) {
			offsets.Release()
			return nil, errTooLong(arr)
		}
	}
	child, err := Take(mem, arr.(array.ListLike).ListValues(), inner)
	if err != nil {
		offsets.Release()
		return nil, err
	}
	defer child.Release()
	child.Data().Retain()
	valid, nulls := takeValidity(mem, arr, indices)
	return Make(arr.DataType(), n, []*memory.Buffer{valid, offsets}, []arrow.ArrayData{child.Data()}, nulls), nil
}

// takeParallel takes rows of which each is as many rows of each child.
func takeParallel(mem memory.Allocator, arr arrow.Array, l kinds.Layout, indices []int64) (arrow.Array, error) {
	d, each := arr.Data(), int64(l.Each)
	rows := indices
	if each != 1 {
		rows = make([]int64, 0, len(indices)*l.Each)
		for _, k := range indices {
			for j := range each {
				row := k*each + j
				if k < 0 {
					row = -1
				}
				rows = append(rows, row)
			}
		}
	}
	children, err := takeChildren(d, func(i int, child arrow.Array) (arrow.Array, error) {
		part := array.NewSlice(child, int64(d.Offset())*each, int64(d.Offset()+d.Len())*each)
		defer part.Release()
		return Take(mem, part, rows)
	})
	if err != nil {
		return nil, err
	}
	if u, ok := arr.(array.Union); ok {
		return Make(arr.DataType(), len(indices), []*memory.Buffer{nil, takeTypeCodes(mem, u, indices)}, children, 0), nil
	}
	valid, nulls := takeValidity(mem, arr, indices)
	return Make(arr.DataType(), len(indices), []*memory.Buffer{valid}, children, nulls), nil
}

// arrayOf is MakeFromData, which writes to the data of an array of type null, although other goroutines may use them.
func arrayOf(d arrow.ArrayData) arrow.Array {
	if d.DataType().ID() == arrow.NULL {
		return array.NewNull(d.Len())
	}
	return array.MakeFromData(d)
}

// takeChildren takes rows of the children of an array.
func takeChildren(d arrow.ArrayData, take func(i int, child arrow.Array) (arrow.Array, error)) ([]arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, 0, len(d.Children()))
	for i, c := range d.Children() {
		child := arrayOf(c)
		taken, err := take(i, child)
		child.Release()
		if err != nil {
			for _, c := range children {
				c.Release()
			}
			return nil, err
		}
		taken.Data().Retain()
		children = append(children, taken.Data())
		taken.Release()
	}
	return children, nil
}

// takeTypeCodes takes the codes of a union. A null is one of the first alternative.
func takeTypeCodes(mem memory.Allocator, arr array.Union, indices []int64) *memory.Buffer {
	codes := takeFixed(mem, arr.Data(), 1, 1, indices)
	if all := arr.UnionType().TypeCodes(); len(all) > 0 {
		for i, k := range indices {
			if k < 0 {
				codes.Bytes()[i] = byte(all[0])
			}
		}
	}
	return codes
}

// takeAddressed takes rows of a dense union, of each alternative those that are left.
func takeAddressed(mem memory.Allocator, arr array.Union, indices []int64) (arrow.Array, error) {
	d, ids := arr.Data(), arr.UnionType().ChildIDs()
	codes := takeTypeCodes(mem, arr, indices)
	offsets := takeFixed(mem, d, 2, 4, indices)
	rows := make([][]int64, len(d.Children()))
	for i, at := range As[int32](offsets.Bytes()) {
		id, row := ids[codes.Bytes()[i]], int64(at)
		if indices[i] < 0 {
			row = -1
		}
		if id >= 0 { // not of a union without alternatives
			As[int32](offsets.Bytes())[i] = int32(len(rows[id]))
			rows[id] = append(rows[id], row)
		}
	}
	children, err := takeChildren(d, func(i int, child arrow.Array) (arrow.Array, error) { return Take(mem, child, rows[i]) })
	if err != nil {
		codes.Release()
		offsets.Release()
		return nil, err
	}
	return Make(arr.DataType(), len(indices), []*memory.Buffer{nil, codes, offsets}, children, 0), nil
}

// takeReferences takes rows of an array of views or of a dictionary. The result shares what these refer to.
func takeReferences(mem memory.Allocator, arr arrow.Array, l kinds.Layout, indices []int64) arrow.Array {
	d := arr.Data()
	valid, nulls := takeValidity(mem, arr, indices)
	buffers := append([]*memory.Buffer{valid, takeFixed(mem, d, 1, l.Width, indices)}, d.Buffers()[2:]...)
	own := buffers[:2]
	if l.Form == kinds.RowViews {
		buffers[2] = takeFixed(mem, d, 2, l.Width, indices)
		own = buffers
	}
	out := array.NewData(d.DataType(), len(indices), buffers, d.Children(), nulls, 0)
	defer out.Release()
	if dictionary, ok := d.Dictionary().(*array.Data); ok && dictionary != nil {
		out.SetDictionary(dictionary)
	}
	for _, b := range own {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(out)
}

// MakeCodes makes a dictionary array, and takes ownership of the references to its buffers.
func MakeCodes(dt arrow.DataType, n int, valid, codes *memory.Buffer, nulls int, dictionary arrow.ArrayData) arrow.Array {
	out := array.NewDataWithDictionary(dt, n, []*memory.Buffer{valid, codes}, nulls, 0, dictionary.(*array.Data))
	defer out.Release()
	codes.Release()
	if valid != nil {
		valid.Release()
	}
	return array.MakeFromData(out)
}

// takeRuns takes rows of a run-end encoded array. Consecutive rows of one run stay a run.
// Values are not compared, so that NaNs stay distinct.
func takeRuns(mem memory.Allocator, arr *array.RunEndEncoded, indices []int64) (arrow.Array, error) {
	dt := arr.DataType().(*arrow.RunEndEncodedType)
	if int64(len(indices)) > indexLimit(dt.RunEnds()) {
		return nil, errTooLong(arr)
	}
	var runs, ends []int64
	for i, k := range indices {
		run := int64(-1)
		if k >= 0 {
			run = int64(arr.GetPhysicalIndex(int(k)))
		}
		if n := len(runs); n > 0 && runs[n-1] == run {
			ends[n-1] = int64(i + 1)
			continue
		}
		runs, ends = append(runs, run), append(ends, int64(i+1))
	}
	values, err := Take(mem, arr.Values(), runs)
	if err != nil {
		return nil, err
	}
	return makeRuns(mem, dt, len(indices), ends, values), nil
}

// makeRuns makes a run-end encoded array of n rows; it takes ownership of the reference to
// values.
func makeRuns(mem memory.Allocator, dt *arrow.RunEndEncodedType, n int, ends []int64, values arrow.Array) arrow.Array {
	defer values.Release()
	width := dt.RunEnds().(arrow.FixedWidthDataType).Bytes()
	b := NewBuffer(mem, len(ends)*width)
	for i, end := range ends {
		PutInt(b.Bytes()[i*width:], width, end)
	}
	endsArr := Make(dt.RunEnds(), len(ends), []*memory.Buffer{nil, b}, nil, 0)
	defer endsArr.Release()
	endsArr.Data().Retain()
	values.Data().Retain()
	return Make(dt, n, []*memory.Buffer{nil}, []arrow.ArrayData{endsArr.Data(), values.Data()}, 0)
}

func errTooLong(arr arrow.Array) error {
	return &TooLongError{Type: arr.DataType()}
}

// TooLongError is the error for values that exceed the 32-bit offsets of a type.
type TooLongError struct{ Type arrow.DataType }

func (e *TooLongError) Error() string {
	return "more than 2 GiB of values in an array of type " + e.Type.String()
}

// TakeRows copies rows of a batch.
func TakeRows(mem memory.Allocator, b arrow.RecordBatch, rows []int64) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, b.NumCols())
	defer ReleaseAll(columns)
	for i, c := range b.Columns() {
		var err error
		if columns[i], err = Take(mem, c, rows); err != nil {
			return nil, err
		}
	}
	return array.NewRecordBatch(b.Schema(), columns, int64(len(rows))), nil
}
