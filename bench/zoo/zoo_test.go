package zoo

import (
	"os"
	"slices"
	"testing"
	"unicode/utf8"
)

func sources(t *testing.T) Sources {
	shared := os.Getenv("AMUDAI_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	if _, err := os.Stat(shared + "/corpus/logs"); err != nil {
		t.Skip("the folder of shared test data is not here")
	}
	return Sources{Corpus: shared + "/corpus"}
}

// TestColumns makes a few values of each column, twice.
func TestColumns(t *testing.T) {
	src, held, groups := sources(t), 0, map[string]bool{}
	for _, c := range Columns() {
		t.Run(c.Name, func(t *testing.T) {
			a, err := c.Make(src, 300)
			if err != nil {
				t.Fatal(err)
			}
			b, err := c.Make(src, 300)
			if err != nil {
				t.Fatal(err)
			}
			if a.Len() != 300 || a.String() != b.String() {
				t.Errorf("%d values, the same again: %v", a.Len(), a.String() == b.String())
			}
			for i := range a.Len() {
				if !utf8.ValidString(a.Value(i)) {
					t.Errorf("value %d is not UTF-8: %q", i, a.Value(i))
				}
			}
			if testing.Verbose() {
				for i := range 12 {
					t.Logf("%q", a.Value(i))
				}
			}
		})
		if c.HeldOut {
			held++
			groups[c.Group] = true
		}
	}
	if all := len(Columns()); all < 36 || held*3 < all-1 || len(groups) < 8 {
		t.Errorf("%d columns, %d held out in %d groups", all, held, len(groups))
	}
	if slices.ContainsFunc(Tuned(), func(c Column) bool { return c.HeldOut }) {
		t.Error("Tuned has columns that are held out")
	}
}
