//go:build !amd64 || purego

package fastlanes

// unpackFast tells that there are no kernels in assembly.
func unpackFast[W Word](*[ChunkLen]W, []byte, W, int) bool { return false }
