package envelope

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/amudai/amudai-go/internal/base/fault"
)

// ParseListing reads header and footer of the first release candidate, by ROOT 6.26 to 6.29, as far as an ntuple can be listed: the
// schema, and the numbers of clusters and entries, which make up the one cluster group of the footer. Types of columns are
// not known. What ROOT 6.20 to 6.25 wrote is an error that says so.
func ParseListing(header, footer []byte) (*Schema, *Footer, error) {
	s := &Schema{Format: RC1}
	w, err := openEarly(header)
	if err == nil {
		w.Take(4) // number of the release candidate
		w.names(s)
		w.description(s, Counts{}, Counts{})
		s.Header, err = s.Counts(), w.Err
	}
	if err != nil {
		return nil, nil, fault.In(err, KindHeader.String(), -1)
	}
	f, err := parseEarlyFooter(footer, s, crcOf(header))
	if err != nil {
		return nil, nil, fault.In(err, KindFooter.String(), -1)
	}
	return s, f, nil
}

func parseEarlyFooter(footer []byte, s *Schema, checksum uint32) (*Footer, error) {
	w, err := openEarly(footer)
	if err != nil {
		return nil, err
	}
	var clusters []Cluster
	if w.earlyFooter(s, checksum, &clusters); w.Err != nil {
		return nil, w.Err
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	g := ClusterGroup{Clusters: uint32(len(clusters))}
	for _, c := range clusters {
		g.Entries = max(g.Entries, c.FirstEntry+c.Entries)
	}
	if err := checkClusters(clusters, g); err != nil {
		return nil, err
	}
	f := &Footer{Groups: []ClusterGroup{g}}
	return f, f.check()
}

// openEarly checks the frame of an envelope of the first release candidate and gives a reader of what follows the feature flags.
//
//	u16  version, 1
//	u16  version that is needed, 1
//	…    feature flags, content
//	u32  CRC-32 of all before
func openEarly(env []byte) (*coder, error) {
	if len(env) < earlyEnvelope {
		return nil, fault.In(fault.Corruptf("envelope of %d bytes", len(env)), "", 0)
	}
	switch binary.LittleEndian.Uint32(env) {
	case 0x0001_0001:
	case 0:
		return nil, fault.Unsupportedf("RNTuple of a pre-release of ROOT, 6.20 to 6.25")
	default:
		return nil, fault.Unsupportedf("RNTuple of a pre-release of ROOT, with envelopes of version %d", binary.LittleEndian.Uint16(env))
	}
	if crcOf(env) != crc32.ChecksumIEEE(env[:len(env)-4]) {
		return nil, fault.In(fault.Checksumf("CRC-32 differs"), "", int64(len(env)-4))
	}
	w := newReader(env, RC1)
	w.Pos, w.End = 4, len(env)-4
	w.featureFlags()
	return w, nil
}

func crcOf(env []byte) uint32 { return binary.LittleEndian.Uint32(env[len(env)-4:]) }

// earlyFooter reads the checksum of the header, the extension of the schema, a list of column groups, and the one of
// clusters. Lists of groups and of metadata follow. In most files the extension is a list of links.
func (w *coder) earlyFooter(s *Schema, checksum uint32, clusters *[]Cluster) {
	found := uint32(0)
	w.U32("", &found)
	if w.Err == nil && found != checksum {
		w.Fail(fault.Checksumf("made for a header with checksum %08x, not %08x", found, checksum))
	}
	if size := *w; size.frameSize() < 0 {
		w.emptyList("extensions of the schema")
	} else {
		w.extension(s)
	}
	w.emptyList("column groups")
	w.summaries(clusters)
}

// emptyList reads a list that must have no items.
func (w *coder) emptyList(of string) {
	frame, n := w.openList(0, recordHead)
	if n > 0 {
		w.Fail(fault.Unsupportedf("%d %s in a format %v", n, of, w.format))
	}
	w.close(frame)
}
