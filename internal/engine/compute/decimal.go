package compute

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/expr"
	"github.com/amudai/amudai-go/internal/engine/compute/internal/numbers"
	"github.com/amudai/amudai-go/internal/text"
)

// int128 is the coefficient of a decimal.
type int128 = numbers.Int128

// decimals binds arithmetic of two decimals, exactly. dt is the type that holds the values of both.
func decimals(n *ast.Node, x, y *expr.Expr, dt arrow.DataType) *expr.Expr {
	ap, as := decimalOf(x.Type)
	bp, bs := decimalOf(y.Type)
	precision, scale := decimalOf(dt)
	if n.Op == ast.OpMul {
		if scale = as + bs; scale > 38 {
			return expr.Mistake(expr.Fail(n, "the product of %s and %s has %d digits behind the point, more than 38", text.Type(x.Type), text.Type(y.Type), scale))
		}
		precision = ap + bp
		x, y = coefficients(x, ap, as), coefficients(y, bp, bs)
	} else {
		if n.Op == ast.OpAdd || n.Op == ast.OpSub {
			precision++
		}
		x, y = coefficients(x, max(precision, ap-as+scale), scale), coefficients(y, max(precision, bp-bs+scale), scale)
	}
	loop := numbers.DecimalLoop(n.Op)
	fails := func(x, y int128) string {
		if loop(make([]int128, 1), []int128{x}, []int128{y}) {
			return ""
		}
		return numbers.TooLarge(x.ToString(scaleOf(as, scale, n.Op)), n.Op, y.ToString(scaleOf(bs, scale, n.Op)), "38 digits")
	}
	return expr.Decimals(n, decimalType(precision, scale), x, y, loop, fails)
}

// coefficients gives decimals a scale, with room for some digits. Those that have it stay as they are.
func coefficients(x *expr.Expr, precision, scale int32) *expr.Expr {
	if _, own := decimalOf(x.Type); x.Type.ID() == arrow.DECIMAL128 && own == scale {
		return x
	}
	return widened(x, decimalType(precision, scale))
}

// scaleOf is the scale of an operand: its own in products, that of the result elsewhere.
func scaleOf(own, result int32, o ast.Op) int32 {
	if o == ast.OpMul {
		return own
	}
	return result
}

func outOfRange(v, typ string) string { return fmt.Sprintf("%s is out of the range of %s", v, typ) }
