package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/notice"
)

const (
	// backlog is how many notices may wait. Further ones are dropped and logged.
	backlog = 100
	// attemptTime bounds one request.
	attemptTime = 10 * time.Second
	// stopTime is how long Stop waits for the remaining notices.
	stopTime = 3 * time.Second
)

// SignatureHeader has the time and the signature of a request.
const SignatureHeader = "Gluepot-Signature"

// Sender sends notices in the background, one after the other. No caller waits for a receiver.
type Sender struct {
	cfg    Config
	pauses []time.Duration // before the second attempt, the third, and so on
	client *http.Client

	queue    chan body
	stopping chan struct{} // closed by Stop
	ended    chan struct{} // closed when all is sent or given up
	lost     int           // the number given up while stopping; read after ended

	log *zap.Logger
}

// body is the JSON of a notice.
type body struct {
	ID      string       `json:"id"` // the same in each attempt
	Event   notice.Event `json:"event"`
	At      time.Time    `json:"at"`
	Subject string       `json:"subject,omitempty"`
	Text    string       `json:"text"`
}

// New returns a sender, which Start starts.
func New(cfg Config) *Sender {
	return &Sender{
		cfg: cfg, log: zap.NewNop(), pauses: []time.Duration{time.Second, 10 * time.Second, time.Minute},
		client: &http.Client{
			Timeout:       attemptTime,
			Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		queue: make(chan body, backlog), stopping: make(chan struct{}), ended: make(chan struct{}),
	}
}

// Start begins to send. Call it before the first Notify. It logs the notices that the receiver does not accept.
func (s *Sender) Start(log *zap.Logger) {
	s.log = log
	go s.run()
}

// Notify implements notice.Func.
func (s *Sender) Notify(n notice.Notice) {
	select {
	case s.queue <- body{ident.New() + ident.New(), n.Event, n.At.UTC(), n.Subject, n.Text}:
	default:
		s.log.Error("a notice was dropped: too many are waiting for GLUEPOT_NOTIFY_URL", zap.String("event", string(n.Event)))
	}
}

// Stop tries each remaining notice once more, for a few seconds. Call it once, after the last Notify. It fails if
// notices are lost.
func (s *Sender) Stop() error {
	close(s.stopping)
	select {
	case <-s.ended:
		if s.lost > 0 {
			return fmt.Errorf("GLUEPOT_NOTIFY_URL did not accept the last notices; lost: %d", s.lost)
		}
		return nil
	case <-time.After(stopTime):
		// One more is on its way.
		return fmt.Errorf("GLUEPOT_NOTIFY_URL did not answer in time; notices lost: %d", len(s.queue)+1)
	}
}

func (s *Sender) run() {
	defer close(s.ended)
	for {
		select {
		case next := <-s.queue:
			s.deliver(next)
		case <-s.stopping:
			select {
			case next := <-s.queue:
				s.deliver(next)
			default:
				return
			}
		}
	}
}

// deliver sends a notice, with several attempts. Once the sender stops, it does not wait before the last one.
func (s *Sender) deliver(next body) {
	for attempt := 0; ; attempt++ {
		err := s.send(next)
		if err == nil {
			return
		}
		fields := []zap.Field{zap.String("event", string(next.Event)), zap.String("id", next.ID), zap.Error(err)}
		if attempt == len(s.pauses) {
			s.log.Error("a notice was not accepted and has been dropped: check GLUEPOT_NOTIFY_URL", fields...)
			select {
			case <-s.stopping:
				s.lost++
			default:
			}
			return
		}
		s.log.Warn("a notice was not accepted", fields...)
		select {
		case <-time.After(s.pauses[attempt]):
		case <-s.stopping:
			attempt = max(attempt, len(s.pauses)-1) // once more, at once
		}
	}
}

// send makes one request. Only the status of the answer counts. Errors do not quote the URL.
func (s *Sender) send(next body) error {
	text, err := json.Marshal(next)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), attemptTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.URL, bytes.NewReader(text))
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Gluepot")
	if s.cfg.Secret != "" {
		request.Header.Set(SignatureHeader, Sign(s.cfg.Secret, time.Now(), text))
	}
	response, err := s.client.Do(request)
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		return urlErr.Err // without the URL
	}
	if err != nil {
		return err
	}
	_ = response.Body.Close() // unread, however long it is
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the answer is %d", response.StatusCode)
	}
	return nil
}

// Sign returns the value of SignatureHeader for a body that is sent at that time: t=SECONDS,v1=HEX, where HEX is the
// HMAC-SHA-256 of the seconds since 1970, a dot and the body.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds + "."))
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
