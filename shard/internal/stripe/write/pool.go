package write

// workerPool bounds how much work runs at the same time in a stripe: columns that
// take values, and segments of buffers that are encoded. Whoever calls a node writer
// holds a slot. With a nil pool there is no goroutine but the caller.
type workerPool struct {
	slots chan struct{} // one element for each that is taken
	tasks chan func()   // to idle workers
}

func newWorkerPool(parallelism int) *workerPool {
	if parallelism == 1 {
		return nil
	}
	p := &workerPool{make(chan struct{}, parallelism), make(chan func())}
	for range parallelism {
		go p.work()
	}
	return p
}

// work runs tasks until the pool is closed. Workers live as long as the pool, because
// a new goroutine has to grow its stack first. A task must not panic.
func (p *workerPool) work() {
	for f := range p.tasks {
		p.acquire()
		f()
		p.release()
	}
}

// close ends the workers, which must be idle.
func (p *workerPool) close() {
	if p != nil {
		close(p.tasks)
	}
}

// acquire takes a slot, and waits for one if there is none.
func (p *workerPool) acquire() {
	if p != nil {
		p.slots <- struct{}{}
	}
}

func (p *workerPool) release() {
	if p != nil {
		<-p.slots
	}
}

// yield gives up the caller's slot while wait runs.
func (p *workerPool) yield(wait func()) {
	p.release()
	wait()
	p.acquire()
}

// submit has a worker run f, and waits while all are busy.
func (p *workerPool) submit(f func()) {
	select {
	case p.tasks <- f:
	default:
		p.yield(func() { p.tasks <- f })
	}
}
