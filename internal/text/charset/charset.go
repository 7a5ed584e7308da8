// Package charset recognizes the encoding of a text by its bytes, and converts it to UTF-8. A byte without a meaning is
// an error, never a replacement character.
package charset

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Encoding is a character encoding. The zero value is UTF-8.
type Encoding struct {
	name  string
	unit  int // bytes of a code unit: 0 of UTF-8, 2 of UTF-16, else 1
	big   bool
	table *charmap.Charmap
}

// Encodings that are recognized.
var (
	UTF8        = Encoding{name: "utf-8"}
	UTF16LE     = Encoding{name: "utf-16le", unit: 2}
	UTF16BE     = Encoding{name: "utf-16be", unit: 2, big: true}
	Windows1252 = Encoding{name: "windows-1252", unit: 1, table: charmap.Windows1252}
	Latin1      = Encoding{name: "latin1", unit: 1, table: charmap.ISO8859_1}
)

// named are the encodings that only a name chooses.
var named = []Encoding{
	UTF8, UTF16LE, UTF16BE, Windows1252, Latin1,
	single("iso-8859-2", charmap.ISO8859_2), single("iso-8859-3", charmap.ISO8859_3), single("iso-8859-4", charmap.ISO8859_4),
	single("iso-8859-5", charmap.ISO8859_5), single("iso-8859-6", charmap.ISO8859_6), single("iso-8859-7", charmap.ISO8859_7),
	single("iso-8859-8", charmap.ISO8859_8), single("iso-8859-9", charmap.ISO8859_9), single("iso-8859-10", charmap.ISO8859_10),
	single("iso-8859-13", charmap.ISO8859_13), single("iso-8859-14", charmap.ISO8859_14), single("iso-8859-15", charmap.ISO8859_15),
	single("iso-8859-16", charmap.ISO8859_16),
	single("windows-874", charmap.Windows874), single("windows-1250", charmap.Windows1250), single("windows-1251", charmap.Windows1251),
	single("windows-1253", charmap.Windows1253), single("windows-1254", charmap.Windows1254), single("windows-1255", charmap.Windows1255),
	single("windows-1256", charmap.Windows1256), single("windows-1257", charmap.Windows1257), single("windows-1258", charmap.Windows1258),
	single("cp437", charmap.CodePage437), single("cp850", charmap.CodePage850), single("cp852", charmap.CodePage852),
	single("cp855", charmap.CodePage855), single("cp858", charmap.CodePage858), single("cp866", charmap.CodePage866),
	single("koi8-r", charmap.KOI8R), single("koi8-u", charmap.KOI8U), single("macintosh", charmap.Macintosh),
}

func single(name string, table *charmap.Charmap) Encoding {
	return Encoding{name: name, unit: 1, table: table}
}

// Names are the names of all encodings.
func Names() []string {
	names := make([]string, len(named))
	for i, e := range named {
		names[i] = e.name
	}
	return names
}

// Find returns the encoding of a name. Case and punctuation do not matter: "UTF_16LE", "cp1252" and "ISO 8859-1" are
// names, too.
func Find(name string) (Encoding, error) {
	plain := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(name))
	if rest, ok := strings.CutPrefix(plain, "cp125"); ok {
		plain = "windows125" + rest
	}
	switch plain {
	case "utf16": // without a byte order mark, as Windows writes it
		plain = "utf16le"
	case "iso88591":
		plain = "latin1"
	case "latin9":
		plain = "iso885915"
	}
	for _, e := range named {
		if strings.ReplaceAll(e.name, "-", "") == plain {
			return e, nil
		}
	}
	return UTF8, fmt.Errorf("unknown encoding %q: use one of %s", name, strings.Join(Names(), ", "))
}

// String is the name of the encoding.
func (e Encoding) String() string {
	return cmp.Or(e.name, UTF8.name)
}

// Unit is the number of bytes of a code unit.
func (e Encoding) Unit() int64 { return int64(max(e.unit, 1)) }

// IsUTF8 reports whether bytes need no conversion.
func (e Encoding) IsUTF8() bool { return e.unit == 0 }

// Detect returns the likely encoding of a text that starts with sample. whole means that it ends there. A byte order
// mark decides, then zeros at every other byte. Bytes that are not valid in UTF-8 are taken for Windows-1252 if they
// have a meaning there.
func Detect(sample []byte, whole bool) (e Encoding, err error) {
	switch {
	case bytes.HasPrefix(sample, []byte("\xef\xbb\xbf")):
		return UTF8, nil
	case bytes.HasPrefix(sample, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(sample, []byte("\x00\x00\xfe\xff")):
		return UTF8, fmt.Errorf("the input is UTF-32, which is not supported; convert it to UTF-8 first")
	case bytes.HasPrefix(sample, []byte("\xff\xfe")):
		return UTF16LE, nil
	case bytes.HasPrefix(sample, []byte("\xfe\xff")):
		return UTF16BE, nil
	}
	if e, ok := byZeros(sample); ok {
		return e, nil
	}
	if !whole {
		sample = trimRune(sample)
	}
	if utf8.Valid(sample) {
		return UTF8, nil
	}
	return byBytes(sample), nil
}

// DetectAll is [Detect] for all bytes of r.
func DetectAll(r io.Reader) (Encoding, error) {
	buf := make([]byte, 256<<10)
	kept := 0 // bytes of a character that is not complete
	for first := true; ; first = false {
		n, err := io.ReadFull(r, buf[kept:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return UTF8, err
		}
		part := buf[:kept+n]
		e := UTF8
		if first {
			var derr error
			if e, derr = Detect(part, err != nil); derr != nil {
				return e, derr
			}
		} else if whole := trimRune(part); !utf8.Valid(whole) || err != nil && len(whole) < len(part) {
			e = byBytes(part)
		}
		if !e.IsUTF8() || err != nil {
			return e, nil
		}
		kept = copy(buf, part[len(trimRune(part)):])
	}
}

// byZeros recognizes UTF-16 without a byte order mark: characters below U+0100, such as delimiters and line ends, have
// a zero byte, always on the same side.
func byZeros(sample []byte) (Encoding, bool) {
	sample = sample[:min(len(sample), 4096)&^1]
	var zeros [2]int
	for i, c := range sample {
		if c == 0 {
			zeros[i&1]++
		}
	}
	enough := max(len(sample)/20, 2)
	for i, e := range []Encoding{UTF16BE, UTF16LE} {
		if zeros[i] >= enough && zeros[1-i] == 0 {
			if _, err := io.Copy(io.Discard, e.Reader(bytes.NewReader(sample))); err == nil || len(sample) == 4096 {
				return e, true
			}
		}
	}
	return UTF8, false
}

// byBytes chooses between damaged UTF-8 and single bytes.
func byBytes(sample []byte) Encoding {
	runes, invalid := 0, 0
	for len(sample) > 0 {
		i := 0
		for i < len(sample) && sample[i] < utf8.RuneSelf {
			i++
		}
		if sample = sample[i:]; len(sample) == 0 {
			break
		}
		r, n := utf8.DecodeRune(sample)
		switch {
		case n > 1:
			runes++
		case r == utf8.RuneError:
			if charmap.Windows1252.DecodeByte(sample[0]) == utf8.RuneError {
				return UTF8
			}
			invalid++
		}
		sample = sample[n:]
	}
	if runes > invalid {
		return UTF8
	}
	return Windows1252
}

// trimRune removes the start of a character at the end of b.
func trimRune(b []byte) []byte {
	for i := len(b) - 1; i >= 0 && i >= len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
