package buffers

// Pool bounds how much work runs at the same time in a stripe: columns that
// take values, and segments of buffers that are encoded. Whoever calls a node writer
// holds a slot. With a nil pool there is no goroutine but the caller.
type Pool struct {
	slots chan struct{} // one element for each that is taken
	tasks chan func()   // to idle workers
}

// NewPool makes a pool for so many goroutines, nil for one.
func NewPool(parallelism int) *Pool {
	if parallelism == 1 {
		return nil
	}
	p := &Pool{make(chan struct{}, parallelism), make(chan func())}
	for range parallelism {
		go p.work()
	}
	return p
}

// work runs tasks until the pool is closed. Workers live as long as the pool, because
// a new goroutine has to grow its stack first. A task must not panic.
func (p *Pool) work() {
	for f := range p.tasks {
		p.Acquire()
		f()
		p.Release()
	}
}

// Close ends the workers, which must be idle.
func (p *Pool) Close() {
	if p != nil {
		close(p.tasks)
	}
}

// Acquire takes a slot, and waits for one if there is none.
func (p *Pool) Acquire() {
	if p != nil {
		p.slots <- struct{}{}
	}
}

// Release gives the slot back.
func (p *Pool) Release() {
	if p != nil {
		<-p.slots
	}
}

// yield gives up the caller's slot while wait runs.
func (p *Pool) yield(wait func()) {
	p.Release()
	wait()
	p.Acquire()
}

// submit has a worker run f, and waits while all are busy.
func (p *Pool) submit(f func()) {
	select {
	case p.tasks <- f:
	default:
		p.yield(func() { p.tasks <- f })
	}
}
