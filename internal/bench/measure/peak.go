package measure

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Peak calls f and returns the peak of anonymous resident memory of this process in MiB. On
// systems that do not report it, it is the memory of the Go runtime.
func Peak(f func() error) (mib float64, err error) {
	done, most := make(chan struct{}), make(chan float64)
	go func() {
		peak := 0.0
		for {
			peak = max(peak, anonymousMiB())
			select {
			case <-done:
				most <- max(peak, anonymousMiB()) // f may have ended between two samples
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	err = f()
	close(done)
	return <-most, err
}

func anonymousMiB() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.Sys-m.HeapReleased) / (1 << 20)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "RssAnon:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}
