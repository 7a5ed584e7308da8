package analysis

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRewritten finds words in several languages.
func TestRewritten(t *testing.T) {
	for _, c := range []struct {
		of   Tokenizer
		text string
		want string
	}{
		{Word, "Zürich, ﬁne", "[Zürich ﬁne]"},
		{Log, "at 10.1.2.3", "[10.1.2.3 at 10 1 2 3]"},
		{Folded, "Zürich Zu\u0308rich ZURICH", "[ZURICH ZURICH ZURICH]"},
		{Folded, "ﬁnd Ｆｕｌｌ ① Straße STRASSE", "[FIND FULL 1 STRASSE STRASSE]"},
		{Folded, "東京都庁A1 京 Ａ東", "[東京 京都 都庁 A1 京 A 東]"},
		{Folded, "がっこう カメラー ﾊﾟｿｺﾝ", "[がっ っこ こう カメ メラ ラー パソ ソコ コン]"},
		{Folded, "한국어 안", "[한국 국어 안]"},
		{Folded, "हिन्दी", "[हिनदी]"},
		{Folded, "running \xff\xfeshoes\xe2\x82", "[RUNNING SHOES]"},
		{English, "Running shoes, the runner's run: Cafés 東京都 abc123s", "[RUN SHOE THE RUNNER S RUN CAFE 東京 京都 ABC123S]"},
		{German, "Die Häuser eines Hauses, Straßen STRASSE Zu\u0308ge", "[DIE HAUS EIN HAUS STRASS STRASS ZUG]"},
		{German, "Größe größer", "[GROSS GROSS]"},
		{English, "", "[]"},
	} {
		var x Terms
		for range 2 { // with stems known, too
			x.Find(c.of, []byte(c.text))
			got := []string{}
			for term := range x.All {
				got = append(got, string(term))
			}
			require.Equal(t, c.want, fmt.Sprint(got), "%v: %s", c.of, c.text)
		}
	}
}

// FuzzRewritten finds terms in any bytes. They are not longer than terms may be, within the text, and the same whatever was found before.
func FuzzRewritten(f *testing.F) {
	for _, s := range []string{"Zürich 東京都庁", "größer ﬁ ßẞ\xff", "running 1.2.3.4", "\u1100\u1161\u11a8 각", "ﷺ ﷺ"} {
		f.Add([]byte(s))
	}
	var kept Terms
	f.Fuzz(func(t *testing.T, text []byte) {
		for of := range tokenizers {
			var fresh Terms
			fresh.Find(Tokenizer(of), text)
			kept.Find(Tokenizer(of), text)
			require.Equal(t, len(fresh.Spans), len(kept.Spans))
			for i, s := range fresh.Spans {
				require.LessOrEqual(t, s.From, s.To)
				require.LessOrEqual(t, s.To-s.From, uint32(MaxTermLen))
				term := fresh.Text[s.From:s.To]
				k := kept.Spans[i]
				require.Equal(t, term, kept.Text[k.From:k.To])
				if Tokenizer(of).Rewrites() {
					require.Equal(t, string(term), string(AppendUpper(nil, term)), "%v of %q", Tokenizer(of), text)
				}
			}
		}
	})
}
