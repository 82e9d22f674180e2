#!/bin/sh
# Sends a webhook as a sender does: send.sh URL ID BODY [SECONDS AGO]
# SECRET is what the server was told, whsec_<base64>.
url=$1 id=$2 body=$3
time=$(($(date +%s) - ${4:-0}))
key=$(printf %s "${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \n')
signature=$(printf %s "$id.$time.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)
exec curl -s -w ' %{http_code}\n' "$url/api/method/acme.webhook.receive" --json "$body" \
	-H "webhook-id: $id" -H "webhook-timestamp: $time" -H "webhook-signature: v1,$signature"
