package shard_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
	"github.com/amudai/amudai-go/shard/internal/shardfile"
	"github.com/amudai/amudai-go/table/provider"
)

const exchangeRows = 9000 // of a stripe: two blocks of numbers

// exchangeBatch has values whose encoded sizes depend on their types alone, so that parts of stripes fit into each other's places.
func exchangeBatch(seed uint64) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(seed, 1))
	s := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "code", Type: arrow.BinaryTypes.String},
		{Name: "list", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}, {Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for stripe := range 3 {
		for row := range exchangeRows {
			b.Field(0).(*array.Int64Builder).Append(int64(seed)<<32 + int64(stripe*exchangeRows+row))
			if n := b.Field(1).(*array.Int64Builder); row%2 == 0 {
				n.Append(int64(r.Uint64()))
			} else {
				n.AppendNull()
			}
			b.Field(2).(*array.StringBuilder).Append(fmt.Sprintf("%016x", r.Uint64()))
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("code %d of %d in %d", row%16, stripe, seed))
			l := b.Field(4).(*array.ListBuilder)
			l.Append(true)
			l.ValueBuilder().(*array.Int32Builder).Append(int32(r.Uint32()))
			b.Field(5).(*array.BooleanBuilder).Append(r.IntN(2) == 0)
		}
	}
	return b.NewRecordBatch()
}

// exchangeShard writes a shard of three stripes, and returns its files by location.
func exchangeShard(t *testing.T, seed uint64, o shard.WriterOptions) map[string][]byte {
	batch := exchangeBatch(seed)
	defer batch.Release()
	o.StripeRows, o.CreationTime = exchangeRows, Created
	return NewKind(t, "exchange", batch, o).Files
}

// answers are what a shard answers to questions of all kinds, errors included.
func answers(t *testing.T, files map[string][]byte) (all []string, failed int) {
	ctx := t.Context()
	add := func(v any, err error) {
		if err != nil {
			require.True(t, isFault(err), "%v", err)
			v = "error"
			failed++
		}
		all = append(all, fmt.Sprint(v))
	}
	s, err := shard.Open(ctx, Location, shard.OpenOptions{Store: Files(files)})
	if err != nil {
		add(nil, err)
		return all, failed
	}
	defer s.Close()
	parse := func(where string) filter.Expr {
		e, err := filter.Parse(where)
		require.NoError(t, err)
		return e
	}
	scan := func(o shard.ScanOptions) (digest string, err error) {
		for batch, err := range s.Scan(ctx, o) {
			if err != nil {
				return "", err
			}
			digest += digestOf(batch)
		}
		return digest, nil
	}
	format := shard.New(shard.FormatOptions{Open: shard.OpenOptions{Store: Files(files)}})
	for _, f := range []string{"id", "n", "text", "code", "list", "list.item", "bool"} {
		add(scan(shard.ScanOptions{Columns: []string{f}}))
		st, err := format.Statistics(ctx, provider.Input{Name: Location, Location: Location}, []string{f})
		add(fmt.Sprintf("%+v", st), err)
	}
	for _, where := range []string{"id between 9400 and 9420", "n > 0", "text < '4'", "code = 'code 3 of 1 in 1'", "bool"} {
		e := parse(where)
		add(s.Count(ctx, e))
		add(scan(shard.ScanOptions{Filter: e}))
	}
	file, err := shardfile.Open(ctx, Location, shardfile.OpenOptions{Store: Files(files)})
	require.NoError(t, err)
	defer file.Close()
	schema, err := file.Schema(ctx)
	require.NoError(t, err)
	for id := range schema.IDCount() { // those of items of lists, too, which have no statistics of a column
		add(file.FieldDescriptor(ctx, id))
	}
	taken, err := s.Take(ctx, []int64{5, 9005, 17_999, 18_005, 26_999}, shard.TakeOptions{})
	if err != nil {
		add(nil, err)
	} else {
		add(digestOf(taken), nil)
	}
	return all, failed
}

func digestOf(batch arrow.RecordBatch) (digest string) {
	for _, c := range batch.Columns() {
		digest += columnDigest([]arrow.Array{c})
	}
	return digest
}

// requireFound requires that each question has its old answer or an error, at least one an error, and that verify finds the exchange. Scans
// ignore a range index that is not as expected.
func requireFound(t *testing.T, want []string, files map[string][]byte, what string) {
	t.Helper()
	got, failed := answers(t, files)
	if !strings.Contains(what, "RANGE_INDEX") {
		require.NotZero(t, failed, what)
	}
	for i := range got {
		require.Contains(t, []string{want[i], "error"}, got[i], what)
	}
	open := shard.OpenOptions{Store: Files(files)}
	for _, quick := range []bool{true, false} {
		if !quick && !sweep.All() { // it searches for flipped bits, for seconds
			break
		}
		report, err := shard.Verify(t.Context(), Location, open, provider.VerifyOptions{Quick: quick})
		require.NoError(t, err, what)
		require.False(t, report.OK(), "%s, quick %v", what, quick)
	}
}

func editions() []shard.WriterOptions {
	return []shard.WriterOptions{{Edition: shard.EditionReference}, {Edition: shard.Edition2026}}
}

// TestExchangedFiles exchanges stripe files of a shard, and puts those of another shard of the same schema in their places.
func TestExchangedFiles(t *testing.T) {
	for _, o := range editions() {
		o.Layout = shard.TwoLevel
		files, others := exchangeShard(t, 0, o), exchangeShard(t, 1, o)
		want, failed := answers(t, files)
		require.Zero(t, failed)
		stripes := stripeFiles(files)
		require.Len(t, stripes, 3)
		for i := 0; i < len(stripes); i += sweep.Step(3) {
			what := fmt.Sprintf("%v: stripe file %d", o.Edition, i)
			changed := maps.Clone(files)
			changed[stripes[i]], changed[stripes[(i+1)%3]] = files[stripes[(i+1)%3]], files[stripes[i]]
			requireFound(t, want, changed, what+" and the next one")
			changed = maps.Clone(files)
			changed[stripes[i]] = others[stripeFiles(others)[i]]
			requireFound(t, want, changed, what+" of another shard")
		}
	}
}

// stripeFiles are the locations of all files but the root.
func stripeFiles(files map[string][]byte) (stripes []string) {
	for location := range files {
		if location != Location {
			stripes = append(stripes, location)
		}
	}
	slices.Sort(stripes)
	return stripes
}

// TestExchangedParts exchanges messages, blocks, dictionaries and range indexes of equal size in one file: within a stripe, between stripes,
// and with another shard of the same schema. Each is valid by itself.
func TestExchangedParts(t *testing.T) {
	for _, o := range editions() {
		root := exchangeShard(t, 0, o)[Location]
		other := exchangeShard(t, 1, o)[Location]
		want, failed := answers(t, map[string][]byte{Location: root})
		require.Zero(t, failed)
		kinds := map[Check]int{}
		n := 0
		try := func(a Region, with []byte, b Region, what string) {
			if n++; kinds[a.Check] >= 3 && n%sweep.Step(37) != 0 {
				return
			}
			changed := bytes.Clone(root)
			place(changed, a, with, b)
			if what == "exchanged" {
				place(changed, b, root, a)
			}
			if bytes.Equal(changed, root) {
				return
			}
			kinds[a.Check]++
			requireFound(t, want, map[string][]byte{Location: changed}, fmt.Sprintf("%v: %s %s and %s", o.Edition, what, a.Element, b.Element))
		}
		regions := exchangeable(root)
		for i, a := range regions {
			for _, b := range regions[i+1:] {
				if sameShape(a, b) {
					try(a, root, b, "exchanged")
				}
			}
			for _, b := range exchangeable(other) {
				if sameShape(a, b) {
					try(a, other, b, "of another shard")
				}
			}
		}
		require.NotZero(t, kinds[Message], "%v", kinds)
		require.NotZero(t, kinds[Block], "%v", kinds)
		t.Log(o.Edition, n, kinds)
	}
}

// exchangeable are the parts with a checksum of their own.
func exchangeable(root []byte) []Region {
	return slices.DeleteFunc(Regions(root), func(r Region) bool {
		return r.Check != Message && r.Check != Block && r.Check != RangeIndex || r.Sum < 0 || r.Element == "directory"
	})
}

func sameShape(a, b Region) bool {
	return a.Check == b.Check && a.End-a.Start == b.End-b.Start && a.Sum-a.Start == b.Sum-b.Start
}

// place puts part b of from, with its checksum, where part a is.
func place(root []byte, a Region, from []byte, b Region) {
	copy(root[a.Start:a.End], from[b.Start:b.End])
	copy(root[a.Sum:a.Sum+4], from[b.Sum:b.Sum+4])
}
