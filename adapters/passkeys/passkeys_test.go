package passkeys

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

const origin = "https://paste.example"

// device is an authenticator with one passkey, and the browser that speaks to it.
type device struct {
	t   *testing.T
	key *ecdsa.PrivateKey
	id  []byte

	origin, party, handle string // that it sends
	cross                 bool   // in a frame of another site
	counter               uint32
}

func newDevice(t *testing.T) *device {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &device{t: t, key: key, id: []byte("0123456789abcdef"), origin: origin, party: "paste.example",
		handle: "epoxy001"}
}

func (d *device) marshal(value any) []byte {
	d.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

func (d *device) client(kind, challenge string) []byte {
	d.t.Helper()
	return d.marshal(map[string]any{"type": kind, "challenge": challenge, "origin": d.origin, "crossOrigin": d.cross})
}

func (d *device) data(flags byte) []byte {
	party := sha256.Sum256([]byte(d.party))
	return binary.BigEndian.AppendUint32(append(party[:], flags), d.counter)
}

func (d *device) answer(response map[string]string) []byte {
	d.t.Helper()
	id := encoding.EncodeToString(d.id)
	return d.marshal(map[string]any{
		"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": map[string]any{},
	})
}

// creation answers a request for a new passkey.
func (d *device) creation(kind, challenge string) []byte {
	d.t.Helper()
	public, err := d.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		d.t.Fatal(err)
	}
	cose := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 0x20}, public[1:33],
		[]byte{0x22, 0x58, 0x20}, public[33:])
	data := slices.Concat(d.data(0x45), make([]byte, 16), []byte{0, byte(len(d.id))}, d.id, cose)
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59"),
		binary.BigEndian.AppendUint16(nil, uint16(len(data))), data)
	return d.answer(map[string]string{
		"clientDataJSON":    encoding.EncodeToString(d.client(kind, challenge)),
		"attestationObject": encoding.EncodeToString(object),
	})
}

// assertion answers a request for any passkey.
func (d *device) assertion(kind, challenge string) []byte {
	d.t.Helper()
	client, data := d.client(kind, challenge), d.data(0x05)
	clientSum := sha256.Sum256(client)
	sum := sha256.Sum256(slices.Concat(data, clientSum[:]))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, sum[:])
	if err != nil {
		d.t.Fatal(err)
	}
	return d.answer(map[string]string{
		"clientDataJSON": encoding.EncodeToString(client), "authenticatorData": encoding.EncodeToString(data),
		"signature": encoding.EncodeToString(signature), "userHandle": encoding.EncodeToString([]byte(d.handle)),
	})
}

func newPasskeys(t *testing.T) *Passkeys {
	t.Helper()
	p, err := New(origin, "Gluepot")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// newPasskey returns a passkey of a device.
func newPasskey(t *testing.T, p *Passkeys, d *device) identity.Passkey {
	t.Helper()
	options, err := p.BeginRegistration("epoxy001", "Epoxy", nil)
	if err != nil {
		t.Fatal(err)
	}
	passkey, err := p.FinishRegistration(options.Challenge, "epoxy001", d.creation("webauthn.create", options.Challenge))
	if err != nil {
		t.Fatal(err)
	}
	return passkey
}

func TestNew(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]error{
		origin: nil, "https://Paste.Example:8443/paste": nil, "http://localhost:8080": nil, "https://localhost": nil,
		"": ErrNoAddress, "http://paste.example": ErrPlain, "http://127.0.0.1:8080": ErrPlain,
		"https://192.0.2.1": ErrNoName, "https://[2001:db8::1]": ErrNoName,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			if p, err := New(address, "Gluepot"); !errors.Is(err, want) || (p != nil) != (want == nil) {
				t.Errorf("got %v, %v, want %v", p, err, want)
			}
		})
	}
}

// TestOptions compares what browsers are asked for with what the documentation promises.
func TestOptions(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t)
	options, err := p.BeginRegistration("epoxy001", "Epoxy", []identity.Passkey{{ID: "AAEC"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"id":"paste.example"`, `"id":"` + encoding.EncodeToString([]byte("epoxy001")) + `"`, `"residentKey":"required"`,
		`"userVerification":"preferred"`, `"challenge":"` + options.Challenge + `"`, `"id":"AAEC"`, `"timeout":300000`,
	} {
		if !strings.Contains(string(options.JSON), part) {
			t.Errorf("got %s, want %s in it", options.JSON, part)
		}
	}
	if strings.Contains(string(options.JSON), `"attestation":"direct"`) {
		t.Errorf("got %s, want no attestation", options.JSON)
	}
	again, err := p.BeginAuthentication()
	if err != nil || again.Challenge == options.Challenge || strings.Contains(string(again.JSON), "allowCredentials") {
		t.Errorf("got %s, %v, want another challenge for any passkey", again.JSON, err)
	}
}

func TestRegisterAndSignIn(t *testing.T) {
	t.Parallel()
	p, d := newPasskeys(t), newDevice(t)
	d.counter = 7
	passkey := newPasskey(t, p, d)
	if passkey.ID != identity.PasskeyID(encoding.EncodeToString(d.id)) || passkey.Counter != 7 || passkey.BackupEligible {
		t.Errorf("got %+v, want the passkey of the device", passkey)
	}
	options, err := p.BeginAuthentication()
	if err != nil {
		t.Fatal(err)
	}
	d.counter = 5 // the caller judges a counter that went back
	id, counter, err := p.FinishAuthentication(
		options.Challenge, d.assertion("webauthn.get", options.Challenge), findOne(passkey, "epoxy001"))
	if err != nil || id != passkey.ID || counter != 5 {
		t.Errorf("got %s, %d, %v, want the passkey with its counter", id, counter, err)
	}
	failure := fault.New(fault.Unavailable, "no store")
	_, _, err = p.FinishAuthentication(options.Challenge, d.assertion("webauthn.get", options.Challenge),
		func(identity.PasskeyID) (identity.Passkey, user.ID, error) { return identity.Passkey{}, "", failure })
	if !errors.Is(err, failure) {
		t.Errorf("got %v, want the failure of the store", err)
	}
}

// findOne returns a function that finds one passkey.
func findOne(passkey identity.Passkey, owner user.ID) func(identity.PasskeyID) (identity.Passkey, user.ID, error) {
	return func(id identity.PasskeyID) (identity.Passkey, user.ID, error) {
		if id != passkey.ID {
			return identity.Passkey{}, "", fault.New(fault.NotFound, "none")
		}
		return passkey, owner, nil
	}
}

// TestForeign checks that answers for another challenge, from another origin, for another relying party, or of another
// user are refused.
func TestForeign(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t)
	for name, change := range map[string]func(d *device, kind, challenge *string){
		"another challenge": func(_ *device, _, challenge *string) {
			*challenge = encoding.EncodeToString(make([]byte, 32))
		},
		"another origin":           func(d *device, _, _ *string) { d.origin = "https://evil.example" },
		"another port":             func(d *device, _, _ *string) { d.origin = origin + ":8443" },
		"without TLS":              func(d *device, _, _ *string) { d.origin = "http://paste.example" },
		"a name below":             func(d *device, _, _ *string) { d.origin = "https://evil.paste.example" },
		"a frame of another site":  func(d *device, _, _ *string) { d.cross = true },
		"another relying party":    func(d *device, _, _ *string) { d.party = "evil.example" },
		"the other kind of answer": func(_ *device, kind, _ *string) { *kind = "webauthn.other" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			passkey := newPasskey(t, p, d)
			options, err := p.BeginAuthentication()
			if err != nil {
				t.Fatal(err)
			}
			kind, challenge := "webauthn.create", options.Challenge
			change(d, &kind, &challenge)
			got, err := p.FinishRegistration(options.Challenge, "epoxy001", d.creation(kind, challenge))
			if !errors.Is(err, identity.ErrNewPasskey) {
				t.Errorf("a new one: got %+v, %v, want ErrNewPasskey", got, err)
			}
			kind, challenge = "webauthn.get", options.Challenge
			change(d, &kind, &challenge)
			_, _, err = p.FinishAuthentication(options.Challenge, d.assertion(kind, challenge), findOne(passkey, "epoxy001"))
			if !errors.Is(err, identity.ErrPasskey) || !fault.Is(err, fault.Forbidden) {
				t.Errorf("its use: got %v, want ErrPasskey", err)
			}
		})
	}
	for name, c := range map[string]struct {
		change func(d *device, passkey *identity.Passkey)
		owner  user.ID
	}{
		"the handle of another user":  {func(d *device, _ *identity.Passkey) { d.handle = "mortar01" }, "epoxy001"},
		"the passkey of another user": {func(*device, *identity.Passkey) {}, "mortar01"},
		"no handle":                   {func(d *device, _ *identity.Passkey) { d.handle = "" }, "epoxy001"},
		"the key of another device":   {func(d *device, _ *identity.Passkey) { d.key = newDevice(d.t).key }, "epoxy001"},
		"an unknown one": {func(d *device, _ *identity.Passkey) {
			d.id = []byte("another id of it")
		}, "epoxy001"},
		"one that could be copied": {func(_ *device, p *identity.Passkey) { p.BackupEligible = true }, "epoxy001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDevice(t)
			passkey := newPasskey(t, p, d)
			c.change(d, &passkey)
			options, err := p.BeginAuthentication()
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = p.FinishAuthentication(
				options.Challenge, d.assertion("webauthn.get", options.Challenge), findOne(passkey, c.owner))
			if !errors.Is(err, identity.ErrPasskey) {
				t.Errorf("got %v, want ErrPasskey", err)
			}
		})
	}
}

// TestBroken sends what no browser sends, and checks that it is refused without a crash.
func TestBroken(t *testing.T) {
	t.Parallel()
	p := newPasskeys(t)
	for _, answer := range []string{
		"", "null", "{}", "[]", "\xff", `{"id":"AA","rawId":"AA","type":"public-key","response":{}}`,
		strings.Repeat("[", 10_000),
	} {
		if got, err := p.FinishRegistration("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "epoxy001", []byte(answer)); !errors.Is(err,
			identity.ErrNewPasskey) {
			t.Errorf("%.20q: got %+v, %v, want ErrNewPasskey", answer, got, err)
		}
		_, _, err := p.FinishAuthentication(
			"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", []byte(answer), findOne(identity.Passkey{}, ""))
		if !errors.Is(err, identity.ErrPasskey) {
			t.Errorf("%.20q: got %v, want ErrPasskey", answer, err)
		}
	}
}
