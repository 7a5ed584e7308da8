package rntuple

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/table"
	"github.com/amudai/amudai-go/table/provider"
)

// uses are what can be done with a file.
var uses = map[string]func(ctx context.Context, in provider.Input) error{
	"list": func(ctx context.Context, in provider.Input) error {
		list, err := format.Tables(ctx, in)
		for _, e := range list {
			err = errors.Join(err, e.Err)
		}
		return err
	},
	"scan": func(ctx context.Context, in provider.Input) error {
		return readAll(ctx, in, provider.ReadOptions{BatchRows: 7})
	},
	"filter": func(ctx context.Context, in provider.Input) error {
		return readAll(ctx, in, provider.ReadOptions{Columns: []string{}, Filter: filter.Gt(filter.Col("i4"), 1)})
	},
	"rows": func(ctx context.Context, in provider.Input) error {
		return readAll(ctx, in, provider.ReadOptions{Rows: []provider.RowRange{{From: 0, To: 1}, {From: 3, To: 4}}})
	},
	"explain": func(ctx context.Context, in provider.Input) error {
		_, err := format.Explain(ctx, in, provider.ExplainOptions{Filter: filter.Gt(filter.Col("i4"), 1)})
		return err
	},
	"verify": func(ctx context.Context, in provider.Input) error {
		report, err := format.Verify(ctx, in, provider.VerifyOptions{})
		if err == nil && !report.OK() {
			return errors.Join(report.Problems...)
		}
		return err
	},
	"inspect": func(ctx context.Context, in provider.Input) error {
		_, err := format.Inspect(ctx, in, provider.InspectOptions{Detail: 3})
		return err
	},
}

var format = New(FormatOptions{Read: Options{VariantsAsStructs: true}})

// readAll reads the rows of an input, as options ask for them.
func readAll(ctx context.Context, in provider.Input, o provider.ReadOptions) error {
	src, err := format.Open(ctx, in, o)
	if err != nil {
		return err
	}
	for _, err := range provider.Batches(ctx, src) {
		if err != nil {
			return errors.Join(err, src.Close())
		}
	}
	return src.Close()
}

// A read that fails makes every use fail, with the error of the store: whichever read it is.
func TestFaults(t *testing.T) {
	// Zeros behind the file make it longer than what is read at once.
	file := selection(t, "uproot_basic_none.root")["uproot_basic_none.root"]
	location := filepath.Join(t.TempDir(), "a.root")
	require.NoError(t, os.WriteFile(location, append(file, make([]byte, 100<<10)...), 0o600))
	for name, use := range uses {
		t.Run(name, func(t *testing.T) {
			for k := 1; ; k++ {
				f := faultstore.New()
				store := f.Wrap(f.Local())
				f.FailAt(faultstore.Read, k)
				err := use(t.Context(), provider.Input{Name: location, Location: location, Store: store})
				if f.Count(faultstore.Read) < k {
					require.NoError(t, err)
					require.Greater(t, k, 2)
					return
				}
				require.ErrorIs(t, err, faultstore.Err, "read %d", k)
			}
		})
	}
}

// Over a network, requests are few: neighbouring pages are read together.
func TestRequests(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "rntuple")
	var requests atomic.Int64
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, c := range []struct {
		file    string
		table   string
		columns []string
		most    int64 // requests
	}{
		{"test_int_float_rntuple_v1-0-0-0.root", "", nil, 1},
		{"Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root", "", []string{"nMuon"}, 1},
		{"uproot-physlite-rntuple_v1-0-0-0.root", "EventData", []string{"AnalysisElectronsAuxDyn:pt"}, 9},
		{"uproot-physlite-rntuple_v1-0-0-0.root", "EventData", nil, 11},
	} {
		requests.Store(0)
		location := server.URL + "/" + c.file
		require.NoError(t, readAll(t.Context(), provider.Input{Name: location, Location: location, Table: c.table}, provider.ReadOptions{Columns: c.columns}))
		require.LessOrEqual(t, requests.Load(), c.most, "%s %v", c.file, c.columns)
	}
}

// Files of pre-releases are listed, with the releases of ROOT that wrote them, and say why they cannot be read.
func TestPreReleases(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "rntuple", "legacy")
	for file, want := range map[string]struct {
		class   string
		entries int64 // -1: the schema cannot be listed either
	}{
		"test_ntuple_stl_containers__94f131bd.root":   {"class version 3, ROOT 6.28 and 6.29", 5},
		"test_ntuple_int_5e4__94f131bd.root":          {"class version 3, ROOT 6.28 and 6.29", 50_000},
		"test_ntuple_int_float__df32e937.root":        {"class version 0, ROOT 6.20 to 6.26", -1},
		"test_ntuple_1jag_int_float__1c15ca03.root":   {"class version 0, ROOT 6.20 to 6.26", 100},
		"uproot_ntuple_int_5e4_629_01__a3d72459.root": {"class version 3, ROOT 6.28 and 6.29", 50_000},
	} {
		t.Run(file, func(t *testing.T) {
			in := provider.Input{Location: filepath.Join(dir, file)}
			require.ErrorContains(t, readAll(t.Context(), in, provider.ReadOptions{}), want.class)
			list, err := format.Tables(t.Context(), in)
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.ErrorContains(t, list[0].Err, want.class)
			out, err := format.Inspect(t.Context(), in, provider.InspectOptions{Detail: 1})
			require.NoError(t, err)
			entries := out.Fact("entries")
			if entries == nil {
				entries = int64(-1)
			}
			require.Equal(t, want.entries, entries)
			if want.entries >= 0 {
				require.NotEmpty(t, out.Lists[1].Rows)
			}
		})
	}
}

// An anchor of an unknown layout is unsupported by the version of its class, not corrupt.
func TestClassVersionsOfOtherLayouts(t *testing.T) {
	dir := filepath.Join(testdata.Shared(t), "corpus", "rntuple", "legacy")
	for file, version := range map[string]byte{"test_ntuple_bit__9ed1610f.root": 4, "unroot-test_ntuple_minimal__8a284521.root": 6} {
		whole, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		at := bytes.Index(whole, []byte{0x40, 0, 0, 0x42, 0, version, 0, 0, 0, 2}) + 5
		require.Equal(t, version, whole[at])
		for _, other := range []byte{0, 1, 3, 5} {
			whole[at] = other
			name := filepath.Join(t.TempDir(), file)
			require.NoError(t, os.WriteFile(name, whole, 0o600))
			err = readAll(t.Context(), provider.Input{Location: name}, provider.ReadOptions{})
			require.ErrorIs(t, err, fault.ErrUnsupported)
			require.ErrorContains(t, err, fmt.Sprintf("class version %d of ROOT::Experimental::RNTuple", other))
		}
	}
}

// A file whose name has a colon wins over an ntuple in a file.
func TestLocations(t *testing.T) {
	dir := t.TempDir()
	store := faultstore.New().Local()
	for name, from := range map[string]string{"a.root": "uproot_subdir_two.root", "a.root:two": "plain.root"} {
		for _, b := range selection(t, from) {
			w, err := store.Create(t.Context(), filepath.Join(dir, name), storage.CreateOptions{})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
			require.NoError(t, w.Publish(t.Context()))
		}
	}
	schema := func(location string) (*arrow.Schema, error) {
		file, err := table.Open(t.Context(), filepath.Join(dir, location))
		require.NoError(t, err)
		defer file.Close()
		return file.Schema(t.Context())
	}
	for location, want := range map[string]string{"a.root:two": "ntpl", "a.root:/two": "two", "a.root:dir/sub/one": "one"} {
		s, err := schema(location)
		require.NoError(t, err, location)
		require.Equal(t, want, s.Metadata().ToMap()["rntuple.name"], location)
	}
	for _, location := range []string{"a.root", "a.root:three"} {
		_, err := schema(location)
		require.ErrorContains(t, err, `"two", "dir/sub/one"`)
	}
}
