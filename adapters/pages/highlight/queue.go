package highlight

import (
	"time"

	"github.com/alecthomas/chroma/v2"
)

const (
	maxJobs   = 256 // waiting and running
	maxActive = 16  // each holds up to 2 MiB
	// slice is the work after which a job yields to the next one, so that short code does not wait for long code.
	slice = 20 * time.Millisecond
)

// job computes the colours of one code for all requests that wait for them.
type job struct {
	key     string
	lexer   chroma.Lexer
	code    string
	limit   time.Duration // of work
	preview bool          // the cache does not keep its colours
	waiting int           // how many requests wait for it
	active  bool          // it holds memory, and may go on when nobody waits for it
	unused  chan struct{} // closed when the last request leaves before the job is active
	done    chan struct{} // closed when the job ends
	colours Colours
	work    time.Duration
}

// join starts a job, or returns the one that has its key already. It returns nil when there are too many jobs.
func (h *Highlighter) join(j *job) *job {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.jobs[j.key]; other != nil {
		j = other
	} else {
		if len(h.jobs) >= maxJobs {
			return nil
		}
		j.unused, j.done = make(chan struct{}), make(chan struct{})
		h.jobs[j.key] = j
		go h.run(j)
	}
	j.waiting++
	return j
}

// leave tells a job that a request no longer waits for it.
func (h *Highlighter) leave(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.waiting--; j.waiting == 0 && !j.active && h.jobs[j.key] == j {
		delete(h.jobs, j.key)
		close(j.unused)
	}
}

func (h *Highlighter) run(j *job) {
	defer close(j.done)
	select {
	case h.active <- struct{}{}:
		defer func() { <-h.active }()
	case <-j.unused:
		return
	}
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	h.mu.Lock()
	j.active = h.jobs[j.key] == j
	h.mu.Unlock()
	if !j.active {
		return
	}
	colours, work, ok := tokenise(j.lexer, j.code, j.limit, func() bool {
		<-h.slots
		h.slots <- struct{}{} // after those that wait
		return h.continues(j)
	})
	if ok && !j.preview {
		h.cache.Put(j.key, colours)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	j.colours, j.work = colours, work
	if h.jobs[j.key] == j {
		delete(h.jobs, j.key)
	}
}

// continues reports whether a job goes on. A job that nobody waits for goes on, to fill the cache, unless requests wait
// for another job.
func (h *Highlighter) continues(j *job) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.waiting > 0 {
		return true
	}
	for _, other := range h.jobs {
		if other.waiting > 0 {
			delete(h.jobs, j.key) // the next request starts a new job
			return false
		}
	}
	return true
}
