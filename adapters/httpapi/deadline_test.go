package httpapi

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		d := deadlines{timeout: 5 * time.Second}
		gone, leave := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		first, _ := d.context(gone)
		leave()
		if first.Value(key{}) != "value" || first.Err() != nil {
			t.Errorf("after the client has gone: got the value %v and error %v, want its value and none", first.Value(key{}), first.Err())
		}
		child, cancel := context.WithTimeout(first, time.Hour)
		defer cancel()
		time.Sleep(49 * time.Millisecond)
		second, _ := d.context(t.Context())
		if second.Done() != first.Done() || second.Value(key{}) != nil {
			t.Error("got deadlines of their own, or more in common, for requests of the same moment, want one deadline and nothing else")
		}
		time.Sleep(2 * time.Millisecond)
		third, _ := d.context(t.Context())
		if left, _ := third.Deadline(); time.Until(left) != 5*time.Second {
			t.Errorf("got a deadline in %v, want 5s", time.Until(left))
		}
		<-first.Done()
		synctest.Wait()
		if !errors.Is(second.Err(), context.DeadlineExceeded) || child.Err() == nil || third.Err() != nil {
			t.Errorf("got the errors %v, %v, %v, want two deadlines exceeded and none", second.Err(), child.Err(), third.Err())
		}
		<-third.Done()

		shorter, cancelOuter := context.WithTimeout(t.Context(), time.Second)
		own, cancelOwn := d.context(shorter)
		defer cancelOwn()
		if left, _ := own.Deadline(); time.Until(left) != time.Second {
			t.Errorf("got a deadline in %v, want the shorter one of 1s", time.Until(left))
		}
		cancelOuter()
		if !errors.Is(own.Err(), context.Canceled) {
			t.Errorf("got %v, want %v", own.Err(), context.Canceled)
		}
	})
}
