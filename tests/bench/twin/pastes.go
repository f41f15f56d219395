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

// pastes answers for pastes that are neither private nor encrypted, never expire, and whose texts have no U+0000.
type pastes struct{ pool *pgxpool.Pool }

func (p pastes) handle(mux *http.ServeMux) {
	mux.HandleFunc("GET /paste/{id}", func(w http.ResponseWriter, r *http.Request) {
		d, err := read(r.Context(), p.pool, r.PathValue("id"))
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

// selectDocument has a row for each pasty. The history, which few pastes have, is JSON in each of them.
const selectDocument = `SELECT p.id, coalesce(p.owner_id, ''), p.created_at, p.lifetime, p.visibility, p.title,
	(SELECT count(*) FROM stars s WHERE s.paste_id = p.id),
	CASE WHEN p.edits > 0 THEN (SELECT json_agg(json_build_object('_id', e.id, 'editId', e.number, 'editType', e.type,
		'metadata', e.metadata::json, 'edit', e.text,
		'editedAt', extract(epoch FROM e.edited_at)::bigint) ORDER BY e.position)
		FROM paste_edits e WHERE e.paste_id = p.id) END,
	y.id, y.language, y.title, y.code
	FROM pastes p JOIN pasties y ON y.paste_id = p.id
	WHERE p.id = $1 AND (p.expires_at IS NULL OR p.expires_at > now()) AND p.visibility <> 2 AND NOT p.encrypted
	ORDER BY y.position`

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

func read(ctx context.Context, db querier, id string) (document, error) {
	d := document{Tags: []string{}, Edits: []edit{}}
	rows, err := db.Query(ctx, selectDocument, id)
	if err != nil {
		return d, err
	}
	defer rows.Close()
	for rows.Next() {
		var (
			y          pasty
			created    time.Time
			visibility int16
			edits      []byte
		)
		if err := rows.Scan(&d.ID, &d.OwnerID, &created, &d.ExpiresIn, &visibility, &d.Title, &d.Stars, &edits,
			&y.ID, &y.Language, &y.Title, &y.Code); err != nil {
			return d, err
		}
		if len(d.Pasties) == 0 && edits != nil {
			if err := json.Unmarshal(edits, &d.Edits); err != nil {
				return d, err
			}
		}
		d.CreatedAt, d.IsPublic = created.Unix(), visibility == 1
		d.Pasties = append(d.Pasties, y)
	}
	if err := rows.Err(); err != nil {
		return d, err
	}
	if len(d.Pasties) == 0 {
		return d, pgx.ErrNoRows
	}
	return d, nil
}

func (p pastes) create(r *http.Request) (d document, err error) {
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		return d, err
	}
	now := time.Now()
	d.ID, d.CreatedAt, d.ExpiresIn, d.Tags, d.Edits = newID(), now.Unix(), "never", []string{}, []edit{}
	var ids, titles, languages, codes []string
	for i := range d.Pasties {
		y := &d.Pasties[i]
		y.ID = newID()
		ids, titles, languages, codes = append(ids, y.ID), append(titles, y.Title), append(languages, y.Language),
			append(codes, y.Code)
	}
	_, err = p.pool.Exec(r.Context(), `WITH p AS (
			INSERT INTO pastes (id, created_at, lifetime, visibility, title, encrypted,
				pasties, tags, edits, content_bytes, history_bytes)
			VALUES ($1, $2, $3, 0, $4, false, $5, 0, 0, $6, 0))
		INSERT INTO pasties (paste_id, position, id, title, language, code)
		SELECT $1, y.n - 1, y.id, y.title, y.language, y.code
		FROM unnest($7::text[], $8::text[], $9::text[], $10::text[]) WITH ORDINALITY y (id, title, language, code, n)`,
		d.ID, now, d.ExpiresIn, d.Title, len(d.Pasties), d.bytes(), ids, titles, languages, codes)
	return d, err
}

var errUnknown = errors.New("there is no such pasty")

// edit changes the code of pasties.
func (p pastes) edit(r *http.Request) (d document, err error) {
	var (
		ctx   = r.Context()
		id    = r.PathValue("id")
		token = sha256.Sum256([]byte(r.Header.Get("Authorization")))
		input document
	)
	if err := json.NewDecoder(r.Body).Decode(&input); err != nil {
		return d, err
	}
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		var hash string
		if err := tx.QueryRow(ctx, `SELECT p.id FROM pastes p JOIN access_tokens t ON t.user_id = p.owner_id
			WHERE p.id = $1 AND t.hash = $2 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())
			FOR UPDATE OF p`, id, token[:]).Scan(&hash); err != nil {
			return err
		}
		if d, err = read(ctx, tx, id); err != nil {
			return err
		}
		place, made, err := d.change(input.Pasties)
		if err != nil {
			return err
		}
		return d.store(ctx, tx, place, made)
	})
	return d, err
}

// change changes the code of a pasty and returns its place and what to add to the history: at most one edit.
func (d *document) change(pasties []pasty) (place int, record edit, err error) {
	number := int64(0)
	if n := len(d.Edits); n > 0 {
		number = d.Edits[n-1].EditID + 1
	}
	for i := range d.Pasties {
		p := &d.Pasties[i]
		if p.ID != pasties[0].ID {
			continue
		}
		_, text, _ := bytes.Cut(diff.Diff("", []byte(p.Code), "", []byte(pasties[0].Code)), []byte("\n"))
		p.Code = pasties[0].Code
		record = edit{newID(), number, 3, []string{p.ID}, string(text), time.Now().Unix()}
		d.Edits = append(d.Edits, record)
		return i, record, nil
	}
	return 0, record, errUnknown
}

func (d *document) store(ctx context.Context, tx pgx.Tx, place int, record edit) error {
	metadata, err := json.Marshal(record.Metadata)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `WITH
			p AS (UPDATE pastes SET edits = edits + 1, content_bytes = $2, history_bytes = history_bytes + $3 WHERE id = $1),
			y AS (UPDATE pasties SET code = $4 WHERE paste_id = $1 AND position = $5)
		INSERT INTO paste_edits (paste_id, position, id, number, type, metadata, text, edited_at)
		SELECT $1, coalesce(max(e.position) + 1, 0), $6, $7, $8, $9, $10, to_timestamp($11)
			FROM paste_edits e WHERE e.paste_id = $1`,
		d.ID, d.bytes(), len(record.Edit), d.Pasties[place].Code, place,
		record.ID, record.EditID, record.EditType, string(metadata), record.Edit, float64(record.EditedAt))
	return err
}
