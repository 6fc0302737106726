// Asks AWS who signed a request.
import { isJsonObject } from "../../base/json.ts";
import { awsDenied, awsUnreachable } from "../denials.ts";
import { audienceHeader, identityHeader } from "./request-checks.ts";
import { type AwsRequest, headerValue, signedHeaders } from "./signed-request.ts";

/** The signer of a request, according to AWS. */
export interface AwsCaller {
  readonly account: string;
  readonly arn: string;
  readonly userId: string;
}

/** The AWS security token service, or a stand-in. */
export interface AwsEndpoint {
  /** The host that requests must name, with its port unless it is the default. */
  readonly host: string;
  readonly url: string;
  /** Posts these headers without a body and returns the JSON of the response. Rejects with an OutboundError. */
  post(url: string, headers: Readonly<Record<string, string>>): Promise<unknown>;
}

/** The headers that are sent on, signed or not. */
const carried = ["authorization", "accept", "x-amz-date", "x-amz-security-token", audienceHeader, identityHeader];

/** Asks AWS who signed. PERMISSION_DENIED if AWS rejects the request, UNAVAILABLE if it does not respond. */
export async function askAws({ url, post }: AwsEndpoint, request: AwsRequest): Promise<AwsCaller> {
  const names = new Set([...carried, ...signedHeaders(request)]);
  const headers: Record<string, string> = { accept: "application/json", "content-length": "0" };
  for (const [name, value] of request.headers) if (names.has(name)) headers[name] = value;
  const answer = await post(new URL(request.target, url).href, headers).catch((error: unknown) => {
    throw awsUnreachable(error);
  });
  const caller = readCaller(answer);
  if (!caller) throw awsDenied("signature", "AWS's answer does not say who has signed");
  return caller;
}

/** Returns the audience that a request names. */
export function audienceOf(request: AwsRequest): string {
  return headerValue(request, audienceHeader);
}

/** Returns the identity that a request names. */
export function identityOf(request: AwsRequest): string {
  return headerValue(request, identityHeader);
}

function readCaller(answer: unknown): AwsCaller | undefined {
  const result = member(member(answer, "GetCallerIdentityResponse"), "GetCallerIdentityResult");
  const [account, arn, userId] = ["Account", "Arn", "UserId"].map((name) => member(result, name));
  const areTexts = typeof account === "string" && typeof arn === "string" && typeof userId === "string";
  return areTexts ? { account, arn, userId } : undefined;
}

function member(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
