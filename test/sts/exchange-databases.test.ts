// A token exchange without the name of an identity, which looks for one by what strangers have written, on both databases.
import assert from "node:assert/strict";
import { it } from "node:test";
import { databases } from "../harness/databases.ts";
import { rest } from "../harness/rest.ts";
import { startTestServer } from "../harness/server.ts";
import { keyPair, signOutside } from "./outside.ts";

for (const database of databases) {
  it(`T11: texts that databases cannot store select no identity, ${database}`, async () => {
    await using server = await startTestServer({ database });
    const { baseUrl: aud } = server.config;
    const exp = Math.floor(Date.now() / 1000) + 600;
    const strange = ["a\0b", "a\ud800"];
    const table = strange.flatMap((text) => [
      { iss: text, sub: "workload" },
      { iss: "https://issuer.example", sub: text },
    ]);
    for (const claims of table) {
      const token = await signOutside(keyPair("ES256"), { ...claims, aud, exp });
      const { status, body } = await rest(server.url, token, "GET", `/sts/exchange?aud=${encodeURIComponent(aud)}`);
      assert.equal(status, 403, JSON.stringify(claims));
      assert.match(body.message, /no identity fits the subject token/);
    }
  });
}
