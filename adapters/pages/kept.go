package pages

import (
	"container/list"
	"time"
)

// kept are the results of highlighting that were used last, up to a number of bytes. It is not safe for concurrent use.
type kept struct {
	limit, size int
	entries     map[codeKey]*list.Element
	recent      *list.List // of *keptEntry; what was used last is in front
}

type keptEntry struct {
	key   codeKey
	html  []byte    // nil: it could not be highlighted
	until time.Time // then; zero: for ever
}

// failedFor is how long a code that could not be highlighted is not tried again: it may have been the processor that was busy.
const failedFor = time.Minute

func newKept(limit int) *kept {
	return &kept{limit: limit, entries: make(map[codeKey]*list.Element), recent: list.New()}
}

// bytes is about what an entry takes.
func (e *keptEntry) bytes() int {
	return 512 + cap(e.html) + len(e.key.paste) + len(e.key.pasty) + len(e.key.before) + len(e.key.language)
}

// get returns what is known of a code: its HTML, or nil where there is none for the time being.
func (k *kept) get(key codeKey, now time.Time) (html []byte, known bool) {
	found, ok := k.entries[key]
	if !ok {
		return nil, false
	}
	entry := found.Value.(*keptEntry) //nolint:forcetypeassert // the list holds nothing else
	if !entry.until.IsZero() && now.After(entry.until) {
		k.remove(found)
		return nil, false
	}
	k.recent.MoveToFront(found)
	return entry.html, true
}

// put keeps a result in the room that those have which were used longest ago. Whoever has made one can get it at once, however
// large it is; the next one may take its place.
func (k *kept) put(key codeKey, html []byte, now time.Time) {
	if old, ok := k.entries[key]; ok {
		k.remove(old)
	}
	entry := &keptEntry{key: key, html: html}
	if html == nil {
		entry.until = now.Add(failedFor)
	}
	k.entries[key] = k.recent.PushFront(entry)
	k.size += entry.bytes()
	for k.size > k.limit && k.recent.Len() > 1 {
		k.remove(k.recent.Back())
	}
}

func (k *kept) remove(e *list.Element) {
	entry := k.recent.Remove(e).(*keptEntry) //nolint:forcetypeassert // as above
	delete(k.entries, entry.key)
	k.size -= entry.bytes()
}
