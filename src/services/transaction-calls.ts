// Calls with an idempotency key or a precondition: the handler runs on a database that is one transaction. With a key, the response is stored
// in it, so a call that was committed can always be repeated, and one that was not has changed nothing.
import { hash } from "node:crypto";
import { create, type DescMessage, fromBinary, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { RetryInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { ApiError, Code } from "../aip/errors.ts";
import { decryptAead, encryptAead, packCiphertext, unpackCiphertext } from "../base/aead.ts";
import { memoizeByObject } from "../base/lazy.ts";
import { rootOf } from "../model/uid.ts";
import { callerOf } from "../pipeline/authorize.ts";
import type { Call, CalledMethod } from "../pipeline/call.ts";
import type { RunInTransaction } from "../pipeline/idempotency-key.ts";
import { preconditionUnsupported } from "../pipeline/precondition.ts";
import { type ServiceContext, writeContext } from "../resource/service-context.ts";
import type { ChangeEntry, Transaction, WriteContext } from "../storage/engine/session.ts";
import { deleteOutcome, findOutcome, insertOutcome, tryLockOutcome } from "../storage/installation/call-outcomes.ts";
import { DependentWrite, type JoinedDatabase, joinedDatabase } from "../storage/joined-database.ts";
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

/** Makes the function that runs calls in one transaction. */
export function newTransactionCalls<C extends KeyedContext>(
  context: C,
  runOn: RunOn<C>,
  options: KeyedOptions,
): RunInTransaction {
  const { database, clock } = context;
  const running = new Set<string>();
  const independent = new Set<string>();
  return async (method, request, call, conditions) => {
    const given = { method, request, call, conditions };
    const outside = askedBefore(context.discover);
    const runIn = async (tx: Transaction) => {
      const result = await runHandler(tx, { ...context, discover: outside.discover }, runOn, given);
      if (result.isIndependent) independent.add(method.path);
      return result;
    };
    // The condition is about what the handler writes.
    const write = (body: (tx: Transaction) => Promise<Message>) =>
      inFittingMode(method.path, independent, (mode) =>
        outside.run(() => database.write({ ...writeContext(call, clock), ...mode, precondition: undefined }, body)),
      );
    if (conditions.key === undefined) return await write(async (tx) => (await runIn(tx)).response);
    const key = outcomeKey(callerOf(call).uid, conditions.key);
    if (running.has(key.digest)) throw keyInUse();
    running.add(key.digest);
    try {
      return await write((tx) => runOnce(tx, () => runIn(tx), given, key, options));
    } finally {
      running.delete(key.digest);
    }
  };
}

/** The response of a handler, and what it changed. */
interface HandlerResult {
  readonly response: Message;
  readonly changes: readonly ChangeEntry[];
  /** Whether calls like it may run at the same time. */
  readonly isIndependent: boolean;
}

/** Runs the handler on a database that is the transaction. Throws, which undoes the transaction, if it has not checked its precondition. */
async function runHandler<C extends KeyedContext>(
  tx: Transaction,
  context: C,
  runOn: RunOn<C>,
  { method, request, call, conditions: { precondition } }: GivenCall,
): Promise<HandlerResult> {
  const joined = joinedDatabase(context.database, tx);
  const response = await failingWithParts(joined, async () =>
    runOn(method, { ...context, database: joined }, request, call),
  );
  if (precondition && !precondition.isChecked) throw preconditionUnsupported(method);
  const { changes } = joined;
  const isIndependent = joined.isIndependent();
  return { response: create(method.descriptor.output, response as Message), changes, isIndependent };
}

/** A write of the handler failed, and its changes must be undone by themselves. */
class NeedsParts extends Error {}

/** How a transaction runs. */
type Mode = Pick<WriteContext, "hasParts" | "isIndependent">;

/**
 * Runs an attempt in the cheapest mode: without savepoints, which hardly any handler needs, and on PostgreSQL together with other
 * calls, if this was possible for the last call of the method. If that does not fit the call, runs another one.
 */
async function inFittingMode<T>(
  method: string,
  independent: Set<string>,
  attempt: (mode: Mode) => Promise<T>,
): Promise<T> {
  try {
    return await attempt({ hasParts: false, isIndependent: independent.has(method) });
  } catch (error) {
    const isDependent = error instanceof DependentWrite;
    if (isDependent) independent.delete(method);
    if (!isDependent && !(error instanceof NeedsParts)) throw error;
    return await (isDependent ? inFittingMode(method, independent, attempt) : attempt({ hasParts: true }));
  }
}

/** Runs a handler. Throws NeedsParts if it does not fail with the only write that failed. */
async function failingWithParts<T>({ failures }: Pick<JoinedDatabase, "failures">, run: () => Promise<T>): Promise<T> {
  let result: T;
  try {
    result = await run();
  } catch (error) {
    if (failures.every((failure) => failure === error)) throw error;
    throw new NeedsParts();
  }
  if (failures.length > 0) throw new NeedsParts();
  return result;
}

/** Runs a call with a key and stores its response, or returns the stored one. */
async function runOnce(
  tx: Transaction,
  run: () => Promise<HandlerResult>,
  { method, request, call }: GivenCall,
  key: OutcomeKey,
  { keptMs, onReplay }: KeyedOptions,
): Promise<Message> {
  const { output } = method.descriptor;
  // Sent together. The second statement sees what was stored before the first one locked.
  const [isLocked, stored] = await Promise.all([tryLockOutcome(tx, key.digest), findOutcome(tx, key.digest)]);
  if (!isLocked) throw keyInUse();
  const requestDigest = digestOf(method, request);
  if (stored && stored.expireTime > tx.context.time) {
    if (stored.requestDigest !== requestDigest) throw keyReused();
    call.setResponseHeader("idempotent-replayed", "true");
    onReplay();
    return fromBinary(output, decrypt(key, stored.outcome));
  }
  if (stored) await deleteOutcome(tx, key.digest);
  const { response, changes } = await run();
  // Without a change there is nothing that a repetition could change again.
  if (changes.length > 0)
    await insertOutcome(tx, {
      keyDigest: key.digest,
      organization: organizationOf(changes),
      requestDigest,
      outcome: encrypt(key, toBinary(output, response)),
      expireTime: tx.context.time + keptMs,
    });
  return response;
}

/** The parameters of `RunInTransaction`. */
interface GivenCall {
  readonly method: CalledMethod;
  readonly request: Message;
  readonly call: Call;
  readonly conditions: Parameters<RunInTransaction>[3];
}

/** A key of one caller: what it is found by, and what decrypts its outcome. Neither is the key, nor gives the other. */
interface OutcomeKey {
  readonly digest: string;
  readonly secret: Buffer;
}

function outcomeKey(callerUid: string, text: string): OutcomeKey {
  // A uid has no space. Neither half of a digest gives the other.
  const halves = hash("sha512", `${callerUid} ${text}`, "buffer");
  return { digest: halves.toString("base64url", 0, 32), secret: halves.subarray(32) };
}

function encrypt({ secret, digest }: OutcomeKey, outcome: Uint8Array): string {
  return packCiphertext(encryptAead(secret, outcome, digest)).toString("base64");
}

function decrypt({ secret, digest }: OutcomeKey, stored: string): Uint8Array {
  return decryptAead(secret, unpackCiphertext(Buffer.from(stored, "base64")), digest);
}

/** SHA-256 of the method and of the request, without fields that the server does not know. */
function digestOf({ path, descriptor }: CalledMethod, request: Message): string {
  const { input } = descriptor;
  // Maps have no order, so a message with one is digested as JSON with sorted members.
  const content = hasMap(input)
    ? Buffer.from(JSON.stringify(toJson(input, request), sortMembers))
    : toBinary(input, request, { writeUnknownFields: false });
  return hash("sha256", Buffer.concat([Buffer.from(`${path} `), content]), "base64url");
}

/** Reports whether a message of this type may have a map in it. */
const hasMap = memoizeByObject((type: DescMessage): boolean => {
  const types = new Set([type]);
  for (const { fields } of types)
    for (const field of fields) {
      if (field.fieldKind === "map") return true;
      if (field.message) types.add(field.message);
    }
  return false;
});

function sortMembers(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
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
