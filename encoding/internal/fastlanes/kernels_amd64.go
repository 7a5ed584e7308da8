//go:build !purego

package fastlanes

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../../tools ./fastlanesasm -out ../encoding/internal/fastlanes/kernels_amd64.s -pkg fastlanes

// fast selects the kernels in assembly, which need AVX2.
var fast = cpu.X86.HasAVX2
