package complete

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSlots finds what a condition needs at its end.
func TestSlots(t *testing.T) {
	for text, want := range map[string]slot{
		"":                        {0, "", wantColumn, ""},
		"or":                      {0, "or", wantColumn, ""},
		"origin ":                 {7, "", wantOperator, "origin"},
		"origin st":               {7, "st", wantOperator, "origin"},
		"origin = ":               {9, "", wantValue, "origin"},
		"origin = 'S":             {9, "'S", wantValue, "origin"},
		"origin='it''s":           {7, "'it''s", wantValue, "origin"},
		"origin in (":             {11, "", wantValue, "origin"},
		"origin in ('a', 'b":      {16, "'b", wantValue, "origin"},
		"origin in ('a') ":        {16, "", wantConnective, "origin"},
		"a = 1 ":                  {6, "", wantConnective, "a"},
		"a = 1 a":                 {6, "a", wantConnective, "a"},
		"a = 1 and ":              {10, "", wantColumn, "a"},
		"a between 1 and ":        {16, "", wantValue, "a"},
		"a between 1 and 2 and b": {22, "b", wantColumn, "a"},
		"not (a = 1 or b":         {14, "b", wantColumn, "a"},
		"\"a b\" > ":              {8, "", wantValue, "\"a b\""},
		"a is not null ":          {14, "", wantConnective, "a"},
		"origin starts with 'S":   {19, "'S", wantValue, "origin"},
		"x.y.z":                   {0, "x.y.z", wantColumn, ""},
	} {
		got := slotAt([]rune(text))
		if want.want == wantColumn {
			got.column = want.column
		}
		require.Equal(t, want, got, "%q", text)
	}
}
