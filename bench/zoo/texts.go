package zoo

import (
	stdbase64 "encoding/base64"
	"encoding/binary"
	"math"
	"strings"
)

var random = []Column{
	randomColumn("random_16", false, hexLower, 20, 20),
	randomColumn("random_64", false, base64u, 22, 22),
	randomColumn("random_90", false, printable, 16, 32),
	randomColumn("random_36", true, upper+digits, 8, 12),
	randomColumn("random_26", true, lower, 6, 20),
	{Name: "base64", Group: "random", open: openBase64},
}

const printable = upper + lower + digits + "!#$%&()*+,-./:;<=>?@[]^_`{|}"

// randomColumn has values of from to to random characters.
func randomColumn(name string, heldOut bool, alphabet string, from, to int) Column {
	bits := math.Log2(float64(len(alphabet)))*float64(from+to)/2 + math.Log2(float64(to-from+1))
	return Column{Name: name, Group: "random", HeldOut: heldOut, Entropy: bits, open: each(func(g *gen, b []byte) []byte {
		return g.chars(b, alphabet, from+g.IntN(to-from+1))
	})}
}

// openBase64 makes small messages, binary ones, in base64.
func openBase64(g *gen) (next, error) {
	number := uint64(1 << 20)
	return func(b []byte) []byte {
		number += uint64(g.below(50))
		m := binary.AppendUvarint([]byte{8}, number)
		m = binary.AppendUvarint(append(m, 16), uint64(g.below(4000)))
		m = append(append(m, 26, 16), g.bytes(16)...)
		m = append(append(m, 34, 4), "user"...)
		m = binary.LittleEndian.AppendUint32(append(m, 45), uint32(g.around(5000, 1)))
		return stdbase64.StdEncoding.AppendEncode(b, m)
	}, nil
}

var scripts = []Column{
	{Name: "cjk", Group: "scripts", open: openCJK},
	{Name: "mixed_scripts", Group: "scripts", HeldOut: true, open: openMixed},
	{Name: "chat", Group: "scripts", open: openChat},
}

// scriptWords makes words of one to longest characters of a range, some characters more often.
func (g *gen) scriptWords(first rune, letters, n, longest int) []string {
	letter, out := g.zipf(1.2, letters), make([]string, n)
	for i := range out {
		w := make([]rune, 1+g.IntN(longest))
		for k := range w {
			w[k] = first + rune(letter()*7919%letters)
		}
		out[i] = string(w)
	}
	return out
}

func openCJK(g *gen) (next, error) {
	words := g.scriptWords('一', 6000, 40_000, 3)
	word := g.zipf(1.1, len(words))
	return func(b []byte) []byte {
		for range 1 + g.IntN(3) {
			for range 3 + g.IntN(9) {
				b = append(b, words[word()]...)
			}
			b = append(b, skewed(g, []string{"，", "。", "、", "！"})...)
		}
		return b
	}, nil
}

func openMixed(g *gen) (next, error) {
	var words [6][]string
	words[0] = g.vocabulary(nil, 8000)
	for i, first := range []rune{'а', 'α', 'ا', 'あ', '가'} {
		letters := []int{32, 24, 40, 80, 2000}[i]
		words[i+1] = g.scriptWords(first, letters, 8000, 8-i)
	}
	word := g.zipf(1.1, 8000)
	return func(b []byte) []byte {
		script := words[g.below(len(words))]
		for i := range 3 + g.IntN(10) {
			if i > 0 {
				b = append(b, ' ')
			}
			if g.chance(12) {
				script = words[g.below(len(words))]
			}
			b = append(b, script[word()]...)
		}
		return b
	}, nil
}

// openChat makes short messages with emoji.
func openChat(g *gen) (next, error) {
	text, err := speech(comments, 1, 9)(g)
	emoji := strings.Fields("😂 ❤️ 👍 😭 🙏 😊 🔥 🎉 😅 👀 🤔 💯 🚀 ✅ 🙈")
	return func(b []byte) []byte {
		if !g.chance(12) {
			b = []byte(strings.ToLower(string(text(b))))
		}
		for range g.below(4) {
			b = append(append(b, ' '), skewed(g, emoji)...)
		}
		if len(b) == 0 {
			b = append(b, "ok"...)
		}
		return b
	}, err
}

var shapes = []Column{
	{Name: "mostly_empty", Group: "shapes", open: openMostlyEmpty},
	{Name: "few_distinct", Group: "shapes", open: openFew},
	{Name: "categories", Group: "shapes", HeldOut: true, open: openCategories},
	{Name: "sorted_urls", Group: "shapes", open: sorted(openURL)},
	{Name: "sorted_names", Group: "shapes", HeldOut: true, open: sorted(openPerson)},
	{Name: "nulls", Group: "shapes", open: openNulls},
}

func openMostlyEmpty(g *gen) (next, error) {
	text, err := speech(comments, 3, 15)(g)
	return func(b []byte) []byte {
		if g.chance(20) {
			return text(b)
		}
		return b
	}, err
}

func openFew(g *gen) (next, error) {
	states := []string{"DELIVERED", "IN TRANSIT", "PENDING PAYMENT", "CANCELLED BY CUSTOMER", "RETURNED", "LOST", "ON HOLD", "PARTIALLY DELIVERED"}
	return each(func(g *gen, b []byte) []byte { return append(b, skewed(g, states)...) })(g)
}

// openCategories makes paths in a tree of some thousand categories.
func openCategories(g *gen) (next, error) {
	all := g.folders(4000, []string{"Electronics", "Home & Garden", "Clothing", "Books", "Toys"}, " > ")
	at := g.zipf(1.1, len(all))
	return func(b []byte) []byte { return append(b, all[at()]...) }, nil
}

func openNulls(g *gen) (next, error) {
	email, err := openEmail(g)
	return func(b []byte) []byte {
		if g.chance(3) {
			return nil
		}
		return email(b)
	}, err
}
