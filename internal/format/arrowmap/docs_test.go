package arrowmap

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/edition"
	"github.com/amudai/amudai-go/internal/format/schema"
)

var update = flag.Bool("update", false, "rewrite the tables in docs/arrow-types.md")

// The tables in docs/arrow-types.md are those of the code.
func TestDocumentedTables(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "arrow-types.md")
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	text := strings.ReplaceAll(string(raw), "\r\n", "\n")
	want := between(t, between(t, text, "write", writeTable()), "read", readTable(t))
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o666))
		return
	}
	require.Equal(t, want, text, "run: go test ./arrowmap -run TestDocumentedTables -update")
}

// between replaces the table between the two marks of a name.
func between(t *testing.T, text, name, table string) string {
	begin, end := "<!-- "+name+" table: begin -->\n", "<!-- "+name+" table: end -->"
	before, rest, ok := strings.Cut(text, begin)
	require.True(t, ok, begin)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok, end)
	return before + begin + "\n" + table + "\n" + end + after
}

var conditions = map[TimeEncoding]string{TimesAsTicks: "as ticks", TimesAsIntegers: "as integer"}

func writeTable() string {
	var b strings.Builder
	b.WriteString("| Arrow type | stored as | rule | when |\n| --- | --- | --- | --- |\n")
	for i := range rows {
		r := &rows[i]
		if r.rule == DecimalText || r.arrow == arrow.STRUCT && r.stored == schema.Union {
			continue // readers only
		}
		when := conditions[r.form]
		if r.ext != "" {
			when = "extension `" + r.ext + "`"
		}
		for _, f := range edition.Table {
			if r.needs != 0 && r.needs.Has(f.Feature) {
				when = "edition " + f.Edition.String()
			}
		}
		name := kinds.Name(r.arrow)
		if r.rule == Empty {
			name = map[arrow.Type]string{arrow.STRUCT: "struct without fields", arrow.FIXED_SIZE_BINARY: "fixed_size_binary[0]"}[r.arrow]
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, storedText(r), r.rule, when)
	}
	return b.String()
}

func storedText(r *row) string {
	f := schema.Field{Type: r.stored, Signed: r.signed}
	text := f.Type.String()
	switch {
	case f.Type.IsInteger() && !f.Signed:
		text = "U" + text
	case r.label == schema.LabelDecimal:
		text += "(16)"
	case r.rule == DayTime:
		text += " {days Int32, milliseconds Int32}"
	case r.rule == MonthDayNano:
		text += " {months Int32, days Int32, nanoseconds Int64}"
	}
	if r.label != "" {
		text = r.label + ", " + text
	}
	return text
}

func readTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| stored as | read as by default | other choices |\n| --- | --- | --- |\n")
	for _, f := range plainNodes() {
		if f.Name == "geo" {
			continue
		}
		s := parsedSchema(t, []schema.Field{f})
		node, err := s.Field(0)
		require.NoError(t, err)
		text, err := node.Text()
		require.NoError(t, err)
		seen, other := map[string]bool{}, []string(nil)
		for _, o := range []ReadOptions{
			{}, {DateTimes: TicksAsMicro, TimeSpans: TicksAsMicro, Decimals: DecimalsAs256, Dynamics: DynamicsAsText},
			{Decimals: DecimalsAsText}, {Decimals: DecimalsRaw, DateTimes: TicksRaw, TimeSpans: TicksRaw, Dynamics: DynamicsRaw},
		} {
			col, err := ColumnOf(node, o)
			require.NoError(t, err)
			typ := strings.TrimPrefix(fieldText(arrow.Field{Type: col.Arrow.Type, Nullable: true, Metadata: col.Arrow.Metadata}), ": ")
			typ = strings.ReplaceAll(typ, extNameKey+"=", "labelled ")
			typ = strings.ReplaceAll(typ, "decimal(", "decimal128(")
			if !seen[typ] {
				other = append(other, "`"+typ+"`")
			}
			seen[typ] = true
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", text, other[0], strings.Join(other[1:], ", "))
	}
	return b.String()
}
