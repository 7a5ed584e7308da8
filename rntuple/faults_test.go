package rntuple

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/storage"
	_ "github.com/amudai/amudai-go/storage/http"
	"github.com/amudai/amudai-go/table/provider"
)

// uses are what can be done with an ntuple.
var uses = map[string]func(t *testing.T, location string, store storage.Store) error{
	"open": func(t *testing.T, location string, store storage.Store) error {
		return withNTuple(t, location, store, func(*NTuple) error { return nil })
	},
	"list": func(t *testing.T, location string, store storage.Store) error {
		list, err := List(t.Context(), location, Options{Store: store})
		for _, info := range list {
			if err == nil {
				err = info.Err
			}
		}
		return err
	},
	"scan": func(t *testing.T, location string, store storage.Store) error {
		return withNTuple(t, location, store, func(n *NTuple) error {
			for _, err := range n.Scan(t.Context(), ScanOptions{BatchRows: 7}) {
				if err != nil {
					return err
				}
			}
			return nil
		})
	},
	"count": func(t *testing.T, location string, store storage.Store) error {
		return withNTuple(t, location, store, func(n *NTuple) error {
			e, err := filter.Parse("i4 > 1")
			require.NoError(t, err)
			_, err = n.Count(t.Context(), e)
			return err
		})
	},
	"take": func(t *testing.T, location string, store storage.Store) error {
		return withNTuple(t, location, store, func(n *NTuple) error {
			b, err := n.Take(t.Context(), []int64{n.NumEntries() - 1, 0, 3}, TakeOptions{})
			if err == nil {
				b.Release()
			}
			return err
		})
	},
	"verify": func(t *testing.T, location string, store storage.Store) error {
		f, r, err := openFile(t.Context(), location, store)
		if err != nil {
			return err
		}
		defer r.Close()
		report, err := verifyFile(t.Context(), f)
		if err == nil {
			require.Empty(t, report.Problems)
		}
		return err
	},
	"inspect": func(t *testing.T, location string, store storage.Store) error {
		f, r, err := openFile(t.Context(), location, store)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = inspectFile(t.Context(), f, provider.InspectOptions{Detail: 3})
		return err
	},
}

func withNTuple(t *testing.T, location string, store storage.Store, use func(*NTuple) error) error {
	n, err := Open(t.Context(), location, Options{Store: store, VariantsAsStructs: true})
	if err != nil {
		return err
	}
	defer n.Close()
	return use(n)
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
				err := use(t, location, store)
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
		columns []string
		open    int64 // requests of opening
		scan    int64 // and of scanning then
	}{
		{"test_int_float_rntuple_v1-0-0-0.root", nil, 1, 0},
		{"Run2012BC_DoubleMuParked_Muons_1000evts_rntuple_v1-0-0-0.root", []string{"nMuon"}, 1, 0},
		{"uproot-physlite-rntuple_v1-0-0-0.root:EventData", []string{"AnalysisElectronsAuxDyn:pt"}, 7, 2},
		{"uproot-physlite-rntuple_v1-0-0-0.root:EventData", nil, 7, 4},
	} {
		requests.Store(0)
		n, err := Open(t.Context(), server.URL+"/"+c.file, Options{})
		require.NoError(t, err)
		require.LessOrEqual(t, requests.Load(), c.open, "open %s", c.file)
		requests.Store(0)
		for _, err := range n.Scan(t.Context(), ScanOptions{Columns: c.columns}) {
			require.NoError(t, err)
		}
		require.LessOrEqual(t, requests.Load(), c.scan, "scan %s %v", c.file, c.columns)
		require.NoError(t, n.Close())
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
			name := filepath.Join(dir, file)
			_, err := Open(t.Context(), name, Options{})
			require.ErrorContains(t, err, want.class)
			list, err := List(t.Context(), name, Options{})
			require.NoError(t, err)
			require.Len(t, list, 1)
			require.ErrorContains(t, list[0].Err, want.class)
			f, r, err := openFile(t.Context(), name, nil)
			require.NoError(t, err)
			defer r.Close()
			out, err := inspectFile(t.Context(), f, provider.InspectOptions{Detail: 1})
			require.NoError(t, err)
			entries := any(int64(-1))
			for _, fact := range out.Facts {
				if fact.Name == "entries" {
					entries = fact.Value
				}
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
			_, err = Open(t.Context(), name, Options{})
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
	for location, want := range map[string]string{"a.root:two": "ntpl", "a.root:/two": "two", "a.root:dir/sub/one": "one"} {
		n, err := Open(t.Context(), filepath.Join(dir, location), Options{})
		require.NoError(t, err, location)
		require.Equal(t, want, n.Name(), location)
		require.NoError(t, n.Close())
	}
	_, err := Open(t.Context(), filepath.Join(dir, "a.root"), Options{})
	require.ErrorContains(t, err, `"two", "dir/sub/one"`)
	_, err = Open(t.Context(), filepath.Join(dir, "a.root:three"), Options{})
	require.ErrorContains(t, err, `"two", "dir/sub/one"`)
}
