package gormstore

import (
	"testing"
	"time"
	"unsafe"
)

// TestFreshnessRunsOut puts the clock back by an hour after a replica was last found to be fresh, and wants it not to stay so for as long:
// one that has stopped following would be read from all the while.
func TestFreshnessRunsOut(t *testing.T) {
	t.Parallel()
	until := time.Now().Add(-time.Millisecond)
	// What the wall clock said then is an hour ahead of what it says now. Package time has no way to change that alone.
	*(*uint64)(unsafe.Pointer(&until)) += 3600 << 30
	if ahead := time.Until(until.Round(0)); ahead < 59*time.Minute {
		t.Fatalf("the clock is %v ahead, want an hour", ahead)
	}
	stopped := new(replica)
	stopped.freshUntil.Store(&until)
	r := &replicas{maxLag: time.Second, all: []*replica{stopped}}
	if picked, fresh := r.pick(); picked != nil || fresh != 0 {
		t.Errorf("got %d fresh replicas, want none", fresh)
	}
	now := time.Now().Add(time.Second)
	stopped.freshUntil.Store(&now)
	if picked, fresh := r.pick(); picked != stopped || fresh != 1 {
		t.Errorf("got %d fresh replicas, want the one", fresh)
	}
}
