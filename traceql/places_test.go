package traceql_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/blockpack"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/traceql"
)

var structural = []string{">", ">>", "<", "<<", "~", "!>", "!>>", "!<", "!<<", "!~", "&>", "&>>", "&<", "&<<", "&~"}

// manySpans are traces of up to 60 spans: trees with several roots and missing parents, and now and then circles and calls with one id.
func manySpans(r *rand.Rand) (list []span) {
	for trace := byte(1); trace <= 8; trace++ {
		n := 1 + r.IntN(60)
		for id := range n {
			s := span{trace: trace, id: byte(id + 1), name: pick(r, words...), kind: int64(r.IntN(6)), start: int64(100 + r.IntN(1000)), service: pick(r, "a", "b", "c")}
			s.end = s.start + int64(r.IntN(50))
			switch r.IntN(12) {
			case 0: // a root
			case 1:
				s.parent = byte(200 + r.IntN(3))
			default:
				if s.parent = byte(r.IntN(id + 1)); trace%4 == 0 {
					s.parent = byte(r.IntN(n + 1))
				}
			}
			if trace%4 == 1 && r.IntN(20) == 0 { // both sides of a call
				server := s
				s.kind, server.kind, server.name = 3, 2, pick(r, words...)
				list = append(list, server)
			}
			list = append(list, s)
		}
	}
	return list
}

// Structural operators on Blockpack files, of whose traces only the spans that match are read, give the results of whole traces.
func TestStructureByPlaces(t *testing.T) {
	few := *traceql.FewTraces
	*traceql.FewTraces = 0
	defer func() { *traceql.FewTraces = few }()
	var read [2]int64 // of the file, and of the table
	for seed := range uint64(sweep.Count(20, 300)) {
		r := rand.New(rand.NewPCG(seed, 17))
		list := manySpans(r)
		file := blockpackOf(t, list, blockpack.WriterOptions{BlockSpans: 1 + r.IntN(50)})
		plain := tableOfSpans(t, 1+r.IntN(99), list)
		set := func() string {
			return pick(r, fmt.Sprintf("{ name = %q }", pick(r, words...)), fmt.Sprintf("{ resource.service.name = %q }", pick(r, "a", "b")), fmt.Sprintf("{ kind = %s }", pick(r, "server", "client")))
		}
		for _, op := range structural {
			query := set() + op + set()
			if r.IntN(2) == 0 {
				query = fmt.Sprintf("(%s) %s %s | select(span:parentID) | count() > %d", query, pick(r, structural...), set(), r.IntN(3))
			}
			o := traceql.Options{Spans: r.IntN(3)}
			require.Equal(t, results(t, query, o, plain), results(t, query, o, file), "seed %d: %s", seed, query)
			q, err := traceql.Parse(query)
			require.NoError(t, err)
			for k, src := range []traceql.Source{file, plain} {
				e, err := traceql.Analyze(t.Context(), q, []traceql.Source{src}, o)
				require.NoError(t, err)
				read[k] += e.Run.Spans
			}
		}
	}
	require.Less(t, read[0], read[1]*4/5, "spans that were read")
}

// failing is a file of which some read fails.
type failing struct {
	io.ReaderAt
	left int
}

var errRead = errors.New("the disk has a fault")

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	if f.left--; f.left == 0 {
		return 0, errRead
	}
	return f.ReaderAt.ReadAt(p, at)
}

// Each read of a search fails once: the search does. A file that is damaged anywhere in what it says of traces gives an error or some result.
func TestStructureFaults(t *testing.T) {
	few := *traceql.FewTraces
	*traceql.FewTraces = 0
	defer func() { *traceql.FewTraces = few }()
	var out bytes.Buffer
	w, err := blockpack.NewWriter(t.Context(), &out, blockpack.WriterOptions{BlockSpans: 40})
	require.NoError(t, err)
	for _, s := range manySpans(rand.New(rand.NewPCG(1, 18))) {
		require.NoError(t, w.WriteOTLP(t.Context(), s.otlp()))
	}
	require.NoError(t, w.Close(t.Context()))
	q, err := traceql.Parse(`{ resource.service.name = "a" } >> { resource.service.name = "b" }`)
	require.NoError(t, err)
	search := func(r io.ReaderAt) (found []string, err error) {
		f, err := blockpack.OpenReaderAt(t.Context(), "spans", r, int64(out.Len()), blockpack.Options{SuffixBytes: 64})
		if err != nil {
			return nil, err
		}
		defer f.Close()
		src, err := traceql.BlockpackSource(t.Context(), f)
		if err != nil {
			return nil, err
		}
		for trace, err := range traceql.Search(t.Context(), q, []traceql.Source{src}, traceql.Options{}) {
			if err != nil {
				return nil, err
			}
			found = append(found, fmt.Sprintf("%+v", *trace))
		}
		return found, nil
	}
	want, err := search(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.NotEmpty(t, want)
	faults := 0
	for ; ; faults++ {
		r := &failing{bytes.NewReader(out.Bytes()), faults + 1}
		got, err := search(r)
		if r.left > 0 {
			require.NoError(t, err)
			require.Equal(t, want, got)
			break
		}
		require.ErrorIs(t, err, errRead, "read %d", faults)
	}
	require.Greater(t, faults, 10)

	from := bytes.LastIndex(out.Bytes(), []byte("tree:above")) - 64
	damaged := 0
	for i := from; i < out.Len(); i += sweep.Step(5) {
		changed := slices.Clone(out.Bytes())
		changed[i] ^= 0xff
		if _, err := search(bytes.NewReader(changed)); err != nil {
			damaged++
			require.ErrorContains(t, err, "spans", "byte %d", i)
		}
	}
	require.NotZero(t, damaged)
}
