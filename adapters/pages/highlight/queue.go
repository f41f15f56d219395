package highlight

import (
	"time"

	"github.com/alecthomas/chroma/v2"
)

const (
	maxJobs  = 256 // that wait or run
	maxBegun = 16  // that hold up to 2 MiB
	// slice is the work after which a job lets the next one work, so that short codes do not wait for long ones to end.
	slice = 20 * time.Millisecond
)

// job makes the colours of one code, for all requests that wait for them.
type job struct {
	key     string
	waiting int           // how many requests
	begun   bool          // it holds memory, and goes on when nobody waits for it
	left    chan struct{} // closed when the last request leaves before it has begun
	done    chan struct{} // closed when it ends
	colours Colours
	work    time.Duration
}

// join returns the job of a key, a new one if there is none. It returns nil when there are too many.
func (h *Highlighter) join(key string, lexer chroma.Lexer, code string) *job {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := h.jobs[key]
	if j == nil {
		if len(h.jobs) >= maxJobs {
			return nil
		}
		j = &job{key: key, left: make(chan struct{}), done: make(chan struct{})}
		h.jobs[key] = j
		go h.run(j, lexer, code)
	}
	j.waiting++
	return j
}

// leave has a request wait no longer.
func (h *Highlighter) leave(j *job) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.waiting--; j.waiting == 0 && !j.begun && h.jobs[j.key] == j {
		delete(h.jobs, j.key)
		close(j.left)
	}
}

func (h *Highlighter) run(j *job, lexer chroma.Lexer, code string) {
	defer close(j.done)
	select {
	case h.begun <- struct{}{}:
		defer func() { <-h.begun }()
	case <-j.left:
		return
	}
	h.slots <- struct{}{}
	defer func() { <-h.slots }()
	h.mu.Lock()
	j.begun = h.jobs[j.key] == j
	h.mu.Unlock()
	if !j.begun {
		return
	}
	colours, work, ok := tokenise(lexer, code, func() bool {
		<-h.slots
		h.slots <- struct{}{} // behind those that wait
		return h.wanted(j)
	})
	if ok {
		h.cache.put(j.key, colours)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	j.colours, j.work = colours, work
	if h.jobs[j.key] == j {
		delete(h.jobs, j.key)
	}
}

// wanted reports whether a job goes on. One that nobody waits for does, for the cache, unless another one is waited
// for.
func (h *Highlighter) wanted(j *job) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if j.waiting > 0 {
		return true
	}
	for _, other := range h.jobs {
		if other.waiting > 0 {
			delete(h.jobs, j.key) // whoever comes now begins anew
			return false
		}
	}
	return true
}
