//go:build !purego

package fastlanes

import "golang.org/x/sys/cpu"

//go:generate go run -C ../../tools ./fastlanesasm -out ../encoding/fastlanes/kernels_amd64.s -pkg fastlanes

// fast tells to use the kernels in assembly. They take AVX2.
var fast = cpu.X86.HasAVX2
