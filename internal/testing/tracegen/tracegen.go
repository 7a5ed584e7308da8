// Package tracegen makes many spans of few: OTLP messages of real traces, again and again with other ids and later times.
package tracegen

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/encoding/protowire"
)

// Load reads the messages of a file: each behind its length in 4 bytes, little-endian. A file whose name ends in .zst is
// compressed.
func Load(path string) ([][]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, ".zst") {
		d, err := zstd.NewReader(nil)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if data, err = d.DecodeAll(data, nil); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	var out [][]byte
	for len(data) > 0 {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return nil, fmt.Errorf("%s: a message is cut off", path)
		}
		n := 4 + int(binary.LittleEndian.Uint32(data))
		out = append(out, data[4:n:n])
		data = data[n:]
	}
	return out, nil
}

// Repeat gives messages some times, the first time as they are. Later ones have other ids of traces and spans, the same for the same ones, that look
// random but are the same in each run; and all their times lie behind those before. A message is valid until the next one.
func Repeat(messages [][]byte, times int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		plans := make([]plan, len(messages))
		first, last := uint64(math.MaxUint64), uint64(0)
		for i, m := range messages {
			plans[i].scan(m, traces, 0)
			for _, at := range plans[i].times {
				t := binary.LittleEndian.Uint64(m[at:])
				first, last = min(first, t), max(last, t)
			}
		}
		var buf []byte
		for n := range times {
			for i, m := range messages {
				buf = append(buf[:0], m...)
				if n > 0 {
					plans[i].apply(buf, uint64(n), uint64(n)*(last-first+1))
				}
				if !yield(buf) {
					return
				}
			}
		}
	}
}

// plan are the places of ids and times in a message.
type plan struct {
	ids   [][2]int // from, to
	times []int
}

// message says what is at the fields of a message.
type message map[protowire.Number]any

// What a field is.
type (
	id   struct{}
	time struct{}
)

var (
	event  = message{1: time{}}
	link   = message{1: id{}, 2: id{}}
	span   = message{1: id{}, 2: id{}, 4: id{}, 7: time{}, 8: time{}, 11: event, 13: link}
	traces = message{1: message{2: message{2: span}}}
)

// scan adds the places in a part of a message that begins at an offset. It ends at bytes that are no field.
func (p *plan) scan(data []byte, m message, offset int) {
	for len(data) > 0 {
		number, kind, tag := protowire.ConsumeTag(data)
		if tag < 0 {
			return
		}
		n := protowire.ConsumeFieldValue(number, kind, data[tag:])
		if n < 0 {
			return
		}
		value, at := data[tag:tag+n], offset+tag
		if kind == protowire.BytesType {
			inner, _ := protowire.ConsumeBytes(value)
			value, at = inner, at+n-len(inner)
		}
		switch what := m[number].(type) {
		case id:
			p.ids = append(p.ids, [2]int{at, at + len(value)})
		case time:
			if kind == protowire.Fixed64Type && binary.LittleEndian.Uint64(value) != 0 {
				p.times = append(p.times, at)
			}
		case message:
			p.scan(value, what, at)
		}
		data, offset = data[tag+n:], offset+tag+n
	}
}

// apply changes ids and times.
func (p *plan) apply(m []byte, seed, later uint64) {
	for _, r := range p.ids {
		id := m[r[0]:r[1]]
		hash := xxh3.Hash128Seed(id, seed).Bytes()
		copy(id, hash[:])
	}
	for _, at := range p.times {
		binary.LittleEndian.PutUint64(m[at:], binary.LittleEndian.Uint64(m[at:])+later)
	}
}
