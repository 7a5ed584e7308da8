//go:build !amd64 || purego

package column

func unsplitFast(out, page []byte, n, from, width int, zigzag bool) int { return 0 }

func splitFast(page, in []byte, n, from, width int) int { return 0 }
