package shard

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/format/arrowmap"
	"github.com/amudai/amudai-go/internal/format/decimal"
	"github.com/amudai/amudai-go/internal/testing/golden"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// rawTypes read every value of a golden as it is stored.
var rawTypes = arrowmap.ReadOptions{
	Decimals: arrowmap.DecimalsRaw, DateTimes: arrowmap.TicksRaw, TimeSpans: arrowmap.TicksRaw, Dynamics: arrowmap.DynamicsRaw,
}

// TestGoldenContents reads every value of every golden and compares it with the input of the reference's writer.
func TestGoldenContents(t *testing.T) {
	values := 0
	shards := golden.Shards(t)
	compared := 0
	for _, g := range shards {
		if g.Expected == "" {
			continue
		}
		compared++
		t.Run(g.File, func(t *testing.T) {
			values += compareGolden(t, g)
		})
	}
	t.Logf("contents of %d shards equal, %d values", compared, values)
}

func compareGolden(t *testing.T, g golden.Shard) (values int) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	ctx := context.Background()
	s, err := Open(ctx, g.Path(t), OpenOptions{Types: rawTypes})
	require.NoError(t, err)
	defer s.Close()
	want := readIPC(t, testdata.UnpackGolden(t, g.Expected))
	stored := map[string]column{}
	if g.RustRead != "" {
		stored = readIPC(t, testdata.UnpackGolden(t, g.RustRead))
	}
	changed := map[string]bool{}
	for _, name := range g.ChangedFloats {
		changed[name] = true
	}
	changed["decraw_const_nan"] = true // stored as the constant 1, see the goldens' README
	row := 0
	for batch, err := range s.Scan(ctx, ScanOptions{BatchRows: 777, Allocator: mem}) {
		require.NoError(t, err)
		for c, f := range batch.Schema().Fields() {
			col := batch.Column(c)
			w, ok := want[f.Name]
			require.True(t, ok, "column %s", f.Name)
			step := 1
			if s.NumRows() > 1000 {
				step = sweep.Step(7) // all blocks are decoded; the comparison of single values takes long
			}
			for i := 0; i < col.Len(); i += step {
				got, exp := cell(col, f, i), w.at(row+i)
				if changed[f.Name] {
					if r, ok := stored[f.Name]; ok {
						r.field = w.field
						exp = r.at(row + i)
					} else {
						got, exp = sameClass(got), sameClass(exp)
					}
				}
				if !equalCells(got, exp) {
					t.Fatalf("column %s row %d: %v, expected %v", f.Name, row+i, got, exp)
				}
				values++
			}
		}
		row += int(batch.NumRows())
	}
	require.EqualValues(t, s.NumRows(), row)
	return values
}

// column is one column of an Arrow file, in chunks.
type column struct {
	field  arrow.Field
	chunks []arrow.Array
}

func (c column) at(row int) any {
	for _, a := range c.chunks {
		if row < a.Len() {
			return cell(a, c.field, row)
		}
		row -= a.Len()
	}
	return "past the end"
}

func readIPC(t testing.TB, path string) map[string]column {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	r, err := ipc.NewFileReader(f)
	require.NoError(t, err)
	defer r.Close()
	columns := map[string]column{}
	for i := range r.NumRecords() {
		batch, err := r.RecordBatchAt(i)
		require.NoError(t, err)
		for c, field := range batch.Schema().Fields() {
			col := columns[field.Name]
			col.field = field
			col.chunks = append(col.chunks, batch.Column(c))
			columns[field.Name] = col
		}
	}
	if r.NumRecords() == 0 {
		for _, field := range r.Schema().Fields() {
			columns[field.Name] = column{field: field}
		}
	}
	return columns
}

// cell converts a value to a form that does not depend on its Arrow layout: times as ticks, decimals as normalised
// text, floats as bits.
func cell(a arrow.Array, f arrow.Field, i int) any {
	if a.IsNull(i) {
		return nil
	}
	switch a := a.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Float32:
		return math.Float32bits(a.Value(i))
	case *array.Float64:
		return math.Float64bits(a.Value(i))
	case *array.FixedSizeBinary:
		if isDecimal(f) {
			return decimalText(decimal.Decimal(a.Value(i)))
		}
		return string(a.Value(i))
	case *array.Decimal128:
		v := a.Value(i)
		return bigText(bigInt([]uint64{v.LowBits(), uint64(v.HighBits())}), a.DataType().(arrow.DecimalType).GetScale())
	case *array.Decimal256:
		v := a.Value(i).Array()
		return bigText(bigInt(v[:]), a.DataType().(arrow.DecimalType).GetScale())
	case *array.Timestamp:
		return instant(int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit)
	case *array.Date32:
		return instant(int64(a.Value(i))*86400, arrow.Second)
	case *array.Date64:
		return instant(int64(a.Value(i)), arrow.Millisecond)
	case array.ExtensionArray:
		return cell(a.Storage(), f, i)
	case *array.Struct:
		out := []any{}
		for k, field := range a.DataType().(*arrow.StructType).Fields() {
			out = append(out, cell(a.Field(k), field, i))
		}
		return out
	case *array.Map:
		start, end := a.ValueOffsets(i)
		out := []any{}
		for k := start; k < end; k++ {
			t := a.DataType().(*arrow.MapType)
			out = append(out, cell(a.Keys(), t.KeyField(), int(k)), cell(a.Items(), t.ItemField(), int(k)))
		}
		return out
	case array.ListLike:
		start, end := a.ValueOffsets(i)
		out := []any{}
		for k := start; k < end; k++ {
			out = append(out, cell(a.ListValues(), a.DataType().(arrow.ListLikeType).ElemField(), int(k)))
		}
		return out
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	case interface{ Value(int) string }:
		return a.Value(i)
	}
	return a.ValueStr(i)
}

func isDecimal(f arrow.Field) bool {
	name, _ := f.Metadata.GetValue("ARROW:extension:name")
	return name == "KustoDecimal"
}

// instant converts a time to DateTime ticks. It returns nil for a time out of their range.
func instant(v int64, unit arrow.TimeUnit) any {
	n := big.NewInt(v)
	switch unit {
	case arrow.Second:
		n.Mul(n, big.NewInt(10_000_000))
	case arrow.Millisecond:
		n.Mul(n, big.NewInt(10_000))
	case arrow.Microsecond:
		n.Mul(n, big.NewInt(10))
	case arrow.Nanosecond:
		n.Quo(n, big.NewInt(100))
	}
	n.Add(n, big.NewInt(621355968000000000))
	if n.Sign() < 0 || !n.IsUint64() {
		return nil
	}
	return n.String()
}

// decimalText is a decimal without trailing zeros.
func decimalText(d decimal.Decimal) string {
	s := d.String()
	if f, ok := new(big.Rat).SetString(s); ok {
		return f.String()
	}
	return s
}

// bigInt is an integer in two's complement, its lowest word first. (The method of
// Arrow's decimals is wrong where words have 32 bits.)
func bigInt(words []uint64) *big.Int {
	n := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(words[i]))
	}
	if int64(words[len(words)-1]) < 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(64*len(words))))
	}
	return n
}

// bigText is an Arrow decimal as a number, rounded to 34 digits, half to even.
func bigText(n *big.Int, scale int32) string {
	exp := -scale
	for digits := len(strings.TrimPrefix(n.String(), "-")); digits > 34; {
		cut := digits - 34
		q, r := new(big.Int).QuoRem(n, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(cut)), nil), new(big.Int))
		half := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(cut)), nil)
		if c := new(big.Int).Mul(r, big.NewInt(2)).CmpAbs(half); c > 0 || c == 0 && q.Bit(0) == 1 {
			q.Add(q, big.NewInt(int64(n.Sign())))
		}
		n, exp = q, exp+int32(cut)
		digits = len(strings.TrimPrefix(n.String(), "-"))
	}
	f, _ := new(big.Rat).SetString(fmt.Sprintf("%se%d", n, exp))
	return f.String()
}

// sameClass maps all NaNs to one and -0.0 to 0.0.
func sameClass(v any) any {
	switch v := v.(type) {
	case string:
		return "some decimal"
	case uint32:
		f := math.Float32frombits(v)
		if f != f {
			return "NaN"
		}
		return f
	case uint64:
		f := math.Float64frombits(v)
		if f != f {
			return "NaN"
		}
		return f
	}
	return v
}

func equalCells(a, b any) bool {
	x, ok := a.([]any)
	y, ok2 := b.([]any)
	if ok != ok2 {
		return false
	}
	if !ok {
		return a == b
	}
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !equalCells(x[i], y[i]) {
			return false
		}
	}
	return true
}
