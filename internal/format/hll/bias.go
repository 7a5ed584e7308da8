package hll

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
)

//go:embed bias.txt
var biasText string

// A biasTable is the bias at some raw estimates of one precision.
type biasTable struct{ raw, bias []float64 }

var (
	biasOnce   [MaxBits + 1]sync.Once
	biasTables [MaxBits + 1]biasTable
)

// bias is the bias of a raw estimate: interpolated between two points of the table, and that of
// the nearest point outside of the table.
func bias(bits int, raw float64) float64 {
	biasOnce[bits].Do(func() { biasTables[bits] = parseBias(bits) })
	t := biasTables[bits]
	i := sort.SearchFloat64s(t.raw, raw)
	switch {
	case i == 0:
		return t.bias[0]
	case i == len(t.raw):
		return t.bias[i-1]
	case t.raw[i] == raw:
		return t.bias[i]
	}
	part := (raw - t.raw[i-1]) / (t.raw[i] - t.raw[i-1])
	return t.bias[i-1] + part*(t.bias[i]-t.bias[i-1])
}

func parseBias(bits int) (t biasTable) {
	for line := range strings.Lines(biasText) {
		fields := strings.Fields(line)
		if fields[0] != strconv.Itoa(bits) {
			continue
		}
		for _, f := range fields[1:] {
			raw, bias, _ := strings.Cut(f, ":")
			t.raw = append(t.raw, mustFloat(raw))
			t.bias = append(t.bias, mustFloat(bias))
		}
	}
	return t
}

func mustFloat(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err) // the table is part of the program
	}
	return v
}
