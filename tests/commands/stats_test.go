package commands

import "testing"

// wantStats compares the counts of an installation.
func wantStats(i installation, want string) {
	i.Helper()
	if got := i.do("stats --json"); got != want+"\n" {
		i.Errorf("stats --json: got %s, want %s", got, want)
	}
}

func TestStats(t *testing.T) {
	t.Parallel()
	i := install(t)
	wantStats(i, `{"users":0,"tokens":0,"activePastes":0,"expiredUnsweptPastes":0,"waitingStars":0}`)
	for _, line := range []string{
		"user create epoxy", "user create putty", "token issue epoxy", "token issue epoxy", "token issue putty", "paste star epoxy missing",
		"paste create --anonymous", "paste create --owner epoxy", "paste create --owner putty --expires-in 1h", "paste create --anonymous",
	} {
		i.do(line)
	}
	for range 5 {
		i.expire(i.field("paste create --anonymous --expires-in 1h --json", "id"))
	}
	wantStats(i, `{"users":2,"tokens":3,"activePastes":4,"expiredUnsweptPastes":5,"waitingStars":1}`)
	const want = "users                    2\ntokens                   3\nactive pastes            4\nexpired, unswept pastes  5\nstars without a paste    1\n"
	if got := i.do("stats"); got != want {
		t.Errorf("stats: got %s, want %s", got, want)
	}
}
