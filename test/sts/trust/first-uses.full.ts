// First uses of the same name with different ids at two servers at once.
import assert from "node:assert/strict";
import { after, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { startTwoNodes } from "../../harness/two-nodes.ts";
import { forgeToken, gitHub, gitHubJob, startForges } from "../forges.ts";

after(stopPostgres);

const [identities, namesOfEach] = [40, 25];

it("two first uses of a name with different ids at two servers at once: one gets in, and its id is pinned, 1,000 times", async () => {
  await using forges = await startForges();
  await using nodes = await startTwoNodes(forges.settings);
  const { one, other } = nodes;
  const aud = one.config.baseUrl;
  const path = `/iam/v2beta1/identities/${one.groupUid}`;
  let pairs = 0;
  for (let i = 0; i < identities; i++) {
    const claimMatch = { issuer: gitHub, subjectPattern: ".*" };
    const { uid } = (await rest(one.url, one.ownerToken, "POST", path, { name: `ci${i}`, claimMatch })).body;
    const use = async (url: string, name: string, id: string) => {
      const token = await forgeToken(aud, gitHubJob("acme", name, ["12", id]));
      const query = new URLSearchParams({ aud, identity: uid });
      for (;;) {
        const { status, body } = await rest(url, token, "GET", `/sts/exchange?${query}`);
        if (status !== 409 && status !== 503 && status !== 429) return { status, body, id };
        // A fast machine has more than the 100 rejected tokens a second that an address may send: those wait for the next second.
        if (status === 429) await setTimeout(200);
      }
    };
    const names = Array.from({ length: namesOfEach }, (_, n) => `r${n}`);
    const outcomes = await Promise.all(
      names.map(async (name, n) => ({
        name,
        both: await Promise.all([use(one.url, name, `1${n}`), use(other.url, name, `2${n}`)]),
      })),
    );
    const { pinnedNames } = (await rest(one.url, one.ownerToken, "GET", `/gatehouse/iam/v1/trust/${uid}`)).body;
    for (const { name, both } of outcomes) {
      const winners = both.filter(({ status }) => status === 200);
      const [loser] = both.filter(({ status }) => status !== 200);
      assert.equal(winners.length, 1, JSON.stringify(both.map(({ status, body }) => [status, body.message])));
      assert.match(JSON.stringify(loser!.body), /NAME_REUSED/);
      const pins = pinnedNames.filter((pin: { name: string }) => pin.name === `acme/${name}`);
      assert.deepEqual(
        pins.map((pin: { id: string }) => pin.id),
        [winners[0]!.id],
      );
      pairs++;
    }
  }
  assert.equal(pairs, 1000);
});
