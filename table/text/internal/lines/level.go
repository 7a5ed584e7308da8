package lines

import (
	"bytes"
	"slices"
)

// levels are the levels of logs, in upper case.
var levels = []string{
	"TRACE", "VERBOSE", "FINEST", "FINER", "FINE", "DEBUG", "CONFIG", "INFO", "INFORMATION", "NOTICE", "WARN", "WARNING", "ERR", "ERROR", "FAILURE",
	"SEVERE", "CRIT", "CRITICAL", "ALERT", "FATAL", "EMERG", "PANIC",
}

// isLevel reports whether a word is the name of a level: INFO, info or Info.
func isLevel(word []byte) bool {
	if len(word) < 3 || len(word) > len("INFORMATION") {
		return false
	}
	var upper [16]byte
	lower := 0
	for i, c := range word {
		if !isLetter(c) {
			return false
		}
		if c >= 'a' {
			lower++
		} else if lower > 0 {
			return false
		}
		upper[i] = c &^ 0x20
	}
	return (lower == 0 || lower >= len(word)-1) && slices.Contains(levels, string(upper[:len(word)]))
}

// levelKeys are keys of levels, as in level=info.
var levelKeys = [][]byte{[]byte("level="), []byte("lvl="), []byte("severity=")}

// levelIn returns the level that a token consists of: INFO, [error], [core:error], INFO:root:, level="info". It is nil if there is none. The levels of
// Android are letters.
func levelIn(token []byte, letters bool) []byte {
	if letters && len(token) == 1 && bytes.IndexByte([]byte("VDIWEFA"), token[0]) >= 0 {
		return token
	}
	for _, key := range levelKeys {
		token = bytes.TrimPrefix(token, key)
	}
	for len(token) > 0 && !isLetter(token[0]) {
		token = token[1:]
	}
	for len(token) > 0 && !isLetter(token[len(token)-1]) {
		token = token[:len(token)-1]
	}
	if isLevel(token) {
		return token
	}
	if first := bytes.IndexByte(token, ':'); first > 0 {
		for _, part := range [][]byte{token[bytes.LastIndexByte(token, ':')+1:], token[:first]} {
			if isLevel(part) {
				return part
			}
		}
	}
	return nil
}
