//go:build purego || !amd64

package prefixbins

// kernels tells that there are no kernels in assembly.
const kernels = false

func (d *binDecoder[U]) roundsAsm([]U, int, uint64, bool) int { return 0 }
