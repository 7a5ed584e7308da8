package text_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text"
)

func TestSuggest(t *testing.T) {
	known := []string{"delay", "Delays", "origin", "columns", "no", "", "zwölf"}
	for name, want := range map[string]string{
		"DELAY": "delay", "dely": "delay", "dealy": "delay", "Delayss": "Delays", "orgin": "origin", "col": "columns", "zwolf": "", "zwölff": "zwölf",
		"on": "", "n": "", "": "", "something": "", "delay": "Delays",
	} {
		if want != "" {
			want = ": is " + want + " meant?"
		}
		require.Equal(t, want, text.Suggest(name, slices.Values(known)), name)
	}
}
