package shard

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

// logLines is a batch of lines of a log, with tags and a struct.
func logLines(rows int) arrow.RecordBatch {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "line", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.LargeString), Nullable: true},
		{Name: "user", Type: arrow.StructOf(arrow.Field{Name: "name", Type: arrow.BinaryTypes.StringView, Nullable: true}, arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int64}), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	line, tags, user := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.ListBuilder), b.Field(2).(*array.StructBuilder)
	for i := range rows {
		level := "info"
		if i%500 == 0 {
			level = "FAILED"
		}
		if i%101 == 100 {
			line.AppendNull()
			tags.AppendNull()
			user.AppendNull()
			continue
		}
		line.Append(fmt.Sprintf("%06d %s: block blk_%d from 10.0.%d.%d, Straße %d", i, level, i*7919, i/256%256, i%256, i%50))
		tags.Append(true)
		for k := range i % 3 {
			tags.ValueBuilder().(*array.LargeStringBuilder).Append(fmt.Sprintf("tag-%d", i%7+k))
		}
		user.Append(true)
		user.FieldBuilder(0).(*array.StringViewBuilder).Append(fmt.Sprintf("user %d of a group with a long name", i%900))
		user.FieldBuilder(1).(*array.Int64Builder).Append(int64(i))
	}
	return b.NewRecordBatch()
}

func writeLines(t testing.TB, location string, rows int, o WriterOptions) {
	batch := logLines(rows)
	defer batch.Release()
	w, err := Create(t.Context(), location, batch.Schema(), o)
	require.NoError(t, err)
	require.NoError(t, w.Write(t.Context(), batch))
	require.NoError(t, w.Close(t.Context()))
}

var termQuestions = []string{
	"has(line, 'failed')", "line has '10.0.7.9'", "has_prefix(line, 'blk_79')", "has_fuzzy(line, 'fialed~')", "not has_fuzzy(line, 'inof~2')", "line contains '123 info: block'", "not has(line, 'info')",
	"line has_any ('000123', '000999')", "has_all(line, 'straße', '17')", "has_phrase(line, 'failed block')", "not line has 'blk_7919'",
	"line = '000007 info: block blk_55433 from 10.0.0.7, Straße 7'", "line starts with '0000'", "line like '%FAILED: block blk\\_39595000%'",
	"line matches 'from 10[.]0[.]3[.]9,'", "line in ('x', '000007 info: block blk_55433 from 10.0.0.7, Straße 7')",
	"has(user.name, '77')", "user.name has 'user 77' and line has 'failed'", "has(line, 'failed') or has(user.name, '5')", "has(line, 'nothing')",
}

// rowsWhere returns the rows of a scan, which are the same over a network.
func rowsWhere(t testing.TB, location, where string, o OpenOptions, disable Sources) (rows []RowRange, unusable []string) {
	s, err := Open(t.Context(), location, o)
	require.NoError(t, err)
	defer s.Close()
	e, err := filter.Parse(where)
	require.NoError(t, err)
	so := ScanOptions{Filter: e, Disable: disable, Columns: []string{}}
	scanned := func(so ScanOptions) (rows []RowRange) {
		for b, err := range s.Scan(t.Context(), so) {
			require.NoError(t, err)
			rows = append(rows, b.RowRanges()...)
		}
		return rows
	}
	rows = scanned(so)
	far := so
	far.FetchGap = 1 << 20
	require.Equal(t, joined(rows), joined(scanned(far)), where)
	x, err := s.explain(t.Context(), so)
	require.NoError(t, err)
	for _, st := range x.Stripes {
		for _, step := range st.Steps {
			if step.Source == Indexes && strings.Contains(step.Note, "not used") {
				unusable = append(unusable, step.Note)
			}
		}
	}
	return rows, unusable
}

// joined joins ranges of rows that follow one another.
func joined(rows []RowRange) (out []RowRange) {
	for _, r := range rows {
		if k := len(out) - 1; k >= 0 && out[k].To == r.From {
			out[k].To = r.To
		} else {
			out = append(out, r)
		}
	}
	return out
}

func requireSound(t testing.TB, location string) {
	rep, err := Verify(t.Context(), location, OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.True(t, rep.OK(), "%v", rep.Problems)
	require.Zero(t, rep.Unchecked, "%v", rep.Notes)
}

var lineIndexes = []IndexDefinition{
	{Columns: []string{"line", "user.name"}},
	{Columns: []string{"tags"}, Properties: []Property{{Name: "tokenizers", Value: []any{"trivial"}}}},
	{Columns: []string{"line"}, Properties: []Property{{Name: "coarse", Value: 64}, {Name: "collation", Value: "unicode-case-preserving"}}},
}

// Filters have the same rows with an index as without, whether it was built with the shard or added later.
func TestIndexAnswers(t *testing.T) { requireSameAnswers(t, lineIndexes) }

// stripeIndexes are indexes of each stripe, and one of the whole shard.
var stripeIndexes = []IndexDefinition{
	{Columns: []string{"line"}, PerStripe: true}, {Columns: []string{"user.name"}},
	{Columns: []string{"tags", "line"}, PerStripe: true, Properties: []Property{{Name: "coarse", Value: 16}}},
}

func TestStripeIndexAnswers(t *testing.T) { requireSameAnswers(t, stripeIndexes) }

// Indexes of stripes are built anew and dropped as those of the shard are, and are kept when stripes are saved.
func TestStripeIndexLife(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 700, WriterOptions{StripeRows: 300, Indexes: stripeIndexes})
	list := func(location string) []Index {
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		list, err := s.Indexes(t.Context())
		require.NoError(t, err)
		urls, err := s.file.URLs(t.Context())
		require.NoError(t, err)
		for _, x := range list {
			require.NoError(t, x.Err)
			for _, file := range x.Files {
				require.Contains(t, urls, filepath.Base(file))
			}
		}
		return list
	}
	require.Len(t, list(location), 7)
	require.NoError(t, os.Link(location, location+".begun"))
	want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{}, Indexes)
	rebuilt, err := RebuildIndex(t.Context(), location, EditOptions{}, func(x Index) bool { return x.Stripe == 1 || x.Stripe < 0 })
	require.NoError(t, err)
	require.Equal(t, 3, rebuilt)
	require.Len(t, list(location), 7)
	requireAnswers(t, location, want)

	saved := location + ".saved"
	rep, err := Recover(t.Context(), location, saved, RecoverOptions{})
	require.NoError(t, err)
	require.Equal(t, 7, rep.Indexes)
	require.Len(t, list(saved), 7)
	requireAnswers(t, saved, want)

	// Of a file that was cut, recover saves the stripes before the end.
	whole, err := os.ReadFile(location + ".begun")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(location+".cut", whole[:len(whole)*9/10], 0o600))
	rep, err = Recover(t.Context(), location+".cut", saved+".cut", RecoverOptions{})
	require.NoError(t, err)
	require.Equal(t, int64(600), rep.Rows)

	dropped, err := DropIndex(t.Context(), location, EditOptions{}, func(x Index) bool { return x.Stripe >= 0 && x.Columns[0] == "line" })
	require.NoError(t, err)
	require.Equal(t, 3, dropped)
	require.Len(t, list(location), 4)
	requireAnswers(t, location, want)
}

// requireSameAnswers asks all questions of shards with indexes, which were built with the shard or added later.
func requireSameAnswers(t *testing.T, indexes []IndexDefinition) {
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		for _, later := range []bool{false, true} {
			t.Run(fmt.Sprint(layout, later), func(t *testing.T) {
				location := filepath.Join(t.TempDir(), "x.shard")
				o := WriterOptions{Layout: layout, StripeRows: 1500}
				if !later {
					o.Indexes = indexes
				}
				writeLines(t, location, 2500, o)
				if later {
					require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, indexes...))
				}
				requireSound(t, location)
				for _, where := range termQuestions {
					want, _ := rowsWhere(t, location, where, OpenOptions{}, Indexes)
					got, unusable := rowsWhere(t, location, where, OpenOptions{}, 0)
					require.Equal(t, want, got, where)
					require.Empty(t, unusable, where)
				}
			})
		}
	}
}

// An index answers by itself what it has exactly.
func TestIndexDecides(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 20_000, WriterOptions{Indexes: lineIndexes[:1]})
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	for where, exact := range map[string]bool{"has(line, 'failed')": true, "has_prefix(line, '0000')": true, "has_fuzzy(line, 'fialed~')": true, "line has 'blk_79190'": false} {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		x, err := s.explain(t.Context(), ScanOptions{Filter: e})
		require.NoError(t, err)
		asked := x.Stripes[0].Steps[0]
		require.Equal(t, Indexes, asked.Source)
		require.Less(t, asked.Left, int64(200))
		require.Equal(t, exact, asked.Sure == asked.Left, where)
	}
}

// Indexes are added, listed, built anew and dropped one after the other. The data stay in their file.
func TestIndexLife(t *testing.T) {
	dir := t.TempDir()
	location := filepath.Join(dir, "x.shard")
	writeLines(t, location, 5000, WriterOptions{Properties: []Property{{Name: "k", Value: "v"}}})
	before, err := os.ReadFile(location)
	require.NoError(t, err)
	list := func() []Index {
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		p, err := s.Properties(t.Context())
		require.NoError(t, err)
		v, _ := p.Get("k")
		require.Equal(t, "v", v)
		all, err := s.Indexes(t.Context())
		require.NoError(t, err)
		return all
	}
	for i, d := range lineIndexes {
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, d))
		all := list()
		require.Len(t, all, i+1)
		require.Equal(t, d.Columns, all[i].Columns)
		require.NoError(t, all[i].Err)
		require.Positive(t, all[i].Size)
	}
	data, err := filepath.Glob(filepath.Join(dir, "*.amudai.data"))
	require.NoError(t, err)
	require.Len(t, data, 1)
	after, err := os.ReadFile(data[0])
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))

	onLine := func(x Index) bool { return x.Columns[0] == "line" }
	n, err := RebuildIndex(t.Context(), location, EditOptions{}, onLine)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Len(t, list(), 3)
	requireSound(t, location)
	n, err = DropIndex(t.Context(), location, EditOptions{}, onLine)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Len(t, list(), 1)
	_, err = DropIndex(t.Context(), location, EditOptions{}, onLine)
	require.Error(t, err)
	require.Len(t, list(), 1)
	requireSound(t, location)
}

// What cannot be indexed is an error, and changes nothing.
func TestIndexErrors(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 100, WriterOptions{})
	before, err := os.ReadFile(location)
	require.NoError(t, err)
	for text, d := range map[string]IndexDefinition{
		"needs a column": {}, "there is no column": {Columns: []string{"lin"}}, "of strings": {Columns: []string{"user.id"}}, "of the type": {Type: "x", Columns: []string{"line"}},
		"tokenizers": {Columns: []string{"line"}, Properties: []Property{{Name: "tokenizers", Value: []any{"x"}}}},
	} {
		err := AddIndex(t.Context(), location, EditOptions{}, d)
		require.ErrorContains(t, err, text)
		batch := logLines(1)
		_, err = Create(t.Context(), location+"2", batch.Schema(), WriterOptions{Indexes: []IndexDefinition{d}})
		require.ErrorContains(t, err, text)
		batch.Release()
	}
	after, err := os.ReadFile(location)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// A damaged or missing index makes no answer wrong. It is noted, and a problem for Verify.
func TestDamagedIndex(t *testing.T) {
	dir := t.TempDir()
	location := filepath.Join(dir, "x.shard")
	writeLines(t, location, 3000, WriterOptions{Layout: TwoLevel, Indexes: lineIndexes[:1]})
	files, err := filepath.Glob(filepath.Join(dir, "*.amudai.index"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	whole, err := os.ReadFile(files[0])
	require.NoError(t, err)
	want := map[string][]RowRange{}
	for _, where := range termQuestions[:6] {
		want[where], _ = rowsWhere(t, location, where, OpenOptions{}, Indexes)
	}
	noted := 0
	check := func(inHeader bool) {
		for where, rows := range want {
			got, unusable := rowsWhere(t, location, where, OpenOptions{}, 0)
			require.Equal(t, rows, got, where)
			noted += len(unusable)
		}
		rep, err := Verify(t.Context(), location, OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.False(t, rep.OK() && len(rep.Notes) == 0)
		s, err := Open(t.Context(), location, OpenOptions{})
		require.NoError(t, err)
		defer s.Close()
		all, err := s.CheckIndexes(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.Equal(t, inHeader, all[0].Err == nil) // the header of the file is none of the index
	}
	for i := 0; i < 8*len(whole); i += 8*len(whole)/12 + 1 {
		b := bytes.Clone(whole)
		b[i/8] ^= 1 << (i % 8)
		require.NoError(t, os.WriteFile(files[0], b, 0o666))
		check(i < 64)
	}
	require.NoError(t, os.WriteFile(files[0], whole[:len(whole)/2], 0o666))
	check(false)
	require.NoError(t, os.Remove(files[0]))
	check(false)
	require.Positive(t, noted)
	n, err := RebuildIndex(t.Context(), location, EditOptions{}, func(x Index) bool { return x.Err != nil })
	require.NoError(t, err)
	require.Equal(t, 1, n)
	requireSound(t, location)
}

// An index of other rows is not used, even if they are as many, with the same terms.
func TestStaleIndex(t *testing.T) {
	for _, d := range []IndexDefinition{lineIndexes[0], invertedIndexes[0], {Type: RangeIndex, Columns: []string{"line"}}} {
		requireNotStale(t, d)
	}
}

func requireNotStale(t *testing.T, d IndexDefinition) {
	for _, rows := range []int{2900, 3000} {
		dir := t.TempDir()
		a, b := filepath.Join(dir, "a.shard"), filepath.Join(dir, "b.shard")
		writeLines(t, a, rows, WriterOptions{Layout: TwoLevel, Indexes: []IndexDefinition{d}})
		batch := logLines(3000)
		defer batch.Release()
		w, err := Create(t.Context(), b, batch.Schema(), WriterOptions{Layout: TwoLevel, Indexes: []IndexDefinition{d}})
		require.NoError(t, err)
		for _, part := range [][2]int64{{1000, 3000}, {0, 1000}} { // the same rows in another order
			require.NoError(t, w.Write(t.Context(), batch.NewSlice(part[0], part[1])))
		}
		require.NoError(t, w.Close(t.Context()))
		requireSound(t, b)
		ofA, ofB := indexFiles(t, a), indexFiles(t, b)
		for i, name := range ofB {
			content, err := os.ReadFile(filepath.Join(dir, ofA[i]))
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
		}
		asked := 0
		for _, where := range termQuestions {
			want, _ := rowsWhere(t, b, where, OpenOptions{}, Indexes)
			reported := 0
			got, unusable := rowsWhere(t, b, where, OpenOptions{IndexError: func(error) { reported++ }}, 0)
			require.Equal(t, want, got, where)
			require.Equal(t, len(unusable) > 0, reported > 0, where)
			asked += reported
		}
		require.Positive(t, asked)
		rep, err := Verify(t.Context(), b, OpenOptions{}, provider.VerifyOptions{})
		require.NoError(t, err)
		require.False(t, rep.OK())
	}
}

// indexFiles are the files of the first index of a shard.
func indexFiles(t *testing.T, location string) (names []string) {
	s, err := Open(t.Context(), location, OpenOptions{})
	require.NoError(t, err)
	defer s.Close()
	all, err := s.table.Indexes(t.Context())
	require.NoError(t, err)
	for _, a := range all[0].Descriptor.Artifacts {
		names = append(names, a.DataRef.Url)
	}
	return names
}

// Of two that change a shard at the same time, one fails.
func TestAddIndexConcurrently(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 300, WriterOptions{})
	_, err := DropIndex(t.Context(), location, EditOptions{}, func(Index) bool { return true })
	require.Error(t, err)
	require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, lineIndexes[0]))
	added := int64(1)
	_, err = DropIndex(t.Context(), location, EditOptions{}, func(Index) bool {
		added++
		d := IndexDefinition{Columns: lineIndexes[0].Columns, Properties: []Property{{Name: "coarse", Value: added}}}
		require.NoError(t, AddIndex(t.Context(), location, EditOptions{}, d))
		return true
	})
	require.ErrorIs(t, err, storage.ErrChanged)
	requireSound(t, location)
}

// A store without links gets a copy of the data.
func TestAddIndexWithoutLinks(t *testing.T) {
	store := storage.NewMemory()
	const location = "mem://x/shard"
	writeLines(t, location, 300, WriterOptions{Store: store})
	want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{Store: store}, 0)
	require.NoError(t, AddIndex(t.Context(), location, EditOptions{Open: OpenOptions{Store: onlyStore{store}}}, lineIndexes[0]))
	got, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{Store: store}, 0)
	require.Equal(t, want, got)
	require.Len(t, store.Locations(), 3)
}

// onlyStore hides what else a store can do.
type onlyStore struct{ storage.Store }

// Recover keeps the indexes of a shard that it saves whole, and says that it lost them otherwise.
func TestRecoverIndex(t *testing.T) {
	dir := t.TempDir()
	for _, layout := range []Layout{SingleFile, TwoLevel} {
		location, out := filepath.Join(dir, fmt.Sprint("in", layout)), filepath.Join(dir, fmt.Sprint("out", layout))
		writeLines(t, location, 3000, WriterOptions{StripeRows: 1000, Layout: layout, Indexes: lineIndexes})
		rep, err := Recover(t.Context(), location, out, RecoverOptions{Layout: TwoLevel - layout})
		require.NoError(t, err)
		require.Equal(t, len(lineIndexes), rep.Indexes)
		require.Empty(t, rep.LostIndexes)
		requireSound(t, out)
		want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{}, Indexes)
		got, unusable := rowsWhere(t, out, termQuestions[0], OpenOptions{}, 0)
		require.Equal(t, want, got)
		require.Empty(t, unusable)
	}
	b, err := os.ReadFile(filepath.Join(dir, "inSingleFile"))
	require.NoError(t, err)
	b[len(b)/20] ^= 1 // in the first stripe
	damaged := filepath.Join(dir, "damaged")
	require.NoError(t, os.WriteFile(damaged, b, 0o666))
	rep, err := Recover(t.Context(), damaged, filepath.Join(dir, "saved"), RecoverOptions{})
	require.NoError(t, err)
	require.Equal(t, 2, rep.Saved)
	require.Zero(t, rep.Indexes)
	require.NotEmpty(t, rep.LostIndexes)
	requireSound(t, filepath.Join(dir, "saved"))
}

// A damaged list of indexes is as if there were none.
func TestDamagedListOfIndexes(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 3000, WriterOptions{Layout: TwoLevel, Indexes: lineIndexes[:1]})
	want, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{}, Indexes)
	b, err := os.ReadFile(location)
	require.NoError(t, err)
	at := bytes.LastIndex(b, []byte(TermIndex))
	require.Positive(t, at)
	b[at] ^= 1
	require.NoError(t, os.WriteFile(location, b, 0o666))
	reported := 0
	got, _ := rowsWhere(t, location, termQuestions[0], OpenOptions{IndexError: func(error) { reported++ }}, 0)
	require.Equal(t, want, got)
	require.Positive(t, reported)
	rep, err := Verify(t.Context(), location, OpenOptions{}, provider.VerifyOptions{})
	require.NoError(t, err)
	require.False(t, rep.OK())
}

// Building an index ends with its context.
func TestAddIndexCancelled(t *testing.T) {
	location := filepath.Join(t.TempDir(), "x.shard")
	writeLines(t, location, 3000, WriterOptions{})
	before, err := os.ReadFile(location)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	o := EditOptions{Progress: func(done, total int64) { cancel() }}
	require.ErrorIs(t, AddIndex(ctx, location, o, lineIndexes[0]), context.Canceled)
	after, err := os.ReadFile(location)
	require.NoError(t, err)
	require.Equal(t, before, after)
	files, err := os.ReadDir(filepath.Dir(location))
	require.NoError(t, err)
	require.Len(t, files, 1)
}
