package contract_test

import (
	"testing"

	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/fake"
)

// run runs every suite on stores that open returns.
func run(t *testing.T, open func(t *testing.T) contract.DocumentStore) {
	t.Helper()
	contract.Run(t, func(t *testing.T) contract.Store { return open(t).Store })
	contract.RunDocuments(t, open)
}

func TestFake(t *testing.T) {
	t.Parallel()
	run(t, func(*testing.T) contract.DocumentStore { return faked() })
}

func faked() contract.DocumentStore {
	store := new(fake.Store)
	return contract.DocumentStore{
		Store: contract.Store{
			Users: fake.Users{Store: store}, Tokens: fake.Tokens{Store: store}, Pastes: fake.Pastes{Store: store},
			Stats:      fake.Stats{Store: store},
			Search:     fake.Search{Store: store},
			Identities: fake.Identities{Store: store},
		},
		Documents: fake.Pastes{Store: store},
	}
}
