package golden

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/testdata"
)

var rewrite = flag.Bool("rewrite", false, "make testdata/golden anew from the whole set")

// selected are the shards of testdata/golden: for each kind of type, layout, profile and structure the
// smallest with values, nulls and several encodings.
var selected = []string{
	"types/ints-r1.amudai.shard", "types/floats-r257.amudai.shard", "types/strings-r257.amudai.shard",
	"types/binaries-r1.amudai.shard", "types/times-r255.amudai.shard", "types/decimals-r255.amudai.shard",
	"types/misc-r255.amudai.shard", "types/misc-r20000.amudai.shard", "types/nested-r255.amudai.shard",
	"types/nested2-r255.amudai.shard", "types/fixedsizelist-r0.amudai.shard", "types/fixedsizelist-r100.amudai.shard",
	"types/strings-r0.amudai.shard", "types/nested2-r0.amudai.shard",
	"layouts/mixed-twolevel/mixed-twolevel.amudai.shard",
	"profiles/ints-Plain.amudai.shard", "profiles/ints-MinimalSize.amudai.shard",
	"stripes/const-per-stripe.amudai.shard", "stripes/zero-row-stripe-first.amudai.shard",
	"stripes/list-items-empty-in-first.amudai.shard", "stripes/missing-columns.amudai.shard",
	"stripes/filters.amudai.shard",
	"wide/struct-40-children.amudai.shard", "blocks/many-blocks.amudai.shard",
	"properties/props.amudai.shard", "properties/creation-only.amudai.shard",
	"real/weather.amudai.shard",
}

// selectedIndex is the folder of an index in testdata/golden. Others are of texts whose licence does not allow to copy them.
const selectedIndex = "indexes/hashmap-3/"

// maxSelection is the maximum size of testdata/golden in bytes.
const maxSelection = 1_020_000

// TestSelection checks that testdata/golden is small, and that its files equal those of the whole set. With
// -rewrite it writes testdata/golden.
func TestSelection(t *testing.T) {
	dir := testdata.Selection(t)
	if testdata.AllGoldens(t) {
		want := selection(t)
		if *rewrite {
			writeSelection(t, dir, want)
		}
		compareSelection(t, dir, want)
	}
	size := int64(0)
	for _, name := range files(t, dir) {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		size += info.Size()
	}
	require.Less(t, size, int64(maxSelection))
	t.Logf("%d shards, %d bytes", len(selected), size)
}

// files lists a folder, with slashes.
func files(t *testing.T, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, err := filepath.Rel(dir, p)
			names = append(names, filepath.ToSlash(name))
			return err
		}
		return err
	}))
	return names
}

// writeSelection writes the files, and compresses those that become much smaller.
func writeSelection(t *testing.T, dir string, want map[string][]byte) {
	for _, name := range files(t, dir) {
		if name != "README.md" {
			require.NoError(t, os.Remove(filepath.Join(dir, name)))
		}
	}
	for name, b := range want {
		p := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		if packed := pack(t, b); strings.HasSuffix(name, ".gz") {
			b = packed
		} else if len(packed) < len(b)*9/10 && name != "manifest.json" && !strings.Contains(name, "-twolevel/") && !strings.HasPrefix(name, selectedIndex) {
			p, b = p+".gz", packed
		}
		require.NoError(t, os.WriteFile(p, b, 0o644))
	}
}

func pack(t *testing.T, b []byte) []byte {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(b)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func compareSelection(t *testing.T, dir string, want map[string][]byte) {
	have := files(t, dir)
	for name, b := range want {
		name, packed := strings.CutSuffix(name, ".gz")
		got, err := os.ReadFile(filepath.Join(dir, name))
		if os.IsNotExist(err) {
			name += ".gz"
			packed = true
			got, err = os.ReadFile(filepath.Join(dir, name))
		}
		require.NoError(t, err, "go test ./internal/testing/golden -rewrite makes the selection anew")
		if packed {
			got = testdata.Gunzip(t, got)
		}
		require.True(t, bytes.Equal(b, got), name)
		have = slices.DeleteFunc(have, func(n string) bool { return n == name })
	}
	require.Equal(t, []string{"README.md"}, have)
}

// selection returns the decompressed content of the files, by their names in the whole set. Files that tests
// expect to be compressed end in .gz.
func selection(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	var manifest map[string]any
	require.NoError(t, json.Unmarshal(testdata.ReadGolden(t, "manifest.json"), &manifest))
	var entries []any
	for _, e := range manifest["shards"].([]any) {
		entry := e.(map[string]any)
		file, _ := entry["file"].(string)
		if !slices.Contains(selected, file) {
			continue
		}
		entries = append(entries, entry)
		for _, key := range []string{"file", "expected", "rust_read"} {
			if name, ok := entry[key].(string); ok {
				out[name] = testdata.ReadGolden(t, name)
			}
		}
		for _, p := range stripeFiles(t, file) {
			out[p] = testdata.ReadGolden(t, p)
		}
	}
	require.Len(t, entries, len(selected))
	manifest["shards"] = entries
	delete(manifest, "indexes")
	delete(manifest, "vectors")
	b, err := json.MarshalIndent(manifest, "", " ")
	require.NoError(t, err)
	out["manifest.json"] = append(b, '\n')
	out["stats.jsonl.gz"] = linesOf(t, "stats.jsonl.gz", func(line []byte) bool {
		var s struct{ File string }
		require.NoError(t, json.Unmarshal(line, &s))
		return slices.Contains(selected, s.File)
	})
	for _, name := range files(t, filepath.Join(testdata.Goldens(t), filepath.FromSlash(selectedIndex))) {
		out[selectedIndex+name] = testdata.ReadGolden(t, selectedIndex+name)
	}
	blocks, inputs := selectVectors(t)
	out["vectors/blocks.jsonl.gz"], out["vectors/inputs.jsonl.gz"] = blocks, inputs
	return out
}

// stripeFiles returns the stripe files of a two-level root.
func stripeFiles(t *testing.T, file string) (names []string) {
	found, err := filepath.Glob(filepath.Join(testdata.Goldens(t), path.Dir(file), "*.amudai.stripe"))
	require.NoError(t, err)
	for _, p := range found {
		names = append(names, path.Join(path.Dir(file), filepath.Base(p)))
	}
	return names
}

func linesOf(t *testing.T, name string, keep func(line []byte) bool) (out []byte) {
	in := bufio.NewScanner(bytes.NewReader(testdata.ReadGolden(t, name)))
	in.Buffer(nil, 256<<20)
	for in.Scan() {
		if keep(in.Bytes()) {
			out = append(append(out, in.Bytes()...), '\n')
		}
	}
	require.NoError(t, in.Err())
	return out
}

// parameters matches the numbers of a tree: ALP[e=14,f=12] and ALP[e=3,f=1] are of one kind.
var parameters = regexp.MustCompile(`\[[^]]*\]`)

// selectVectors returns the smallest block, with its input, for each kind of tree, and for each root encoding,
// type and presence kind, with and without checksum.
func selectVectors(t *testing.T) (blocks, inputs []byte) {
	size := map[string]int{}
	linesOf(t, "vectors/inputs.jsonl.gz", func(line []byte) bool {
		var in struct{ Input string }
		require.NoError(t, json.Unmarshal(line, &in))
		size[in.Input] = len(line)
		return false
	})
	type vector struct {
		ID, Input, Type, Tree string
		Checksum              bool
		PresenceKind          string `json:"presence_kind"`
	}
	best, least := map[string]vector{}, map[string]int{}
	linesOf(t, "vectors/blocks.jsonl.gz", func(line []byte) bool {
		var v vector
		require.NoError(t, json.Unmarshal(line, &v))
		tree := parameters.ReplaceAllString(v.Tree, "")
		root, _, _ := strings.Cut(tree, "(")
		for _, kind := range []string{tree, v.Type + root, root + v.PresenceKind, v.Type + v.PresenceKind} {
			if v.Checksum {
				kind += " checksum"
			}
			if n := len(line) + size[v.Input]; best[kind].ID == "" || n < least[kind] {
				best[kind], least[kind] = v, n
			}
		}
		return false
	})
	chosen, used := map[string]bool{}, map[string]bool{}
	for _, v := range best {
		chosen[v.ID], used[v.Input] = true, true
	}
	blocks = linesOf(t, "vectors/blocks.jsonl.gz", func(line []byte) bool {
		var v vector
		require.NoError(t, json.Unmarshal(line, &v))
		return chosen[v.ID]
	})
	inputs = linesOf(t, "vectors/inputs.jsonl.gz", func(line []byte) bool {
		var in struct{ Input string }
		require.NoError(t, json.Unmarshal(line, &in))
		return used[in.Input]
	})
	return blocks, inputs
}
