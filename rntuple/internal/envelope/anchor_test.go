package envelope_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/testing/testdata"
	"github.com/amudai/amudai-go/rntuple/internal/envelope"
)

func TestAnchors(t *testing.T) {
	corpus(t, func(t *testing.T, file []byte, want expected) {
		class := envelope.AnchorClass
		if want.Ntuples[0].Anchor.Epoch == 0 {
			class = envelope.EarlyAnchorClass
		}
		payload := findAnchor(t, file, class)
		got, err := envelope.ParseAnchor(payload, class)
		require.NoError(t, err)
		require.NoError(t, got.Check(int64(len(file))))
		found := false
		for _, n := range want.Ntuples {
			a := n.Anchor
			found = found || got == envelope.Anchor{
				ClassVersion: a.ClassVersion,
				Format:       got.Format,
				Version:      envelope.Version{Epoch: a.Epoch, Major: a.Major, Minor: a.Minor, Patch: a.Patch},
				Header:       envelope.Link{Length: a.LenHeader, Locator: envelope.Locator{Offset: a.SeekHeader, Size: a.NbytesHeader}},
				Footer:       envelope.Link{Length: a.LenFooter, Locator: envelope.Locator{Offset: a.SeekFooter, Size: a.NbytesFooter}},
				MaxKeySize:   a.MaxKeySize,
			}
		}
		require.True(t, found, "%+v", got)
		if class == envelope.AnchorClass {
			require.Equal(t, payload, envelope.AppendAnchor(nil, got))
		}
		require.ErrorIs(t, got.Check(int64(got.Footer.Offset)), fault.ErrCorrupt)
		checkMendedAnchors(t, payload, class)
	})
}

// checkMendedAnchors: no changed byte goes unnoticed, unless it is the class version.
func checkMendedAnchors(t *testing.T, payload []byte, class string) {
	for i := range payload {
		for bit := range 8 {
			changed := append([]byte(nil), payload...)
			changed[i] ^= 1 << bit
			_, err := envelope.ParseAnchor(changed, class)
			if i != 4 && i != 5 {
				require.Error(t, err, "byte %d bit %d", i, bit)
			}
		}
		_, err := envelope.ParseAnchor(payload[:i], class)
		require.Error(t, err)
	}
}

// TestLongerAnchor: what newer versions add to an anchor is left out, and is under its checksum.
func TestLongerAnchor(t *testing.T) {
	payload := findAnchor(t, synthetic(t, "future_minor_trailing.root"), envelope.AnchorClass)
	require.Len(t, payload, envelope.AnchorSize+8)
	a, err := envelope.ParseAnchor(payload, envelope.AnchorClass)
	require.NoError(t, err)
	require.Equal(t, envelope.Version{Epoch: 1, Minor: 9}, a.Version)
	payload[72] ^= 1
	_, err = envelope.ParseAnchor(payload, envelope.AnchorClass)
	require.ErrorIs(t, err, fault.ErrChecksum)
}

// TestListings: files of pre-releases are listed, or refused with the releases that wrote them.
func TestListings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Shared(t), "corpus", "rntuple", "legacy", "*.root"))
	require.NoError(t, err)
	listed, refused := 0, 0
	for _, name := range files {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		a, err := envelope.ParseAnchor(findAnchor(t, file, envelope.EarlyAnchorClass), envelope.EarlyAnchorClass)
		require.NoError(t, err)
		if !a.Format.ListedOnly() {
			continue
		}
		require.NoError(t, a.Check(int64(len(file))))
		header, footer := unpack(t, file, a.Header), unpack(t, file, a.Footer)
		_, err = envelope.ParseHeader(header, a.Format)
		require.ErrorIs(t, err, fault.ErrUnsupported)
		s, f, err := envelope.ParseListing(header, footer)
		if strings.Contains(name, "staff") || strings.Contains(name, "df32e937") {
			require.ErrorContains(t, err, "6.20 to 6.25")
			refused++
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "ntuple", s.Name)
		require.True(t, strings.HasPrefix(s.Writer, "ROOT v6.2"), s.Writer)
		listed++
		switch {
		case strings.Contains(name, "int_multicluster"):
			require.Equal(t, uint64(100_000_000), f.Entries())
			require.Equal(t, uint32(2), f.Groups[0].Clusters)
		case strings.Contains(name, "int_5e4"):
			require.Equal(t, uint64(50_000), f.Entries())
		case strings.Contains(name, "stl_containers__94f131bd"):
			require.Len(t, s.Top(), 13)
			require.Equal(t, "std::array<float,3>", s.Fields[2].TypeName)
			require.Equal(t, uint64(3), s.Fields[2].ArraySize)
			require.Equal(t, uint64(5), f.Entries())
		}
	}
	require.Equal(t, 3, refused)
	require.Equal(t, 12, listed)
}
