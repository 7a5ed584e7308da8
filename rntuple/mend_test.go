package rntuple

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/engine/take"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
	"github.com/amudai/amudai-go/rntuple/internal/rootfile"
	"github.com/amudai/amudai-go/storage"
	"github.com/amudai/amudai-go/table/provider"
)

func rootFile(ctx context.Context, file []byte) (*rootfile.File, error) {
	return rootfile.Open(ctx, storage.FromBytes("x", file))
}

// envelopes are where the metadata of an uncompressed file of one ntuple lies.
type envelopes struct {
	anchor         int64
	header, footer envelope.Link
	lists          []envelope.Link
	pages          []envelope.Page
	anchorSize     int64
}

func findEnvelopes(t testing.TB, file []byte) (e envelopes) {
	f, err := rootFile(t.Context(), file)
	require.NoError(t, err)
	object, err := f.FindNTuple("")
	require.NoError(t, err)
	n := openBytes(t, file, Options{})
	require.NoError(t, n.Load(t.Context()))
	a := n.Anchor()
	e.anchor, e.anchorSize = object.Key.Offset+object.Key.HeaderSize, object.Key.Size-object.Key.HeaderSize
	e.header, e.footer = a.Header, a.Footer
	for _, g := range n.Footer().Groups {
		e.lists = append(e.lists, g.PageList)
	}
	for i := range n.Clusters() {
		c := &n.Clusters()[i]
		for id := range c.Columns {
			e.pages = append(e.pages, c.Pages(uint32(id))...)
		}
	}
	for _, l := range append([]envelope.Link{e.header, e.footer}, e.lists...) {
		require.Equal(t, l.Size, l.Length, "the file is compressed")
	}
	return e
}

// mend makes all checksums right again: those of the pages, of the header, which the others repeat, of the footer,
// of the page lists, and of the anchor.
func (e envelopes) mend(file []byte) {
	seal := func(l envelope.Link) uint64 {
		b := file[l.Offset : l.Offset+l.Size]
		sum := xxh3.Hash(b[:len(b)-8])
		binary.LittleEndian.PutUint64(b[len(b)-8:], sum)
		return sum
	}
	for _, p := range e.pages {
		if p.Checksum {
			binary.LittleEndian.PutUint64(file[p.End():], xxh3.Hash(file[p.Offset:p.End()]))
		}
	}
	header := seal(e.header)
	binary.LittleEndian.PutUint64(file[e.footer.Offset+16:], header)
	seal(e.footer)
	for _, l := range e.lists {
		binary.LittleEndian.PutUint64(file[l.Offset+8:], header)
		seal(l)
	}
	anchor := file[e.anchor : e.anchor+e.anchorSize]
	end := len(anchor) - 8
	binary.BigEndian.PutUint64(anchor[end:], xxh3.Hash(anchor[6:end]))
}

// ranges are the bytes that checksums protect.
func (e envelopes) ranges() (all [][2]int64) {
	all = append(all, [2]int64{e.anchor, e.anchor + e.anchorSize - 8})
	for _, l := range append([]envelope.Link{e.header, e.footer}, e.lists...) {
		all = append(all, [2]int64{int64(l.Offset), int64(l.End()) - 8})
	}
	for _, p := range e.pages {
		all = append(all, [2]int64{int64(p.Offset), int64(p.End())})
	}
	return all
}

// mostMemory is what reading a few batches of a small file may allocate in all: batches of zeros, mostly.
const mostMemory = 256 << 20

// hostile reads what it can of a file: values, single entries, the check of all. Nothing may take much memory, or
// panic. Errors are fine.
func hostile(t testing.TB, file []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if c, err := readContent(ctx, file, "", 3); err == nil {
		c.release()
	}
	n, err := open(ctx, file, "", Options{VariantsAsStructs: true})
	if err == nil && n.NumRows() > 0 {
		rows := n.NumRows()
		if b, err := n.take(ctx, []int64{rows - 1, 0, rows / 2}, take.Options{MemoryLimit: 16 << 20}); err == nil {
			b.Release()
		}
	}
	_, _ = verifyBytes(ctx, file)
	require.NoError(t, ctx.Err(), "it takes too long")
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(mostMemory))
}

var hostileFiles = []string{"plain.root", "column_zoo.root", "uproot_nested_3clusters_none.root"}

// Numbers of all kinds in all places, under right checksums, cause no panic and take bounded memory.
func TestHostileNumbers(t *testing.T) {
	for name, file := range selection(t, hostileFiles...) {
		t.Run(name, func(t *testing.T) {
			e := findEnvelopes(t, file)
			damaged := bytes.Clone(file)
			e.mend(damaged)
			require.Equal(t, file, damaged, "mending changes a sound file")
			k := 0
			for _, r := range e.ranges() {
				for at := r[0]; at+8 <= r[1]; at++ {
					for _, v := range []uint64{0, 1, 1 << 31, 1<<32 - 1, 1 << 55, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0xfeffffec} {
						for _, width := range []int{1, 2, 4, 8} {
							if k++; k%sweep.Count(1009, 61) != 0 || width < 8 && v>>(8*width) != 0 && v+1 != 0 {
								continue
							}
							copy(damaged, file)
							var b [8]byte
							binary.LittleEndian.PutUint64(b[:], v)
							copy(damaged[at:], b[:width])
							e.mend(damaged)
							hostile(t, damaged)
						}
					}
				}
			}
		})
	}
}

// Several random changes at once do not, either.
func TestHostileChanges(t *testing.T) {
	for name, file := range selection(t, hostileFiles...) {
		t.Run(name, func(t *testing.T) {
			e := findEnvelopes(t, file)
			ranges := e.ranges()
			for seed := range sweep.Count(60, 3000) {
				r := rand.New(rand.NewPCG(uint64(seed), 7))
				damaged := bytes.Clone(file)
				for range 1 + r.IntN(4) {
					at := ranges[r.IntN(len(ranges))]
					if at[1] > at[0] {
						damaged[at[0]+r.Int64N(at[1]-at[0])] = byte(r.IntN(256))
					}
				}
				e.mend(damaged)
				hostile(t, damaged)
			}
		})
	}
}

// FuzzMended changes bytes of a file and mends its checksums.
func FuzzMended(f *testing.F) {
	file := selection(f, "column_zoo.root")["column_zoo.root"]
	e := findEnvelopes(f, file)
	f.Add([]byte{0, 1, 2, 3})
	for i, r := range e.ranges()[:3] {
		f.Add(binary.LittleEndian.AppendUint32(nil, uint32(r[0])+uint32(16+i)))
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		damaged := bytes.Clone(file)
		for ; len(changes) >= 3; changes = changes[3:] { // a place, and what to put there
			at := int(binary.LittleEndian.Uint16(changes)) % len(damaged)
			damaged[at] = changes[2]
		}
		e.mend(damaged)
		hostile(t, damaged)
	})
}

// FuzzFile reads any bytes.
func FuzzFile(f *testing.F) {
	for _, file := range selection(f, smallFiles...) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		hostile(t, file)
		_, _ = New(FormatOptions{}).Inspect(t.Context(), inputOf(file), provider.InspectOptions{Detail: 3})
	})
}
