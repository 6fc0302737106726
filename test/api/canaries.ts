// Secrets that pass through the cases, so that it can be seen whether one of them shows where none must.
import assert from "node:assert/strict";
import { Writable } from "node:stream";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { readChanges } from "../../src/storage/changes.ts";
import type { Database } from "../../src/storage/database.ts";
import type { Door } from "../harness/doors.ts";

/** The fields of requests and replies that hold secrets: of providers, invites, SCIM clients and exchanges. */
const secretFields: ReadonlySet<string> = new Set(["clientSecret", "code", "token", "refreshToken"]);
/** What is shorter may be a word of anybody's. */
const shortest = 6;
const pageSize = 1000;

/** Remembers secrets, and looks for them. */
export interface Canaries {
  /** The door, whose secrets are remembered; an error that repeats one fails the call. */
  watch(door: Door): Door;
  /** Takes the log. */
  readonly log: NodeJS.WritableStream;
  /** Fails when a secret is in the log, the metrics or the change log. */
  check(url: string, database: Database): Promise<void>;
}

/** Makes a collection without any. */
export function newCanaries(): Canaries {
  const secrets = new Set<string>();
  const lines: string[] = [];
  const log = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });

  function assertNone(text: string, where: string): void {
    // By words, since there are thousands of tokens; secrets that are no single word are few.
    for (const word of text.split(/[^\w+/=.~-]+/)) assert.ok(!secrets.has(word), `a secret is in ${where}`);
    for (const secret of secrets) {
      if (!/^[\w+/=.~-]+$/.test(secret)) assert.ok(!text.includes(secret), `a secret is in ${where}`);
    }
  }

  return {
    log,
    watch: (door) => ({
      ...door,
      async call(token, method, request) {
        if (token !== undefined) secrets.add(token);
        remember(request, secrets);
        const outcome = await door.call(token, method, request);
        assertNone(JSON.stringify([outcome.message, outcome.details]), `an error of ${method}`);
        remember(outcome.response ?? {}, secrets);
        return outcome;
      },
      [Symbol.dispose]: () => door[Symbol.dispose](),
    }),
    async check(url, database) {
      assert.ok(secrets.size > 0 && lines.length > 0, "no secret was seen, or no log");
      for (const line of lines) assertNone(line, "the log");
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

function remember(value: JsonValue, secrets: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) remember(item, secrets);
  else if (typeof value === "object" && value !== null) {
    for (const [name, inner] of Object.entries(value as JsonObject)) {
      if (typeof inner !== "string") remember(inner, secrets);
      else if (secretFields.has(name) && inner.length >= shortest) secrets.add(inner);
    }
  }
}
