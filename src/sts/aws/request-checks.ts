// What must hold of a signed GetCallerIdentity request before it is sent to AWS: that it is this request and no other,
// made for us and for this identity, and lately.
import type { Audiences } from "../audiences.ts";
import { awsDenied } from "../denials.ts";
import { type AwsRequest, headerValue, headerValues, signedHeaders } from "./signed-request.ts";

/** What a request is held against. */
export interface AwsExpectation {
  /** The host of the endpoint that it is sent to. */
  readonly host: string;
  readonly audiences: Audiences;
  /** The uid of the identity; empty to take the one that the request names. */
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The check's name, and what throws when it fails. */
export type AwsCheck = readonly [check: string, run: (request: AwsRequest, expected: AwsExpectation) => void];

/** The signed header that says whom the request is meant for. */
export const audienceHeader = "chainguard-audience";
/** The signed header that names the identity that is assumed. */
export const identityHeader = "chainguard-identity";

const boundHeaders = ["host", "x-amz-date", audienceHeader, identityHeader];
const singleHeaders = ["authorization", ...boundHeaders];

/** Only these may be signed, since only these are sent on. */
const knownHeader = /^(host|accept|content-type|content-length|user-agent|x-amz-[a-z0-9-]+|chainguard-[a-z-]+)$/;

const maxAheadMs = 5 * 60_000;
const maxAgeMs = 15 * 60_000;

/** The checks, in their order. */
export const awsChecks: readonly AwsCheck[] = [
  ["headers", checkSingle],
  ["request", checkRequest],
  ["host", checkHost],
  ["signed-headers", checkSigned],
  ["aud", checkAudience],
  ["identity", checkIdentity],
  ["date", checkDate],
];

function checkSingle(request: AwsRequest): void {
  for (const name of singleHeaders) {
    need(headerValues(request, name).length === 1, "headers", `the request needs the header ${name} exactly once`);
  }
}

// Nothing but the question who is asking: the answer to any other action would be taken for that.
function checkRequest({ method, target, body }: AwsRequest): void {
  const isQuestion = method === "POST" && body === "" && target === "/?Action=GetCallerIdentity&Version=2011-06-15";
  need(isQuestion, "request", "the request is not a POST of GetCallerIdentity with an empty body");
}

function checkHost(request: AwsRequest, { host }: AwsExpectation): void {
  need(headerValue(request, "host") === host, "host", "the request is for another host");
}

function checkSigned(request: AwsRequest): void {
  const names = signedHeaders(request);
  const missing = boundHeaders.find((name) => !names.includes(name));
  need(missing === undefined, "signed-headers", `the signature does not cover ${missing}`);
  const isKnown = names.every((name) => knownHeader.test(name) && headerValues(request, name).length === 1);
  need(isKnown, "signed-headers", "the signature covers headers that are not sent on");
}

function checkAudience(request: AwsRequest, { audiences }: AwsExpectation): void {
  need(
    audiences.find(headerValue(request, audienceHeader)) !== undefined,
    "aud",
    "the request is for another audience",
  );
}

function checkIdentity(request: AwsRequest, { identity }: AwsExpectation): void {
  need(
    identity === "" || headerValue(request, identityHeader) === identity,
    "identity",
    "the request is for another identity",
  );
}

function checkDate(request: AwsRequest, { now }: AwsExpectation): void {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(headerValue(request, "x-amz-date")) ?? [];
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  need(!Number.isNaN(time), "date", "the date of the request is not of the form YYYYMMDDTHHMMSSZ");
  need(time <= now + maxAheadMs, "date", "the request is of the future");
  need(time >= now - maxAgeMs, "date", "the request is older than 15 minutes");
}

function need(holds: boolean, check: string, description: string): void {
  if (!holds) throw awsDenied(check, description);
}
