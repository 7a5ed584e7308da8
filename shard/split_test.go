package shard_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/fakes3"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/storage/s3"
)

// Parts of any number of rows have the rows one after the other, and refer to the stripes that no other part has rows of.
func TestSplitRows(t *testing.T) {
	t.Parallel() // it waits for disks
	rapid.Check(t, func(r *rapid.T) {
		const rows = 1000
		o := shard.WriterOptions{StripeRows: rapid.Int64Range(50, 1200).Draw(r, "stripe"), Layout: shard.Layout(rapid.IntRange(0, 1).Draw(r, "layout"))}
		location := editable(t, rows, o)
		_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 90, To: 130}, {From: 700, To: 701}}})
		require.NoError(r, err)
		want := shownIDs(t, location, filter.Expr{})
		n := rapid.Int64Range(160, 1100).Draw(r, "rows")
		pattern := filepath.Join(filepath.Dir(location), "part-{}.amudai.shard")
		parts, err := shard.Split(t.Context(), location, pattern, shard.SplitOptions{Rows: n})
		require.NoError(r, err)
		require.Len(r, parts, int((rows+n-1)/n))
		got := []int64{}
		for i, p := range parts {
			from, to := int64(i)*n, min(int64(i+1)*n, rows)
			whole := 0
			for first := int64(0); first < rows; first += o.StripeRows {
				if first >= from && min(first+o.StripeRows, rows) <= to {
					whole++
				}
			}
			require.Equal(r, shard.SplitPart{Location: filepath.Join(filepath.Dir(location), fmt.Sprintf("part-%04d.amudai.shard", i)), Rows: to - from, Bytes: p.Bytes, Referred: whole}, p)
			got = append(got, shownIDs(t, p.Location, filter.Expr{})...)
			requireClean(r, p.Location, shard.OpenOptions{})
		}
		require.Equal(r, want, got)
		require.Equal(r, want, shownIDs(t, location, filter.Expr{}))
	})
}

// Parts may be objects: a store opens them before it knows whether they are there.
func TestSplitToStore(t *testing.T) {
	server, store := fakes3.New(t), s3.New(s3.Options{Backoff: 1})
	location := editable(t, 100, shard.WriterOptions{})
	o := shard.SplitOptions{By: "text", Store: store}
	parts, err := shard.Split(t.Context(), location, "s3://bucket/{}.shard", o)
	require.NoError(t, err)
	require.Len(t, parts, 4)
	before := server.Keys()
	require.Len(t, before, 4)
	_, err = shard.Split(t.Context(), location, "s3://bucket/{}.shard", o)
	require.ErrorIs(t, err, fs.ErrExist)
	require.Equal(t, before, server.Keys())
}

// Parts of values have the rows with these, in their order.
func TestSplitValues(t *testing.T) {
	location := editable(t, 1000, shard.WriterOptions{StripeRows: 300})
	_, err := shard.Delete(t.Context(), location, shard.EditOptions{}, shard.Rows{Ranges: []shard.RowRange{{From: 0, To: 40}}})
	require.NoError(t, err)
	dir, temp := t.TempDir(), t.TempDir()
	o := shard.SplitOptions{By: "text", EditOptions: shard.EditOptions{MemoryBytes: 64 << 10, TempDir: temp, DryRun: true}}
	planned, err := shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.NoError(t, err)
	o.DryRun = false
	parts, err := shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.NoError(t, err)
	require.Len(t, planned, len(parts))
	var all []int64
	for _, name := range []string{"blue", "green", "null", "red"} {
		where := filter.Eq(filter.Col("text"), name)
		if name == "null" {
			where = filter.IsNull(filter.Col("text"))
		}
		want := shownIDs(t, location, where)
		part := filepath.Join(dir, name+".amudai.shard")
		require.Equal(t, want, shownIDs(t, part, filter.Expr{}), name)
		require.True(t, slices.ContainsFunc(parts, func(p shard.SplitPart) bool { return p.Location == part && p.Rows == int64(len(want)) && p.Bytes > 0 }))
		requireClean(t, part, shard.OpenOptions{})
		all = append(all, want...)
	}
	slices.Sort(all)
	require.Equal(t, shownIDs(t, location, filter.Expr{}), all)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)

	big := editable(t, 1100, shard.WriterOptions{})
	for _, c := range []struct {
		pattern string
		o       shard.SplitOptions
		err     string
	}{
		{"x-{}.shard", shard.SplitOptions{By: "id"}, "more than 1000 values"},
		{"x.shard", shard.SplitOptions{By: "text"}, "needs {} once"},
		{"x-{}.shard", shard.SplitOptions{}, "by a number of rows, by a number of bytes, or by a value"},
		{"x-{}.shard", shard.SplitOptions{By: "text", Rows: 1}, "by a number of rows, by a number of bytes, or by a value"},
		{"x-{}.shard", shard.SplitOptions{By: "nothing"}, "nothing"},
	} {
		parts, err := shard.Split(t.Context(), big, filepath.Join(dir, c.pattern), c.o)
		require.ErrorContains(t, err, c.err)
		require.Empty(t, parts)
	}
	_, err = shard.Split(t.Context(), location, filepath.Join(dir, "{}.amudai.shard"), o)
	require.ErrorIs(t, err, os.ErrExist)
}

// Parts of a size have the rows one after the other, stripes whole that fit, and little more data than they may.
func TestSplitBytes(t *testing.T) {
	t.Parallel() // it waits for disks
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	random := rand.New(rand.NewPCG(1, 2))
	const rows = 4000
	for i := range rows {
		text := make([]byte, 40)
		if i%1000 > 900 { // rows differ much in size
			text = make([]byte, 2000)
		}
		for k := range text {
			text[k] = byte(' ' + random.IntN(95))
		}
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.StringBuilder).Append(string(text))
	}
	batch := b.NewRecordBatch()
	defer batch.Release()
	for _, stripe := range []int64{100, 1000} {
		dir := t.TempDir()
		location := filepath.Join(dir, "x.amudai.shard")
		w, err := shard.Create(t.Context(), location, s, shard.WriterOptions{StripeRows: stripe, Layout: shard.TwoLevel})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), batch))
		require.NoError(t, w.Close(t.Context()))
		for _, size := range []int64{30_000, 300_000, 1 << 40} {
			pattern := filepath.Join(t.TempDir(), "{}.amudai.shard")
			o := shard.SplitOptions{Bytes: size, EditOptions: shard.EditOptions{DryRun: true, Open: allowing(t, dir)}}
			planned, err := shard.Split(t.Context(), location, pattern, o)
			require.NoError(t, err)
			o.DryRun = false
			parts, err := shard.Split(t.Context(), location, pattern, o)
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(parts), len(planned))
			got, all := []int64{}, int64(0)
			for i, p := range parts {
				require.LessOrEqual(t, p.Bytes, size+size/4)
				if i > 0 && p.Referred > 0 && parts[i-1].Referred > 0 && stripe == 100 {
					require.Greater(t, p.Bytes+parts[i-1].Bytes, size, "no parts that fit into one")
				}
				all += p.Bytes
				requireClean(t, p.Location, allowing(t, dir))
				got = append(got, shownIDsOf(t, p.Location, allowing(t, dir), filter.Expr{})...)
			}
			require.Equal(t, shownIDs(t, location, filter.Expr{}), got)
			require.Greater(t, all, int64(500_000))
			if size == 1<<40 {
				require.Len(t, parts, 1)
				require.Equal(t, rows/int(stripe), parts[0].Referred)
			}
		}
	}
}

// Values of all kinds give parts names of their own, also where case does not count, and none leads elsewhere.
func TestSplitOddValues(t *testing.T) {
	long := strings.Repeat("long ", 100)
	names := map[string]string{
		"": "_", "null": "_null", "_": "__", "Red": "Red", "red": "red~2", "RED": "RED~3", "red~2": "red~2~2", "a/b": "a%2Fb", "../x": "%2E%2E%2Fx", "..": "%2E%2E", `c:\d`: "c%3A%5Cd",
		"{}": "%7B%7D", "%2F": "%252F", long + "1": url.PathEscape(long[:60]), long + "2": url.PathEscape(long[:60]) + "~2", "ä\x00\n": "%C3%A4%00%0A", "*?": "%2A%3F",
	}
	values := slices.Sorted(maps.Keys(names))
	for _, later := range []string{"red", "red~2", "RED", long + "2"} { // in the order of the rows
		values = append(slices.DeleteFunc(values, func(v string) bool { return v == later }), later)
	}
	values[len(values)-3], values[len(values)-2] = values[len(values)-2], values[len(values)-3] // RED before red~2
	s := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range 3 * (len(values) + 1) {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if k := i % (len(values) + 1); k == len(values) {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(values[k])
		}
	}
	dir := t.TempDir()
	location := filepath.Join(dir, "x.amudai.shard")
	w, err := shard.Create(t.Context(), location, s, shard.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), b.NewRecordBatch()))
	require.NoError(t, w.Close(t.Context()))
	parts, err := shard.Split(t.Context(), location, filepath.Join(dir, "part-{}.shard"), shard.SplitOptions{By: "text"})
	require.NoError(t, err)
	require.Len(t, parts, len(values)+1)
	require.Len(t, dirNames(t, dir), len(parts)+1)
	for _, v := range values {
		part := filepath.Join(dir, "part-"+names[v]+".shard")
		require.FileExists(t, part)
		require.Equal(t, shownIDs(t, location, filter.Eq(filter.Col("text"), v)), shownIDs(t, part, filter.Expr{}), "%q", v)
	}
	require.Equal(t, shownIDs(t, location, filter.IsNull(filter.Col("text"))), shownIDs(t, filepath.Join(dir, "part-null.shard"), filter.Expr{}))
}

// What is there already is found before anything is written, and a part never replaces the shard.
func TestSplitBesideOthers(t *testing.T) {
	location := editable(t, 1000, shard.WriterOptions{StripeRows: 300})
	dir := filepath.Dir(location)
	pattern := filepath.Join(dir, "p-{}.shard")
	for name, o := range map[string]shard.SplitOptions{"p-0003.shard": {Rows: 250}, "p-0001.shard": {Bytes: 500}, "p-red.shard": {By: "text"}} {
		there := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(there, []byte("mine"), 0o666))
		before := dirNames(t, dir)
		parts, err := shard.Split(t.Context(), location, pattern, o)
		require.ErrorIs(t, err, os.ErrExist, name)
		require.Empty(t, parts)
		require.Equal(t, before, dirNames(t, dir))
		require.NoError(t, os.Remove(there))
	}
	red := filepath.Join(dir, "red.shard")
	require.NoError(t, os.Rename(location, red))
	_, err := shard.Split(t.Context(), red, filepath.Join(dir, "{}.shard"), shard.SplitOptions{By: "text", Overwrite: true})
	require.ErrorContains(t, err, "would replace the shard")
	require.Equal(t, []string{"red.shard"}, dirNames(t, dir))
}
