package build

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
)

func TestStepsAreSharedWhileTheyAreHeld(t *testing.T) {
	a, b := equalOffsetsOf[int32](1000, 3), equalOffsetsOf[int32](10, 3)
	require.Equal(t, 4004, a.Len())
	require.Equal(t, []int32{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30}, arrowutil.As[int32](b.Bytes()))
	require.Same(t, &a.Bytes()[0], &b.Bytes()[0])
	require.Equal(t, int32(3000), arrowutil.As[int32](a.Bytes())[1000])
	longer := equalOffsetsOf[int32](2000, 3)
	require.Equal(t, int32(6000), arrowutil.As[int32](longer.Bytes())[2000])
	require.Equal(t, int32(3000), arrowutil.As[int32](a.Bytes())[1000], "what is held does not change")

	require.Equal(t, []int64{0, 64, 128}, arrowutil.As[int64](equalOffsetsOf[int64](2, MaxEqual).Bytes()))
	require.Equal(t, []int32{0, 0, 0}, arrowutil.As[int32](equalOffsetsOf[int32](2, 0).Bytes()))
	runtime.KeepAlive(longer)
}

func TestStepsGoWithTheLastArray(t *testing.T) {
	buf := equalOffsetsOf[int64](1000, 5)
	require.NotNil(t, equalOffsets64.of[5].Value())
	runtime.KeepAlive(buf)
	runtime.GC()
	require.Nil(t, equalOffsets64.of[5].Value())
}
