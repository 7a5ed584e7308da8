package lifetest_test

import (
	"os"
	"testing"

	"github.com/amudai/amudai-go/internal/testing/faultstore"
)

// Shards of tests need not outlive a loss of power.
func TestMain(m *testing.M) {
	faultstore.Unsynced()
	os.Exit(m.Run())
}
