package gormstore

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestValidateNamesEveryWrongValue(t *testing.T) {
	t.Parallel()
	err := Config{URL: "x", MaxConnections: 0, ConnectTimeout: -time.Second, ConnectionMaxLifetime: -1, SlowStatement: -1}.Validate()
	for _, part := range []string{"URL", "connections", "timeout", "age", "slow"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %q to be named in it", err, part)
		}
	}
}

func TestTranslate(t *testing.T) {
	t.Parallel()
	for err, kind := range map[error]fault.Kind{
		&pgconn.PgError{Code: "23505"}:                 fault.Conflict,
		&pgconn.PgError{Code: "23503"}:                 fault.NotFound,
		&pgconn.PgError{Code: "22021"}:                 fault.Invalid,
		&pgconn.PgError{Code: "57P01"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "53300"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "25006"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "42P01"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "42501"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "3F000"}:                 fault.Unavailable,
		&pgconn.PgError{Code: "42601"}:                 fault.Internal,
		&pgconn.PgError{}:                              fault.Internal,
		context.DeadlineExceeded:                       fault.Unavailable,
		&net.OpError{Op: "dial", Err: net.ErrClosed}:   fault.Unavailable,
		errors.New("sql: database is closed"):          fault.Unavailable,
		errors.New("surprise"):                         fault.Internal,
		fault.New(fault.Invalid, "already translated"): fault.Invalid,
	} {
		if got := fault.KindOf(translate(fmt.Errorf("wrapped: %w", err))); got != kind {
			t.Errorf("%v: %v, want %v", err, got, kind)
		}
	}
	if translate(nil) != nil {
		t.Errorf("nil: got %v, want no error", translate(nil))
	}
}
