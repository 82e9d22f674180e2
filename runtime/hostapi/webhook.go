package hostapi

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"armature/core/fault"
	"armature/runtime/abi"
)

// The bounds of a signed message: how long the id may be that a receiver keeps, how
// many secrets may hold at a time, and how many signatures are looked at.
const (
	maxMessageID  = 255 // bytes
	maxSecrets    = 8
	maxSignatures = 16
)

// How far the clock of a sender may be from ours, in seconds.
const (
	usualTolerance = 300 // as the libraries of Standard Webhooks have it
	maxTolerance   = 86400
)

// webhookVerify checks that the HTTP request which made the call was signed as Standard
// Webhooks says (https://www.standardwebhooks.com), with one of the secrets.
func webhookVerify(_ context.Context, st *State, dst, request []byte) ([]byte, error) {
	var in struct {
		Secrets   []string `json:"secrets"`
		Tolerance int64    `json:"tolerance_s"`
	}
	if err := decode(abi.WebhookVerify, request, &in); err != nil {
		return nil, err
	}
	signers, err := signersOf(in.Secrets)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Tolerance < 0 || in.Tolerance > maxTolerance:
		return nil, fault.New(fault.BadRequest, "", "%s: tolerance_s is from 1 to %d", abi.WebhookVerify, maxTolerance)
	case in.Tolerance == 0:
		in.Tolerance = usualTolerance
	}
	if st.call.Request == nil {
		return nil, noRequest()
	}
	header := st.call.Request.Header()
	id := header.Get(standardwebhooks.HeaderWebhookID)
	sent, err := strconv.ParseInt(header.Get(standardwebhooks.HeaderWebhookTimestamp), 10, 64)
	if err != nil || len(id) > maxMessageID || !signed(signers, st.call.Request.Body, header) {
		return nil, fault.New(fault.Authentication, "", "The webhook is not signed as agreed")
	}
	// From here on the sender is known. What is old may be what somebody else has
	// recorded, and sends again.
	if now := st.time().Unix(); sent < now-in.Tolerance || sent > now+in.Tolerance {
		return nil, fault.New(fault.Authentication, "", "The webhook is too old, or a clock is wrong")
	}
	answer, err := json.Marshal(struct {
		ID        string `json:"id"`
		Timestamp int64  `json:"timestamp"`
	}{id, sent})
	return append(dst, answer...), err
}

// signersOf reads secrets: a key in base64, with or without whsec_ before it.
func signersOf(secrets []string) (list []*standardwebhooks.Webhook, err error) {
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return nil, fault.New(fault.BadRequest, "", "%s: secrets has 1 to %d", abi.WebhookVerify, maxSecrets)
	}
	for _, secret := range secrets {
		w, err := standardwebhooks.NewWebhook(secret)
		// With an empty key anybody can sign. What is wrong with a secret is not
		// shown, as the error has some of it.
		if err != nil || strings.TrimPrefix(secret, "whsec_") == "" {
			return nil, fault.New(fault.BadRequest, "", "%s: a secret is whsec_ and a key in base64", abi.WebhookVerify)
		}
		list = append(list, w)
	}
	return list, nil
}

// signed reports whether one of the signatures is right by one of the secrets. They are
// compared in constant time.
func signed(signers []*standardwebhooks.Webhook, body []byte, header http.Header) bool {
	if strings.Count(header.Get(standardwebhooks.HeaderWebhookSignature), " ") >= maxSignatures {
		return false
	}
	for _, w := range signers {
		if w.VerifyIgnoringTimestamp(body, header) == nil {
			return true
		}
	}
	return false
}
