package lines

import (
	"bytes"
	"strconv"

	"github.com/amudai/amudai-go/internal/text"
)

// layout is a way of writing times. Its letters stand for parts of a time, other characters for themselves:
//
//	Y y        year of four digits from 1970 to 2099, of two digits from 1969 to 2068
//	m d H M S  month, day, hour, minute and second of two digits
//	h i s      hour, minute and second of one or two digits
//	b a        month and day of the week of three letters: Jan, Mon
//	e          day of one or two digits, perhaps behind a further blank
//	F          fraction of a second, one to nine digits
//	f          nothing, or a point or comma and a fraction
//	z          nothing, or a zone: Z, UTC, GMT, +01, +0100, +01:00, also behind a blank if it has four digits
//	u          seconds since 1970 of ten digits with f behind them, or milli-, micro- or nanoseconds of 13, 16 or 19
type layout string

// layouts are all known ones. The first that fits at a place in a line is taken.
var layouts = []layout{
	"Y-m-dTH:M:Sfz",   // ISO 8601, RFC 3339, RFC 5424
	"Y-m-d H:M:Sfz",   // log4j, Logback, Python, PostgreSQL, Windows CBS
	"Y/m/d H:M:Sfz",   // nginx errors, Go
	"Y.m.d H:M:Sfz",   //
	"d/b/Y:H:M:Sfz",   // access logs of Apache and nginx
	"a b e H:M:Sf Y",  // errors of Apache, ctime
	"a e b Y H:M:Sfz", //
	"e b Y H:M:Sfz",   // Redis
	"d.m.Y H:M:Sf",    //
	"Y-m-d-H.M.S.F",   // Blue Gene, Db2
	"Ymd-h:i:s:F",     // HealthApp
	"Ymd H:M:Sf",      //
	"YmdTHMSfz",       // ISO 8601, basic format
	"y/m/d H:M:Sf",    // Spark
	"ymd HMS",         // HDFS
	"u",               // Blue Gene, Squid
	"b e H:M:Sf",      // syslog
	android,
}

// android is the layout of logcat, where levels are single letters.
const android layout = "m-d H:M:Sf"

// hasYear reports whether stamps of a layout have a year.
func (l layout) hasYear() bool { return l != android && l != "b e H:M:Sf" }

// stamp is a time in a line.
type stamp struct {
	secs   int64 // since 1970
	nanos  int64
	digits int  // of the fraction
	zoned  bool // secs are UTC
}

// stampReader reads the parts of a stamp.
type stampReader struct {
	b       []byte
	at      int
	year    int64
	month   int
	day     int
	clock   int64 // seconds since midnight, or since 1970
	instant bool  // of these
	stamp
}

// cut reads a stamp at the start of b, and returns its length, which is 0 if there is none. A stamp ends where a word does.
func (l layout) cut(b []byte) (stamp, int) {
	r := stampReader{b: b, year: 1972, month: 1, day: 1} // a leap year, if none is written
	for i := range len(l) {
		if !r.part(l[i]) {
			return stamp{}, 0
		}
	}
	if inWord(b, r.at) {
		return stamp{}, 0
	}
	if r.secs = r.clock; !r.instant {
		days, ok := text.Day(r.year, r.month, r.day)
		if !ok {
			return stamp{}, 0
		}
		r.secs += days * text.DaySeconds
	}
	return r.stamp, r.at
}

// part reads what a letter of a layout stands for.
func (r *stampReader) part(letter byte) (ok bool) {
	n := 0
	switch letter {
	case 'Y':
		n, ok = r.number(4, 4)
		r.year = int64(n)
		return ok && n >= 1970 && n <= 2099
	case 'y':
		n, ok = r.number(2, 2)
		if r.year = 1900 + int64(n); n < 69 { // as POSIX decides
			r.year += 100
		}
	case 'm':
		r.month, ok = r.number(2, 2)
	case 'b':
		r.month, ok = r.name("JanFebMarAprMayJunJulAugSepOctNovDec")
	case 'a':
		_, ok = r.name("MonTueWedThuFriSatSun")
	case 'd':
		r.day, ok = r.number(2, 2)
	case 'e':
		r.char(' ')
		r.day, ok = r.number(1, 2)
	case 'H', 'M', 'S':
		return r.time(letter, 2)
	case 'h', 'i', 's':
		return r.time(letter, 1)
	case 'F':
		return r.fraction()
	case 'f':
		return r.optionalFraction()
	case 'z':
		r.zone()
		return true
	case 'u':
		return r.epoch()
	default:
		return r.char(letter)
	}
	return ok
}

// number reads some digits.
func (r *stampReader) number(least, most int) (v int, ok bool) {
	n := 0
	for ; n < most && r.at < len(r.b) && isDigit(r.b[r.at]); n++ {
		v = 10*v + int(r.b[r.at]-'0')
		r.at++
	}
	return v, n >= least
}

// name reads a name of three letters, and returns its number in a list, from 1.
func (r *stampReader) name(names string) (int, bool) {
	if len(r.b) < r.at+3 {
		return 0, false
	}
	word := r.b[r.at : r.at+3]
	for i := 0; i < len(names); i += 3 {
		if string(word) == names[i:i+3] {
			r.at += 3
			return i/3 + 1, true
		}
	}
	return 0, false
}

func (r *stampReader) char(c byte) bool {
	if r.at < len(r.b) && r.b[r.at] == c {
		r.at++
		return true
	}
	return false
}

// time reads the hour, minute or second.
func (r *stampReader) time(part byte, least int) bool {
	n, ok := r.number(least, 2)
	switch part {
	case 'H', 'h':
		r.clock += 3600 * int64(n)
		return ok && n < 24
	case 'M', 'i':
		n *= 60
		r.clock += int64(n)
		return ok && n < 3600
	}
	r.clock += int64(n)
	return ok && n < 60
}

func (r *stampReader) fraction() bool {
	digits := text.CountDigits(r.b[r.at:])
	if digits == 0 || digits > 9 {
		return false
	}
	n, _ := r.number(digits, digits)
	r.nanos, r.digits = int64(n), digits
	for range 9 - digits {
		r.nanos *= 10
	}
	return true
}

func (r *stampReader) optionalFraction() bool {
	if r.at+1 < len(r.b) && (r.b[r.at] == '.' || r.b[r.at] == ',') && isDigit(r.b[r.at+1]) {
		r.at++
		return r.fraction()
	}
	return true
}

// zone reads a zone, if there is one.
func (r *stampReader) zone() {
	blank := 0
	if r.at < len(r.b) && r.b[r.at] == ' ' {
		blank = 1
	}
	b := r.b[r.at+blank:]
	for _, utc := range []string{"UTC", "GMT", "Z"} {
		if bytes.HasPrefix(b, []byte(utc)) && !inWord(b, len(utc)) && blank < len(utc) {
			r.at += blank + len(utc)
			r.zoned = true
			return
		}
	}
	n := 1
	for n < len(b) && (isDigit(b[n]) || b[n] == ':' && n == 3) {
		n++
	}
	if offset, ok := text.ParseOffset(string(b[:min(n, len(b))])); ok && n >= 3+2*blank {
		r.at += blank + n
		r.clock -= offset
		r.zoned = true
	}
}

// epoch reads a count since 1970, in the unit that gives the years 2001 to 2099.
func (r *stampReader) epoch() bool {
	digits := text.CountDigits(r.b[r.at:])
	if digits != 10 && digits != 13 && digits != 16 && digits != 19 {
		return false
	}
	const unit = 10 // digits
	secs, err := strconv.ParseInt(string(r.b[r.at:r.at+unit]), 10, 64)
	if err != nil || secs < 1_000_000_000 || secs >= 4_102_444_800 {
		return false
	}
	r.at += unit
	r.clock, r.instant, r.zoned = secs, true, true
	if digits > 10 {
		return r.fraction()
	}
	return r.optionalFraction()
}

// inWord reports whether there is a letter or digit at some place.
func inWord(b []byte, at int) bool { return at < len(b) && (isDigit(b[at]) || isLetter(b[at])) }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isLetter(c byte) bool { return c|0x20-'a' <= 'z'-'a' }
