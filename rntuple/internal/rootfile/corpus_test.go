package rootfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/base/advice"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/compress"
	"github.com/amudai/amudai-go/storage"
)

// expected is what a file of the corpus holds, as far as this package knows it.
type expected struct {
	File     string
	RootFile *struct {
		Version, Begin, End, SeekFree, NBytesFree, NFree, NBytesName, Units, Compress, SeekInfo, NBytesInfo int64
		UUID                                                                                                string
		Records                                                                                             [][]any
		NRecords                                                                                            int `json:"n_records"`
		Keys                                                                                                map[string][][]any
	} `json:"root_file"`
	NTuples []expectedNTuple
}

type expectedNTuple struct {
	Path   string
	Class  string
	Length int `json:"anchor_payload_len"`
	Anchor struct {
		ClassVersion uint16 `json:"class_version"`
		Length       int    `json:"payload_len"`
		SeekHeader   uint64 `json:"seek_header"`
		SizeHeader   uint64 `json:"nbytes_header"`
		LenHeader    uint64 `json:"len_header"`
		SeekFooter   uint64 `json:"seek_footer"`
		SizeFooter   uint64 `json:"nbytes_footer"`
		LenFooter    uint64 `json:"len_footer"`
		MaxKey       uint64 `json:"max_key_size"`
	}
	Key struct {
		Offset     int64
		Version    uint16
		ObjLen     int64
		Compressed bool
	} `json:"anchor_key"`
}

func corpus(t testing.TB) string { return filepath.Join(testdata.Shared(t), "corpus", "rntuple") }

// corpusFiles are the paths of all files of the corpus.
func corpusFiles(t testing.TB) []string {
	var all []string
	for _, pattern := range []string{"*.root", "*/*.root", "*/*/*.root"} {
		found, err := filepath.Glob(filepath.Join(corpus(t), pattern))
		require.NoError(t, err)
		all = append(all, found...)
	}
	require.Greater(t, len(all), 90)
	return all
}

func openBytes(t testing.TB, b []byte) *File {
	t.Helper()
	f, err := Open(context.Background(), storage.FromBytes("a.root", b))
	require.NoError(t, err)
	return f
}

func openPath(t testing.TB, path string) *File {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return openBytes(t, b)
}

// Every file has the header, keys and records that its expected contents say.
func TestCorpus(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(corpus(t), "expected", "*.json"))
	require.NoError(t, err)
	require.Greater(t, len(all), 50)
	for _, path := range all {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var want expected
		require.NoError(t, json.Unmarshal(raw, &want))
		t.Run(filepath.Base(path), func(t *testing.T) {
			f := openPath(t, filepath.Join(corpus(t), filepath.FromSlash(want.File)))
			if want.RootFile != nil {
				compareHeader(t, f, want)
				compareKeys(t, f, want)
				compareRecords(t, f, want)
			}
			require.Len(t, f.NTuples(), len(want.NTuples))
			for _, n := range want.NTuples {
				compareNTuple(t, f, n)
			}
		})
	}
}

func compareHeader(t *testing.T, f *File, want expected) {
	h, w := f.Header(), want.RootFile
	require.Equal(t, []int64{w.Version, w.Begin, w.End, w.SeekFree, w.NBytesFree, w.NFree, w.NBytesName, w.Units, w.Compress, w.SeekInfo, w.NBytesInfo},
		[]int64{int64(h.Version), h.Begin, h.End, h.SeekFree, h.FreeSize, int64(h.FreeCount), h.NameSize, int64(h.Units), int64(h.Compression), h.SeekInfo, h.InfoSize})
	require.Equal(t, w.UUID, hex.EncodeToString(h.UUID[:]))
	free, err := f.Free(t.Context())
	require.NoError(t, err)
	require.Len(t, free, h.FreeCount)
	require.Equal(t, h.End, free[len(free)-1].Begin)
	raw, err := f.read(t.Context(), 0, h.Begin)
	require.NoError(t, err)
	require.Equal(t, raw[:len(h.append(nil))], h.append(nil))
	_, info, err := f.StreamerInfo(t.Context())
	require.NoError(t, err)
	require.Equal(t, byte(0x40), info[0])
}

func compareKeys(t *testing.T, f *File, want expected) {
	got := map[string][][]any{}
	for _, d := range f.Directories() {
		path := "/"
		if d.Path != "" {
			path += d.Path + "/"
		}
		for _, k := range d.Keys {
			got[path] = append(got[path], []any{k.Name, k.Class, float64(k.Cycle), k.Title})
			require.Equal(t, k.headerSize(), k.HeaderSize)
			payload, err := f.Payload(t.Context(), k)
			require.NoError(t, err)
			require.EqualValues(t, k.ObjectSize, len(payload))
		}
	}
	require.Equal(t, want.RootFile.Keys, got)
}

func compareRecords(t *testing.T, f *File, want expected) {
	var got [][]any
	var end error
	for r, err := range f.Records(t.Context()) {
		if end = err; err != nil {
			break
		}
		if r.Free > 0 {
			at := float64(f.header.Begin)
			if n := len(got); n > 0 {
				at = got[n-1][0].(float64) + max(got[n-1][1].(float64), -got[n-1][1].(float64))
			}
			got = append(got, []any{at, -float64(r.Free)})
			continue
		}
		k := r.Key
		got = append(got, []any{float64(k.Offset), float64(k.Size), float64(k.Version), float64(k.ObjectSize), float64(k.HeaderSize),
			float64(k.Cycle), float64(k.Directory), k.Class, k.Name, k.Title})
		b, err := f.read(t.Context(), k.Offset, k.HeaderSize)
		require.NoError(t, err)
		require.Equal(t, b[:k.headerSize()], k.append(nil)) // that of a TBasket has fields of its own behind
	}
	if want.RootFile.Records != nil {
		require.Equal(t, want.RootFile.Records, got)
	}
	require.Equal(t, want.RootFile.NRecords, len(got), "%v", end)
}

func compareNTuple(t *testing.T, f *File, want expectedNTuple) {
	o, err := f.FindNTuple(want.Path)
	require.NoError(t, err)
	require.Equal(t, want.Path, "/"+o.Path())
	if want.Class != "" {
		require.Equal(t, want.Class, o.Key.Class)
	} else {
		require.Equal(t, ClassNTuple, o.Key.Class)
	}
	payload, err := f.Payload(t.Context(), o.Key)
	require.NoError(t, err)
	a := want.Anchor
	require.Len(t, payload, max(a.Length, want.Length))
	require.Equal(t, a.ClassVersion, binary.BigEndian.Uint16(payload[4:]))
	if want.Class != "" {
		return
	}
	require.Equal(t, []int64{want.Key.Offset, want.Key.ObjLen}, []int64{o.Key.Offset, o.Key.ObjectSize})
	require.Equal(t, want.Key.Compressed, o.Key.ObjectSize != o.Key.Size-o.Key.HeaderSize)
	checkEnvelope(t, f, a.SeekHeader, a.SizeHeader, a.LenHeader, a.MaxKey)
	checkEnvelope(t, f, a.SeekFooter, a.SizeFooter, a.LenFooter, a.MaxKey)
}

// checkEnvelope reads a blob and compares its checksum.
func checkEnvelope(t *testing.T, f *File, seek, size, length, maxKey uint64) {
	t.Helper()
	b, err := f.Blob(t.Context(), seek, size, maxKey)
	require.NoError(t, err)
	var d compress.Decoder
	e, err := d.DecodeGrow(b, length)
	require.NoError(t, err)
	require.Equal(t, binary.LittleEndian.Uint64(e[len(e)-8:]), xxh3.Hash(e[:len(e)-8]))
}

// Envelopes and other blobs of the files made by hand, a split one among them.
func TestSynthetic(t *testing.T) {
	for _, path := range corpusFiles(t) {
		if !strings.Contains(path, "synthetic") {
			continue
		}
		f := openPath(t, path)
		require.Equal(t, strings.Contains(path, "big_header"), f.Header().Wide)
		require.Equal(t, strings.Contains(path, "big_header"), f.Directories()[0].Wide)
		o, err := f.FindNTuple("")
		require.NoError(t, err)
		a, err := f.Payload(t.Context(), o.Key)
		require.NoError(t, err)
		u := func(at int) uint64 { return binary.BigEndian.Uint64(a[at:]) }
		checkEnvelope(t, f, u(14), u(22), u(30), u(62))
		checkEnvelope(t, f, u(38), u(46), u(54), u(62))
		if strings.Contains(path, "chunked") {
			ranges, err := f.BlobRanges(t.Context(), u(14), u(22), u(62))
			require.NoError(t, err)
			require.Equal(t, []storage.ByteRange{{Reader: f.Reader(), Offset: 439, Size: 120}, {Reader: f.Reader(), Offset: 270, Size: 127}}, ranges)
		}
	}
}

// Chunks of all algorithms as foreign libraries wrote them, found by their letters.
func TestForeignChunks(t *testing.T) {
	found := map[compress.Algorithm]int{}
	var d compress.Decoder
	for _, path := range corpusFiles(t) {
		if !strings.Contains(path, "uproot_basic") {
			continue
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, letters := range []string{"ZL\x08", "XZ\x00", "L4\x01", "ZS\x01"} {
			for at := 0; ; at++ {
				next := bytes.Index(b[at:], []byte(letters))
				if next < 0 {
					break
				}
				at += next
				c, rest, err := compress.NextChunk(b[at:])
				if err != nil {
					continue // the letters stand in an xz stream, too
				}
				block := b[at : len(b)-len(rest)]
				got, err := d.DecodeGrow(block, uint64(c.Size))
				require.NoError(t, err)
				require.Len(t, got, c.Size)
				found[c.Algorithm]++
			}
		}
	}
	for _, a := range []compress.Algorithm{compress.Zlib, compress.LZMA, compress.LZ4, compress.Zstd} {
		require.Greater(t, found[a], 5, "%s", a)
	}
}

// Every file opens, and its names can be looked up.
func TestOpenAll(t *testing.T) {
	for _, path := range corpusFiles(t) {
		f := openPath(t, path)
		require.NotEmpty(t, f.NTuples(), path)
		for _, o := range f.NTuples() {
			got, err := f.FindNTuple(o.Path())
			require.NoError(t, err)
			require.Equal(t, o.Key, got.Key)
		}
	}
	f := openPath(t, filepath.Join(corpus(t), "extra", "uproot-written", "uproot_subdir_two.root"))
	_, err := f.FindNTuple("")
	require.EqualError(t, err, "a.root has 2 RNTuples, name one: \"two\", \"dir/sub/one\"")
	_, err = f.FindNTuple("one")
	require.EqualError(t, err, `a.root has no RNTuple "one", but "two", "dir/sub/one"`)
	o, err := f.FindNTuple("/dir/sub/one;1")
	require.NoError(t, err)
	require.Equal(t, "dir/sub/one", o.Path())
}

// The highest cycle of a name is the current one.
func TestCycles(t *testing.T) {
	f := openPath(t, filepath.Join(corpus(t), "uproot-physlite-rntuple_v1-0-0-0.root"))
	cycles := map[string][]uint16{}
	current := map[string]uint16{}
	for _, o := range f.Objects() {
		cycles[o.Path()] = append(cycles[o.Path()], o.Key.Cycle)
		if o.Current {
			current[o.Path()] = o.Key.Cycle
		}
	}
	several := 0
	for name, c := range cycles {
		require.Equal(t, slices.Max(c), current[name])
		if len(c) > 1 {
			several++
		}
	}
	require.Positive(t, several)
}

// Files of other kinds are refused by name.
func TestRefused(t *testing.T) {
	trees := func(n int) error {
		var out stream
		w, err := NewWriter(t.Context(), &out, Options{})
		require.NoError(t, err)
		for i := range n {
			require.NoError(t, w.Object(fmt.Sprintf("dir/tree%d", i), "TTree", "", nil))
		}
		require.NoError(t, w.Finish(t.Context()))
		_, err = openBytes(t, out.Bytes()).FindNTuple("dir/tree0")
		require.ErrorIs(t, err, fault.ErrUnsupported)
		return err
	}
	require.ErrorContains(t, trees(0), "no RNTuple: the file has no objects (in a.root)")
	require.ErrorContains(t, trees(2), `no RNTuple, but "dir/tree0" (TTree), "dir/tree1" (TTree) (in a.root)`)
	require.Contains(t, advice.Hint(trees(2)), "amudai convert")
	require.Empty(t, advice.Hint(trees(0)))
	require.ErrorContains(t, trees(12), `"dir/tree9" (TTree) and 2 more (in a.root)`)
	for content, text := range map[string]string{
		"":                     "no ROOT file",
		"PAR1":                 "no ROOT file",
		"rntuple\x00abc":       "bare file",
		"root":                 "4 bytes needed, 0 left",
		"root\x00\x00\xf7\x1d": "4 bytes needed, 0 left",
	} {
		_, err := Open(t.Context(), storage.FromBytes("b.root", []byte(content)))
		require.ErrorContains(t, err, text)
		require.Regexp(t, `\(file header, offset [048], in b.root\)$`, err.Error())
		require.True(t, fault.Is(err))
	}
}
