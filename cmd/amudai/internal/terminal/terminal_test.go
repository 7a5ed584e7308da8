package terminal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain, ünïcode, 日本, 👍": "plain, ünïcode, 日本, 👍", "a\tb\n": `a\tb\n`, "\x1b[31m": `\x1b[31m`,
		"\u202etxt": `\u202etxt`, "\u200f\u2066": `\u200f\u2066`, "\u009b2J": `\u009b2J`, "\xff": "\ufffd", "\U000e0041": `\U000e0041`,
		// joiners that shape what they join
		"👨\u200d👩\u200d👧 👩🏽\u200d🚀 🏳️\u200d🌈 ❤️\u200d🔥": "👨\u200d👩\u200d👧 👩🏽\u200d🚀 🏳️\u200d🌈 ❤️\u200d🔥", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"می\u200cخواهم, क्\u200dष": "می\u200cخواهم, क्\u200dष", "שלום, مرحبا": "שלום, مرحبا",
		// and others, which hide
		"pay\u200dpal": `pay\u200dpal`, "a\u200cb": `a\u200cb`, "\u200d": `\u200d`, "👨\u200d": `👨\u200d`, "\u200d👨": `\u200d👨`,
		"🏴\U000e0067": `🏴\U000e0067`, "🏴\U000e0067\U000e007fx\U000e0067": "🏴\U000e0067\U000e007f" + `x\U000e0067`, "م\u202eد": `م\u202eد`,
	} {
		require.Equal(t, want, terminal.Printable(in))
		require.Equal(t, want, terminal.Printable(want), "once is enough")
	}
}

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "é": 1, "e\u0301": 1, "👍": 2, "👨\u200d👩\u200d👧": 2, "🇩🇪": 2, "👩🏽\u200d🚀": 2, "שלום": 4, "मनीष": 3, "\x1b[1mbold\x1b[0m": 4,
	} {
		require.Equal(t, want, terminal.Width(s), "%q", s)
	}
	require.Equal(t, "日本…", terminal.Clip("日本語です", 5))
	require.Equal(t, "日本…", terminal.Clip("日本語です", 6), "half of a character is none")
	require.Equal(t, "👨\u200d👩\u200d👧…", terminal.Clip("👨\u200d👩\u200d👧👨\u200d👩\u200d👧👨\u200d👩\u200d👧", 4))
	require.Equal(t, "abc", terminal.Clip("abc", 3))
	require.Equal(t, "日  |", terminal.Pad("日", 4, false)+"|")
	require.Equal(t, "  日|", terminal.Pad("日", 4, true)+"|")
}

// TestTableOfWideText aligns columns by what their texts take on the screen.
func TestTableOfWideText(t *testing.T) {
	var out bytes.Buffer
	table := terminal.NewTable().Text("name").Numbers("n")
	table.Row("日本", 1)
	table.Row("👨\u200d👩\u200d👧", 22)
	table.Row("e\u0301te\u0301", 333)
	terminal.Screen{Out: &out}.Table(table, "")
	require.Equal(t, "name    n\n─────────\n日本    1\n👨\u200d👩\u200d👧     22\ne\u0301te\u0301   333\n", out.String())
}

func TestPrintf(t *testing.T) {
	var out bytes.Buffer
	s := terminal.Screen{Out: &out, Color: true}
	require.NoError(t, s.Printf("%s %v %d %s\n", s.Paint(terminal.Red, "a\x1b"), errors.New("b\x1b"), 3, []string{"c\x1b"}))
	require.Equal(t, "\x1b[31ma\\x1b\x1b[0m b\\x1b 3 [c\\x1b]\n", out.String())
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	in := map[string]string{"a\x7f": "\u202e<\U000e0041>ü\n"}
	require.NoError(t, terminal.JSON(&out, in))
	require.Equal(t, "{\n  \"a\\u007f\": \"\\u202e<\\udb40\\udc41>ü\\n\"\n}\n", out.String())
	var back map[string]string
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	require.Equal(t, in, back)
}

// TestTableFits leaves out optional columns, then cuts texts, then leaves out the last columns.
func TestTableFits(t *testing.T) {
	for width, want := range map[int]string{
		0:  "name                  n  more      last",
		60: "name                  n  more      last",
		34: "name                  n  last",
		28: "name                 n  last",
		20: "name         n  last",
		16: "name         n  last", // a terminal has at least 20 columns
	} {
		var out bytes.Buffer
		table := terminal.NewTable().Text("name").Numbers("n").Text("more", "last").Optional("more")
		table.Narrowest = 8
		table.Row("a text of twenty ...", 1, "optional", "end")
		terminal.Screen{Out: &out, Width: width}.Table(table, "")
		head, _, _ := strings.Cut(out.String(), "\n")
		require.Equal(t, want, head, width)
	}
	var out bytes.Buffer
	table := terminal.NewTable().Numbers("first", "second", "third")
	table.Row(strings.Repeat("1", 15), strings.Repeat("2", 15), "3")
	hidden := terminal.Screen{Out: &out, Width: 20}.Table(table, "")
	require.Equal(t, 2, hidden)
	require.Contains(t, out.String(), strings.Repeat("1", 15), "numbers are never cut")
}
