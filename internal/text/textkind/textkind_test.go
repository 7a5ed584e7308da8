package textkind_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/text/textkind"
)

// TestKinds classifies texts.
func TestKinds(t *testing.T) {
	for value, want := range map[string]string{
		"": "empty", "  ": "blank", "abc": "other", "N/A": "placeholder", "-": "placeholder", "null": "placeholder", "yes": "bool", "TRUE": "bool",
		"12": "int", "-7": "int", "007": "leading_zero", "0": "int", "0.5": "float", "1e9": "float", "1,234": "grouped", "1.234.567,8": "grouped", "12,5": "grouped",
		"12 %": "unit", "$5": "unit", "3 €": "unit", "2012-12-31": "time", "31.12.2012": "time", "12/31/2012": "time", "12:30": "time", "2012-12-31T10:11:12.5Z": "time",
		"Dec 31, 2012": "time", "31 Dec 2012 10:11": "time", "Apr 01 1965": "time", "05-Jan-24": "time", "192.168.0.1": "other", "555-123-4567": "other", "1.2.3": "other",
		"2012-13-31": "other", "--": "placeholder", "+": "other", "1-2": "other", "12 apples": "other", "10:11 PM": "time", "99:99": "other", "é": "other",
	} {
		require.Equal(t, want, textkind.Of([]byte(value)).String(), "%q", value)
	}
}

// TestTimeShape tells the spellings of times apart.
func TestTimeShape(t *testing.T) {
	for value, want := range map[string]string{
		"2012-12-31": "yyyy-mm-dd", "31.12.2012": "dd.mm.yyyy", "12/31/2012": "mm/dd/yyyy", "01/02/2012": "nn/nn/yyyy", "12:30 PM": "hh:mm am",
		"2012-12-31T10:11:12.5Z": "yyyy-mm-ddThh:mm:ss Z", "Sun, 5 Jan 2024 10:11:12 +0100": "www dd mon yyyy hh:mm:ss +hh:mm", "12-34": "", "noon": "",
	} {
		shape, ok := textkind.TimeShape([]byte(value))
		require.Equal(t, want, shape, value)
		require.Equal(t, want != "", ok, value)
	}
}

func FuzzOf(f *testing.F) {
	for _, value := range []string{"", "N/A", "1,234.5", "$5", "2012-12-31T10:11:12.5Z", "Sun, 5 Jan 2024", "\xff"} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if k := textkind.Of(b); k >= textkind.Kinds {
			t.Fatalf("%q is of kind %d", b, k)
		}
		textkind.TimeShape(b)
	})
}
