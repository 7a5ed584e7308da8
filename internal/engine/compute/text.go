package compute

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/values"
)

// hasBytes reports whether values of a plain type are byte strings.
func hasBytes(dt arrow.DataType) bool {
	switch dt.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY, arrow.FIXED_SIZE_BINARY:
		return true
	}
	return false
}

// textArgument checks that an argument is a string.
func (b *binder) textArgument(n *ast.Node, x *expr) (*expr, error) {
	x, err := b.natural(x)
	if err != nil {
		return nil, err
	}
	if isNull(x.dt) {
		return b.typed(&expr{node: x.node, lit: &ast.Node{Op: ast.OpLiteral}}, utf8s)
	}
	if !isText(x.dt) {
		return nil, fail(x.node, "%s is of type %s, and %s takes strings", ast.Shorten(x.node.String()), text.Type(x.dt), n.Name)
	}
	return x, nil
}

// maxText is the most bytes of the strings of a batch.
const maxText = math.MaxInt32

// texts evaluates a function that appends a string to dst for each row that is not null in any argument.
func texts(n *ast.Node, args []*expr, begin func(arrays []arrow.Array) func(dst []byte, row int) []byte) *expr {
	return function(n, utf8s, args, func(e *env) (arrow.Array, error) {
		arrays := make([]arrow.Array, len(args))
		for i, a := range args {
			var err error
			if arrays[i], err = e.full(a); err != nil {
				return nil, err
			}
			defer arrays[i].Release()
		}
		valid, nulls := e.valid(arrays...)
		offsets := arrowutil.NewBuffer(e.mem, 4*(e.rows+1))
		off := arrowutil.As[int32](offsets.Bytes())
		off[0] = 0
		var data []byte
		one := begin(arrays)
		for i := range e.rows {
			if valid == nil || valid.Bytes()[i>>3]>>(i&7)&1 != 0 {
				data = one(data, i)
			}
			if len(data) > maxText {
				offsets.Release()
				if valid != nil {
					valid.Release()
				}
				return nil, fail(n, "the strings of %s are longer than 2 GiB in a batch of %d rows", ast.Shorten(n.String()), e.rows)
			}
			off[i+1] = int32(len(data))
		}
		return arrowutil.Make(utf8s, e.rows, []*memory.Buffer{valid, offsets, memory.NewBufferBytes(data)}, nil, nulls), nil
	})
}

// changeCase binds lower and upper: each character by Unicode's simple mapping.
func (b *binder) changeCase(n *ast.Node, x *expr) (*expr, error) {
	x, err := b.textArgument(n, x)
	if err != nil {
		return nil, err
	}
	change := bytes.ToLower
	if n.Name == "upper" {
		change = bytes.ToUpper
	}
	return texts(n, []*expr{x}, func(arrays []arrow.Array) func([]byte, int) []byte {
		at := arrowutil.BytesOf(arrays[0])
		return func(dst []byte, row int) []byte { return append(dst, change(at(row))...) }
	}), nil
}

// length binds the number of characters of a string, bytes of a byte string, and elements of a list.
func (b *binder) length(n *ast.Node, x *expr) (*expr, error) {
	x, err := b.natural(x)
	if err != nil {
		return nil, err
	}
	switch {
	case isText(x.dt):
		return counted(n, x, func(arr arrow.Array) func(i int) int64 {
			at := arrowutil.BytesOf(arr)
			return func(i int) int64 { return int64(utf8.RuneCount(at(i))) }
		}), nil
	case hasBytes(x.dt):
		return counted(n, x, func(arr arrow.Array) func(i int) int64 {
			at := arrowutil.BytesOf(arr)
			return func(i int) int64 { return int64(len(at(i))) }
		}), nil
	case isList(x.dt):
		return counted(n, x, func(arr arrow.Array) func(i int) int64 {
			l := arr.(array.ListLike)
			return func(i int) int64 { lo, hi := l.ValueOffsets(i); return hi - lo }
		}), nil
	}
	return nil, fail(x.node, "%s is of type %s, and %s takes strings and lists", ast.Shorten(x.node.String()), text.Type(x.dt), n.Name)
}

// counted is a function with an integer for each row that is not null.
func counted(n *ast.Node, x *expr, begin func(arr arrow.Array) func(i int) int64) *expr {
	return function(n, int64s, []*expr{x}, func(e *env) (arrow.Array, error) {
		xs, err := e.array(x)
		if err != nil {
			return nil, err
		}
		defer xs.Release()
		out := arrowutil.NewZeroBuffer(e.mem, 8*e.rows)
		dst, one := arrowutil.As[int64](out.Bytes()), begin(xs)
		valid, nulls := e.valid(xs)
		for i := range dst {
			if xs.IsValid(i) {
				dst[i] = one(i)
			}
		}
		return arrowutil.Make(int64s, e.rows, []*memory.Buffer{valid, out}, nil, nulls), nil
	})
}

// substr binds the part of a string from a position on, which counts from 1, or with a negative one from the end.
func (b *binder) substr(n *ast.Node, args []*expr) (*expr, error) {
	x, err := b.textArgument(n, args[0])
	if err != nil {
		return nil, err
	}
	args[0] = x
	for i, a := range args[1:] {
		if a, err = b.number(n, a, int64s); err == nil && !isInteger(a.dt) {
			err = fail(a.node, "%s is of type %s, and positions are integers", ast.Shorten(a.node.String()), text.Type(a.dt))
		}
		if err == nil {
			a, err = b.cast(a.node, a, int64s)
		}
		if err != nil {
			return nil, err
		}
		args[1+i] = a
	}
	return texts(n, args, func(arrays []arrow.Array) func([]byte, int) []byte {
		at, from := arrowutil.BytesOf(arrays[0]), arrowutil.Values[int64](arrays[1])
		var length []int64
		if len(arrays) > 2 {
			length = arrowutil.Values[int64](arrays[2])
		}
		return func(dst []byte, row int) []byte {
			s, most := at(row), int64(math.MaxInt32)
			if length != nil {
				most = length[row]
			}
			return append(dst, part(s, from[row], most)...)
		}
	}), nil
}

// part is some characters of a string from a position on, those before it if there are fewer than none.
func part(s []byte, from, length int64) []byte {
	size := int64(utf8.RuneCount(s))
	from, length = max(min(from, math.MaxInt32), -math.MaxInt32), max(min(length, math.MaxInt32), -math.MaxInt32)
	switch {
	case from > 0:
		from--
	case from < 0:
		from += size
	default:
		from = -1
	}
	to := from + length
	if length < 0 {
		from, to = to, from
	}
	from, to = min(max(from, 0), size), min(max(to, 0), size)
	if size == int64(len(s)) {
		return s[from:max(from, to)]
	}
	begin := 0
	for range from {
		_, n := utf8.DecodeRune(s[begin:])
		begin += n
	}
	end := begin
	for range max(to-from, 0) {
		_, n := utf8.DecodeRune(s[end:])
		end += n
	}
	return s[begin:end]
}

// concat binds the concatenation of the texts of values. Nulls are left out.
func (b *binder) concat(n *ast.Node, args []*expr) (*expr, error) {
	for i, a := range args {
		a, err := b.natural(a)
		if err != nil {
			return nil, err
		}
		if !castable(a.dt) && !isNull(a.dt) {
			return nil, fail(a.node, "%s is of type %s, and concat takes values that are written as text", ast.Shorten(a.node.String()), text.Type(a.dt))
		}
		args[i] = a
	}
	whole := function(n, utf8s, args, nil)
	whole.strict = false
	whole.eval = func(e *env) (arrow.Array, error) {
		arrays := make([]arrow.Array, len(args))
		write := make([]values.Appender, len(args))
		for i, a := range args {
			var err error
			if arrays[i], err = e.full(a); err != nil {
				return nil, err
			}
			defer arrays[i].Release()
			if !isNull(a.dt) {
				write[i] = values.Text(arrays[i])
			}
		}
		joined := texts(n, nil, func([]arrow.Array) func([]byte, int) []byte {
			return func(dst []byte, row int) []byte {
				for i, arr := range arrays {
					if write[i] != nil && arr.IsValid(row) {
						dst = write[i](dst, row)
					}
				}
				return dst
			}
		})
		return joined.eval(e)
	}
	return whole, nil
}
