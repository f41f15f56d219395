package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// instantStore answers at once, so that the benchmarks measure the API itself.
type instantStore struct {
	user     user.User
	token    token.Token
	language language.Language
	ids      []paste.ID
}

// The ports that the benchmarks need. Methods of the embedded nil interfaces are not called.
type (
	instantUsers struct {
		user.Store
		*instantStore
	}
	instantPastes struct {
		paste.Store
		*instantStore
	}
	instantTokens struct {
		token.Store
		*instantStore
	}
	instantLanguages struct {
		language.Catalogue
		*instantStore
	}
)

func (s instantUsers) StaleByName(context.Context, user.Name) (user.User, error) { return s.user, nil }

func (s instantTokens) ByHash(context.Context, token.Hash) (token.Token, user.User, error) {
	return s.token, s.user, nil
}

func (s instantPastes) ActiveIDs(context.Context, user.ID, paste.Cursor, int) ([]paste.ID, paste.Cursor, error) {
	return s.ids, paste.Cursor{}, nil
}

func (s instantLanguages) ByName(string) (*language.Language, bool) { return &s.language, true }

func (s instantLanguages) All() []*language.Language { return []*language.Language{&s.language} }

// nowhere is an http.ResponseWriter that drops the answer.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) WriteHeader(int)             {}
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }

func BenchmarkRequest(b *testing.B) {
	name, err := user.ParseName("Epoxy")
	if err != nil {
		b.Fatal(err)
	}
	secret := token.Generate()
	store := &instantStore{
		user: user.User{
			ID: "hiqpz8s5", Name: name, AvatarURL: "https://example.com/epoxy.png", DefaultLanguage: "Go",
			PublicProfile: true, SupporterMonths: 24,
		},
		token: token.Token{ID: "k1", Owner: "hiqpz8s5", Hash: secret.Hash()},
		language: language.Language{Name: "Go", Mode: "go", MIMETypes: []string{"text/x-go"}, Extensions: []string{"go"},
			Color: "#00add8"},
	}
	for i := range 1000 {
		store.ids = append(store.ids, paste.ID(fmt.Sprintf("p%07d", i)))
	}
	modules := Modules{
		Users:     users.New(instantUsers{instantStore: store}, nil, paste.Lifetimes{}, nil, time.Now),
		Tokens:    tokens.New(instantTokens{instantStore: store}, nil, time.Now),
		Pastes:    pastes.New(instantPastes{instantStore: store}, nil, pastes.Options{}, time.Now),
		Languages: languages.New(instantLanguages{instantStore: store}),
	}
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard),
		zap.InfoLevel))
	limited := DefaultConfig()
	limited.Limits = limit.Config{Rate: 1_000_000, FailedSignIns: 1_000_000}
	for _, settings := range []struct {
		name string
		cfg  Config
	}{{"unlimited", DefaultConfig()}, {"limited", limited}} {
		api, err := New(settings.cfg, modules, func(context.Context) error { return nil }, log)
		if err != nil {
			b.Fatal(err)
		}
		for _, path := range []string{"/user/Epoxy/exists", "/user/Epoxy", "/user/self/pastes", "/data/language?name=Go",
			"/user/no%20user"} {
			b.Run(settings.name+path, func(b *testing.B) {
				request := httptest.NewRequest(http.MethodGet, path, nil)
				request.Header.Set("Authorization", secret.Reveal())
				b.ReportAllocs()
				for b.Loop() {
					api.ServeHTTP(nowhere{http.Header{}}, request)
				}
			})
		}
	}
}
