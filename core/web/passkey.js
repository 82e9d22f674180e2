// Asks the browser for a passkey, as a form of the page says, and sends the answer with
// that form: data-ask is "get" or "create", data-options what to ask for (Web
// Authentication sections 5.4 and 5.5). On the login page browsers offer passkeys in the
// field of the user's name, too.
"use strict";
(() => {
  const bytes = text => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), c => c.charCodeAt(0));
  const text = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const known = list => (list || []).map(c => ({...c, id: bytes(c.id)}));

  const asked = form => {
    const o = JSON.parse(form.dataset.options);
    o.challenge = bytes(o.challenge);
    if (o.user) o.user.id = bytes(o.user.id);
    if (o.excludeCredentials) o.excludeCredentials = known(o.excludeCredentials);
    if (o.allowCredentials) o.allowCredentials = known(o.allowCredentials);
    return o;
  };

  const answer = credential => {
    const r = credential.response, said = {clientDataJSON: text(r.clientDataJSON)};
    for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) if (r[name]) said[name] = text(r[name]);
    if (r.getTransports) said.transports = r.getTransports();
    return JSON.stringify({
      id: credential.id, rawId: text(credential.rawId), type: credential.type, response: said,
      authenticatorAttachment: credential.authenticatorAttachment || undefined, clientExtensionResults: {},
    });
  };

  const start = form => {
    const failed = document.getElementById(form.dataset.failed), button = form.querySelector("button");
    let waiting = new AbortController();
    const send = credential => {
      form.elements.passkey.value = answer(credential);
      form.submit();
    };
    const ask = () => form.dataset.ask === "create" ?
      navigator.credentials.create({publicKey: asked(form)}) : navigator.credentials.get({publicKey: asked(form)});
    form.addEventListener("submit", async event => {
      event.preventDefault();
      waiting.abort();
      failed.hidden = true;
      button.disabled = true;
      try {
        send(await ask());
      } catch (error) {
        failed.textContent = error.name === "InvalidStateError" ? form.dataset.there : error.name === "SecurityError" ? form.dataset.elsewhere : form.dataset.ended;
        failed.hidden = false;
        button.disabled = false;
      }
    });
    form.hidden = false;
    const offers = PublicKeyCredential.isConditionalMediationAvailable;
    if (!("offer" in form.dataset) || !offers) return;
    offers.call(PublicKeyCredential).then(can => can && navigator.credentials.get({publicKey: asked(form), mediation: "conditional", signal: waiting.signal}).then(send))
      .catch(() => {}); // whoever wanted a passkey presses the button
  };

  if (window.PublicKeyCredential) document.querySelectorAll("form[data-ask]").forEach(start);
})();
