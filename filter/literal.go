package filter

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/text"
)

// Lit is a literal with the value v: nil (null), a bool, an integer or float of any size, a *[big.Int],
// a *[big.Rat] with a finite decimal expansion, a string, a []byte, a [16]byte (a UUID), a
// [time.Time], a [time.Duration], an [arrow.Date32] or an [arrow.Date64]. [Bind] returns an error for
// other types. A float stands for the shortest decimal number that denotes it.
func Lit(v any) Expr {
	return Expr{&ast.Node{Op: ast.OpLiteral, Pos: -1, Lit: literalOf(v)}}
}

func literalOf(v any) ast.Literal {
	switch v := v.(type) {
	case nil:
		return ast.Literal{}
	case bool:
		return ast.Literal{Kind: ast.LitBool, Text: strconv.FormatBool(v)}
	case string:
		return ast.Literal{Kind: ast.LitString, Text: v}
	case []byte:
		return ast.Literal{Kind: ast.LitBytes, Text: string(v)}
	case [16]byte:
		return ast.Literal{Kind: ast.LitString, Text: string(text.AppendUUID(nil, v[:]))}
	case interface{ MarshalBinary() ([]byte, error) }: // time.Time, UUIDs of other packages
		return literalOfBinary(v)
	case time.Duration:
		return ast.Literal{Kind: ast.LitString, Text: v.String()}
	case arrow.Date32:
		return ast.Literal{Kind: ast.LitString, Text: v.FormattedString()}
	case arrow.Date64:
		return literalOf(v.ToTime())
	case *big.Int:
		return ast.Literal{Kind: ast.LitNumber, Text: v.String()}
	case *big.Rat:
		if digits, exact := v.FloatPrec(); exact && digits < ast.MaxExponent {
			return ast.Literal{Kind: ast.LitNumber, Text: v.FloatString(digits)}
		}
		return ast.Literal{Kind: ast.LitBad, Text: fmt.Sprintf("%v is no decimal number", v)}
	case float32:
		return floatLiteral(float64(v), 32)
	case float64:
		return floatLiteral(v, 64)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return ast.Literal{Kind: ast.LitNumber, Text: fmt.Sprint(v)}
	}
	return ast.Literal{Kind: ast.LitBad, Text: fmt.Sprintf("no literal is made of a Go value of type %T", v)}
}

func literalOfBinary(v any) ast.Literal {
	switch v := v.(type) {
	case time.Time:
		return ast.Literal{Kind: ast.LitString, Text: v.UTC().Format("2006-01-02T15:04:05.999999999Z")}
	case fmt.Stringer:
		return ast.Literal{Kind: ast.LitString, Text: v.String()}
	}
	return ast.Literal{Kind: ast.LitBad, Text: fmt.Sprintf("no literal is made of a Go value of type %T", v)}
}

// floatLiteral writes a point or an exponent even for whole numbers, because those without are exact.
func floatLiteral(v float64, bits int) ast.Literal {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ast.Literal{Kind: ast.LitString, Text: strconv.FormatFloat(v, 'g', -1, bits)}
	}
	number := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(number, ".e") {
		number += ".0"
	}
	return ast.Literal{Kind: ast.LitNumber, Text: number}
}
