package patterns

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/encoding/internal/template"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/decompress"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
	"github.com/amudai/amudai-go/internal/base/search"
	"github.com/amudai/amudai-go/internal/format/edition"
)

// Template, code 0x8008: the distinct templates of the values, which are the
// values with a 0 for every digit, a code for each slot, and the digits
// (package template). Values of a fixed size are not written like that.
//
//	0  2  08 80
//	2  4  u32 number of templates T, at most n
//	6  4  u32 size of their lengths in bytes
//	10 4  u32 size of their bytes, as stored
//	14 4  u32 size of the codes in bytes
//	18 1  form of the templates: 0 as they are, 1 an LZ4 block, 2 Zstandard
//	19 1  form of the digits: 0 words, 1 ASCII in Zstandard
//	20 4  zeros
//	24    lengths: tree of T u32; zeros up to a multiple of 8
//	      templates back to back; zeros up to a multiple of 8
//	      codes: tree of n u32; zeros up to a multiple of 8
//	      digits of all values in their order, to the end
//
// A word is a u64 of 18 digits: six groups of 10 bits, from the lowest, each a
// number of three digits; zeros fill the last word. Example, "a1", "a23", "a4",
// trees as Plain:
//
//	08 80 | 02 00 00 00 | 0a 00 00 00 | 05 00 00 00 | 0e 00 00 00 | 00 | 00 | 4 zeros
//	01 00 | 02 00 00 00 03 00 00 00 | 6 zeros | 61 30 61 30 30 | 3 zeros
//	01 00 | 00 00 00 00 01 00 00 00 00 00 00 00 | 2 zeros | 7b 40 06 00 00 00 00 00

const (
	templatesRaw  = 0
	templatesLZ4  = 1
	templatesZstd = 2

	digitsWords = 0
	digitsZstd  = 1

	templateChunk = 1024 // values that are put together at a time: their digits stay in the cache
)

// templateTree is the memory of a Template block.
type templateTree struct {
	set     template.Set
	zstd    decompress.Zstd
	codes   []uint32
	offsets []uint64
	lengths []uint32
	texts   []byte
	marks   []uint64 // how many digits there are before every template.MarkEvery-th value
	count   uint64   // of digits

	compressed bool   // the digits are
	unpacked   bool   // and are in room
	room       []byte // for digits
	keep       []byte
	part       []byte
	shape      search.Shape
}

// templateParts is the parts of a Template block.
type templateParts struct {
	count                         int
	form, digitsForm              byte
	lengths, texts, codes, digits []byte
}

func layoutOfTemplates(r *tree.Reader) (p templateParts) {
	count, lengths := r.Uint(4, "templates"), r.Uint(4, "lengths size")
	texts, codes := r.Uint(4, "templates size"), r.Uint(4, "codes size")
	p.form, p.digitsForm = byte(r.Uint(1, "form of the templates")), byte(r.Uint(1, "form of the digits"))
	r.Pad()
	p.count = int(min(count, uint64(r.N)))
	p.lengths = r.Numbers("lengths", lengths, numeric.U32, p.count)
	p.texts = r.Bytes(texts, "templates")
	r.PadBetween()
	p.codes = r.Numbers("codes", codes, numeric.U32, r.N)
	p.digits = r.Rest("digits")
	if count > uint64(r.N) {
		r.Fail(fault.Corruptf("%d templates of %d values", count, r.N))
	}
	if p.form > templatesZstd || p.digitsForm > digitsZstd {
		r.Fail(fault.Corruptf("forms %d and %d of templates and digits", p.form, p.digitsForm))
	}
	r.NoFixed()
	return p
}

func parseTemplates(t *tree.Tree, r *tree.Reader, limit int64) (uint64, error) {
	p := layoutOfTemplates(r)
	if r.Err != nil {
		return 0, r.Err
	}
	d := tree.State[templateTree](t)
	if err := d.readTemplates(t, &p, limit); err != nil {
		return 0, fault.In(err, "templates", -1)
	}
	t.Codes = scratch.Slice(&d.codes, t.N)
	if err := tree.DecodeNumbers(t, "codes", t.Codes, p.codes); err != nil {
		return 0, err
	}
	t.Payload, d.compressed, d.unpacked = p.digits, p.digitsForm == digitsZstd, false
	t.Offsets = scratch.Slice(&d.offsets, t.N+1)
	var err error
	if d.count, err = d.set.Offsets(t.Offsets, scratch.Slice(&d.marks, (t.N+template.MarkEvery-1)/template.MarkEvery), t.Codes); err != nil {
		return 0, err
	}
	if words := template.WordsLen(d.count); !d.compressed && words != uint64(len(p.digits)) {
		return 0, fault.Corruptf("%d bytes for %d digits", len(p.digits), d.count)
	}
	return t.Offsets[t.N], nil
}

// readTemplates finds the templates.
func (d *templateTree) readTemplates(t *tree.Tree, p *templateParts, limit int64) error {
	each := scratch.Slice(&d.lengths, p.count)
	if err := tree.DecodeNumbers(t, "lengths", each, p.lengths); err != nil {
		return err
	}
	size := tree.SumOf(each)
	if size > uint64(limit) {
		return fault.Limitf("%d bytes of templates, more than %d", size, limit)
	}
	if p.form != templatesZstd && size/decompress.LZ4MaxRatio > uint64(len(p.texts)) || p.form == templatesRaw && size != uint64(len(p.texts)) {
		return fault.Corruptf("%d bytes of templates from %d", size, len(p.texts))
	}
	texts := scratch.Slice(&d.texts, int(size)+template.Slack)[:size]
	var err error
	switch {
	case p.form == templatesRaw:
		copy(texts, p.texts)
	case p.form == templatesZstd:
		err = d.zstd.Decode(texts, p.texts)
	case size > 0:
		err = decompress.LZ4(texts, p.texts)
	}
	if err != nil {
		return err
	}
	return d.set.Reset(texts, each)
}

// decodeTemplates writes the values of slots from up to (not including) to.
func decodeTemplates(t *tree.Tree, dst []byte, from, to int) error {
	if from == to {
		return nil
	}
	d := tree.State[templateTree](t)
	mark := from / template.MarkEvery
	at := int(d.marks[mark]) + d.set.Digits(t.Codes[mark*template.MarkEvery:from])
	for from < to {
		end := min(from+templateChunk, to)
		codes := t.Codes[from:end]
		n := d.set.Digits(codes)
		digits, err := d.unpackDigits(t.Payload, at, n)
		if err != nil {
			return err
		}
		size := int(t.Offsets[end] - t.Offsets[from])
		d.set.Expand(dst, codes, digits, cap(dst)-size < template.Slack)
		dst, from, at = dst[size:], end, at+n
	}
	return nil
}

// unpackDigits is n of the stored digits, and template.Slack bytes.
func (d *templateTree) unpackDigits(stored []byte, at, n int) ([]byte, error) {
	if d.compressed {
		if !d.unpacked {
			all := scratch.Slice(&d.room, int(d.count)+template.Slack)[:d.count]
			if err := d.zstd.Decode(all, stored); err != nil {
				return nil, err
			}
			if !template.AllDigits(all) {
				return nil, fault.Corruptf("digits that are none")
			}
			d.unpacked = true
		}
		return d.room[at:], nil
	}
	first, last := at/template.WordDigits, (at+n+template.WordDigits-1)/template.WordDigits
	digits := scratch.Slice(&d.room, (last-first)*template.WordDigits+template.Slack)
	if !template.UnpackWords(digits, stored[8*first:8*last]) {
		return nil, fault.Corruptf("words that are no digits, from %d to %d", first, last)
	}
	return digits[at-first*template.WordDigits:], nil
}

// appendTemplates writes templates of at most about half as many texts, and a few;
// ok is false if there are more, or no digits. What is worth it is compressed by LZ4 or, if a
// level is given, by Zstandard.
func appendTemplates(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool) {
	e, v, level, nums := &w.Templates, in.Values, r.Level, r.Numbers
	spare := fewTemplates
	if r.Forced {
		spare = v.N
	}
	if v.Fixed > 0 || !e.Encode(v.Data, v.Offsets, spare) {
		return dst, false
	}
	start := len(dst)
	var header [24]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.Template))
	binary.LittleEndian.PutUint32(dst[start+2:], uint32(e.Len()))
	w.Lengths = e.Lengths(w.Lengths[:0])
	at := len(dst)
	dst = encode.EndPart(encode.AppendNumbers(nums, dst, encode.Lengths, 1, w.Lengths), start, at, 6)
	at = len(dst)
	dst, header[0] = appendTexts(w, dst, e.Text(), level)
	dst = encode.EndPart(dst, start, at, 10)
	at = len(dst)
	dst = encode.EndPart(encode.AppendNumbers(nums, dst, encode.Codes, 0, e.Codes), start, at, 14)
	dst, header[1] = appendDigits(w, dst, e.Digits, level)
	copy(dst[start+18:], header[:2]) // the forms
	return dst, r.Forced || len(e.Digits) > 0
}

func appendTexts(w *encode.Workspace, dst, texts []byte, level zstd.EncoderLevel) (out []byte, form byte) {
	at := len(dst)
	if form = templatesZstd; level > 0 {
		dst = w.AppendZstd(dst, texts, level)
	} else {
		dst, form = w.LZ4.Append(dst, texts), templatesLZ4
	}
	if len(dst)-at >= len(texts) {
		dst, form = append(dst[:at], texts...), templatesRaw
	}
	return dst, form
}

func appendDigits(w *encode.Workspace, dst, digits []byte, level zstd.EncoderLevel) (out []byte, form byte) {
	at := len(dst)
	if level > 0 {
		dst = w.AppendZstd(dst, digits, level)
		if uint64(len(dst)-at) < template.WordsLen(uint64(len(digits))) {
			return dst, digitsZstd
		}
	}
	return template.AppendWords(dst[:at], digits), digitsWords
}

// fewTemplates is how many templates there may be whatever the number of values.
const fewTemplates = 64

// Template, code 0x8008.
var Template = encode.Row{
	Row: tree.Row{
		Code:     encoding.Template,
		Layout:   func(r *tree.Reader) { layoutOfTemplates(r) },
		Parse:    parseTemplates,
		Values:   decodeTemplates,
		Contains: templatesWith,
		Shapes:   templateShapes,
	},
	Needs: edition.Only(edition.Template),
	Trials: encode.Trials{
		encoding.Balanced:           {0},
		encoding.MinimalCompression: {0},
		encoding.HighCompression:    {zstd.SpeedFastest}, // stronger levels are larger, on digits
		encoding.MinimalSize:        {zstd.SpeedFastest},
	},
	Suits:   func(_ *encode.Workspace, in *encode.Input, _ *encode.Learned) bool { return in.Fixed == 0 },
	Append:  appendTemplates,
	Cost:    encode.DecodeCost{PerByte: 200, PerStored: 100, PerValue: 3000},
	Long:    true,
	Short:   true,
	Quick:   true,
	Parts:   []string{"Plain", "Plain"},
	Leveled: true,
}

// templatesWith looks for parts in the templates.
func templatesWith(t *tree.Tree, parts [][]byte) []byte {
	d := tree.State[templateTree](t)
	keep := scratch.Slice(&d.keep, d.set.Len())
	for i := range keep {
		keep[i] = 1
	}
	for _, part := range parts {
		d.set.Containing(keep, part, &d.part)
	}
	return keep
}

// templateShapes is the templates as shapes.
func templateShapes(t *tree.Tree) (codes []uint32, n int, shape func(code int) search.Shape) {
	d := tree.State[templateTree](t)
	return t.Codes, d.set.Len(), func(code int) search.Shape {
		d.shape = d.set.AppendShape(d.shape[:0], code)
		return d.shape
	}
}
