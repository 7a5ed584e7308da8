package distinct

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Slots find each number by its hash, however many hashes are alike, and know no others.
func TestSlots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alike := rapid.SampledFrom([]uint64{1, 3, 1 << 20, 1 << 62}).Draw(t, "alike")
		keys := rapid.SliceOfNDistinct(rapid.Uint64(), 0, 3000, rapid.ID[uint64]).Draw(t, "keys")
		hash := func(key uint64) uint64 { return key % alike * 0x9e3779b97f4a7c15 }
		var s Slots
		find := func(key uint64, known []uint64) (uint32, int) {
			for from := s.Place(hash(key)); ; from++ {
				number, at := s.Probe(hash(key), from)
				if number == 0 || known[number-1] == key {
					return number, at
				}
				from = at
			}
		}
		s.Reserve(1)
		for i, key := range keys[:min(len(keys), 300*int(min(alike, 10)))] {
			number, at := find(key, keys)
			require.Zero(t, number)
			s.Set(at, hash(key), uint32(i+1))
			s.Reserve(i + 2)
			number, _ = find(key, keys)
			require.EqualValues(t, i+1, number)
			require.NotZero(t, s.First(hash(key)))
		}
	})
}
