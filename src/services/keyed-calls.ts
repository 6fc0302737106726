// Calls with an idempotency key: the handler runs on a database that is one transaction, in which the response is stored. So a call that
// was committed can always be repeated, and one that was not has changed nothing.
import { hash } from "node:crypto";
import { create, fromBinary, type Message, toBinary, toJsonString } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code } from "../aip/errors.ts";
import { decryptAead, encryptAead, packCiphertext, unpackCiphertext } from "../base/aead.ts";
import { rootOf } from "../model/uid.ts";
import { callerOf } from "../pipeline/authorize.ts";
import type { Call, CalledMethod } from "../pipeline/call.ts";
import type { RunKeyed } from "../pipeline/idempotency-key.ts";
import { type ServiceContext, writeContext } from "../resource/service-context.ts";
import type { ChangeEntry, Transaction } from "../storage/engine/session.ts";
import {
  type CallOutcomeRow,
  deleteOutcome,
  findOutcome,
  insertOutcome,
  tryLockOutcome,
} from "../storage/installation/call-outcomes.ts";
import { joinedDatabase } from "../storage/joined-database.ts";
import type { DiscoveryOptions } from "./kinds/kind-options.ts";

/** The dependencies of the services that a keyed call runs on. */
export type KeyedContext = ServiceContext & DiscoveryOptions;

/** Runs the handler of a method with other dependencies than usual, and returns its response. */
export type RunOn<C extends KeyedContext> = (method: CalledMethod, context: C, request: Message, call: Call) => unknown;

/** How outcomes are kept. */
export interface KeyedOptions {
  /** How long an outcome is kept, in milliseconds. */
  readonly keptMs: number;
  /** Called when a stored response is returned. */
  readonly onReplay: () => void;
}

/** Makes the function that runs calls with a key. */
export function newKeyedCalls<C extends KeyedContext>(
  context: C,
  runOn: RunOn<C>,
  { keptMs, onReplay }: KeyedOptions,
): RunKeyed {
  const { database, clock } = context;
  const running = new Set<string>();

  async function runOnce(method: CalledMethod, request: Message, call: Call, key: OutcomeKey): Promise<Message> {
    const requestDigest = digestOf(method, request);
    const outside = askedBefore(context.discover);
    const runIn = async (tx: Transaction): Promise<Message> => {
      if (!(await tryLockOutcome(tx, key.digest))) throw keyInUse();
      const stored = await findOutcome(tx, key.digest);
      if (stored && stored.expireTime > tx.context.time) {
        if (stored.requestDigest !== requestDigest) throw keyReused();
        call.setResponseHeader("idempotent-replayed", "true");
        onReplay();
        return fromBinary(method.descriptor.output, decrypt(key, stored.outcome));
      }
      if (stored) await deleteOutcome(tx, key.digest);
      const changes: ChangeEntry[] = [];
      const joined = joinedDatabase(database, noting(tx, changes));
      const response = await runOn(method, { ...context, database: joined, discover: outside.discover }, request, call);
      const message = create(method.descriptor.output, response as Message);
      // Without a change there is nothing that a repetition could change again.
      if (changes.length > 0)
        await insertOutcome(tx, {
          keyDigest: key.digest,
          organization: organizationOf(changes),
          requestDigest,
          outcome: encrypt(key, toBinary(method.descriptor.output, message)),
          expireTime: tx.context.time + keptMs,
        } satisfies CallOutcomeRow);
      return message;
    };
    return await outside.run(() => database.write(writeContext(call, clock), runIn));
  }

  return async (method, request, call, text) => {
    const key = outcomeKey(callerOf(call).uid, text);
    if (running.has(key.digest)) throw keyInUse();
    running.add(key.digest);
    try {
      return await runOnce(method, request, call, key);
    } finally {
      running.delete(key.digest);
    }
  };
}

/** A key of one caller: what it is found by, and what decrypts its outcome. Neither is the key, nor gives the other. */
interface OutcomeKey {
  readonly digest: string;
  readonly secret: Buffer;
}

function outcomeKey(callerUid: string, text: string): OutcomeKey {
  // A uid has no space.
  const source = `${callerUid} ${text}`;
  return { digest: hash("sha256", `digest ${source}`, "hex"), secret: hash("sha256", `secret ${source}`, "buffer") };
}

function encrypt({ secret, digest }: OutcomeKey, outcome: Uint8Array): string {
  return packCiphertext(encryptAead(secret, outcome, digest)).toString("base64");
}

function decrypt({ secret, digest }: OutcomeKey, stored: string): Uint8Array {
  return decryptAead(secret, unpackCiphertext(Buffer.from(stored, "base64")), digest);
}

/** SHA-256 of the method and of the request: JSON with sorted members, because maps have no order. */
function digestOf({ path, descriptor }: CalledMethod, request: Message): string {
  const json: unknown = JSON.parse(toJsonString(descriptor.input, request));
  return hash("sha256", `${path} ${JSON.stringify(json, sortMembers)}`, "hex");
}

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a view of a transaction that also notes its changes. */
function noting(tx: Transaction, changes: ChangeEntry[]): Transaction {
  return {
    ...tx,
    logChange(entry) {
      changes.push(entry);
      tx.logChange(entry);
    },
  };
}

/** Returns the organization of the first change, or null if the call deleted it. */
function organizationOf(changes: readonly ChangeEntry[]): string | null {
  const uid = rootOf(changes[0]!.groupUid);
  const isDeleted = changes.some((change) => change.uid === uid && change.after === null);
  return uid === "" || isDeleted ? null : uid;
}

/** A question that was not asked yet. */
class Unasked extends Error {
  readonly issuer: string;

  constructor(issuer: string) {
    super("asked before the next attempt");
    this.issuer = issuer;
  }
}

/**
 * Asks issuers outside of a transaction, which would keep others from writing: a question without a known answer ends an attempt, and is
 * asked before the next. A request names a few issuers at most.
 */
function askedBefore(ask: DiscoveryOptions["discover"]) {
  const answers = new Map<string, ReturnType<DiscoveryOptions["discover"]>>();
  return {
    discover: async (issuer: string) => {
      const answer = answers.get(issuer);
      if (!answer) throw new Unasked(issuer);
      return await answer;
    },
    async run<T>(attempt: () => Promise<T>): Promise<T> {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof Unasked)) throw error;
        const answer = ask(error.issuer);
        answers.set(error.issuer, answer);
        await answer.catch(() => {});
        return await this.run(attempt);
      }
    },
  };
}

function keyInUse(): ApiError {
  return new ApiError(Code.ABORTED, "Aborted: a call with this idempotency key is running; repeat yours", {
    reason: "IDEMPOTENCY_KEY_IN_USE",
    details: [{ schema: RetryInfoSchema, value: create(RetryInfoSchema, { retryDelay: durationFromMs(1000) }) }],
  });
}

function keyReused(): ApiError {
  return new ApiError(
    Code.FAILED_PRECONDITION,
    "Precondition failed: this idempotency key was used for another request; use a key for one request only",
    { reason: "IDEMPOTENCY_KEY_REUSED" },
  );
}
