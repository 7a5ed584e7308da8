package codec

import (
	"bytes"
	"math"

	"github.com/amudai/amudai-go/encoding/bytestring/internal/tree"
	"github.com/amudai/amudai-go/internal/base/frontcode"
	"github.com/amudai/amudai-go/internal/base/search"
)

// stepsPerValue bounds what is looked at to find the ends of prefixes, which few values need: blocks of others may have as many values as they like
// before each restart.
const stepsPerValue = 64

// frontFinder looks for a text in values of FrontCoding without putting them together.
//
//	value          prefix, rest            where it ends first
//	/var/google    0       /var/google     11
//	/var/google/2  11      /2              11, as the prefix has it
//	/var/goofy     8       fy              none: the prefix ends before it
//	/var/google    8       gle             11, looked for around the end of the prefix
type frontFinder struct {
	*frontTree
	needle search.Needle
	begins [256]bool // the rests that begin with such a byte, other than the first, may continue it
	steps  int       // left
}

// findInFront is MayContain, exactly for the longest part.
func findInFront(t *tree.Tree, dst []byte, parts [][]byte) bool {
	f := frontFinder{frontTree: tree.State[frontTree](t), needle: search.New(longest(parts)), steps: stepsPerValue * t.N}
	if t.N == 0 || f.readRests(0, t.N) != nil { // decoding meets the error again
		return false
	}
	for _, b := range f.needle.Text()[1:] {
		f.begins[b] = true
	}
	clear(dst)
	const none = math.MaxInt
	text, size := f.text[:f.ends[t.N-1]], len(f.needle.Text())
	end := none // of the needle in the last value that is not empty
	before, restart, at, hit, count := 0, 0, 0, -1, 0
	for i, to := range f.ends[:t.N] {
		prefix, from := int(f.prefixes[i]), at
		at = int(to)
		if i == restart {
			end, restart = none, restart+f.restart
		}
		if prefix == 0 && from == at {
			continue
		}
		if end > prefix {
			if hit < from {
				if hit = f.needle.Index(text[from:]); hit < 0 {
					hit = len(text)
				}
				hit += from
			}
			end = none
			if from < at && prefix > 0 && f.begins[text[from]] {
				if n := f.across(before, prefix, text[from:at]); n > 0 {
					end = prefix + n
				}
			}
			if end == none && hit+size <= at {
				end = prefix + hit - from + size
			}
		}
		if end != none {
			dst[i/8] |= 1 << (i % 8)
			count++
		}
		before = i
	}
	return f.steps > 0 && 4*count < 3*t.N
}

// across is how many bytes of a rest the needle takes, of which the first are the last of the prefix before it; 0 if it is not there. The prefix is of
// the value of a slot.
func (f *frontFinder) across(slot, prefix int, rest []byte) int {
	needle := f.needle.Text()
	for n := max(1, len(needle)-prefix); n < len(needle) && n <= len(rest); n++ {
		if k := len(needle) - n; bytes.Equal(rest[:n], needle[k:]) && f.endsWith(slot, prefix, needle[:k]) {
			return n
		}
	}
	return 0
}

// endsWith reports whether the first n bytes of the value of a slot end with a text. They are in rests, back to a restart.
func (f *frontFinder) endsWith(slot, n int, with []byte) bool {
	for ; len(with) > 0 && f.steps > 0; f.steps-- {
		from, to := f.rest(slot)
		first := int(f.prefixes[slot])
		if n > first && n-first <= to-from {
			if f.text[from+n-1-first] != with[len(with)-1] {
				return false
			}
			n, with = n-1, with[:len(with)-1]
		} else if slot--; slot < 0 {
			return false
		}
	}
	return len(with) == 0
}

// frontBegins is MayMatch, exactly for a prefix: it compares rests only of values with a prefix that is all of the same.
func frontBegins(t *tree.Tree, dst []byte, r tree.Required) bool {
	f := tree.State[frontTree](t)
	if f.readRests(0, t.N) != nil {
		return false
	}
	clear(dst)
	same, restart, at, count := 0, 0, 0, 0 // bytes of the last value that are those of the prefix
	for i, to := range f.ends[:t.N] {
		prefix, from := int(f.prefixes[i]), at
		at = int(to)
		if i == restart {
			same, restart = 0, restart+f.restart
		}
		if prefix <= same && prefix+at-from > 0 {
			same = prefix + frontcode.CommonPrefix(f.text[from:at], r.Prefix[prefix:])
		}
		if n := prefix + at - from; same == len(r.Prefix) && n >= same && (n == same || !r.Equal) {
			dst[i/8] |= 1 << (i % 8)
			count++
		}
	}
	return 4*count < 3*t.N
}
