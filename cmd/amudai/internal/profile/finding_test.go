package profile

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/filter"
	"github.com/amudai/amudai-go/internal/engine/profile"
)

// TestConditionsOfFindings has names that a condition must quote.
func TestConditionsOfFindings(t *testing.T) {
	for path, want := range map[string]string{
		"delay": `delay is null`, "item.price": `item.price is null`, "a b": `"a b" is null`, "and": `"and" is null`, `x\.y`: `"x.y" is null`, `q"`: `"q""" is null`,
	} {
		f := finder{c: &profile.Column{Path: path}}
		require.Equal(t, "--where "+shellQuote(want), f.where("is null"))
		_, err := filter.Parse(want)
		require.NoError(t, err)
	}
	require.Equal(t, "'it''s'", literal("it's"))
	e, err := filter.Parse("a = " + literal("two\nlines"))
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, e.Columns())
}
