package diff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/engine/ast"
	"github.com/amudai/amudai-go/internal/engine/order"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/internal/text/values"
)

// batches is a source of a batch, in parts.
type batches struct {
	whole arrow.RecordBatch
	part  int64
	row   int64
}

func (b *batches) Schema() *arrow.Schema { return b.whole.Schema() }
func (b *batches) Rows() (int64, bool)   { return b.whole.NumRows(), true }
func (b *batches) Close() error          { return nil }
func (b *batches) Next(context.Context) (arrow.RecordBatch, error) {
	if b.row == b.whole.NumRows() {
		return nil, nil
	}
	begin := b.row
	b.row = min(b.row+b.part, b.whole.NumRows())
	return b.whole.NewSlice(begin, b.row), nil
}

// linesOf are the rows of a comparison as lines.
func linesOf(t *testing.T, c *Comparison) (lines []string) {
	for r, err := range c.Rows(t.Context()) {
		require.NoError(t, err)
		switch r.Kind {
		case Removed:
			lines = append(lines, "- "+rowText(r.Old.Arrays, r.Old.Index))
		case Added:
			lines = append(lines, "+ "+rowText(r.New.Arrays, r.New.Index))
		case Duplicate:
			lines = append(lines, fmt.Sprint("! ", r.New.Arrays != nil))
		default:
			lines = append(lines, fmt.Sprint("~ ", rowText(r.Old.Arrays, r.Old.Index), " ", rowText(r.New.Arrays, r.New.Index), " ", r.Columns))
		}
	}
	return lines
}

// rowText is a row as text. Zero has no sign, as diff sees it.
func rowText(columns []arrow.Array, row int) string {
	var cells []string
	for _, c := range columns {
		cells = append(cells, cellText(c, row))
	}
	return strings.Join(cells, "|")
}

func cellText(a arrow.Array, row int) string {
	if values.IsNull(a, row) {
		return "null"
	}
	return negativeZero.ReplaceAllString(fmt.Sprintf("%q", values.Text(a)(nil, row)), "0.0$1")
}

// negativeZero is equal to zero.
var negativeZero = regexp.MustCompile(`-0\.0([^0-9]|$)`)

// edited is a table with random edits: cells that come from other rows, rows that are missing, and rows that are new. The
// first column is a number that identifies a row.
type edited struct {
	old, new arrow.RecordBatch
	from     []int64 // by row of new: the row of old, or -1
}

func edit(r *rand.Rand, g *arrowgen.Gen, types []arrow.DataType, rows int, shuffle bool) edited {
	mem := memory.DefaultAllocator
	fields := []arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}
	ids := array.NewInt64Builder(mem)
	for range rows {
		ids.Append(r.Int64())
	}
	columns := []arrow.Array{ids.NewArray()}
	for i, dt := range types {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: dt, Nullable: true})
		columns = append(columns, g.Array(dt, rows))
	}
	s := arrow.NewSchema(fields, nil)
	e := edited{old: array.NewRecordBatch(s, columns, int64(rows))}
	for i := range rows {
		switch r.IntN(20) {
		case 0: // removed
		case 1:
			e.from = append(e.from, -1, int64(i))
		default:
			e.from = append(e.from, int64(i))
		}
	}
	if shuffle {
		r.Shuffle(len(e.from), func(i, k int) { e.from[i], e.from[k] = e.from[k], e.from[i] })
	}
	out := make([]arrow.Array, len(columns))
	for c, column := range columns {
		indices := slices.Clone(e.from)
		for i := range indices {
			if c > 0 && (indices[i] < 0 || r.IntN(50) == 0) {
				indices[i] = r.Int64N(int64(rows))
			}
		}
		var err error
		if out[c], err = arrowutil.Take(mem, column, indices); err != nil {
			panic(err)
		}
	}
	for i, id := range e.from { // new rows have numbers of their own
		id = int64(i)
		if e.from[i] >= 0 {
			id = columns[0].(*array.Int64).Value(int(e.from[i]))
		}
		ids.Append(id)
	}
	out[0] = ids.NewArray()
	e.new = array.NewRecordBatch(s, out, int64(len(e.from)))
	return e
}

// pair is what is expected of two rows, or of a row without another one if an index is negative.
func (e edited) pair(i, k int) (line string) {
	switch {
	case i < 0:
		return "+ " + rowText(e.new.Columns(), k)
	case k < 0:
		return "- " + rowText(e.old.Columns(), i)
	}
	var differ []int
	for c := range e.old.Columns() {
		if cellText(e.old.Column(c), i) != cellText(e.new.Column(c), k) {
			differ = append(differ, c)
		}
	}
	if differ == nil {
		return ""
	}
	return fmt.Sprint("~ ", rowText(e.old.Columns(), i), " ", rowText(e.new.Columns(), k), " ", differ)
}

// TestEdits applies random edits to random tables, and finds exactly these, by position and by key.
func TestEdits(t *testing.T) {
	types := arrowgen.Types()
	r := rand.New(rand.NewPCG(3, 3))
	dir := t.TempDir()
	for i := range sweep.Count(len(types), 8*len(types)) {
		g := arrowgen.New(uint64(i))
		chosen := []arrow.DataType{types[i%len(types)], types[r.IntN(len(types))]}
		rows := []int{1, 20, 700}[r.IntN(3)]
		byKey := r.IntN(2) == 0
		e := edit(r, g, chosen, rows, byKey)
		o := Options{Order: order.Options{TempDir: dir, Memory: []int64{0, 20_000}[r.IntN(2)]}}
		var want []string
		if byKey {
			key, err := ast.ParseValues("id")
			require.NoError(t, err)
			o.Key = key
			want = e.wantByKey()
		} else {
			for row := range max(e.old.NumRows(), e.new.NumRows()) {
				a, b := int(row), int(row)
				if row >= e.old.NumRows() {
					a = -1
				}
				if row >= e.new.NumRows() {
					b = -1
				}
				want = append(want, e.pair(a, b))
			}
		}
		a, b := &batches{whole: e.old, part: 1 + r.Int64N(300)}, &batches{whole: e.new, part: 1 + r.Int64N(300)}
		c := New(a, b, o)
		lines := linesOf(t, c)
		s := c.Summary
		want = slices.DeleteFunc(want, func(line string) bool { return line == "" })
		if byKey {
			slices.Sort(want)
			slices.Sort(lines)
		}
		require.Equal(t, append([]string{}, want...), append([]string{}, lines...), "case %d: %v, by key: %v", i, chosen, byKey)
		require.EqualValues(t, len(want), s.Rows())
		require.False(t, c.Columns.Changed())
		require.Equal(t, e.new.NumRows(), s.Equal+s.Changed+s.Added)
		require.Equal(t, e.old.NumRows(), s.Equal+s.Changed+s.Removed)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func (e edited) wantByKey() (want []string) {
	in := map[int64]int{}
	for k, i := range e.from {
		if i < 0 {
			want = append(want, e.pair(-1, k))
			continue
		}
		in[i] = k
	}
	for i := range int(e.old.NumRows()) {
		k, ok := in[int64(i)]
		if !ok {
			k = -1
		}
		want = append(want, e.pair(i, k))
	}
	return want
}
