package shard_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/testing/arrowgen"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// modelColumn is a column in memory, of all rows.
type modelColumn struct {
	arrow.Field
	values arrow.Array
	factor int  // of numbers: row i has i times factor; 0 for other values
	stored bool // before the changes that are made together
	// comment is a property.
	comment string
}

// model is a table in memory that has the changes of a shard.
type model struct {
	rows    int
	columns []modelColumn
	next    int // number of the next name
}

func (m *model) fresh() string {
	m.next++
	return fmt.Sprintf("c%d", m.next)
}

// numbers are the numbers of rows, times a factor.
func numbers(dt arrow.DataType, rows, factor int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	for i := range rows {
		if err := b.AppendValueFromString(strconv.Itoa(i * factor)); err != nil {
			panic(err)
		}
	}
	return b.NewArray()
}

// fieldsOf are the fields of an array of structs as columns.
func fieldsOf(c *modelColumn) (all []modelColumn) {
	a, ok := c.values.(*array.Struct)
	if !ok {
		return nil
	}
	for i, f := range a.DataType().(*arrow.StructType).Fields() {
		all = append(all, modelColumn{Field: f, values: a.Field(i)})
	}
	return all
}

// setFields gives an array of structs other fields.
func (c *modelColumn) setFields(all []modelColumn) {
	var fields []arrow.Field
	var children []arrow.ArrayData
	for _, f := range all {
		fields, children = append(fields, f.Field), append(children, f.values.Data())
	}
	c.Type = arrow.StructOf(fields...)
	d := c.values.Data()
	c.values = array.NewStructData(array.NewData(c.Type, d.Len(), d.Buffers()[:1], children, d.NullN(), d.Offset()))
}

// step draws a change, and makes it in the model. id is an expression for the column of numbers before all changes, "" if there is none.
func (m *model) step(r *rapid.T, gen *arrowgen.Gen, id string) []shard.Change {
	i := rapid.IntRange(0, len(m.columns)-1).Draw(r, "column")
	c := &m.columns[i]
	switch rapid.IntRange(0, 8).Draw(r, "kind") {
	case 0:
		if len(m.columns) == 1 {
			return nil
		}
		name := c.Name
		m.columns = slices.Delete(m.columns, i, i+1)
		return []shard.Change{shard.DropColumns(name)}
	case 1:
		before := c.Name
		c.Name = m.fresh()
		return []shard.Change{shard.RenameColumn(before, c.Name)}
	case 2:
		first := rapid.SampledFrom(m.columns).Draw(r, "first").Name
		names := []string{first}
		if c.Name != first {
			names = append(names, c.Name)
		}
		at := func(c modelColumn) int {
			if k := slices.Index(names, c.Name); k >= 0 {
				return k
			}
			return len(names)
		}
		slices.SortStableFunc(m.columns, func(a, b modelColumn) int { return at(a) - at(b) })
		return []shard.Change{shard.OrderColumns(names...)}
	case 3:
		if id == "" {
			return nil
		}
		f := arrow.Field{Name: m.fresh(), Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		m.columns = append(m.columns, modelColumn{Field: f, values: numbers(f.Type, m.rows, 3), factor: 3})
		return []shard.Change{shard.AddColumn(f.Name, id+" * 3")}
	case 4:
		if c.factor == 0 || c.Type.ID() == arrow.STRING {
			return nil
		}
		types := []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 20}}
		if arrow.IsInteger(c.Type.ID()) {
			types = append(types, arrow.BinaryTypes.String)
		}
		c.Type = rapid.SampledFrom(types).Draw(r, "type")
		c.values = numbers(c.Type, m.rows, c.factor)
		return []shard.Change{shard.CastColumn(c.Name, c.Type)}
	case 5:
		f := arrow.Field{Name: m.fresh(), Type: gen.Type(2), Nullable: true}
		values := gen.Array(f.Type, m.rows)
		src := &rowsSource{schema: arrow.NewSchema([]arrow.Field{f}, nil)}
		for from := 0; from < m.rows; {
			to := min(m.rows, from+rapid.IntRange(1, m.rows).Draw(r, "batch"))
			src.batches = append(src.batches, array.NewRecordBatch(src.schema, []arrow.Array{array.NewSlice(values, int64(from), int64(to))}, int64(to-from)))
			from = to
		}
		m.columns = append(m.columns, modelColumn{Field: f, values: values})
		return []shard.Change{shard.AddColumns(src)}
	case 6:
		c.comment = m.fresh()
		return []shard.Change{shard.SetProperty("step", m.next), shard.SetColumnProperty(c.Name, "comment", c.comment)}
	case 7:
		if c.Type.ID() != arrow.STRUCT || !c.stored {
			return nil
		}
		fields := fieldsOf(c)
		names := map[string]bool{}
		for _, f := range fields {
			names[f.Name] = true
		}
		if len(fields) < 2 || len(names) < len(fields) { // paths to fields of one name are not of interest here
			return nil
		}
		k := rapid.IntRange(0, len(fields)-1).Draw(r, "field")
		path := c.Name + "." + fields[k].Name
		change := shard.DropColumns(path)
		switch rapid.IntRange(0, 2).Draw(r, "nested") {
		case 0:
			fields = slices.Delete(fields, k, k+1)
		case 1:
			fields[k].Name = m.fresh()
			change = shard.RenameColumn(path, fields[k].Name)
		case 2:
			fields = slices.Insert(slices.Delete(slices.Clone(fields), k, k+1), 0, fields[k])
			change = shard.OrderColumns(path)
		}
		c.setFields(fields)
		return []shard.Change{change}
	case 8:
		if c.Name != "s" || id == "" || c.Type.ID() != arrow.STRUCT {
			return nil
		}
		f := arrow.Field{Name: m.fresh(), Type: arrow.BinaryTypes.String, Nullable: true}
		path := c.Name + "." + f.Name
		c.setFields(append(fieldsOf(c), modelColumn{Field: f, values: numbers(f.Type, m.rows, 2)}))
		return []shard.Change{shard.AddColumn(path, id+" * 2"), shard.CastColumn(path, f.Type)}
	}
	return nil
}

// idOf is an expression for the column of numbers of the rows.
func (m *model) idOf() string {
	for _, c := range m.columns {
		if c.factor == 1 && arrow.IsInteger(c.Type.ID()) {
			return c.Name
		}
	}
	return ""
}

// write writes the model to a new shard.
func (m *model) write(t *rapid.T, location string, o shard.WriterOptions) {
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range m.columns {
		fields, arrays = append(fields, c.Field), append(arrays, c.values)
	}
	meta := arrow.NewMetadata([]string{"made"}, []string{"here"})
	s := arrow.NewSchema(fields, &meta)
	w, err := shard.Create(context.Background(), location, s, o)
	require.NoError(t, err)
	require.NoError(t, w.Write(context.Background(), array.NewRecordBatch(s, arrays, int64(m.rows))))
	require.NoError(t, w.Close(context.Background()))
}

// same compares a shard with the model.
func (m *model) same(t *rapid.T, location string, open shard.OpenOptions, shown []bool) {
	s, err := shard.Open(t.Context(), location, open)
	require.NoError(t, err)
	defer s.Close()
	as, err := s.ArrowSchema(t.Context())
	require.NoError(t, err)
	made, _ := as.Metadata().GetValue("made")
	require.Equal(t, "here", made)
	require.Len(t, as.Fields(), len(m.columns))
	batches, err := Read(location, open, shard.ScanOptions{})
	require.NoError(t, err)
	defer Release(batches)
	for i, c := range m.columns {
		require.Equal(t, c.Name, as.Field(i).Name)
		_, properties, err := s.FieldProperties(t.Context(), c.Name)
		require.NoError(t, err)
		if c.comment == "" {
			require.Empty(t, properties)
		} else {
			require.Equal(t, []shard.Property{{Name: "comment", Value: c.comment}}, properties)
		}
		require.Equal(t, c.Type.String(), as.Field(i).Type.String()) // Arrow looks into maps below large lists, where equal types differ
		var want, got []arrow.Array
		for row := range m.rows {
			if shown[row] {
				want = append(want, array.NewSlice(c.values, int64(row), int64(row+1)))
			}
		}
		for _, b := range batches {
			got = append(got, b.Column(i))
		}
		if len(want) == 0 {
			require.Empty(t, got)
			continue
		}
		all, err := arrowutil.Concatenate(memory.DefaultAllocator, want)
		require.NoError(t, err)
		shows, err := arrowutil.Concatenate(memory.DefaultAllocator, got)
		require.NoError(t, err)
		require.Equal(t, all.Len(), shows.Len())
		require.Negative(t, arrowutil.Difference(all, shows), "column %s of type %s: %v instead of %v", c.Name, c.Type, shows, all)
	}
	report, err := shard.Verify(t.Context(), location, open, provider.VerifyOptions{})
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	require.NotContains(t, fmt.Sprint(report.Notes), "url list")
}

// Random changes of the columns of random shards, in which some rows are deleted: the shard has what a table in memory has after the same changes, also in
// the deleted rows, which come back at the end.
func TestEdits(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		gen := arrowgen.New(rapid.Uint64().Draw(r, "seed"))
		m := &model{rows: rapid.IntRange(1, 400).Draw(r, "rows")}
		nested := arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "b", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "c", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}), Nullable: true})
		id := arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true}
		m.columns = append(m.columns, modelColumn{Field: id, values: numbers(id.Type, m.rows, 1), factor: 1}, modelColumn{Field: arrow.Field{Name: "s", Type: nested, Nullable: true}, values: gen.Array(nested, m.rows)})
		for range rapid.IntRange(0, 3).Draw(r, "more") {
			f := arrow.Field{Name: m.fresh(), Type: gen.Type(2), Nullable: true}
			m.columns = append(m.columns, modelColumn{Field: f, values: gen.Array(f.Type, m.rows)})
		}
		open := shard.OpenOptions{Store: storage.NewMemory()}
		edit := shard.EditOptions{Open: open, Parallelism: 1}
		const location = "mem://edits/x.amudai.shard"
		m.write(r, location, shard.WriterOptions{Store: open.Store, StripeRows: rapid.Int64Range(1, 400).Draw(r, "stripe") + int64(m.rows)/6, Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout")),
			Indexes: []shard.IndexDefinition{{Type: shard.HashIndex, Columns: []string{"id", "s"}, PerStripe: true}}})
		shown := slices.Repeat([]bool{true}, m.rows)
		for range rapid.IntRange(1, 4).Draw(r, "edits") {
			if rapid.Bool().Draw(r, "delete") {
				gone := rapid.IntRange(0, m.rows-1).Draw(r, "gone")
				_, err := shard.Delete(t.Context(), location, edit, shard.Rows{Ranges: []shard.RowRange{{From: int64(gone), To: int64(gone) + 1}}})
				require.NoError(r, err)
				shown[gone] = false
			}
			var changes []shard.Change
			before := m.idOf()
			for i := range m.columns {
				m.columns[i].stored = true
			}
			for range rapid.IntRange(1, 4).Draw(r, "changes") {
				changes = append(changes, m.step(r, gen, before)...)
			}
			dry := edit
			dry.DryRun = true
			plan, err := shard.Edit(t.Context(), location, dry, changes...)
			require.NoError(r, err)
			require.Zero(r, plan.Written)
			report, err := shard.Edit(t.Context(), location, edit, changes...)
			require.NoError(r, err)
			plan.Written = report.Written
			require.Equal(r, plan, report)
			m.same(r, location, open, shown)
		}
		_, err := shard.Undelete(t.Context(), location, edit, shard.Rows{})
		require.NoError(r, err)
		m.same(r, location, open, slices.Repeat([]bool{true}, m.rows))
	})
}

// rowsSource has batches as a source of rows.
type rowsSource struct {
	schema  *arrow.Schema
	batches []arrow.RecordBatch
}

func (s *rowsSource) Schema() *arrow.Schema { return s.schema }
func (s *rowsSource) Rows() (int64, bool)   { return 0, false }
func (s *rowsSource) Close() error          { return nil }
func (s *rowsSource) Next(context.Context) (arrow.RecordBatch, error) {
	if len(s.batches) == 0 {
		return nil, nil
	}
	b := s.batches[0]
	s.batches = s.batches[1:]
	return b, nil
}
