// Secrets that pass through the cases, so it can be seen whether one of them shows where none must.
import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { readChanges } from "../../src/storage/change-log/change-log.ts";
import type { Database } from "../../src/storage/database.ts";
import type { ApiClient } from "../harness/api-clients.ts";
import { keptLog } from "../harness/kept-log.ts";

/** The fields of requests and replies that hold secrets: of providers, invites, SCIM clients and exchanges. */
const secretFields: ReadonlySet<string> = new Set(["clientSecret", "code", "token", "refreshToken"]);
/** Shorter values may be ordinary words. Cases send a secret in a field of its own only, not within a longer text. */
const shortest = 6;
const pageSize = 1000;

/** Remembers secrets, and looks for them. */
export interface Canaries {
  /** Returns the transport, whose secrets are remembered; an error that repeats one fails the call. */
  watch(apiClient: ApiClient): ApiClient;
  /** Takes the log. */
  readonly log: NodeJS.WritableStream;
  /** Fails when a secret is in the log, the metrics or the change log. */
  check(url: string, database: Database): Promise<void>;
  /** Fails unless each call, and each repetition of one, has one line in the log, which says what it is to say and nothing else. */
  checkLines(repetitions: number): void;
}

/** The members of a call's log line. The caller is absent for unauthenticated calls, and the error for successful ones. */
const lineMembers = [
  "level",
  "time",
  "pid",
  "hostname",
  "requestId",
  "method",
  "transport",
  "code",
  "durationMs",
  "client",
  "msg",
];
/** The members of the log line of a request that was rejected before its method was called. */
const refusalMembers = [
  "level",
  "time",
  "pid",
  "hostname",
  "requestId",
  "transport",
  "httpMethod",
  "path",
  "code",
  "client",
  "msg",
];
const optionalMembers: ReadonlySet<string> = new Set(["caller", "error", "userAgent"]);

/** A place for each pair of characters, many in the same one. */
const pairPlaces = 2 ** 16;
const placeOfPair = (text: string, at: number) =>
  ((text.charCodeAt(at) << 8) ^ text.charCodeAt(at + 1)) & (pairPlaces - 1);

/** Makes a collection without any. */
export function newCanaries(): Canaries {
  /** By how they begin: there are thousands, and as many texts. */
  const secrets = new Map<string, Set<string>>();
  /** Whether a secret may begin with a pair of characters: few do, and a log has millions. */
  const beginnings = new Uint8Array(pairPlaces);
  const log = keptLog();

  function add(secret: string): void {
    if (secret.length < shortest) return;
    const start = secret.slice(0, shortest);
    const alike = secrets.get(start) ?? new Set();
    secrets.set(start, alike.add(secret));
    beginnings[placeOfPair(secret, 0)] = 1;
  }

  // Within words, too, so nothing that surrounds a secret hides it.
  function assertNone(text: string, where: string): void {
    for (let i = 0; i + shortest <= text.length; i++) {
      if (beginnings[placeOfPair(text, i)] === 0) continue;
      for (const secret of secrets.get(text.slice(i, i + shortest)) ?? [])
        assert.ok(!text.startsWith(secret, i), `a secret is in ${where}`);
    }
  }

  let calls = 0;
  return {
    log: log.stream,
    watch: (apiClient) => ({
      ...apiClient,
      async call(token, method, request) {
        calls++;
        if (token !== undefined) add(token);
        remember(request, add);
        const outcome = await apiClient.call(token, method, request);
        assertNone(JSON.stringify([outcome.message, outcome.details]), `an error of ${method}`);
        remember(outcome.response ?? {}, add);
        return outcome;
      },
      [Symbol.dispose]: () => apiClient[Symbol.dispose](),
    }),
    checkLines(repetitions) {
      const lines = log.lines().map((line) => JSON.parse(line) as Record<string, unknown>);
      const ofCalls = lines.filter(({ msg }) => msg === "call" || msg === "refused");
      assert.equal(ofCalls.length, calls + repetitions);
      for (const line of ofCalls) {
        const members = Object.keys(line).filter((member) => !optionalMembers.has(member));
        const expected = line.msg === "call" ? lineMembers : refusalMembers;
        assert.deepEqual(members.toSorted(), expected.toSorted(), JSON.stringify(line));
      }
    },
    async check(url, database) {
      assert.ok(secrets.size > 0 && log.text() !== "", "no secret was seen, or no log");
      assertNone(log.text(), "the log");
      assertNone(await (await fetch(`${url}/metrics`)).text(), "the metrics");
      let after = 0;
      for (let page = await readChanges(database.session, after, pageSize); page.length > 0; ) {
        assertNone(JSON.stringify(page), "the change log");
        after = page.at(-1)!.sequence;
        page = await readChanges(database.session, after, pageSize);
      }
    },
  };
}

function remember(value: JsonValue, add: (secret: string) => void): void {
  if (Array.isArray(value)) for (const item of value) remember(item, add);
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value as JsonObject)) {
      if (typeof inner !== "string") remember(inner, add);
      else if (secretFields.has(name)) add(inner);
    }
  }
}
