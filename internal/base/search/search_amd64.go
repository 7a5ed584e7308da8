//go:build !purego

package search

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../../tools ./searchasm -out ../internal/base/search/search_amd64.s -pkg search

//go:noescape
func probeAVX2(data *byte, n int, places *[3]int, bytes *[3]byte) int

//go:noescape
func classesAVX2(data *byte, n int, halves *[6][16]byte) int

// fast tells to look at 32 places at once.
var fast = cpu.X86.HasAVX2

func probe(data *byte, n int, places *[3]int, bytes *[3]byte) int {
	return probeAVX2(data, n, places, bytes)
}

func probeClasses(data *byte, n int, halves *[6][16]byte) int { return classesAVX2(data, n, halves) }
