package tabular

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// kind is what one text looks like.
type kind uint8

const (
	kindText     kind = iota
	kindZeros         // digits with leading zeros: text, and worth saying so
	kindLong          // a number that no 64-bit type holds exactly: the same
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

// guess collects what the values of one column look like.
type guess struct {
	count    [numKinds]int
	first    [numKinds]string // an example of each
	negative bool             // an integer is negative
	wide     bool             // an integer is beyond 2^53, where floats have gaps
	digits   int              // most digits of a fraction of a second
	offsets  bool             // an offset other than 0
	minSec   int64            // of the timestamps
	maxSec   int64
}

// addText classifies a text and counts it.
func (g *guess) addText(b []byte) {
	k := g.classify(b)
	if g.count[k]++; g.count[k] == 1 {
		g.first[k] = clip(string(b))
	}
}

func (g *guess) classify(b []byte) kind {
	if len(b) == 0 || len(b) > 400 {
		return kindText
	}
	switch c := b[0]; {
	case c == 't' || c == 'T' || c == 'f' || c == 'F':
		if _, ok := parseBool(b); ok {
			return kindBool
		}
		return kindText
	case c == 'N' || c == 'n' || c == 'I' || c == 'i':
		if _, err := parseFloat(b, 64, inferred); err == nil {
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
	switch _, err := parseFloat(b, 64, inferred); err {
	case nil:
		return kindFloat
	case errDigits, errRange:
		return kindLong
	case errLeadingZeros:
		return kindZeros
	}
	return g.classifyTime(b)
}

func (g *guess) classifyInt(b []byte) (kind, bool) {
	neg, mag, err := parseInt(b, inferred)
	switch err {
	case nil:
		g.negative = g.negative || neg
		g.wide = g.wide || mag > 1<<53
		switch {
		case mag <= math.MaxInt64 || neg && mag == 1<<63:
			return kindInt, true
		case !neg:
			return kindUint, true
		}
		return kindLong, true
	case errRange:
		return kindLong, true
	case errLeadingZeros:
		if string(b) == "-0" {
			return kindFloat, true // an integer would lose the sign
		}
		return kindZeros, true
	}
	return 0, false
}

func (g *guess) classifyTime(b []byte) kind {
	days, rest, ok := cutDate(b)
	if !ok {
		return kindText
	}
	if len(rest) == 0 {
		if days != int64(int32(days)) {
			return kindText
		}
		return kindDate
	}
	t, ok := parseInstant(b)
	if !ok {
		return kindText
	}
	if g.count[kindTime]+g.count[kindTimeZone] == 0 {
		g.minSec, g.maxSec = t.secs, t.secs
	}
	g.minSec, g.maxSec = min(g.minSec, t.secs), max(g.maxSec, t.secs)
	g.digits = max(g.digits, t.digits)
	g.offsets = g.offsets || t.offset
	if t.zoned {
		return kindTimeZone
	}
	return kindTime
}

// seen is the set of kinds that were counted.
func (g *guess) seen() (set uint) {
	for k, n := range g.count {
		if n > 0 {
			set |= 1 << k
		}
	}
	return set
}

// resolve gives the type that holds every value seen exactly; ok is false when
// only text does. The notice is empty, or what a person should know about it.
func (g *guess) resolve() (t arrow.DataType, notice string, ok bool) {
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
	case set == 1<<kindFloat, set == 1<<kindFloat|1<<kindInt && !g.wide:
		return arrow.PrimitiveTypes.Float64, "", true
	case set == 1<<kindDate:
		return arrow.FixedWidthTypes.Date32, "", true
	case set == 1<<kindTime, set == 1<<kindTimeZone:
		return g.resolveTime()
	}
	return nil, g.why(), false
}

// resolveTime chooses the unit: microseconds, or nanoseconds where the sample
// has more than six digits.
func (g *guess) resolveTime() (arrow.DataType, string, bool) {
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

// why explains what keeps a column text.
func (g *guess) why() string {
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

// notices gives messages to the caller, at most a handful in full.
type notices struct {
	give func(string)
	more int
	said int
}

const maxNotices = 8

func (n *notices) add(format string, args ...any) {
	if n.said++; n.said > maxNotices {
		n.more++
		return
	}
	n.give(fmt.Sprintf(format, args...))
}

func (n *notices) end() {
	if n.more > 0 {
		n.give(fmt.Sprintf("… and %d more columns like that", n.more))
	}
}
