package lifetest_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/amudai/amudai-go/internal/testing/emulators"
	"github.com/amudai/amudai-go/internal/testing/faultproxy"
	"github.com/amudai/amudai-go/internal/testing/faultstore"
	"github.com/amudai/amudai-go/internal/testing/sweep"
	"github.com/amudai/amudai-go/shard"
)

// Together are the operations that several writers may do at once.
func Together() (all []Operation) {
	for _, o := range Operations {
		if !o.Alone {
			all = append(all, o)
		}
	}
	return all
}

// RequireSerial requires that operations on a place in the state [Initial] have been done in some order, but for those that were refused.
func (p Place) RequireSerial(t testing.TB, operations []Operation, errs []error, name string) {
	t.Helper()
	var done, perhaps []Operation
	var names []string
	made := map[string]Shown{}
	location := p.Location()
	moved := !p.Exists(t, location)
	if moved {
		location = p.Moved()
	}
	for i, o := range operations {
		switch err := errs[i]; {
		case unknown(err) && moved: // a lost answer about what is there no more
			perhaps = append(perhaps, o)
			continue
		case err != nil:
			require.True(t, Refused(err) || moved && errors.Is(err, fs.ErrNotExist), "%s: %s: %v", name, o.Name, err)
			continue
		}
		done, names = append(done, o), append(names, o.Name)
		if o.Makes != "" {
			made[o.Name] = p.Made(t, o)
		}
	}
	shows, err := Show(t.Context(), p.Store, location)
	require.NoError(t, err, name)
	RequireSound(t, p.Store, location)
	for _, o := range perhaps {
		if Initial().Serial(append(slices.Clip(done), o), shows, made) {
			return
		}
	}
	require.True(t, Initial().Serial(done, shows, made), "%s: %v were done, which led to %v; they made %v; %v", name, names, shows, made, errs)
}

// AtOnce does ten operations at once, which the seed chooses, and requires that each was done or refused, and that some order of those that were done makes of
// the shard what it is.
func (p Place) AtOnce(t testing.TB, seed uint64) {
	t.Helper()
	all := Together()
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:10]
	p.Age = 24 * time.Hour
	failed := make([]chan error, len(all))
	for i, o := range all {
		failed[i] = make(chan error, 1)
		go func() { failed[i] <- o.Do(t.Context(), p) }()
	}
	errs := make([]error, len(all))
	for i := range errs {
		errs[i] = <-failed[i]
	}
	p.RequireSerial(t, all, errs, fmt.Sprint("seed ", seed))
}

// The operations do on emulators of stores of clouds, by a proxy, what they do elsewhere.
func TestInteropS3(t *testing.T)     { testStore(t, emulators.S3(t)) }
func TestInteropAzure(t *testing.T)  { testStore(t, emulators.Azure(t)) }
func TestInteropGoogle(t *testing.T) { testStore(t, emulators.Google(t)) }

// testStore does all operations in a store, with about one fault in each, or more in a sweep.
func testStore(t *testing.T, e emulators.Emulator) {
	proxy := e.Proxy
	defer proxy.End()
	before, n := New(t, shard.TwoLevel), 0
	place := func() Place {
		n++
		return before.CopyTo(t, e.Store, fmt.Sprintf("%slife/%d", e.Root, n))
	}
	requests := map[string]int{}
	t.Run("operations", func(t *testing.T) {
		for _, o := range Operations {
			p := place()
			proxy.Begin(faultproxy.Faults{})
			require.NoError(t, o.Do(t.Context(), p), o.Name)
			requests[o.Name] = proxy.End()
			p.Check(t, Initial(), o, true)
		}
	})
	t.Run("faults", func(t *testing.T) { // none of which is seen
		for _, o := range Operations {
			for fault := faultproxy.Refuse; fault <= faultproxy.Delay; fault++ {
				for k := 1; k <= requests[o.Name]; k++ {
					name := fmt.Sprintf("%s: fault %d of request %d of %d", o.Name, fault, k, requests[o.Name])
					if cases := int(faultproxy.Delay) * requests[o.Name]; !faultstore.Chosen(name, cases, 1) {
						continue
					}
					p := place()
					proxy.Begin(faultproxy.At(k, fault))
					require.NoError(t, o.Do(t.Context(), p), name)
					proxy.End()
					p.Check(t, Initial(), o, true)
				}
			}
		}
	})
	t.Run("two writers", func(t *testing.T) { // one within a request of the other, whose answer is lost
		all := Together()
		for _, a := range all {
			for _, b := range all {
				for k := 1; k <= requests[a.Name]; k++ {
					name := fmt.Sprintf("%s after request %d of %d of %s", b.Name, k, requests[a.Name], a.Name)
					if a.Name == b.Name || !faultstore.Chosen(name, requests[a.Name]*len(all), 1) {
						continue
					}
					p, errs := place(), make([]error, 2)
					p.Age = 24 * time.Hour
					faults := faultproxy.At(k, faultproxy.Lost)
					faults.Done = func(int) { errs[1] = b.Do(t.Context(), p) }
					proxy.Begin(faults)
					errs[0] = a.Do(t.Context(), p)
					proxy.End()
					p.RequireSerial(t, []Operation{a, b}, errs, name)
				}
			}
		}
	})
	t.Run("ten writers", func(t *testing.T) {
		for seed := range uint64(sweep.Count(1, 50)) {
			place().AtOnce(t, seed)
		}
	})
}
