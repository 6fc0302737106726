// Events of access reviews, access requests and their role bindings while the server is killed again and again.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { builtInRoles } from "../../../src/authz/built-in-roles.ts";
import { rootOf } from "../../../src/model/uid.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { defaultDatabaseLimits } from "../../../src/storage/engine/dialect.ts";
import { writeSetting } from "../../../src/storage/engine/settings.ts";
import { sendRaw } from "../../api/raw-rest.ts";
import { openSink, type Received, sending } from "../../events/sink.ts";
import { databases } from "../../harness/databases.ts";
import { newMigratedDatabase } from "../../harness/migrated.ts";
import { freePort, stopPostgres } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";
import { until } from "../../harness/until.ts";
import { createInstallation } from "../../history/installation.ts";
import { certificate } from "../../transport/certificate.ts";
import { dataDirectory, type Running, serveWith } from "../process.ts";

const kills = 10;

/** How many callers there are, each with requests and reviews of its own. */
const callers = 3;

const editorRole = builtInRoles.find(({ name }) => name === "editor")!;

/** The events that each request, and each review, has once. */
const typesOf = {
  request: ["dev.gatehouse.access.request.created.v1", "dev.gatehouse.access.request.ended.v1"],
  review: ["dev.gatehouse.access.review.created.v1", "dev.gatehouse.access.review.closed.v1"],
  binding: ["dev.chainguard.api.iam.rolebindings.created.v1", "dev.chainguard.api.iam.rolebindings.deleted.v1"],
} as const;

const eventOf = ({ headers }: Pick<Received, "headers">) => `${headers["ce-type"]} ${headers["ce-subject"]}`;

after(stopPostgres);

for (const database of databases)
  describe(`events while the server is killed ${kills} times, ${database}`, () => {
    const opened = new AsyncDisposableStack();
    after(() => opened.disposeAsync());

    it("each step of a request or a review is once in the audit log, and arrives under one id", async () => {
      const dataDir = opened.use(dataDirectory()).path;
      const listen = `127.0.0.1:${await freePort()}`;
      const url = `http://${listen}`;
      const databaseUrl = database === "postgres" ? await newMigratedDatabase() : "";
      const settings: Record<string, string> = {
        ...sending,
        dataDir,
        listen,
        baseUrl: url,
        logLevel: "warn",
        ...(databaseUrl !== "" && { databaseUrl }),
      };
      const { ownerToken, folders, people } = await createInstallation(settings);
      const root = rootOf(folders[0]!);
      const authority = path.join(dataDir, "authority.pem");
      writeFileSync(authority, certificate);
      const sink = opened.use(await openSink());
      // An attempt is under way when the server is killed.
      sink.answer = (_received, response) => void setTimeout(() => response.end(), 20);
      const serve = async (): Promise<Running> => {
        const running = await serveWith(settings, { NODE_EXTRA_CA_CERTS: authority });
        opened.defer(() => void running.child.kill("SIGKILL"));
        return running;
      };
      let server = await serve();
      // biome-ignore lint/suspicious/noExplicitAny: what it holds is what the test is about
      const call = async (method: string, target: string, body?: object): Promise<any> => {
        const reply = await rest(url, ownerToken, method, target, body);
        assert.equal(reply.status, 200, `${method} ${target}: ${JSON.stringify(reply.body)}`);
        return reply.body;
      };
      await call("POST", `/events/v2beta1/subscriptions/${root}`, { sink: sink.url });
      await call("POST", `/access/v1/requestRules/${root}`, {
        name: "rule",
        roleUids: [editorRole.uid],
        eligibleIdentityUids: people.slice(0, callers).map(({ uid }) => uid),
        requiredApprovals: 0,
      });

      /** Sends a call until it has a response that its server did not lose. */
      async function sendUntilDone(token: string, target: string, body: object, key?: string) {
        for (let isRepeated = false; ; isRepeated = true) {
          const reply = await sendRaw(url, "POST", target, {
            headers: {
              authorization: `Bearer ${token}`,
              "content-type": "application/json",
              ...(key !== undefined && { "idempotency-key": key }),
            },
            body: JSON.stringify(body),
          }).catch(() => undefined);
          if (reply?.status === 200) return JSON.parse(reply.text);
          // The server that did it was killed before its response.
          if (isRepeated && key === undefined && reply?.status === 400) return undefined;
          assert.ok(reply === undefined || reply.status === 409 || reply.status >= 500, reply?.text ?? "");
          await pause(20);
        }
      }

      const made = { request: [] as string[], review: [] as string[], binding: [] as string[] };
      let isOver = false;
      async function work(caller: number): Promise<void> {
        const { token } = people[caller]!;
        const place = folders[caller % folders.length]!;
        const dueTime = new Date(Date.now() + 7_200_000).toISOString();
        while (!isOver) {
          const wanted = { roleUid: editorRole.uid, duration: "3600s", reason: "INC-1" };
          const request = await sendUntilDone(token, `/access/v1/requests/${place}`, wanted, randomUUID());
          made.request.push(request.uid);
          made.binding.push(request.roleBindingUid);
          await sendUntilDone(token, `/access/v1/requests/${request.uid}:end`, {});
          const draft = { title: "all", dueTime, onDue: "ACCESS_REVIEW_ON_DUE_REPORT_ONLY" };
          const review = await sendUntilDone(ownerToken, `/access/v1/reviews/${place}`, draft, randomUUID());
          made.review.push(review.uid);
          await sendUntilDone(ownerToken, `/access/v1/reviews/${review.uid}:close`, {});
        }
      }

      /** Ends the lease of a killed server, which would last half a minute. */
      async function endLease(): Promise<void> {
        const file = databaseUrl || path.join(dataDir, "gatehouse.db");
        const storage = await openDatabase(file, defaultDatabaseLimits);
        const context = { actor: "", method: "test", requestId: "", time: Date.now() };
        const free = JSON.stringify({ holder: "", until: 0 });
        await storage.write(context, (tx) => writeSetting(tx, "events_lease", free));
        await storage.close();
      }

      const working = Promise.all(Array.from({ length: callers }, (_, caller) => work(caller)));
      for (let kill = 0; kill < kills; kill++) {
        const before = sink.received.length;
        await until("an event", async () => sink.received.length > before || undefined, 60_000);
        await pause(Math.random() * 100);
        server.child.kill("SIGKILL");
        await server.finished;
        await endLease();
        server = await serve();
      }
      isOver = true;
      await working;

      const wanted = Object.entries(made).flatMap(([kind, uids]) =>
        uids.flatMap((uid) => typesOf[kind as keyof typeof typesOf].map((type) => `${type} ${uid}`)),
      );
      assert.ok(wanted.length > 0);
      const idsOf = () => {
        const ids = Map.groupBy(sink.received, eventOf);
        return new Map([...ids].map(([event, all]) => [event, new Set(all.map(({ headers }) => headers["ce-id"]))]));
      };
      const missing = () => {
        const ids = idsOf();
        return wanted.filter((event) => !ids.has(event));
      };
      await until("each event", async () => missing().length === 0 || undefined, 120_000).catch(() => {});
      assert.deepEqual(missing(), []);
      const twice = [...idsOf()].filter(([, ids]) => ids.size > 1).map(([event]) => event);
      assert.deepEqual(twice, []);

      const logged = async (kind: string) => {
        const states = new Map<string, string[]>();
        for (let pageToken = ""; ; ) {
          const query = new URLSearchParams({ parent: root, kind, pageSize: "200", pageToken });
          const page = await call("GET", `/gatehouse/changes/v1/changes?${query}`);
          for (const { resourceUid, after } of page.changes ?? [])
            states.set(resourceUid, [after?.state?.replace(/^.*STATE_/, "") ?? "", ...(states.get(resourceUid) ?? [])]);
          pageToken = page.nextPageToken ?? "";
          if (pageToken === "") return states;
        }
      };
      const [requests, reviews, bindings] = [
        await logged("access_requests"),
        await logged("access_reviews"),
        await logged("role_bindings"),
      ];
      for (const uid of made.request) assert.deepEqual(requests.get(uid), ["ACTIVE", "ENDED"], uid);
      for (const uid of made.review) assert.deepEqual(reviews.get(uid), ["OPEN", "CLOSING", "CLOSED"], uid);
      for (const uid of made.binding) assert.equal(bindings.get(uid)?.length, 2, uid);
      assert.equal(requests.size, made.request.length);
    });
  });
