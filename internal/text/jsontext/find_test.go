package jsontext

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// scalars lists what Scalars finds in a text.
func scalars(text string) (list []string) {
	var s Scanner
	s.Reset([]byte(text))
	_ = s.Scalars(func(names [][]byte, kind byte, value []byte) error {
		list = append(list, fmt.Sprintf("%q %c %s", names, kind, value))
		return nil
	})
	return list
}

// found is what Find finds in a text, in the form of scalars; "" for nothing, or no scalar.
func found(text string, names ...string) string {
	var s Scanner
	s.Reset([]byte(text))
	if !s.Find(names) {
		return ""
	}
	kind := s.Peek()
	var value []byte
	var err error
	switch {
	case kind == '"':
		value, err = s.Quoted()
	case kind == 't':
		err = s.Literal("true")
	case kind == 'f':
		err = s.Literal("false")
	default:
		kind = '0'
		value, err = s.Number()
	}
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%q %c %s", names, kind, value)
}

func TestScalars(t *testing.T) {
	const text = ` {"a":1, "b":{"a":"x\n","c":[1,{"a":2}],"d":{}},"e":true,"b":{"a":false},"f":null,"":-0.5e1}`
	require.Equal(t, []string{`["a"] 0 1`, `["b" "a"] " x` + "\n", `["e"] t `, `["b" "a"] f `, `[""] 0 -0.5e1`}, scalars(text))
	require.Equal(t, `["b" "a"] " x`+"\n", found(text, "b", "a"))
	require.Equal(t, `[""] 0 -0.5e1`, found(text, ""))
	for _, names := range [][]string{{"b"}, {"f"}, {"g"}, {"a", "a"}, {"b", "c", "a"}, {"b", "d", "a"}} {
		require.Empty(t, found(text, names...), names)
	}
	require.Equal(t, []string{`["a"] 0 1`}, scalars(`{"a":1,"b":tru,"c":2}`))
	require.Equal(t, []string{`[] 0 5`}, scalars("5"))
}

// FuzzFind checks that each scalar which Find finds is one that Scalars lists, whatever follows it: indexes of the latter are asked for the former.
func FuzzFind(f *testing.F) {
	deep := strings.Repeat(`[`, MaxDepth-1) + strings.Repeat(`]`, MaxDepth-1)
	for _, text := range []string{
		`{"a":1,"b":{"a":"x"}}`, `{"a":{"b":{"a":2}}} x`, `{"a":1,"a":2}`, `{"b":[1,{"a":1}],"a":true}`, `{"a":"\u0061"`, `{"b":"\x","a":1}`, `{"b" 1,"a":1}`,
		`{"b":` + deep + `,"a":1}`, `{"b":[` + deep + `],"a":1}`, `{"a":{"b":` + deep + `,"a":1}}`, "{\"\xff\":1,\"a\":2}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list := scalars(text)
		for _, names := range [][]string{{"a"}, {"b"}, {"a", "b"}, {"b", "a"}, {"a", "a"}, {"a", "b", "a"}} {
			if one := found(text, names...); one != "" {
				require.Contains(t, list, one)
			}
		}
	})
}
