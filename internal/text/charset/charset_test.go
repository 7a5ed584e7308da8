package charset_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text/charset"
)

// wide is a text in UTF-16.
func wide(order binary.AppendByteOrder, s string) (b []byte) {
	for _, u := range utf16.Encode([]rune(s)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestDetect(t *testing.T) {
	little := func(s string) string { return string(wide(binary.LittleEndian, s)) }
	big := func(s string) string { return string(wide(binary.BigEndian, s)) }
	for _, c := range []struct{ in, encoding, text string }{
		{"", "utf-8", ""},
		{"a,b\n", "utf-8", "a,b\n"},
		{"żółw\n", "utf-8", "żółw\n"},
		{"\xef\xbb\xbfa", "utf-8", "\xef\xbb\xbfa"},
		{"caf\xe9\n", "windows-1252", "café\n"},
		{"\x80 100\n", "windows-1252", "€ 100\n"},
		{"\x93so\x94\n", "windows-1252", "“so”\n"},
		{little("\ufeffa,b\n"), "utf-16le", "a,b\n"},
		{big("\ufeffa,b\n"), "utf-16be", "a,b\n"},
		{little("a,b\n1,ż🐢\n"), "utf-16le", "a,b\n1,ż🐢\n"},
		{big("a,b\n1,ż🐢\n"), "utf-16be", "a,b\n1,ż🐢\n"},
		{little("日本,東京\n大阪,京都\n"), "utf-16le", "日本,東京\n大阪,京都\n"},
		{"a\x00b", "utf-8", "a\x00b"},
		{"żółw żółw caf\xe9", "utf-8", "żółw żółw caf\xe9"},
	} {
		e, err := charset.Detect([]byte(c.in), true)
		require.NoError(t, err)
		require.Equal(t, c.encoding, e.String(), "%q", c.in)
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in))} {
			got, err := io.ReadAll(e.Reader(r))
			require.NoError(t, err)
			require.Equal(t, c.text, string(got))
		}
	}
	_, err := charset.Detect([]byte("\xff\xfe\x00\x00a\x00\x00\x00"), true)
	require.ErrorContains(t, err, "UTF-32")
	e, err := charset.Detect([]byte("a\xc5"), false) // the sample ends within a character
	require.NoError(t, err)
	require.True(t, e.IsUTF8())
}

// TestInvalid reads bytes without a meaning.
func TestInvalid(t *testing.T) {
	for name, c := range map[string][2]string{
		"utf-16le":     {"a\x00\x00\xd8b\x00", "offset 2"},
		"utf-16be":     {"\x00a\x00", "offset 2"},
		"windows-1252": {"ab\x81", "offset 2"},
	} {
		e, err := charset.Find(name)
		require.NoError(t, err)
		_, err = io.ReadAll(e.Reader(strings.NewReader(c[0])))
		require.ErrorContains(t, err, c[1])
	}
}

func TestFind(t *testing.T) {
	for _, name := range append(charset.Names(), "UTF8", "UTF-16", "ISO-8859-1", "cp1251", "ISO_8859-15", "Latin9", "KOI8-R") {
		e, err := charset.Find(name)
		require.NoError(t, err, name)
		got, err := io.ReadAll(e.Reader(strings.NewReader("abcd")))
		require.NoError(t, err)
		require.True(t, utf8.Valid(got))
	}
	_, err := charset.Find("klingon")
	require.ErrorContains(t, err, "unknown encoding")
}

func FuzzCharset(f *testing.F) {
	f.Add([]byte("caf\xe9\n"), uint8(3))
	f.Fuzz(func(t *testing.T, in []byte, k uint8) {
		_, _ = charset.Detect(in, k%2 == 0)
		e, err := charset.Find(charset.Names()[int(k)%len(charset.Names())])
		require.NoError(t, err)
		whole, err := io.ReadAll(e.Reader(bytes.NewReader(in)))
		split, again := io.ReadAll(e.Reader(iotest.OneByteReader(bytes.NewReader(in))))
		require.Equal(t, err, again)
		require.Equal(t, whole, split)
		require.True(t, e.IsUTF8() || utf8.Valid(whole))
	})
}
