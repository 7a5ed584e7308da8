package command_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text/values"
)

// spelled is a condition, or a value, as amudai and as DuckDB spell it.
type spelled struct{ ours, sql string }

// conditions draws conditions about a table, with values of its first rows.
type conditions struct {
	r      *rand.Rand
	schema *arrow.Schema
	rows   []arrow.RecordBatch
}

// draw returns a condition of several parts.
func (x *conditions) draw(depth int) spelled {
	if depth == 0 {
		return x.simple()
	}
	a, b := x.draw(depth-1), x.draw(depth-1)
	switch x.r.IntN(4) {
	case 0:
		return spelled{"(" + a.ours + " and " + b.ours + ")", "(" + a.sql + " and " + b.sql + ")"}
	case 1:
		return spelled{"(" + a.ours + " or " + b.ours + ")", "(" + a.sql + " or " + b.sql + ")"}
	case 2:
		return spelled{"not (" + a.ours + ")", "not (" + a.sql + ")"}
	}
	return a
}

func both(format string, args ...any) spelled {
	s := fmt.Sprintf(format, args...)
	return spelled{s, s}
}

func (x *conditions) simple() spelled {
	i := x.r.IntN(x.schema.NumFields())
	f := x.schema.Field(i)
	c := quotedName(f.Name)
	v, w := x.value(i), x.value(i)
	if v.ours == "" || w.ours == "" || x.r.IntN(8) == 0 {
		return both("%s is %snull", c, []string{"", "not "}[x.r.IntN(2)])
	}
	if f.Type.ID() == arrow.BOOL && x.r.IntN(2) == 0 {
		return both("%s", c)
	}
	if text := strings.Trim(v.sql, "'"); f.Type.ID() == arrow.STRING && x.r.IntN(2) == 0 && !strings.Contains(text, "'") && text != "" {
		runes := []rune(text)
		from := x.r.IntN(len(runes))
		part := string(runes[from : from+1+x.r.IntN(min(3, len(runes)-from))])
		switch x.r.IntN(3) {
		case 0:
			return both("starts_with(%s, '%s')", c, string(runes[:from]))
		case 1:
			return both("contains(%s, '%s')", c, part)
		}
		if !strings.ContainsAny(part, `%_\`) {
			return both("%s like '_%%%s%%'", c, part)
		}
	}
	compare := func(op string, v spelled) spelled {
		sql := fmt.Sprintf("%s %s %s", c, op, v.sql)
		if arrow.IsFloating(f.Type.ID()) && strings.HasPrefix(op, ">") { // than which NaN is in DuckDB
			sql = fmt.Sprintf("(%s and not isnan(%s))", sql, c)
		}
		return spelled{fmt.Sprintf("%s %s %s", c, op, v.ours), sql}
	}
	switch x.r.IntN(4) {
	case 0:
		return spelled{fmt.Sprintf("%s in (%s, %s)", c, v.ours, w.ours), fmt.Sprintf("%s in (%s, %s)", c, v.sql, w.sql)}
	case 1:
		return spelled{fmt.Sprintf("%s not in (%s, %s)", c, v.ours, w.ours), fmt.Sprintf("%s not in (%s, %s)", c, v.sql, w.sql)}
	case 2:
		lo, hi := compare(">=", v), compare("<", w)
		return spelled{lo.ours + " and " + hi.ours, lo.sql + " and " + hi.sql}
	}
	return compare([]string{"=", "<>", "<", "<=", ">", ">="}[x.r.IntN(6)], v)
}

// value is a value of a column, or "" if none is found that both spell.
func (x *conditions) value(column int) spelled {
	for range 5 {
		if len(x.rows) == 0 {
			break
		}
		arr := x.rows[x.r.IntN(len(x.rows))].Column(column)
		if i := x.r.IntN(arr.Len()); arr.IsValid(i) {
			if v := valueOf(arr, i); len(v.ours) < 200 {
				return v
			}
		}
	}
	return spelled{}
}

func valueOf(arr arrow.Array, i int) spelled {
	text := string(values.Text(arr)(nil, i))
	float := func(v float64, dt string) spelled {
		if v != v {
			return spelled{}
		}
		s := strconv.FormatFloat(v, 'g', -1, 64)
		ours := s
		if strings.Contains(s, "Inf") {
			s = strings.ToLower(strings.Replace(s, "+", "", 1))
			ours = "'" + s + "'"
		}
		return spelled{ours, "'" + s + "'::" + dt}
	}
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	switch a := arr.(type) {
	case *array.Float16:
		return float(float64(a.Value(i).Float32()), "float")
	case *array.Float32:
		return float(float64(a.Value(i)), "float")
	case *array.Float64:
		return float(a.Value(i), "double")
	case *array.Binary:
		return binaryValue(a.Value(i))
	case *array.FixedSizeBinary:
		return binaryValue(a.Value(i))
	case *array.Timestamp, *array.Date32:
		if strings.HasPrefix(text, "+") { // a year that SQL does not spell
			return spelled{}
		}
		return spelled{quoted, quoted}
	case *array.String, *array.LargeString:
		if strings.ContainsFunc(text, unicode.IsControl) {
			return spelled{}
		}
		return spelled{quoted, quoted}
	case *array.Boolean:
		return spelled{text, text}
	}
	if id := arr.DataType().ID(); arrow.IsInteger(id) || arrow.IsDecimal(id) {
		return spelled{text, text}
	}
	return spelled{}
}

func binaryValue(b []byte) spelled {
	var sql strings.Builder
	for _, c := range b {
		fmt.Fprintf(&sql, "\\x%02x", c)
	}
	return spelled{fmt.Sprintf("x'%x'", b), "'" + sql.String() + "'::blob"}
}

// addWhere asks random questions about the rows of a table that conditions select.
func addWhere(t *testing.T, q *duckQuestions, r *rand.Rand, c corpusTable, s *arrow.Schema, rows []arrow.RecordBatch) {
	x := &conditions{r, s, rows}
	for range 4 {
		where := x.draw(r.IntN(3))
		var columns []string // named once, as they appear once
		for range 1 + r.IntN(3) {
			if c := quotedName(s.Field(r.IntN(s.NumFields())).Name); !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
		result := filepath.Join(t.TempDir(), "rows.arrow")
		require.NoError(t, os.WriteFile(result, []byte(ok(t, c.args("cat", "--where", where.ours, "--columns", strings.Join(columns, ","), "--limit", "1000", "--format", "arrow")...)), 0o600))
		q.add(t, []string{c.duck, fmt.Sprintf("select %s from t where %s limit 1000", strings.Join(columns, ", "), where.sql), result})
		result = filepath.Join(t.TempDir(), "count.arrow")
		require.NoError(t, os.WriteFile(result, []byte(ok(t, c.args("agg", "count()", "--where", where.ours, "--format", "arrow")...)), 0o600))
		q.add(t, []string{c.duck, "select count(*) from t where " + where.sql, result})
	}
}
