package contract

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// RunModel gives several stores the same random steps, and wants the same answer of each to every one. The last is the
// model: what the others differ from.
func RunModel(t *testing.T, seed uint64, steps int, stores []DocumentStore) {
	t.Helper()
	players := make([]*player, len(stores))
	for i, s := range stores {
		players[i] = newPlayer(t, s, seed)
	}
	model := players[len(players)-1]
	for step := range steps {
		what, want := model.step(t.Context())
		for i, p := range players[:len(players)-1] {
			if _, got := p.step(t.Context()); got != want {
				t.Fatalf("seed %d, step %d, store %d, %s:\ngot  %s\nwant %s", seed, step, i, what, differing(got, want),
					differing(want, got))
			}
		}
	}
	t.Logf("seed %d: %v", seed, model.done)
}

// differing returns the part of a text that is not as in the other.
func differing(text, other string) string {
	n := 0
	for n < min(len(text), len(other)) && text[n] == other[n] {
		n++
	}
	return fmt.Sprintf("%.1000s", text[max(0, n-200):])
}

// player takes steps on one store. Two with the same seed take the same.
type player struct {
	DocumentStore

	random *rand.Rand
	rules  paste.Rules
	ids    int
	tokens []token.Token
	users  []user.User
	lives  [modelPastes]int // how many pastes of each slot were deleted
	begun  time.Time
	done   map[string]int
}

const (
	modelPastes = 12
	modelUsers  = 3
)

func newPlayer(t *testing.T, s DocumentStore, seed uint64) *player {
	t.Helper()
	p := &player{DocumentStore: s, random: rand.New(rand.NewPCG(seed, 0)), done: map[string]int{}}
	p.begun = time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	p.rules = paste.Rules{
		Limits: paste.Limits{Pasties: 5, Edits: 12, ContentBytes: 1 << 20, HistoryBytes: 1 << 19},
		NewID: func() string {
			p.ids++
			return fmt.Sprintf("id%06d", p.ids)
		},
		Language: func(want, _, _ string) (string, bool) { return strings.ToLower(want), want != "unknown" },
		Diff:     linediff.Unified,
	}
	for i := range modelUsers {
		u := newUser(t, fmt.Sprint("user", i))
		u.ID = user.ID(fmt.Sprint("u", i))
		must(t, s.createUser(t.Context(), u, nil))
		p.users = append(p.users, u)
		for j, change := range []func(*token.Token){
			func(*token.Token) {},
			func(k *token.Token) { k.ExpiresAt = p.begun.Add(time.Microsecond) },
			func(k *token.Token) { k.ExpiresAt = p.begun },
			func(k *token.Token) { k.RevokedAt = p.begun },
		} {
			created := token.Token{ID: token.ID(fmt.Sprint("t", i, j)), Owner: u.ID, Hash: token.Hash{byte(i + 1), byte(j)},
				CreatedAt: p.begun}
			change(&created)
			must(t, s.Tokens.Create(t.Context(), nowhere, unrecorded, created))
			p.tokens = append(p.tokens, created)
		}
	}
	return p
}

// step does something at random, and says what and how that ended.
func (p *player) step(ctx context.Context) (what, outcome string) {
	steps := []struct {
		name   string
		weight int
		do     func(context.Context) string
	}{
		{"create", 8, p.create},
		{"create for a client", 8, p.createCounted},
		{"update", 30, p.update},
		{"read", 10, p.read},
		{"sign in", 3, p.signIn},
		{"list", 10, p.list},
		{"delete", 5, p.deleteIf},
		{"burn", 8, p.burn},
		{"import", 12, p.importSome},
		{"sweep", 1, p.sweep},
		{"star", 8, func(ctx context.Context) string { return outcomeOf(p.Pastes.Star(ctx, nowhere, p.user(), p.id())) }},
		{"unstar", 4, func(ctx context.Context) string {
			return outcomeOf(p.Pastes.Unstar(ctx, nowhere, p.user(), p.id()))
		}},
		{"delete a user", 1, p.deleteUser},
		{"import users", 4, p.importUsers},
		{"everything", 2, p.everything},
	}
	sum := 0
	for _, s := range steps {
		sum += s.weight
	}
	n := p.random.IntN(sum)
	for _, s := range steps {
		if n -= s.weight; n < 0 {
			p.done[s.name]++
			return s.name, s.do(ctx)
		}
	}
	panic("no step")
}

func outcomeOf(err error) string {
	if err == nil {
		return "done"
	}
	return string(fault.KindOf(err))
}

// id returns that of one of a few pastes. When one is deleted, most steps go on with a new id, so that not all imports
// are refused.
func (p *player) id() paste.ID {
	slot := p.random.IntN(modelPastes)
	life := p.lives[slot]
	if life > 0 && p.random.IntN(6) == 0 {
		life--
	}
	return idOf(slot, life)
}

func idOf(slot, life int) paste.ID { return paste.ID(fmt.Sprint("paste", slot, "-", life)) }

// user returns one who may be gone or was never there.
func (p *player) user() user.ID {
	n := p.random.IntN(modelUsers + 1)
	if n == modelUsers || p.random.IntN(10) == 0 {
		return user.ID(fmt.Sprint("u", n))
	}
	return p.users[n].ID
}

// hash returns that of a token, or that of none.
func (p *player) hash() token.Hash {
	if n := p.random.IntN(len(p.tokens) + 2); n < len(p.tokens) {
		return p.tokens[n].Hash
	}
	return token.Hash{byte(p.random.IntN(2))}
}

// text is anything that is UTF-8.
func (p *player) text() string {
	switch p.random.IntN(10) {
	case 0:
		return ""
	case 1:
		return odd
	case 2:
		return strings.Repeat(odd, p.random.IntN(3000)) // also more than one statement reads of a paste
	}
	var text strings.Builder
	lines := []string{"a\n", "b\n", "\n", "\x00\n", "\r\n", "--- \n", "@@ -1 +1 @@\n", "\\ No newline at end of file\n",
		"ä", "\x00", "\r"}
	for range p.random.IntN(12) {
		text.WriteString(lines[p.random.IntN(len(lines))])
	}
	return text.String()
}

// expiry is years ago, or years away: the stores judge by their own clocks.
func (p *player) expiry() time.Time {
	switch p.random.IntN(8) {
	case 0:
		return p.begun.Add(-time.Duration(p.random.IntN(1_000_000)) * time.Microsecond)
	case 1:
		return time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	case 2:
		return time.Unix(1, 1000).UTC()
	}
	return time.Time{}
}

func (p *player) tags() (tags []string) {
	for range p.random.IntN(3) {
		tags = append(tags, p.text())
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

func (p *player) pasties() []paste.Pasty {
	pasties := make([]paste.Pasty, p.random.IntN(4))
	for i := range pasties {
		pasties[i] = paste.Pasty{ID: fmt.Sprint("pasty", p.random.IntN(5)), Title: p.text(), Language: p.text(),
			Code: p.text()}
	}
	return pasties
}

// created is often the same.
func (p *player) created() time.Time {
	return p.begun.Add(time.Duration(p.random.IntN(5)) * time.Microsecond)
}

func (p *player) document() paste.Document {
	newPaste := paste.Document{Paste: paste.Paste{ID: p.id(), CreatedAt: p.created()}}
	newPaste.ExpiresAt, newPaste.Burns = p.expiry(), p.random.IntN(3) == 0
	if p.random.IntN(3) > 0 {
		newPaste.Owner = p.user()
	}
	newPaste.Visibility, newPaste.Tags = paste.Visibility(p.random.IntN(3)), p.tags()
	newPaste.Lifetime = []paste.Lifetime{"", paste.Never, "1d", "forever ü"}[p.random.IntN(4)]
	if p.random.IntN(8) == 0 {
		newPaste.Cipher = &paste.Cipher{Data: []byte("\xff\x00" + p.text()), Key: []byte(p.text()), Salt: []byte{0}}
		return newPaste
	}
	newPaste.Title, newPaste.Pasties = p.text(), p.pasties()
	for n := range p.random.IntN(4) * p.random.IntN(5) {
		newPaste.Edits = append(newPaste.Edits, p.edit(int64(n)))
	}
	return newPaste
}

func (p *player) edit(number int64) paste.Edit {
	created := paste.Edit{
		ID: p.text(), Number: number << p.random.IntN(40), Type: paste.EditType(p.random.IntN(6)), Metadata: p.tags(),
		Text: p.text(),
		At:   time.Unix(p.random.Int64N(253402300800), 0).UTC(),
	}
	return created
}

func (p *player) create(ctx context.Context) string {
	return outcomeOf(p.Documents.CreateDocument(ctx, p.document()))
}

// createCounted counts pastes for a few clients, none of whom uses all of a quota, and of which nothing comes back in a
// test.
func (p *player) createCounted(ctx context.Context) string {
	client := paste.Client(fmt.Sprint("client", p.random.IntN(4)))
	many := paste.Allowance{Rate: paste.Quota{Pastes: 1000, Window: 1000 * 24 * time.Hour}}
	_, err := p.Documents.CreateAllowed(ctx, nowhere, many, client, p.document())
	return outcomeOf(err)
}

func (p *player) signIn(ctx context.Context) string {
	tok, owner, err := p.Tokens.ByHash(ctx, p.hash())
	account, err2 := p.Users.AccountByID(ctx, p.user())
	return fmt.Sprint(outcomeOf(err), " ", tok, " ", owner, " ", outcomeOf(err2), " ", account)
}

// list reads a page of each list, after a paste that may be there or from the beginning.
func (p *player) list(ctx context.Context) string {
	after, limit, owner := paste.Cursor{}, 1+p.random.IntN(4), p.user()
	if p.random.IntN(3) > 0 {
		after = paste.Cursor{CreatedAt: p.created(), ID: p.id()}
	}
	ids, last, err := p.Pastes.ActiveIDs(ctx, owner, after, limit)
	public, err2 := p.Pastes.Select(ctx, owner, paste.Selection{Public: true, After: after}, limit)
	titles, err3 := p.Pastes.Select(ctx, owner, paste.Selection{After: after}, limit)
	return fmt.Sprint(outcomeOf(err), ids, last, outcomeOf(err2), shortened(public), outcomeOf(err3), shortened(titles))
}

// shortened returns the list with as much of each title as every store returns.
func shortened(listed []paste.Summary) string {
	var all strings.Builder
	for _, one := range listed {
		title := []rune(one.Title)
		fmt.Fprintf(&all, "%v %v %q %q\n", one.Paste, one.Visibility, string(title[:min(len(title), paste.MaxTitle)]),
			one.PastyTitle)
	}
	return all.String()
}

func (p *player) update(ctx context.Context) string {
	seen, id := "", p.id()
	got, err := p.Documents.Update(ctx, unrecorded, id, func(stored paste.Document) (paste.Change, error) {
		seen = describe(stored)
		if stored.Encrypted() {
			return paste.Change{}, paste.ErrNotFound
		}
		return p.rules.Edit(stored, p.changes(stored), p.begun)
	})
	if err == nil {
		read, err := p.Documents.DocumentByID(ctx, id)
		if got := describe(got); err != nil || got != describe(read) {
			return fmt.Sprintf("wrong: got %s by updating, then %s, %v", got, describe(read), err)
		}
	}
	return seen + " " + outcomeOf(err) + " " + describe(got)
}

func (p *player) changes(stored paste.Document) (c paste.Changes) {
	text := func() *string {
		if p.random.IntN(2) == 0 {
			return nil
		}
		return new(p.text())
	}
	if p.random.IntN(3) == 0 {
		c.Title = text()
	}
	if p.random.IntN(4) == 0 {
		c.Tags = append([]string{}, p.tags()...)
	}
	if p.random.IntN(4) == 0 {
		c.Private, c.Public = new(p.random.IntN(2) == 0), new(p.random.IntN(3) == 0)
	}
	for _, i := range p.random.Perm(len(stored.Pasties)) {
		if p.random.IntN(6) > 0 {
			c.Pasties = append(c.Pasties, paste.PastyChanges{ID: stored.Pasties[i].ID, Title: text(), Code: text()})
		}
	}
	if p.random.IntN(3) == 0 {
		c.Pasties = append(c.Pasties, paste.PastyChanges{Title: text(), Code: new(p.text())})
	}
	return c
}

func (p *player) read(ctx context.Context) string {
	reader := p.user()
	if p.random.IntN(3) == 0 {
		reader = ""
	}
	got, err := p.Documents.ReadDocument(ctx, p.id(), reader)
	return fmt.Sprint(outcomeOf(err), " ", describe(got))
}

func (p *player) deleteIf(ctx context.Context) string {
	seen, slot, deleter := "", p.random.IntN(modelPastes), p.user()
	err := p.Documents.DeleteIf(ctx, unrecorded, idOf(slot, p.lives[slot]), func(stored paste.Paste) error {
		seen = fmt.Sprint(stored)
		if stored.Owner != "" && !stored.OwnedBy(deleter) {
			return paste.ErrNotFound
		}
		return nil
	})
	if err == nil {
		p.lives[slot]++
	}
	return seen + " " + outcomeOf(err)
}

func (p *player) burn(ctx context.Context) string {
	slot := p.random.IntN(modelPastes)
	burnt, err := p.Documents.Burn(ctx, idOf(slot, p.lives[slot]), p.user())
	if err == nil {
		p.lives[slot]++
	}
	return fmt.Sprint(outcomeOf(err), " ", describe(burnt))
}

func (p *player) importSome(ctx context.Context) string {
	pastes := make([]paste.Document, p.random.IntN(4))
	for i := range pastes {
		pastes[i] = p.document()
		if i > 0 && p.random.IntN(4) == 0 {
			pastes[i] = pastes[i-1]
		}
	}
	orphans := paste.Orphans(p.random.IntN(2))
	var outcome strings.Builder
	for range 1 + p.random.IntN(2) { // the second time nothing is different
		results, err := p.Pastes.Import(ctx, Whole(pastes...), orphans)
		outcome.WriteString(outcomeOf(err))
		for _, r := range results {
			fmt.Fprint(&outcome, " ", r.Outcome, " ", outcomeOf(r.Err))
		}
	}
	return outcome.String()
}

func (p *player) sweep(ctx context.Context) string {
	removed, err := p.Pastes.RemoveExpired(ctx, time.Hour, 1000)
	return fmt.Sprint(removed, outcomeOf(err))
}

func (p *player) deleteUser(ctx context.Context) string {
	n := p.random.IntN(len(p.users))
	gone := p.users[n]
	err := p.Users.Delete(ctx, nowhere, unrecorded, gone.ID, gone.Name, nil)
	if err == nil {
		p.users[n].ID += "x"
	}
	back := p.createUser(ctx, p.users[n], nil) // another one with the same name
	for i, k := range p.tokens {
		if k.Owner == gone.ID && k.ID[2] == '0' {
			p.tokens[i].Owner = p.users[n].ID
			back = p.Tokens.Create(ctx, nowhere, unrecorded, p.tokens[i])
		}
	}
	return fmt.Sprint(outcomeOf(err), outcomeOf(back))
}

// importUsers brings users in that are there, were deleted, or are new, with names that can be another one's.
func (p *player) importUsers(ctx context.Context) string {
	accounts := make([]user.Import, 1+p.random.IntN(3))
	for i := range accounts {
		n := p.random.IntN(len(p.users))
		accounts[i] = user.Import{ID: p.users[n].ID, Name: p.users[n].Name, CreatedAt: p.begun}
		if p.random.IntN(3) == 0 {
			accounts[i].ID = user.ID(fmt.Sprint("new", p.random.IntN(3)))
		}
		if p.random.IntN(3) == 0 {
			accounts[i].Name = p.users[p.random.IntN(len(p.users))].Name
		}
		if p.random.IntN(2) == 0 {
			accounts[i].SupporterMonths = new(p.random.Int32N(3))
		}
		if p.random.IntN(2) == 0 {
			accounts[i].AvatarURL, accounts[i].PublicProfile = new(fmt.Sprint("https://example.com/", p.random.IntN(2))),
				new(p.random.IntN(2) == 0)
		}
		for range p.random.IntN(4) {
			if star := string(p.id()); !slices.Contains(accounts[i].Stars, star) {
				accounts[i].Stars = append(accounts[i].Stars, star)
			}
		}
		if p.random.IntN(2) == 0 {
			accounts[i].Identities = map[string]string{"github": fmt.Sprint(accounts[i].ID, p.random.IntN(2))}
		}
		for _, earlier := range accounts[:i] {
			if earlier.ID == accounts[i].ID {
				accounts[i] = earlier // what comes of one that wants two names at once is for each store to say
			}
		}
	}
	results, err := p.Users.Import(ctx, accounts)
	outcomes := []string{outcomeOf(err)}
	for _, r := range results {
		outcomes = append(outcomes, fmt.Sprint(r.Outcome, " ", outcomeOf(r.Err)))
	}
	return strings.Join(outcomes, " ")
}

// everything reads all there is, each paste with its versions.
func (p *player) everything(ctx context.Context) string {
	var all strings.Builder
	count, err := p.Pastes.ActiveCount(ctx)
	totals, err2 := p.Stats.Totals(ctx)
	totals.DatabaseBytes = 0 // each database has another size
	fmt.Fprint(&all, count, outcomeOf(err), totals, outcomeOf(err2))
	for i := range modelUsers {
		owner := p.users[i].ID
		ids, last, err := p.Pastes.ActiveIDs(ctx, owner, paste.Cursor{}, 1000)
		account, err2 := p.Users.AccountByID(ctx, owner)
		fmt.Fprint(&all, ids, last, outcomeOf(err), outcomeOf(err2), account.Stars, "\n")
	}
	for slot, lives := range p.lives {
		for life := range lives + 1 {
			stored, err := p.Documents.DocumentByID(ctx, idOf(slot, life))
			fmt.Fprintln(&all, outcomeOf(err), describe(stored))
			for err == nil && len(stored.Edits) > 0 {
				stored.Content, err = before(stored.Content)
				fmt.Fprintln(&all, outcomeOf(err), describe(stored))
			}
		}
	}
	return all.String()
}

// before returns the content before its newest edit, or as it is when it has none.
func before(c paste.Content) (paste.Content, error) {
	if len(c.Edits) == 0 {
		return c, nil
	}
	older := paste.Original
	for _, e := range c.Edits {
		if e.Number != c.Edits[len(c.Edits)-1].Number {
			older = fmt.Sprint(e.Number)
		}
	}
	return c.AsOf(older)
}

// describe returns all that there is of a paste, with nil as an empty list.
func describe(d paste.Document) string {
	var all strings.Builder
	fmt.Fprintf(&all, "%q %q %v %v %t %q %v %q %q", d.ID, d.Owner, d.CreatedAt, d.ExpiresAt, d.Burns, d.Lifetime,
		d.Visibility, d.Tags,
		d.Title)
	for _, one := range d.Pasties {
		fmt.Fprintf(&all, "\n%q", one)
	}
	for _, e := range d.Edits {
		fmt.Fprintf(&all, "\n%q %d %d %q %q %v", e.ID, e.Number, e.Type, e.Metadata, e.Text, e.At)
	}
	if d.Cipher != nil {
		fmt.Fprintf(&all, "\n%d %q %q %q", d.Cipher.Version, d.Cipher.Data, d.Cipher.Key, d.Cipher.Salt)
	}
	fmt.Fprint(&all, " ", d.Stars)
	return all.String()
}
