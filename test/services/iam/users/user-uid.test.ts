import assert from "node:assert/strict";
import { it } from "node:test";
import { userUid } from "../../../../src/services/iam/users/user-uid.ts";

it("a Google user has one uid, with or without the scheme of the issuer; other issuers are unchanged", () => {
  const uid = userUid("https://accounts.google.com", "1");
  assert.match(uid, /^[0-9a-f]{40}$/);
  assert.equal(userUid("accounts.google.com", "1"), uid);
  assert.notEqual(userUid("https://accounts.google.com", "2"), uid);
  assert.notEqual(userUid("https://sso.acme.test", "1"), userUid("sso.acme.test", "1"));
});
