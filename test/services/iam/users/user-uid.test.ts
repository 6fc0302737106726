import assert from "node:assert/strict";
import { it } from "node:test";
import { personUid } from "../../../../src/services/iam/identities/identities.ts";

it("a person of Google has one uid, whether or not the issuer comes with its scheme; nobody else's issuer is touched", () => {
  const uid = personUid("https://accounts.google.com", "1");
  assert.match(uid, /^[0-9a-f]{40}$/);
  assert.equal(personUid("accounts.google.com", "1"), uid);
  assert.notEqual(personUid("https://accounts.google.com", "2"), uid);
  assert.notEqual(personUid("https://sso.acme.test", "1"), personUid("sso.acme.test", "1"));
});
