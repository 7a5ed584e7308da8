package records

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/amudai/amudai-go/internal/text"
)

// kind is the kind of value that a text appears to be.
type kind uint8

const (
	kindText     kind = iota
	kindZeros         // digits with leading zeros: kept as text, with a notice
	kindLong          // a number that no 64-bit type holds exactly: likewise
	kindBool          // true, false
	kindInt           // fits int64
	kindUint          // fits uint64 only
	kindFloat         // fits float64
	kindDate          // 2012-12-31
	kindTime          // date and time
	kindTimeZone      // date and time with an offset
	numKinds
)

var kindNames = [numKinds]string{
	"text", "numbers with leading zeros", "numbers too long for 64 bits", "booleans", "integers", "large integers",
	"floats", "dates", "timestamps", "timestamps with a zone",
}

// Guess collects the kinds of the values of one column.
type Guess struct {
	count    [numKinds]int
	first    [numKinds]string // an example of each kind
	negative bool             // an integer is negative
	Wide     bool             // an integer is beyond 2^53, where floats have gaps
	digits   int              // most digits in a fraction of a second
	offsets  bool             // an offset other than 0
	minSec   int64            // of the timestamps
	maxSec   int64
}

// Add classifies a text and counts it. It reports whether nothing but text fits.
func (g *Guess) Add(b []byte) (isText bool) {
	k := g.classify(b)
	g.add(k, b)
	return k == kindText
}

// AddText counts a text that stands for nothing else.
func (g *Guess) AddText(b []byte) { g.add(kindText, b) }

func (g *Guess) add(k kind, b []byte) {
	if g.count[k]++; g.count[k] == 1 {
		g.first[k] = text.Clip(string(b))
	}
}

// Empty reports whether there was no value.
func (g *Guess) Empty() bool { return g.seen() == 0 }

// Texts is the number of values that are nothing but text.
func (g *Guess) Texts() int { return g.count[kindText] }

// OnlyText reports whether there are values, and nothing but text fits any of them.
func (g *Guess) OnlyText() bool { return g.seen() == 1<<kindText }

// OnlyNumbers reports whether all values but the texts, if there are any, are numbers.
func (g *Guess) OnlyNumbers() bool {
	return g.seen()&^(1<<kindText|1<<kindInt|1<<kindUint|1<<kindFloat) == 0
}

func (g *Guess) classify(b []byte) kind {
	if len(b) == 0 || len(b) > 400 {
		return kindText
	}
	switch c := b[0]; {
	case c == 't' || c == 'T' || c == 'f' || c == 'F':
		if _, ok := text.ParseBool(b); ok {
			return kindBool
		}
		return kindText
	case c == 'N' || c == 'n' || c == 'I' || c == 'i':
		if _, err := text.ParseFloat(b, 64, text.Strict); err == nil {
			return kindFloat
		}
		return kindText
	case c == '-' || c == '.' || c == '+' || c-'0' <= 9:
	default:
		return kindText
	}
	if k, ok := g.classifyInt(b); ok {
		return k
	}
	switch _, err := text.ParseFloat(b, 64, text.Strict); err {
	case nil:
		return kindFloat
	case text.ErrDigits, text.ErrRange:
		return kindLong
	case text.ErrLeadingZeros:
		return kindZeros
	}
	return g.classifyTime(b)
}

func (g *Guess) classifyInt(b []byte) (kind, bool) {
	neg, mag, err := text.ParseInt(b, text.Strict)
	switch err {
	case nil:
		g.negative = g.negative || neg
		g.Wide = g.Wide || mag > 1<<53
		switch {
		case mag <= math.MaxInt64 || neg && mag == 1<<63:
			return kindInt, true
		case !neg:
			return kindUint, true
		}
		return kindLong, true
	case text.ErrRange:
		return kindLong, true
	case text.ErrLeadingZeros:
		if string(b) == "-0" {
			return kindFloat, true // an integer would lose the sign
		}
		return kindZeros, true
	}
	return 0, false
}

func (g *Guess) classifyTime(b []byte) kind {
	days, rest, err := text.CutDate(b, text.Strict)
	if err != nil {
		return kindText
	}
	if len(rest) == 0 {
		if days != int64(int32(days)) {
			return kindText
		}
		return kindDate
	}
	t, err := text.ParseInstant(b, text.Strict)
	if err != nil {
		return kindText
	}
	if g.count[kindTime]+g.count[kindTimeZone] == 0 {
		g.minSec, g.maxSec = t.Secs, t.Secs
	}
	g.minSec, g.maxSec = min(g.minSec, t.Secs), max(g.maxSec, t.Secs)
	g.digits = max(g.digits, t.Digits)
	g.offsets = g.offsets || t.Offset
	if t.Zoned {
		return kindTimeZone
	}
	return kindTime
}

// seen is the set of counted kinds.
func (g *Guess) seen() (set uint) {
	for k, n := range g.count {
		if n > 0 {
			set |= 1 << k
		}
	}
	return set
}

// Resolve returns the type that holds every value exactly. ok is false if only text does. The notice explains this,
// or is empty.
func (g *Guess) Resolve() (t arrow.DataType, notice string, ok bool) {
	const ints = 1<<kindInt | 1<<kindUint
	switch set := g.seen(); {
	case set == 0:
		return nil, "", false
	case set == 1<<kindText:
		return nil, "", false
	case set == 1<<kindBool:
		return arrow.FixedWidthTypes.Boolean, "", true
	case set == 1<<kindInt:
		return arrow.PrimitiveTypes.Int64, "", true
	case set&^uint(ints) == 0 && !g.negative:
		return arrow.PrimitiveTypes.Uint64, "", true
	case set == 1<<kindFloat, set == 1<<kindFloat|1<<kindInt && !g.Wide:
		return arrow.PrimitiveTypes.Float64, "", true
	case set == 1<<kindDate:
		return arrow.FixedWidthTypes.Date32, "", true
	case set == 1<<kindTime, set == 1<<kindTimeZone:
		return g.resolveTime()
	}
	return nil, g.why(), false
}

// resolveTime chooses the unit: microseconds, or nanoseconds if the sample has more than six digits.
func (g *Guess) resolveTime() (arrow.DataType, string, bool) {
	t := &arrow.TimestampType{Unit: arrow.Microsecond}
	if g.digits > 6 {
		t.Unit = arrow.Nanosecond
		const most = math.MaxInt64/1_000_000_000 - 1
		if g.minSec < -most || g.maxSec > most {
			return nil, "nanoseconds outside the years 1677 to 2262", false
		}
	}
	const most = math.MaxInt64/1_000_000 - 1
	if g.minSec < -most || g.maxSec > most {
		return nil, "times too far away for a timestamp", false
	}
	notice := ""
	if g.count[kindTimeZone] > 0 {
		t.TimeZone = "UTC"
		if g.offsets {
			notice = "times with an offset are stored in UTC"
		}
	}
	return t, notice, true
}

// why explains why a column is kept as text.
func (g *Guess) why() string {
	var parts []string
	for _, k := range []kind{kindZeros, kindLong, kindInt, kindUint, kindFloat, kindBool, kindDate, kindTime, kindTimeZone, kindText} {
		if g.count[k] > 0 {
			parts = append(parts, fmt.Sprintf("%s (%q)", kindNames[k], g.first[k]))
		}
	}
	if len(parts) > 3 {
		parts = append(parts[:3], "others")
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// Notices passes messages to the caller, the first few in full.
type Notices struct {
	Give func(string)
	more int
	said int
}

const maxNotices = 8

// Add passes a message, or counts it.
func (n *Notices) Add(format string, args ...any) {
	if n.said++; n.said > maxNotices {
		n.more++
		return
	}
	n.Give(fmt.Sprintf(format, args...))
}

// End passes the number of messages that were only counted.
func (n *Notices) End() {
	if n.more > 0 {
		n.Give(fmt.Sprintf("… and %d more %s", n.more, text.Plural(n.more, "notice")))
	}
}
