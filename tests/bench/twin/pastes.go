package twin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/rogpeppe/go-internal/diff"
)

// pastes answers for pastes that never expire and have content.
type pastes struct{ pool *pgxpool.Pool }

func (p pastes) handle(mux *http.ServeMux) {
	mux.HandleFunc("GET /paste/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, err := p.read(r)
		writeDocument(w, d, err)
	})
	mux.HandleFunc("POST /paste", func(w http.ResponseWriter, r *http.Request) {
		d, err := p.create(r)
		writeDocument(w, d, err)
	})
	mux.HandleFunc("PATCH /paste/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, err := p.edit(r)
		writeDocument(w, d, err)
	})
	mux.HandleFunc("GET /data/numPastes", func(w http.ResponseWriter, r *http.Request) {
		var answer struct {
			NumPastes int64 `json:"numPastes"`
		}
		err := p.pool.QueryRow(r.Context(), `SELECT (SELECT coalesce(sum(c.pastes), 0)::bigint FROM paste_counts c) -
			(SELECT count(*) FROM pastes p WHERE p.expires_at <= now())`).Scan(&answer.NumPastes)
		write(w, answer, err)
	})
}

func writeDocument(w http.ResponseWriter, d document, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, _ := marshal(d)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

const selectDocument = `SELECT p.id, coalesce(p.owner_id, ''), p.created_at, p.visibility, c.lifetime, c.document, c.edits,
	CASE WHEN c.edits > 0 THEN (SELECT string_agg(e.entry, ''::bytea ORDER BY e.position) FROM paste_edits e WHERE e.paste_id = p.id) END,
	(SELECT count(*) FROM stars s WHERE s.paste_id = p.id)
	FROM pastes p JOIN paste_contents c ON c.paste_id = p.id`

// scanDocument also returns how many edits there are.
func scanDocument(row pgx.Row) (d document, edits int, err error) {
	var (
		created          time.Time
		visibility       int16
		content, entries []byte
	)
	err = row.Scan(&d.ID, &d.OwnerID, &created, &visibility, &d.ExpiresIn, &content, &edits, &entries, &d.Stars)
	if err == nil {
		d.CreatedAt, d.IsPublic, d.IsPrivate = created.Unix(), visibility == 1, visibility == 2
		d.decode(content, entries)
	}
	return d, edits, err
}

func (p pastes) read(r *http.Request) (document, error) {
	d, _, err := scanDocument(p.pool.QueryRow(r.Context(), selectDocument+`
		WHERE p.id = $1 AND (p.expires_at IS NULL OR p.expires_at > now())`, r.PathValue("id")))
	return d, err
}

func (p pastes) create(r *http.Request) (d document, err error) {
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		return d, err
	}
	now := time.Now()
	d.ID, d.CreatedAt, d.ExpiresIn, d.Tags, d.Edits = newID(), now.Unix(), "never", []string{}, []edit{}
	for i := range d.Pasties {
		d.Pasties[i].ID = newID()
	}
	_, err = p.pool.Exec(r.Context(), `WITH p AS (
			INSERT INTO pastes (id, owner_id, created_at, expires_at, visibility) VALUES ($1, NULL, $2, NULL, 0) RETURNING id)
		INSERT INTO paste_contents (paste_id, lifetime, document) SELECT p.id, $3, $4 FROM p`, d.ID, now, d.ExpiresIn, d.encode())
	return d, err
}

var errUnknown = errors.New("there is no such pasty")

// edit changes the code of pasties.
func (p pastes) edit(r *http.Request) (d document, err error) {
	var (
		ctx    = r.Context()
		id     = r.PathValue("id")
		token  = sha256.Sum256([]byte(r.Header.Get("Authorization")))
		wanted document
	)
	if err := json.NewDecoder(r.Body).Decode(&wanted); err != nil {
		return d, err
	}
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		var known string
		if err := tx.QueryRow(ctx, `SELECT p.id FROM pastes p WHERE p.id = $1 FOR UPDATE`, id).Scan(&known); err != nil {
			return err
		}
		var edits int
		d, edits, err = scanDocument(tx.QueryRow(ctx, selectDocument+` JOIN access_tokens t ON t.hash = $2 AND t.user_id = p.owner_id
			WHERE p.id = $1 AND (p.expires_at IS NULL OR p.expires_at > now())
				AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`, id, token[:]))
		if err != nil {
			return err
		}
		made, err := d.change(wanted.Pasties)
		if err != nil {
			return err
		}
		return p.store(ctx, tx, d, edits, made)
	})
	return d, err
}

// change changes the code of a pasty and returns what to add to the history, of which there can be no more than one.
func (d *document) change(wanted []pasty) (made edit, err error) {
	number := int64(0)
	if n := len(d.Edits); n > 0 {
		number = d.Edits[n-1].EditID + 1
	}
	for i := range d.Pasties {
		p := &d.Pasties[i]
		if p.ID != wanted[0].ID {
			continue
		}
		_, text, _ := bytes.Cut(diff.Diff("", []byte(p.Code), "", []byte(wanted[0].Code)), []byte("\n"))
		p.Code = wanted[0].Code
		made = edit{newID(), number, 3, []string{p.ID}, string(text), time.Now().Unix()}
		d.Edits = append(d.Edits, made)
		return made, nil
	}
	return made, errUnknown
}

func (p pastes) store(ctx context.Context, tx pgx.Tx, d document, edits int, made edit) error {
	entry := made.encode()
	if _, err := tx.Exec(ctx, `UPDATE paste_contents SET document = $2, edits = $3, history_bytes = history_bytes + $4 WHERE paste_id = $1`,
		d.ID, d.encode(), edits+1, len(entry)); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `INSERT INTO paste_edits (paste_id, position, entry) VALUES ($1, $2, $3)`, d.ID, edits, entry)
	return err
}
