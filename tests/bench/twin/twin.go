// Package twin answers like Gluepot with the least code that can: net/http, one pgx pool, one statement for
// each request and no rule, no deadline, no log. It is what the benchmarks measure Gluepot against.
package twin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections are how many a server has to the database: as many as Gluepot.
const connections = 8

type profile struct {
	ID              string `json:"_id"`
	Username        string `json:"username"`
	AvatarURL       string `json:"avatarUrl"`
	DefaultLang     string `json:"defaultLang"`
	PublicProfile   bool   `json:"publicProfile"`
	SupporterLength int32  `json:"supporterLength"`
	Contributor     bool   `json:"contributor"`
}

type account struct {
	profile
	Stars      json.RawMessage `json:"stars"`
	ServiceIDs json.RawMessage `json:"serviceIds"`
}

const columns = `u.id, u.username, u.avatar_url, u.default_language, ` +
	`u.public_profile, u.supporter_months, u.contributor`

func (p *profile) fields() []any {
	return []any{&p.ID, &p.Username, &p.AvatarURL, &p.DefaultLang, &p.PublicProfile, &p.SupporterLength, &p.Contributor}
}

// New returns the twin of the endpoints that ask the database at url, with constant at /constant.
func New(ctx context.Context, url string, constant []byte) (http.Handler, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	pastes{pool}.handle(mux)
	hash := func(r *http.Request) []byte {
		sum := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		return sum[:]
	}
	mux.HandleFunc("GET /user/{name}", func(w http.ResponseWriter, r *http.Request) {
		var p profile
		err := pool.QueryRow(r.Context(), `SELECT `+columns+` FROM users u WHERE u.username_folded = $1`,
			strings.ToLower(r.PathValue("name"))).Scan(p.fields()...)
		write(w, p, err)
	})
	mux.HandleFunc("GET /user/self", func(w http.ResponseWriter, r *http.Request) {
		var a account
		err := pool.QueryRow(r.Context(), `SELECT `+columns+`,
			(SELECT coalesce(json_agg(s.paste_id ORDER BY s.position), '[]') FROM stars s JOIN pastes p ON p.id = s.paste_id
				WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > now())),
			(SELECT coalesce(json_object_agg(v.provider, v.subject), '{}') FROM identities v WHERE v.user_id = u.id)
			FROM access_tokens t JOIN users u ON u.id = t.user_id
			WHERE t.hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`, hash(r)).
			Scan(append(a.fields(), &a.Stars, &a.ServiceIDs)...)
		write(w, a, err)
	})
	mux.HandleFunc("GET /user/self/pastes", func(w http.ResponseWriter, r *http.Request) {
		rows, err := pool.Query(r.Context(), `SELECT id FROM pastes
			WHERE owner_id = (SELECT user_id FROM access_tokens
				WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()))
			AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC, id DESC`, hash(r))
		if err != nil {
			write(w, nil, err)
			return
		}
		defer rows.Close()
		ids := []string{}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				write(w, nil, err)
				return
			}
			ids = append(ids, id)
		}
		write(w, ids, rows.Err())
	})
	mux.HandleFunc("GET /constant", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(constant)
	})
	return mux, nil
}

func write(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	body, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// Server returns a server with Gluepot's deadlines.
func Server(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: 2 * time.Minute}
}
