package bytestring

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"

	"github.com/amudai/amudai-go/encoding"
	"github.com/amudai/amudai-go/encoding/bytestring/internal/encode"
	"github.com/amudai/amudai-go/encoding/internal/template"
	"github.com/amudai/amudai-go/encoding/numeric"
	"github.com/amudai/amudai-go/internal/base/fault"
	"github.com/amudai/amudai-go/internal/base/scratch"
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
	templateHeader = 18

	templatesRaw  = 0
	templatesLZ4  = 1
	templatesZstd = 2

	digitsWords = 0
	digitsZstd  = 1

	templateChunk = 1024 // values that are put together at a time: their digits stay in the cache
)

// digits are those of a Template block.
type digits struct {
	marks []uint64 // how many there are before every template.MarkEvery-th value
	count uint64
	zstd  bool

	unpacked bool // they are in the Scratch, if by zstd
}

func parseTemplates(b *Block, tree []byte, limit int64) (uint64, error) {
	header, rest, err := split(tree, templateHeader)
	if err != nil {
		return 0, err
	}
	count := uint64(binary.LittleEndian.Uint32(header))
	form, digitsForm := header[16], header[17]
	switch {
	case b.fixed > 0:
		return 0, fault.Corruptf("templates of byte strings of %d bytes each", b.fixed)
	case count > uint64(b.n):
		return 0, fault.Corruptf("%d templates of %d values", count, b.n)
	case form > templatesZstd || digitsForm > digitsZstd:
		return 0, fault.Corruptf("forms %d and %d of templates and digits", form, digitsForm)
	}
	var parts [3][]byte // lengths, templates, codes
	for i, what := range [...]string{"lengths", "templates", "codes"} {
		if parts[i], rest, err = padded(rest, uint64(binary.LittleEndian.Uint32(header[4+4*i:])), what); err != nil {
			return 0, err
		}
	}
	if err := b.readTemplates(int(count), parts[0], parts[1], form, limit); err != nil {
		return 0, fault.In(err, "templates", -1)
	}
	b.codes = scratch.Slice(&b.s.codes, b.n)
	if err := numeric.Decode(b.codes, parts[2], &b.s.num); err != nil {
		return 0, fault.In(err, "codes", -1)
	}
	b.payload, b.digits.zstd = rest, digitsForm == digitsZstd
	return b.placeTemplates()
}

// readTemplates finds the templates.
func (b *Block) readTemplates(count int, lengths, stored []byte, form byte, limit int64) error {
	each := scratch.Slice(&b.s.lengths, count)
	if err := numeric.Decode(each, lengths, &b.s.num); err != nil {
		return fault.In(err, "lengths", -1)
	}
	size := uint64(0)
	for _, n := range each {
		size += uint64(n)
	}
	if size > uint64(limit) {
		return fault.Limitf("%d bytes of templates, more than %d", size, limit)
	}
	if form != templatesZstd && size/lz4MaxRatio > uint64(len(stored)) || form == templatesRaw && size != uint64(len(stored)) {
		return fault.Corruptf("%d bytes of templates from %d", size, len(stored))
	}
	texts := scratch.Slice(&b.s.texts, int(size)+template.Slack)[:size]
	var err error
	switch form {
	case templatesRaw:
		copy(texts, stored)
	case templatesLZ4:
		err = decodeLZ4(texts, stored)
	case templatesZstd:
		err = b.s.zstd.Decode(texts, stored)
	}
	if err != nil {
		return err
	}
	return b.s.templates.Reset(texts, each)
}

// placeTemplates finds out where values and their digits are.
func (b *Block) placeTemplates() (size uint64, err error) {
	b.offsets = scratch.Slice(&b.s.offsets, b.n+1)
	b.digits.marks = scratch.Slice(&b.s.marks, (b.n+template.MarkEvery-1)/template.MarkEvery)
	if b.digits.count, err = b.s.templates.Offsets(b.offsets, b.digits.marks, b.codes); err != nil {
		return 0, err
	}
	size = b.offsets[b.n]
	if words := template.WordsLen(b.digits.count); !b.digits.zstd && words != uint64(len(b.payload)) {
		return 0, fault.Corruptf("%d bytes for %d digits", len(b.payload), b.digits.count)
	}
	return size, nil
}

// decodeTemplates writes the values of slots from up to (not including) to.
func decodeTemplates(b *Block, dst []byte, from, to int) error {
	if from == to {
		return nil
	}
	set := &b.s.templates
	mark := from / template.MarkEvery
	at := int(b.digits.marks[mark]) + set.Digits(b.codes[mark*template.MarkEvery:from])
	for from < to {
		end := min(from+templateChunk, to)
		codes := b.codes[from:end]
		n := set.Digits(codes)
		digits, err := b.unpackDigits(at, n)
		if err != nil {
			return err
		}
		size := int(b.offsets[end] - b.offsets[from])
		set.Expand(dst, codes, digits, cap(dst)-size < template.Slack)
		dst, from, at = dst[size:], end, at+n
	}
	return nil
}

// unpackDigits is n digits of the block, and template.Slack bytes.
func (b *Block) unpackDigits(at, n int) ([]byte, error) {
	if b.digits.zstd {
		if !b.digits.unpacked {
			all := scratch.Slice(&b.s.data, int(b.digits.count)+template.Slack)[:b.digits.count]
			if err := b.s.zstd.Decode(all, b.payload); err != nil {
				return nil, err
			}
			if !template.AllDigits(all) {
				return nil, fault.Corruptf("digits that are none")
			}
			b.digits.unpacked = true
		}
		return b.s.data[at:], nil
	}
	first, last := at/template.WordDigits, (at+n+template.WordDigits-1)/template.WordDigits
	digits := scratch.Slice(&b.s.data, (last-first)*template.WordDigits+template.Slack)
	if !template.UnpackWords(digits, b.payload[8*first:8*last]) {
		return nil, fault.Corruptf("words that are no digits, from %d to %d", first, last)
	}
	return digits[at-first*template.WordDigits:], nil
}

// appendTemplates writes templates of at most about half as many texts, and a few;
// ok is false if there are more, or no digits. What is worth it is compressed by LZ4 or, if a
// level is given, by Zstandard.
func appendTemplates(w *encode.Workspace, dst []byte, in *encode.Input, r encode.Request) (out []byte, ok bool, err error) {
	e, v, level, nums := &w.Templates, in.Values, r.Level, r.Numbers
	spare := fewTemplates
	if r.Forced {
		spare = v.N
	}
	if v.Fixed > 0 || !e.Encode(v.Data, v.Offsets, spare) {
		return dst, false, nil
	}
	start := len(dst)
	var header [24]byte
	dst = append(dst, header[:]...)
	binary.LittleEndian.PutUint16(dst[start:], uint16(encoding.Template))
	binary.LittleEndian.PutUint32(dst[start+2:], uint32(e.Len()))
	part := len(dst)
	end := func(i int) { // of a part
		binary.LittleEndian.PutUint32(dst[start+6+4*i:], uint32(len(dst)-part))
		dst = encode.Pad(dst, start)
		part = len(dst)
	}
	w.Lengths = e.Lengths(w.Lengths[:0])
	if dst, err = nums.AppendCounts(dst, w.Lengths); err != nil {
		return dst, false, err
	}
	end(0)
	var form byte
	if dst, form, err = appendTexts(w, dst, e.Text(), level); err != nil {
		return dst, false, err
	}
	dst[start+18] = form
	end(1)
	if dst, err = nums.AppendCodes(dst, e.Codes); err != nil {
		return dst, false, err
	}
	end(2)
	dst, form, err = appendDigits(w, dst, e.Digits, level)
	dst[start+19] = form
	return dst, err == nil && (r.Forced || len(e.Digits) > 0), err
}

func appendTexts(w *encode.Workspace, dst, texts []byte, level zstd.EncoderLevel) (out []byte, form byte, err error) {
	at := len(dst)
	if form = templatesZstd; level > 0 {
		dst, err = w.AppendZstd(dst, texts, level)
	} else {
		dst, form = w.LZ4.Append(dst, texts), templatesLZ4
	}
	if err == nil && len(dst)-at >= len(texts) {
		dst, form = append(dst[:at], texts...), templatesRaw
	}
	return dst, form, err
}

func appendDigits(w *encode.Workspace, dst, digits []byte, level zstd.EncoderLevel) (out []byte, form byte, err error) {
	at := len(dst)
	if level > 0 {
		dst, err = w.AppendZstd(dst, digits, level)
		if err != nil || uint64(len(dst)-at) < template.WordsLen(uint64(len(digits))) {
			return dst, digitsZstd, err
		}
	}
	return template.AppendWords(dst[:at], digits), digitsWords, nil
}

// fewTemplates is how many templates there may be whatever the number of values.
const fewTemplates = 64

var templates = row{
	Row: encode.Row{
		Code:  encoding.Template,
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
		Quick:   true,
		Parts:   []string{"Plain", "Plain"},
		Leveled: true,
	},
	parse:    parseTemplates,
	values:   decodeTemplates,
	contains: (*Block).templatesWith,
	describe: describeTemplates,
}

// templatesWith looks for parts in the templates.
func (b *Block) templatesWith(parts [][]byte) []byte {
	keep := scratch.Slice(&b.s.keep, b.s.templates.Len())
	for i := range keep {
		keep[i] = 1
	}
	for _, part := range parts {
		b.s.templates.Containing(keep, part, &b.s.part)
	}
	return keep
}

func describeTemplates(d *describer) {
	count, lengths := d.Uint(4, "templates"), d.Uint(4, "lengths size")
	texts, codes := d.Uint(4, "templates size"), d.Uint(4, "codes size")
	d.Uint(1, "form of the templates")
	d.Uint(1, "form of the digits")
	d.Bytes(4, "zeros")
	d.numbers("lengths", lengths, numeric.U32, int(min(count, uint64(d.n))))
	d.Bytes(texts, "templates")
	d.Pad()
	d.numbers("codes", codes, numeric.U32, d.n)
	d.Rest("digits")
}
