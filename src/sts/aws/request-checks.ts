// Checks of a signed GetCallerIdentity request before it is sent to AWS: it is exactly this request, made recently, for
// this server and this identity.
import type { Audiences } from "../audiences.ts";
import { awsDenied } from "../denials.ts";
import { type AwsRequest, headerValue, headerValues, signedHeaders } from "./signed-request.ts";

/** The expected properties of a request. */
export interface AwsExpectation {
  /** The host of the AWS endpoint. */
  readonly host: string;
  readonly audiences: Audiences;
  /** The uid of the identity. Empty means the one that the request names. */
  readonly identity: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The name of a check, and the function that throws if it fails. */
export type AwsCheck = readonly [check: string, run: (request: AwsRequest, expected: AwsExpectation) => void];

/** The signed header with the audience. */
export const audienceHeader = "chainguard-audience";
/** The signed header with the uid of the identity. */
export const identityHeader = "chainguard-identity";

const boundHeaders = ["host", "x-amz-date", audienceHeader, identityHeader];
const singleHeaders = ["authorization", ...boundHeaders];

/** Only these may be signed, because only these are sent on. */
const knownHeader = /^(host|accept|content-type|content-length|user-agent|x-amz-[a-z0-9-]+|chainguard-[a-z-]+)$/;

const maxAheadMs = 5 * 60_000;
const maxAgeMs = 15 * 60_000;

/** The checks in order. */
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

// Only GetCallerIdentity: the response to another action would be mistaken for its response.
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
