//go:build !(amd64 || arm64) || purego

package fastlanes

// unpackFast and packFast return false, because there are no kernels in assembly.
func unpackFast[W Word](*[ChunkLen]W, []byte, W, int) bool { return false }

func packFast[W Word]([]byte, *[ChunkLen]W, W, int) bool { return false }
