// A token exchange with identities and grants in memory, our own tokens as they really are, and outside issuers.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Identity, IdentitySchema } from "../../gen/chainguard/platform/iam/v2beta1/identities_pb.ts";
import { ExchangeRequestSchema } from "../../gen/chainguard/platform/oidc/oidc_pb.ts";
import { ApiError, codeName } from "../../src/aip/errors.ts";
import { newFailureLimiter } from "../../src/authn/failure-limiter.ts";
import { openIssuers } from "../../src/authn/issuers.ts";
import type { Grants } from "../../src/authz/grants.ts";
import { capabilitySet, findCapabilityByName } from "../../src/model/capabilities.ts";
import { noTrust } from "../../src/model/trust.ts";
import { isBelow } from "../../src/model/uid.ts";
import { newCall } from "../../src/pipeline/call.ts";
import { type AssumableIdentity, maxCandidates } from "../../src/sts/assumable-identity.ts";
import { defaultAudiences, exactAudiences } from "../../src/sts/audiences.ts";
import type { AwsEndpoint } from "../../src/sts/aws/caller-identity.ts";
import { type ExchangeEvent, newExchange } from "../../src/sts/exchange.ts";
import { issuer, openNode, startSeconds, startTime, testClock } from "../authn/token-fixtures.ts";
import { keyPair, network, signOutside } from "./outside.ts";

export const audiences = [issuer, "registry.example"];
export const outsideIssuer = "https://issuer.example";
export const outsideKey = keyPair("ES256");

/** Returns the uid of the group or identity that a short name stands for: `a`, or `a/b` below it. */
export function uid(name: string): string {
  const [root = "", ...rest] = name.split("/");
  const part = (text: string, length: number) => Buffer.from(text).toString("hex").padEnd(length, "0").slice(0, length);
  return [part(root, 40), ...rest.map((text) => part(text, 16))].join("/");
}

/** Returns the set of the capabilities with these names. */
export function capabilities(...names: readonly string[]) {
  return capabilitySet(names.map((name) => findCapabilityByName(name)!.number));
}

/** Returns the claims of a token of `outsideIssuer` that is in force at `startTime`. */
export function outsideClaims(changes: object = {}): Record<string, unknown> {
  const times = { iat: startSeconds, exp: startSeconds + 600 };
  return { iss: outsideIssuer, sub: "workload", aud: issuer, ...times, ...changes };
}

/** Returns a token of `outsideIssuer`, unless the claims say otherwise. */
export function outsideToken(changes: object = {}, key = outsideKey): Promise<string> {
  return signOutside(key, outsideClaims(changes));
}

type RelationshipInit = NonNullable<MessageInitShape<typeof IdentitySchema>["relationship"]>;

/** A claim match of `outsideIssuer` and `workload`. */
export const workload: RelationshipInit = {
  case: "claimMatch",
  value: { iss: { case: "issuer", value: outsideIssuer }, sub: { case: "subject", value: "workload" } },
};

/** Static keys with the given key set as text. */
export function staticKeys(issuerKeys: string, changes: object = {}): RelationshipInit {
  return { case: "staticKeys", value: { issuer: outsideIssuer, subject: "workload", issuerKeys, ...changes } };
}

/** How many bad tokens an address may exchange here. */
export const badTokensPerSecond = 20;

/** AWS as those see it who have no business with it. */
const noAws: AwsEndpoint = {
  host: "sts.amazonaws.com",
  url: "https://sts.amazonaws.com",
  post: async () => {
    throw new Error("AWS is not asked");
  },
};

/** Opens an exchange whose outside world is `outside`. */
export async function openExchange(outside = network([outsideIssuer], outsideKey), aws = noAws) {
  const clock = testClock();
  const node = await openNode("ES256", { clock, audiences });
  const identities = new Map<string, AssumableIdentity>();
  const bound = new Map<string, Grants>();
  const touched: [string, number][] = [];
  const events: ExchangeEvent[] = [];
  const exchange = newExchange({
    directory: {
      find: async (one) => identities.get(one),
      findUser: async () => undefined,
      findByClaims: async ({ groupUid, issuer: iss, subject }) =>
        [...identities.values()]
          .filter((one) => isBelow(one.uid, groupUid) && isExactly(one, iss, subject))
          .slice(0, maxCandidates),
      requireActivePerson: async () => {},
      admitNames: async () => {},
      touch: async (one, time) => void touched.push([one, time]),
    },
    grants: { grantsOf: async (one) => bound.get(one) ?? new Map() },
    issuers: openIssuers({ fetchJson: outside.fetchJson, clock: clock.read, allowInsecureIssuers: true }),
    tokens: node.tokens,
    failures: newFailureLimiter({ perSecond: badTokensPerSecond, sources: 10 }, clock.read),
    issuer,
    audiences: exactAudiences(...audiences),
    defaultAudiences: defaultAudiences(issuer, false),
    clock: clock.read,
    aws,
    log: (event) => events.push(event),
  });
  return {
    clock,
    node,
    outside,
    bound,
    touched,
    events,
    /** Adds an identity by a short name. */
    add(name: string, relationship: RelationshipInit, createTime = startTime) {
      const message = create(IdentitySchema, { relationship });
      identities.set(uid(name), {
        uid: uid(name),
        relationship: message.relationship,
        createTime,
        updateTime: createTime,
        pins: { policy: "off", trust: noTrust },
      });
    },
    remove: (name: string) => identities.delete(uid(name)),
    /** Exchanges a token, or the headers given instead of one. */
    async run(
      request: MessageInitShape<typeof ExchangeRequestSchema>,
      token: string | Readonly<Record<string, string>>,
    ) {
      const headers = typeof token === "string" ? { authorization: `Bearer ${token}` } : token;
      const header = (name: string) => (headers as Record<string, string>)[name];
      const call = newCall({ transport: "rest", requestId: "1", clientAddress: "192.0.2.1", header });
      const reply = await exchange(create(ExchangeRequestSchema, { aud: [issuer], ...request }), call).catch(
        (error: unknown) => {
          failedCalls.set(error as object, call);
          throw error;
        },
      );
      return { token: reply.token ?? "", expiry: reply.expiry, headers: call.responseHeaders };
    },
  };
}

/** Returns an exchange where `workload` may assume the identity `org/id`, which holds two capabilities at `org`. */
export async function openWithWorkload() {
  const exchange = await openExchange();
  exchange.add("org/id", workload);
  exchange.bound.set(uid("org/id"), new Map([[uid("org"), capabilities("groups.list", "groups.create")]]));
  return exchange;
}

/** Returns a segment of a token. */
export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Returns the claims of a good token under any header, with an invalid signature. */
export async function unsigned(alg: string, signature = "", header: object = {}): Promise<string> {
  return `${encode({ alg, ...header })}.${encode(outsideClaims())}.${signature}`;
}

/** The calls of exchanges that failed, by their errors. */
export const failedCalls = new WeakMap<object, ReturnType<typeof newCall>>();

function isExactly({ relationship }: { relationship: Identity["relationship"] }, iss: string, sub: string): boolean {
  const { case: kind, value } = relationship;
  if (kind === "staticKeys") return value.issuer === iss && value.subject === sub;
  if (kind !== "claimMatch") return false;
  // As in the database, where what is not exact is empty.
  const [exactIssuer, exactSubject] = [
    value.iss.case === "issuer" ? value.iss.value : "",
    value.sub.case === "subject" ? value.sub.value : "",
  ];
  return exactIssuer === iss && exactSubject === sub;
}

/** Returns the result of an exchange: `OK`, or the code and message of its error, on one line. */
export async function outcome(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return "OK";
  } catch (error) {
    if (error instanceof ApiError) return `${codeName(error.code)} ${error.message}`;
    throw error;
  }
}
