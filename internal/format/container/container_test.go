package container_test

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/format/container"
	"github.com/amudai/amudai-go/internal/testing/testdata"
)

// These checksums were computed with other software.
func TestVectors(t *testing.T) {
	require.Equal(t, "616d756400010000", hex.EncodeToString(container.Mark[:]))
	require.EqualValues(t, 0x15d514c7, container.Checksum(nil))
	require.EqualValues(t, 0x59981402, container.Checksum([]byte("testdata")))
	require.Equal(t, "00000000c714d515", hex.EncodeToString(container.AppendFrame(nil, nil)))
}

func TestFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		payloads := rapid.SliceOfN(rapid.SliceOf(rapid.Byte()), 1, 5).Draw(t, "payloads")
		var b []byte
		for _, p := range payloads {
			b = container.AppendFrame(b, p)
		}
		rest := b
		for _, want := range payloads {
			var got []byte
			var err error
			got, rest, err = container.CutFrame(rest)
			require.NoError(t, err)
			require.True(t, bytes.Equal(want, got))
		}
		require.Empty(t, rest)

		// A flipped bit or a cut never gives another payload.
		one := container.AppendFrame(nil, payloads[0])
		bit := rapid.IntRange(0, 8*len(one)-1).Draw(t, "bit")
		one[bit/8] ^= 1 << (bit % 8)
		_, err := container.ParseFrame(one)
		require.Error(t, err)
		one[bit/8] ^= 1 << (bit % 8)
		_, err = container.ParseFrame(append(one, 0))
		require.ErrorIs(t, err, fault.ErrCorrupt)
		_, err = container.ParseFrame(one[:rapid.IntRange(0, len(one)-1).Draw(t, "cut")])
		require.ErrorIs(t, err, fault.ErrCorrupt)
	})
}

func TestMark(t *testing.T) {
	v, err := container.CheckMark(container.Mark[:], "header")
	require.NoError(t, err)
	require.Equal(t, "0.1.0", v.String())
	_, err = container.CheckMark([]byte{'a', 'm', 'u', 'd', 9, 255, 255, 0}, "header")
	require.NoError(t, err, "other minor versions are readable")
	_, err = container.CheckMark([]byte{'a', 'm', 'u', 'd', 0, 1, 0, 1}, "header")
	require.ErrorIs(t, err, fault.ErrUnsupported)
	for b, hint := range map[string]string{"PAR1....": "Parquet", "....PAR1": "Parquet", "ARROW1\x00\x00": "Arrow", "\x1f\x8b......": "gzip", "\x28\xb5\x2f\xfd....": "zstd", "amue....": "not an Amudai"} {
		_, err = container.CheckMark([]byte(b), "header")
		require.ErrorIs(t, err, fault.ErrCorrupt)
		require.ErrorContains(t, err, hint)
	}
	_, err = container.CheckMark(nil, "header")
	require.ErrorIs(t, err, fault.ErrCorrupt)
}

func TestTail(t *testing.T) {
	file := container.AppendTail(append(container.Mark[:], "content"...), []byte("directory"))
	start, end, err := container.DirectoryRange(file[len(file)-20:], int64(len(file)))
	require.NoError(t, err)
	require.EqualValues(t, 15, start)
	payload, err := container.ParseFrame(file[start:end])
	require.NoError(t, err)
	require.Equal(t, "directory", string(payload))

	// In a file of several shards, each shard ends with the length of its directory.
	start2, end2, err := container.DirectoryBefore(file[:len(file)-8], int64(len(file)-8))
	require.NoError(t, err)
	require.Equal(t, []int64{start, end}, []int64{start2, end2})

	_, err = container.ParseFrame(append(bytes.Clone(file[start:end]), 0))
	require.ErrorIs(t, err, fault.ErrCorrupt)
	for cut := range len(file) {
		tail := file[:cut]
		_, _, err := container.DirectoryRange(tail, int64(cut))
		require.ErrorIs(t, err, fault.ErrCorrupt)
	}
	for _, n := range []uint32{16 << 20, 1<<32 - 1, 8} {
		bad := bytes.Clone(file)
		bad[len(bad)-12], bad[len(bad)-11], bad[len(bad)-10], bad[len(bad)-9] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
		start, end, err := container.DirectoryRange(bad, int64(len(bad)))
		if err == nil {
			_, err = container.ParseFrame(bad[start:end])
		}
		require.Error(t, err)
	}
	_, _, err = container.DirectoryBefore(file[:3], 3)
	require.Error(t, err)
}

// The directory of every shard of the reference is found.
func TestGoldenTails(t *testing.T) {
	n := 0
	for _, pattern := range []string{"types/*.shard*", "profiles/*.shard*", "stripes/*.shard*", "indexes/*/*.shard"} {
		files, err := filepath.Glob(filepath.Join(testdata.Goldens(t), filepath.FromSlash(pattern)))
		require.NoError(t, err)
		for _, f := range files {
			rel, err := filepath.Rel(testdata.Goldens(t), f)
			require.NoError(t, err)
			b := testdata.ReadGolden(t, filepath.ToSlash(rel))
			_, err = container.CheckMark(b[:8], "header")
			require.NoError(t, err)
			start, end, err := container.DirectoryRange(b, int64(len(b)))
			require.NoError(t, err)
			_, err = container.ParseFrame(b[start:end])
			require.NoError(t, err, f)
			n++
		}
	}
	require.NotZero(t, n)
	if testdata.AllGoldens(t) {
		require.Greater(t, n, 50)
	}
	t.Logf("%d directories", n)
}

func FuzzParseFrame(f *testing.F) {
	f.Add(container.AppendFrame(nil, []byte("x")))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		payload, rest, err := container.CutFrame(b)
		if err == nil {
			require.Equal(t, len(b), len(payload)+len(rest)+container.FrameExtra)
		}
		if start, end, err := container.DirectoryRange(b, int64(len(b))); err == nil {
			container.ParseFrame(b[start:end])
		}
	})
}
