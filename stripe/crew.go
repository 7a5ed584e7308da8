package stripe

// crew bounds how much is worked on at the same time in a stripe: columns that
// take values, and pieces of buffers that are encoded. Whoever calls a node writer
// holds a place. A nil crew is the caller alone.
type crew struct {
	places chan struct{} // of those at work
	orders chan func()   // to workers that wait for some
}

func newCrew(parallelism int) *crew {
	if parallelism == 1 {
		return nil
	}
	c := &crew{make(chan struct{}, parallelism), make(chan func())}
	for range parallelism {
		go c.work()
	}
	return c
}

// work does what is ordered until the crew is dismissed. One goroutine does many
// pieces, because a new one has to grow its stack first.
func (c *crew) work() {
	for f := range c.orders {
		c.enter()
		f()
		c.leave()
	}
}

// dismiss ends the workers, who have nothing left to do.
func (c *crew) dismiss() {
	if c != nil {
		close(c.orders)
	}
}

// enter takes a place, as soon as there is one.
func (c *crew) enter() {
	if c != nil {
		c.places <- struct{}{}
	}
}

func (c *crew) leave() {
	if c != nil {
		<-c.places
	}
}

// pause calls wait, and leaves the place to others meanwhile.
func (c *crew) pause(wait func()) {
	c.leave()
	wait()
	c.enter()
}

// start has f done at a place of its own, and waits while too much is ordered.
func (c *crew) start(f func()) {
	select {
	case c.orders <- f:
	default:
		c.pause(func() { c.orders <- f })
	}
}
