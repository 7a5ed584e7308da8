// Package fields puts byte strings together from patterns and fields: docs/format.md §7.5. They are for strings that a program wrote,
// such as log lines, identifiers and addresses.
//
// A pattern is constant bytes with places between them. The field at a place belongs to a column; columns are shared by
// the patterns that begin alike. Example:
//
//	values:   18:01:47 INFO took 45 ms     18:01:48 WARN disk sda1 is full
//	patterns: {0} INFO took {1} ms         {0} WARN disk {2} is full
//	columns:  {0} 180147 180148 (times)    {1} 45 (decimal)    {2} sda1 (text)
//
// Package learn learns patterns from a sample and splits values by them. A [Decoder] assembles values from the texts of their
// fields, which [Column] makes of numbers. Package find finds values. The idea is that of CLP (Rodrigues, Luo and Yuan: CLP:
// Efficient and Scalable Search on Compressed Text Logs, OSDI 2021) and Drain (He et al.: Drain: An Online Log Parsing
// Approach with Fixed Depth Tree, ICWS 2017).
package fields

import "encoding/binary"

// Slack is how many bytes behind what is copied from may be read, and behind what is written may be overwritten.
const Slack = 64

// Kind is the form of the fields of a column.
type Kind uint8

// The kinds. Their numbers are in files.
const (
	Text     Kind = iota // any byte strings
	Decimal              // integers without zeros in front
	Signed               // integers without zeros in front, some of them negative
	Digits               // groups of digits of one width each, as one number
	HexLower             // hexadecimal digits of one width
	HexUpper
	numKinds
)

// Group is a group of decimal digits of a column of Digits, and the bytes between it and the group before.
type Group struct {
	Separator []byte // at most MaxSeparator bytes, none before the first group
	Width     int    // digits
	Low       uint64 // the least number
	Radix     uint64 // the numbers are below Low+Radix; the first group has no bound but that of its digits
}

// Limits.
const (
	MaxSeparator = 6  // bytes between two groups
	MaxGroup     = 9  // digits of a group that is not the first
	MaxDigits    = 19 // digits of the first group
	MaxGroups    = 8  // groups of a column
	MaxWidth     = 32 // bytes of all groups and separators
	MaxHex       = 16 // hexadecimal digits
)

var le = binary.LittleEndian

var powers = func() (p [MaxDigits + 1]uint64) {
	p[0] = 1
	for i := range MaxDigits {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// Power is the n-th power of ten, for n up to MaxDigits.
func Power(n int) uint64 { return powers[n] }
