package compute

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/predicate"
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
func textArgument(n *ast.Node, x *expr.Expr) *expr.Expr {
	x = natural(x)
	if isNull(x.Type) && x.Err == nil {
		return typed(null(x.Node), utf8s)
	}
	if !kinds.IsText(x.Type) {
		return x.Refuse("%s is of type %s, and %s takes strings", x.Name(), text.Type(x.Type), n.Name)
	}
	return x
}

// maxText is the most bytes of the strings of a batch.
const maxText = math.MaxInt32

// texts is a function that appends a string to dst for each row that is not null in any argument.
func texts(n *ast.Node, args []*expr.Expr, begin func(in []arrow.Array) func(dst []byte, row int) []byte) *expr.Expr {
	return expr.OfRows(n, utf8s, args, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		valid, nulls := e.Valid(in...)
		return stringsOf(e, n, valid, nulls, begin(in))
	})
}

// stringsOf makes an array of the strings that a function appends to dst for each valid row.
func stringsOf(e *expr.Env, n *ast.Node, valid *memory.Buffer, nulls int, one func(dst []byte, row int) []byte) (arrow.Array, error) {
	offsets := arrowutil.NewBuffer(e.Mem, 4*(e.Rows+1))
	off := arrowutil.As[int32](offsets.Bytes())
	off[0] = 0
	var data []byte
	for i := range e.Rows {
		if expr.IsSet(valid, i) {
			data = one(data, i)
		}
		if len(data) > maxText {
			offsets.Release()
			if valid != nil {
				valid.Release()
			}
			return nil, expr.Fail(n, "the strings of %s are longer than 2 GiB in a batch of %d rows", ast.Shorten(n.String()), e.Rows)
		}
		off[i+1] = int32(len(data))
	}
	return arrowutil.Make(utf8s, e.Rows, []*memory.Buffer{valid, offsets, memory.NewBufferBytes(data)}, nil, nulls), nil
}

// changeCase binds lower and upper: each character by Unicode's simple mapping.
func changeCase(n *ast.Node, x *expr.Expr) *expr.Expr {
	change := bytes.ToLower
	if n.Name == "upper" {
		change = bytes.ToUpper
	}
	return texts(n, []*expr.Expr{textArgument(n, x)}, func(in []arrow.Array) func([]byte, int) []byte {
		at := arrowutil.BytesOf(in[0])
		return func(dst []byte, row int) []byte { return append(dst, change(at(row))...) }
	})
}

// length binds the number of characters of a string, bytes of a byte string, and elements of a list. That of a column is an input of its own,
// which needs no values where the table knows their lengths.
func (b *binder) length(n *ast.Node) *expr.Expr {
	hasLength := func(dt arrow.DataType) bool { return hasBytes(dt) || isList(dt) }
	if n.Args[0].Op == ast.OpColumn {
		if c, err := predicate.Resolve(n.Args[0], b.schema); err == nil && c.Inside == nil && (c.Measured || hasLength(plainType(c.Type))) {
			c.Lengths = true
			at := b.input(c)
			return &expr.Expr{Node: n, Type: int64s, Column: -1, Strict: true, Eval: func(e *expr.Env) (arrow.Array, error) {
				e.Columns[at].Retain()
				return e.Columns[at], nil
			}}
		}
	}
	x := natural(b.bind(n.Args[0]))
	if x.Err != nil {
		return x
	}
	if !hasLength(x.Type) {
		return x.Refuse("%s is of type %s, and %s takes strings and lists", x.Name(), text.Type(x.Type), n.Name)
	}
	return expr.Function(n, int64s, []*expr.Expr{x}, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		return arrowutil.Lengths(e.Mem, in[0])
	})
}

// position checks that an expression is an integer, and makes it an int64.
func (b *binder) position(n *ast.Node, x *expr.Expr) *expr.Expr {
	if x = b.number(n, x, int64s); !isInteger(x.Type) {
		return x.Refuse("%s is of type %s, and positions are integers", x.Name(), text.Type(x.Type))
	}
	return cast(x.Node, x, int64s)
}

// substr binds the part of a string from a position on, which counts from 1, or with a negative one from the end.
func (b *binder) substr(n *ast.Node, args []*expr.Expr) *expr.Expr {
	args[0] = textArgument(n, args[0])
	for i := range args[1:] {
		args[1+i] = b.position(n, args[1+i])
	}
	return texts(n, args, func(in []arrow.Array) func([]byte, int) []byte {
		at, from := arrowutil.BytesOf(in[0]), arrowutil.Values[int64](in[1])
		length := slices.Repeat([]int64{math.MaxInt32}, len(from))
		if len(in) > 2 {
			length = arrowutil.Values[int64](in[2])
		}
		return func(dst []byte, row int) []byte { return append(dst, part(at(row), from[row], length[row])...) }
	})
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
func concat(n *ast.Node, args []*expr.Expr) *expr.Expr {
	for i, a := range args {
		a = natural(a)
		if a.Err != nil || !castable(a.Type) && !isNull(a.Type) {
			return a.Refuse("%s is of type %s, and concat takes values that are written as text", a.Name(), text.Type(a.Type))
		}
		args[i] = a
	}
	whole := expr.OfRows(n, utf8s, args, func(e *expr.Env, in []arrow.Array) (arrow.Array, error) {
		write := make([]values.Appender, len(in))
		for i, arr := range in {
			if !isNull(arr.DataType()) {
				write[i] = values.Text(arr)
			}
		}
		return stringsOf(e, n, nil, 0, func(dst []byte, row int) []byte {
			for i, arr := range in {
				if write[i] != nil && arr.IsValid(row) {
					dst = write[i](dst, row)
				}
			}
			return dst
		})
	})
	whole.Strict = false
	return whole
}

// regexpReplace binds the text with the first match of a pattern, in the syntax of package regexp, replaced. \1 is the first group, \0 the match.
func regexpReplace(n *ast.Node, args []*expr.Expr) *expr.Expr {
	for _, a := range args[1:] {
		if a.Lit == nil || a.Lit.Lit.Kind != ast.LitString {
			return a.Refuse("the pattern and the replacement of regexp_replace are texts in single quotes")
		}
	}
	re, err := regexp.Compile(args[1].Lit.Lit.Text)
	if err != nil {
		return args[1].Refuse("%v", err)
	}
	// To expand, a group is ${1}, and a dollar is $$.
	with := []byte(group.ReplaceAllString(strings.ReplaceAll(args[2].Lit.Lit.Text, "$", "$$"), "$${$1}"))
	return texts(n, []*expr.Expr{textArgument(n, args[0])}, func(in []arrow.Array) func([]byte, int) []byte {
		at := arrowutil.BytesOf(in[0])
		return func(dst []byte, row int) []byte {
			s := at(row)
			match := re.FindSubmatchIndex(s)
			if match == nil {
				return append(dst, s...)
			}
			return append(re.Expand(append(dst, s[:match[0]]...), with, s, match), s[match[1]:]...)
		}
	})
}

var group = regexp.MustCompile(`\\(\d)`)
