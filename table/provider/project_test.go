package provider_test

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/tabletest"
	"github.com/amudai/amudai-go/table/internal/arrowipc"
	"github.com/amudai/amudai-go/table/provider"
)

// TestColumnsOfOneName requests columns whose name is not unique, and one without a name, as filters do.
func TestColumnsOfOneName(t *testing.T) {
	number := func(name string) arrow.Field {
		return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}
	}
	schema := arrow.NewSchema([]arrow.Field{number("a"), number("a"), number(""), number("v1.2")}, nil)
	var columns []arrow.Array
	for _, values := range []string{"[1, 2]", "[30, 40]", "[500, 600]", "[7, 8]"} {
		a, _, err := array.FromJSON(memory.DefaultAllocator, arrow.PrimitiveTypes.Int64, strings.NewReader(values))
		require.NoError(t, err)
		columns = append(columns, a)
	}
	rows := tabletest.Table(array.NewRecordBatch(schema, columns, 2))
	for _, f := range []provider.Format{arrowipc.Format, arrowipc.Stream} {
		in := tabletest.Write(t, f, rows)
		for _, c := range []struct{ columns, where, want string }{
			{"a#2", "", "30\n40\n"},
			{"a", "", "1\n2\n"},
			{"#1", "", "500\n600\n"},
			{"#1,a#2,a", "", "500,30,1\n600,40,2\n"},
			{`v1\.2`, "", "7\n8\n"},
			{"v1.2", `v1\.2 = 8`, "8\n"},
			{"a#2,a#2", "", "30\n40\n"},
			{"a#2", "a#2 = 40", "40\n"},
			{"a", "a#2 = 40", "2\n"},
			{"a#2", "a = 1", "30\n"},
			{"#1", `"#1" = 600`, "600\n"},
		} {
			o := provider.ReadOptions{Columns: strings.Split(c.columns, ",")}
			if c.where != "" {
				var err error
				o.Filter, err = filter.Parse(strings.NewReplacer("a#2", `"a#2"`).Replace(c.where))
				require.NoError(t, err)
			}
			_, values, _ := strings.Cut(tabletest.Write(t, commas, tabletest.MustRead(t, f, in, o)), "\n")
			require.Equal(t, c.want, values, "%s where %s of %s", c.columns, c.where, f.Name)
		}
		_, err := tabletest.Read(t, f, tabletest.Input(in), provider.ReadOptions{Columns: []string{"a#3"}})
		require.ErrorContains(t, err, `there is no column "a#3"`)
	}
}

// TestParts requests a part of a column, also with a filter on another part of it, and with a schema for the whole
// column.
func TestParts(t *testing.T) {
	everyFormat(t, places, func(t *testing.T, f provider.Format, in string) {
		if f.Name == "csv" {
			return // structs are text there
		}
		for condition, want := range map[string]string{
			"":             `{"at":{"lat":59.9}}` + "\n" + `{"at":{"lat":-1.5}}` + "\n" + `{"at":null}` + "\n",
			"id > 1":       `{"at":{"lat":-1.5}}` + "\n" + `{"at":null}` + "\n",
			"at.lat > 0":   `{"at":{"lat":59.9}}` + "\n",
			"at.where > 0": "",
		} {
			e, err := filter.Parse(condition)
			require.NoError(t, err)
			for _, fields := range [][]arrow.Field{nil, tabletest.Fields(t, "at: struct<lat: float64, where: int8>")} {
				o := provider.ReadOptions{Columns: []string{"at.lat"}, Filter: e, Schema: fields}
				got, err := tabletest.Read(t, f, tabletest.Input(in), o)
				if fields == nil && condition == "at.where > 0" {
					require.ErrorContains(t, err, "at.where")
					continue
				}
				require.NoError(t, err)
				require.Equal(t, want, tabletest.Write(t, jsonLines, got), condition)
			}
		}
	})
}
