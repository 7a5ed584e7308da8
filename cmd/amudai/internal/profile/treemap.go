package profile

import (
	"cmp"
	"slices"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
)

// tile is a rectangle of a treemap.
type tile struct {
	X, Y, W, H float64
	Name       string // of the whole path
	Label      string // "" if it does not fit
	Size       string
	Share      string
	Color      int // of the column, 0 to 7
	Inner      bool
	LabelX     float64
	LabelY     float64
}

// treemap is a drawing of tiles.
type treemap struct {
	W, H  float64
	Tiles []tile
}

const (
	mostTiles   = 60 // of the table, and of each column; the others are one tile
	letterWidth = 7.6
)

// treemapOf divides an area among columns by their bytes, and those of columns among their parts.
func treemapOf(columns []ColumnBytes, w, h float64) *treemap {
	m := &treemap{W: w, H: h}
	columns = largest(columns)
	total := sum(columns)
	if total == 0 {
		return nil
	}
	for i, r := range squarify(columns, area{0, 0, w, h}) {
		c := columns[i]
		t := m.add(c.Path, c.Bytes, total, r, i%8, false)
		parts := largest(c.Parts)
		inside := area{r.x + 2, r.y + 20, r.w - 4, r.h - 22}
		if t.Label == "" || len(parts) < 2 || inside.w < 30 || inside.h < 18 {
			continue
		}
		for k, r := range squarify(parts, inside) {
			m.add(parts[k].Path, parts[k].Bytes, total, r, i%8, true)
		}
	}
	return m
}

func (m *treemap) add(name string, bytes, total int64, r area, color int, inner bool) *tile {
	t := tile{X: round(r.x), Y: round(r.y), W: round(max(r.w-1, 0.5)), H: round(max(r.h-1, 0.5)), Name: terminal.Printable(name), Size: terminal.Size(bytes),
		Share: terminal.Percent(float64(bytes), float64(total)), Color: color, Inner: inner}
	room := int((r.w - 10) / letterWidth)
	if r.h >= 18 && room >= 3 {
		t.Label = terminal.Clip(t.Name, room)
		if full := t.Name + "  " + t.Size; terminal.Width(full) <= room {
			t.Label = full
		}
	}
	t.LabelX, t.LabelY = round(r.x+5), round(r.y+14)
	m.Tiles = append(m.Tiles, t)
	return &m.Tiles[len(m.Tiles)-1]
}

func round(v float64) float64 { return float64(int(v*10+0.5)) / 10 }

// largest returns columns with bytes, the largest first. Those beyond mostTiles are joined.
func largest(list []ColumnBytes) []ColumnBytes {
	out := slices.DeleteFunc(slices.Clone(list), func(c ColumnBytes) bool { return c.Bytes <= 0 })
	slices.SortStableFunc(out, func(a, b ColumnBytes) int { return cmp.Compare(b.Bytes, a.Bytes) })
	if len(out) > mostTiles {
		rest := ColumnBytes{Path: terminal.Plural(len(out)-mostTiles+1, "other"), Bytes: sum(out[mostTiles-1:])}
		out = append(out[:mostTiles-1], rest)
	}
	return out
}

func sum(list []ColumnBytes) (n int64) {
	for _, c := range list {
		n += max(c.Bytes, 0)
	}
	return n
}

type area struct{ x, y, w, h float64 }

// squarify divides an area among columns, the largest first, into rectangles that are close to squares (Bruls, Huizing and
// van Wijk).
func squarify(list []ColumnBytes, a area) []area {
	out := make([]area, 0, len(list))
	left := float64(sum(list))
	for i := 0; i < len(list); {
		short := min(a.w, a.h)
		scale := a.w * a.h / max(left, 1)
		n, row := 1, float64(list[i].Bytes)
		best := worst(list[i:i+1], row*scale, short, scale)
		for i+n < len(list) {
			more := row + float64(list[i+n].Bytes)
			ratio := worst(list[i:i+n+1], more*scale, short, scale)
			if ratio > best {
				break
			}
			n, row, best = n+1, more, ratio
		}
		out = append(out, placeRow(list[i:i+n], &a, row, scale)...)
		i, left = i+n, left-row
	}
	return out
}

// worst is the greatest ratio of the sides of rectangles in a row.
func worst(list []ColumnBytes, rowArea, short, scale float64) float64 {
	if short <= 0 || rowArea <= 0 {
		return 1e18
	}
	depth, ratio := rowArea/short, 1.0
	for _, c := range list {
		length := float64(c.Bytes) * scale / depth
		ratio = max(ratio, length/depth, depth/max(length, 1e-9))
	}
	return ratio
}

// placeRow puts a row along the shorter side of an area, which it takes from it.
func placeRow(list []ColumnBytes, a *area, row, scale float64) []area {
	out := make([]area, 0, len(list))
	if a.w >= a.h {
		depth, y := row*scale/max(a.h, 1e-9), a.y
		for _, c := range list {
			length := float64(c.Bytes) * scale / max(depth, 1e-9)
			out = append(out, area{a.x, y, depth, length})
			y += length
		}
		a.x, a.w = a.x+depth, max(a.w-depth, 0)
		return out
	}
	depth, x := row*scale/max(a.w, 1e-9), a.x
	for _, c := range list {
		length := float64(c.Bytes) * scale / max(depth, 1e-9)
		out = append(out, area{x, a.y, length, depth})
		x += length
	}
	a.y, a.h = a.y+depth, max(a.h-depth, 0)
	return out
}
