//go:build !amd64 || purego

package radixpack

import "unsafe"

// fieldKernel tells that there is no kernel for digits that are fields of bits.
const fieldKernel = false

func (d *Decoder) unpackFields(_, _ unsafe.Pointer, _ uint64, _ int) {}
