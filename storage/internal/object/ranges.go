package object

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Range is the value of the header Range for n bytes from off on, or for the last n if off is negative.
func Range(off, n int64) string {
	if off < 0 {
		return fmt.Sprintf("bytes=-%d", n)
	}
	return fmt.Sprintf("bytes=%d-%d", off, off+n-1)
}

// RangeOf returns the offset of the first byte of an answer, and the size of the object: from the header Content-Range, or
// without it, as of a server without ranges, from the length of the answer.
func RangeOf(contentRange string, length int64) (off, size int64, err error) {
	if contentRange == "" {
		size = length
	} else {
		var ok bool
		if off, _, size, ok = ParseContentRange(contentRange); !ok {
			return 0, 0, fmt.Errorf("bad Content-Range %q", contentRange)
		}
	}
	if size < 0 {
		return 0, 0, errors.New("the server does not send the size")
	}
	return off, size, nil
}

// ParseContentRange parses the header Content-Range, such as "bytes 200-299/1000".
func ParseContentRange(s string) (start, n, size int64, ok bool) {
	s, ok = strings.CutPrefix(s, "bytes ")
	if strings.HasSuffix(s, "/0") { // net/http, for a suffix of an empty object
		return 0, 0, 0, ok
	}
	span, total, ok2 := strings.Cut(s, "/")
	first, last, ok3 := strings.Cut(span, "-")
	start, err1 := strconv.ParseInt(first, 10, 64)
	end, err2 := strconv.ParseInt(last, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	ok = ok && ok2 && ok3 && err1 == nil && err2 == nil && err3 == nil && 0 <= start && start <= end && end < size
	return start, end - start + 1, size, ok
}
