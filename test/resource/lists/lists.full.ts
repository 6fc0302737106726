// After every write of any resource, every list of it is what it would be without a memory, and so is every row.
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { newRandom } from "../../../bench/random.ts";
import type { ApiClient } from "../../harness/api-clients.ts";
import { databases } from "../../harness/databases.ts";
import { stopPostgres } from "../../harness/postgres.ts";
import { codeOf, type Ground, methodPath, openGround, stoppedClock } from "../../security/ground.ts";
import { addGroup, addIdentity, bind, operatorRole, ownerRole, viewerRole } from "../../security/tree.ts";
import { compareOne, comparePage, walk } from "./answers.ts";
import { type KindName, kindNames, kinds, type Row, type Rows, readAll } from "./kinds.ts";
import type { Caller } from "./model.ts";
import { type Places, plainQuestions, specialQuestions } from "./questions.ts";
import { drawWrite } from "./writes.ts";

/** Writes that make something to list, and those that are followed by lists. */
const amounts = { sqlite: { before: 120, watched: 30 }, postgres: { before: 60, watched: 10 } };

/** Errors that a random write may get: names are taken, groups are not empty, and roles are bound. */
const refusals = ["ALREADY_EXISTS", "FAILED_PRECONDITION", "PERMISSION_DENIED", "NOT_FOUND"];

after(stopPostgres);

for (const database of databases) {
  describe(`lists after every write, on ${database}`, () => {
    it("lists agree with the model, cached or not, for every transport and caller", async () => {
      const clock = stoppedClock();
      await using ground = await openGround({ database, clock: clock.read });
      const { database: stored } = ground.server.server;
      const { owner, others } = await arrange(ground);
      const since = new Date(clock.read() + 250).toISOString();
      const random = newRandom("lists");
      const done: string[] = [];
      let rows = await readAll(stored);
      /** Writes something, and answers of what; undefined when it was refused. */
      async function write(): Promise<KindName | undefined> {
        clock.advance(random.below(3));
        const callers = others.map(({ uid }) => uid);
        const { method, request } = drawWrite(random, rows, callers);
        const outcome = await apiClientOf(ground, done.length).call(owner.token, methodPath(method), request);
        const code = codeOf(outcome);
        done.push(`${method} ${JSON.stringify(request)}: ${code}`);
        assert.ok(code === "OK" || refusals.includes(code), `${done.at(-1)} ${outcome.message}`);
        if (code !== "OK") return undefined;
        rows = await readAll(stored);
        return kindOf(method);
      }

      const { before, watched } = amounts[database];
      for (let i = 0; i < before; i++) await write();
      const known = new Map<KindName, string[]>();
      for (let i = 0; i < watched; i++) {
        const name = await write();
        if (!name) continue;
        const special = specialQuestions(name, owner, others, placesIn(rows, ground.server.groupUid, since));
        const questions = [...plainQuestions(name, [owner, ...others]), ...special];
        const uids = [...(known.get(name) ?? []), ...rows[name].slice(-2).map(({ uid }) => uid)].slice(-6);
        known.set(name, uids);
        try {
          // The second request is answered from the cache.
          for (let again = 0; again < 2; again++) {
            await Promise.all(questions.map((question, at) => comparePage(apiClientOf(ground, at), question, rows)));
            await Promise.all(uids.map((uid, at) => compareOne(apiClientOf(ground, at), owner, name, uid, rows)));
          }
          await walk(apiClientOf(ground, i), special[i % special.length]!, rows);
        } catch (error) {
          assert.ok(error instanceof Error);
          error.message += `\nafter ${i} writes, the last of them:\n${done.slice(-3).join("\n")}`;
          throw error;
        }
      }
      assert.ok(stored.cache.hits > 10 * watched, `only ${stored.cache.hits} answers were remembered`);
    });
  });
}

/** Two organizations of one owner, and people who see parts of them. */
async function arrange({ server }: Ground): Promise<{ owner: Caller; others: readonly Caller[] }> {
  const [here, there] = [server.groupUid, await addGroup(server, null, "b")];
  // Only operators may write advisories.
  for (const { uid } of [ownerRole, operatorRole]) await bind(server, there, server.ownerUid, uid);
  const [group, far] = [await addGroup(server, here, "a"), await addGroup(server, there, "a")];
  const below = await addGroup(server, group, "b");
  async function caller(home: string, at: readonly string[], scopes?: readonly string[]): Promise<Caller> {
    const uid = await addIdentity(server, home);
    for (const place of at) await bind(server, place, uid, viewerRole.uid);
    const token = await server.tokenOf(uid, scopes ? { scopes } : {});
    return { uid, token, ...(scopes && { scopes }) };
  }
  const others = [
    await caller(here, [here]),
    await caller(here, [below, far]),
    await caller(group, [here]),
    await caller(there, [here, there], [group, far]),
    await caller(there, []),
  ];
  return { owner: { uid: server.ownerUid, token: server.ownerToken }, others };
}

/** Returns the resources that filters name: the first ones created. */
function placesIn({ groups, repos, identity_providers, roles, identities }: Rows, root: string, since: string): Places {
  const uid = ([row]: readonly Row[]) => (row?.uid as string | undefined) ?? root;
  const group = uid(groups.filter(({ parent }) => parent === root));
  const below = uid(groups.filter(({ parent }) => parent === group));
  const role = uid(roles.filter(({ parent }) => parent !== null));
  const [repo, provider, identity] = [uid(repos), uid(identity_providers), uid(identities.slice(1))];
  return { root, group, below, repo, provider, role, identity, since };
}

/** Returns the resource that a method writes. */
function kindOf(method: string): KindName {
  const [service] = method.split("/");
  return kindNames.find((name) => kinds[name].service === service) ?? "advisories";
}

function apiClientOf({ apiClients }: Ground, number: number): ApiClient {
  return apiClients[number % apiClients.length]!;
}
