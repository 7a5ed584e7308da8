package stripe

// crew bounds how much is worked on at the same time in a stripe: columns that
// take values, and pieces of buffers that are encoded. Whoever calls a node writer
// holds a place. A nil crew is the caller alone.
type crew struct {
	places chan struct{} // of those at work
	orders chan struct{} // for pieces that are waiting or worked on
}

func newCrew(parallelism int) *crew {
	if parallelism == 1 {
		return nil
	}
	return &crew{make(chan struct{}, parallelism), make(chan struct{}, parallelism)}
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
	case c.orders <- struct{}{}:
	default:
		c.pause(func() { c.orders <- struct{}{} })
	}
	go func() {
		c.enter()
		f()
		c.leave()
		<-c.orders
	}()
}
