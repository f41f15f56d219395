// Package twin has the programs with which the benchmarks compare Gluepot. They answer like Gluepot, without rules and
// deadlines: with as little code as possible (New), or as a user would write them instead (NewGORM, NewSQLite).
package twin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is the number of a server's database connections: as many as Gluepot has.
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

// New returns a handler on net/http and a pgx pool, with one statement for each request and no log.
func New(ctx context.Context, url string) (http.Handler, error) {
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
	mux.HandleFunc("GET /user/self", func(w http.ResponseWriter, r *http.Request) {
		var a account
		hash := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		err := pool.QueryRow(r.Context(), `SELECT u.id, u.username, u.avatar_url, u.default_language,
				u.public_profile, u.supporter_months, u.contributor,
			(SELECT coalesce(json_agg(s.paste_id ORDER BY s.position), '[]') FROM stars s JOIN pastes p ON p.id = s.paste_id
				WHERE s.user_id = u.id AND (p.expires_at IS NULL OR p.expires_at > now())),
			(SELECT coalesce(json_object_agg(v.provider, v.subject), '{}') FROM identities v WHERE v.user_id = u.id)
			FROM access_tokens t JOIN users u ON u.id = t.user_id
			WHERE t.hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())`, hash[:]).
			Scan(&a.ID, &a.Username, &a.AvatarURL, &a.DefaultLang, &a.PublicProfile, &a.SupporterLength, &a.Contributor,
				&a.Stars, &a.ServiceIDs)
		write(w, a, err)
	})
	mux.HandleFunc("GET /data/numPastes", func(w http.ResponseWriter, r *http.Request) {
		var answer struct {
			NumPastes int64 `json:"numPastes"`
		}
		err := pool.QueryRow(r.Context(), `SELECT (SELECT coalesce(sum(c.pastes), 0)::bigint FROM paste_counts c) -
			(SELECT count(*) FROM pastes p WHERE p.expires_at <= now())`).Scan(&answer.NumPastes)
		write(w, answer, err)
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
