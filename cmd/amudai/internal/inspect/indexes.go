package inspect

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/amudai/amudai-go/cmd/amudai/internal/terminal"
	"github.com/amudai/amudai-go/shard"
)

// indexInfo describes an index. Its fields are those of --json.
type indexInfo struct {
	Type       string           `json:"type"`
	Columns    []string         `json:"columns"`
	Together   bool             `json:"together,omitempty"` // finds rows by the values of all columns
	Stripe     *int             `json:"stripe,omitempty"`   // whose index it is; none: of the whole shard
	Properties map[string]any   `json:"properties,omitempty"`
	Bytes      int64            `json:"bytes"`
	Share      *float64         `json:"share,omitempty"` // of the bytes of all files of the shard
	State      string           `json:"state"`           // ready, unknown, damaged or unusable
	Error      string           `json:"error,omitempty"`
	Stats      map[string]int64 `json:"stats,omitempty"`
}

// The states of indexes.
const (
	indexReady    = "ready"
	indexUnknown  = "unknown" // this version does not know the type, and keeps the index
	indexDamaged  = "damaged"
	indexUnusable = "unusable"
)

func infoOf(x shard.Index) indexInfo {
	info := indexInfo{Type: x.Type, Columns: x.Columns, Together: x.Together, Bytes: x.Size, State: indexReady}
	if x.Stripe >= 0 {
		info.Stripe = &x.Stripe
	}
	for _, p := range x.Properties {
		if info.Properties == nil {
			info.Properties = map[string]any{}
		}
		info.Properties[p.Name] = shard.PlainValue(p.Value)
	}
	switch {
	case !x.Known:
		info.State = indexUnknown
	case errors.Is(x.Err, shard.ErrCorrupt) || errors.Is(x.Err, shard.ErrChecksum):
		info.State, info.Error = indexDamaged, x.Err.Error()
	case x.Err != nil:
		info.State, info.Error = indexUnusable, x.Err.Error()
	}
	for _, s := range x.Stats {
		if info.Stats == nil {
			info.Stats = map[string]int64{}
		}
		info.Stats[s.Name] = s.Value
	}
	return info
}

// number is a number that describes the index, or "" for none.
func (x indexInfo) number(name string) string {
	if n, ok := x.Stats[name]; ok {
		return terminal.Count(n)
	}
	return ""
}

// columns are the columns in one line.
func (x indexInfo) columns() string {
	if x.Together {
		return strings.Join(x.Columns, " and ")
	}
	return strings.Join(x.Columns, ", ")
}

// terms is the number of terms, or of different values.
func (x indexInfo) terms() string { return cmp.Or(x.number("terms"), x.number("hashes")) }

// of is the part of the shard whose index it is.
func (x indexInfo) of() string {
	if x.Stripe == nil {
		return "shard"
	}
	return fmt.Sprintf("stripe %d", *x.Stripe)
}

// propertiesText is the properties in one line.
func propertiesText(list []shard.Property) string {
	var all []string
	for _, p := range list {
		value := shard.PlainValue(p.Value)
		if several, ok := value.([]any); ok {
			texts := make([]string, len(several))
			for i, v := range several {
				texts[i] = fmt.Sprint(v)
			}
			value = strings.Join(texts, ",")
		}
		all = append(all, fmt.Sprintf("%s=%v", p.Name, value))
	}
	return strings.Join(all, " ")
}

// printIndexes lists the indexes of a shard, whose files have a total size.
func printIndexes(out terminal.Screen, total int64, list []shard.Index, json bool) error {
	infos := make([]indexInfo, len(list))
	t := terminal.NewTable().Text("columns", "type", "of").Numbers("size", "share", "terms", "postings").Text("state", "properties").
		Optional("of", "postings", "properties")
	t.Narrowest = 12
	for i, x := range list {
		info := infoOf(x)
		if total > 0 {
			share := float64(info.Bytes) / float64(total)
			info.Share = &share
		}
		infos[i] = info
		state := info.State
		if info.Error != "" {
			state += ": " + terminal.OneLine(info.Error)
		}
		t.Row(info.columns(), info.Type, info.of(), terminal.Size(info.Bytes), terminal.Percent(float64(info.Bytes), float64(total)),
			info.terms(), info.number("postings"), state, propertiesText(x.Properties))
	}
	if json {
		return terminal.JSON(out.Out, infos)
	}
	if len(infos) == 0 {
		return out.Printf("%s\n", out.Paint(terminal.Dim, "no indexes"))
	}
	out.Table(t, "")
	return nil
}
