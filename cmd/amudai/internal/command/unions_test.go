package command_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
)

// TestUnions asks for alternatives of unions in every format that has unions, or structs that stand for them. The answers are those of plain
// columns, which are null in the rows of other alternatives.
func TestUnions(t *testing.T) {
	t.Chdir(t.TempDir())
	fields := []arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
	}
	codes := []arrow.UnionTypeCode{1, 2, 5}
	for _, dt := range []arrow.DataType{arrow.DenseUnionOf(fields, codes), arrow.SparseUnionOf(fields, codes)} {
		const rows = 3000
		u := arrowgen.New(4).Array(dt, rows)
		plain := []arrow.Array{}
		for i := range fields {
			c, err := arrowutil.Alternative(memory.DefaultAllocator, u, i)
			require.NoError(t, err)
			plain = append(plain, c)
		}
		writeArrow(t, "plain.arrow", fields, plain)
		writeArrow(t, "u.arrow", []arrow.Field{{Name: "u", Type: dt, Nullable: true}}, []arrow.Array{u})
		files := []string{"u.arrow"}
		for _, out := range []string{"u.amudai.shard", "u.root", "u.arrows"} {
			ok(t, "convert", "-q", "-f", "u.arrow", out)
			if !strings.HasSuffix(out, ".arrows") { // which cannot be verified
				ok(t, "verify", "-q", out)
			}
			files = append(files, out)
		}
		ok(t, "convert", "-q", "-f", "--stripe-rows", "700", "u.root", "again.amudai.shard")
		files = append(files, "again.amudai.shard")
		null := fmt.Sprintln(arrowutil.NullN(u))
		for _, file := range files {
			structs := strings.HasSuffix(file, ".root") || strings.HasPrefix(file, "again")
			plain, alternatives := strings.NewReplacer("$", ""), strings.NewReplacer("$", "u.")
			if structs {
				alternatives = strings.NewReplacer("$n", "u._0", "$s", "u._1", "$l", "u._2")
			}
			for _, condition := range []string{"$n > 0", "$s = 'v17'", "$n is null", "$s is not null and not $s like 'v%'", "$l contains 0", "any($l < 0)"} {
				want := ok(t, "scan", "--count", "plain.arrow", "--where", plain.Replace(condition))
				require.Equal(t, want, ok(t, "scan", "--count", file, "--where", alternatives.Replace(condition)), "%s %s %v", file, condition, dt)
			}
			if structs {
				continue
			}
			require.Equal(t, null, ok(t, "scan", "--count", file, "--where", "u is null"), file)
			want := ok(t, "cat", "plain.arrow", "--columns", "n,s", "--format", "jsonl")
			got := ok(t, "cat", file, "--columns", "u.n,u.s", "--format", "jsonl")
			require.Equal(t, want, strings.ReplaceAll(strings.ReplaceAll(got, `{"u":{`, "{"), "}}\n", "}\n"), file)
			want = ok(t, "agg", "plain.arrow", "sum(n), count(s), max(s)")
			got = ok(t, "agg", file, "sum(u.n), count(u.s), max(u.s)")
			require.Equal(t, want, strings.ReplaceAll(got, "u.", ""), file)
		}
	}
}

func writeArrow(t *testing.T, path string, fields []arrow.Field, columns []arrow.Array) {
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	s := arrow.NewSchema(fields, nil)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(s))
	require.NoError(t, err)
	require.NoError(t, w.Write(array.NewRecordBatch(s, columns, int64(columns[0].Len()))))
	require.NoError(t, w.Close())
}
