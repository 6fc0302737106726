// AWS's side of a GetCallerIdentity request: a client that signs as AWS's do (Signature Version 4), and a service on
// loopback that answers those whose signature holds over what arrives.
import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** A caller that the service knows. */
export interface AwsUser {
  readonly account: string;
  readonly arn: string;
  readonly userId: string;
}

/** The credentials that the service knows. */
export const awsKey = { accessKey: "AKIDEXAMPLE", secretKey: "only for this test" };

const { accessKey, secretKey } = awsKey;
const region = "us-east-1";

/** Changes to the request that the SDK would make. */
export interface AwsRequestChanges {
  readonly method?: string;
  readonly target?: string;
  readonly body?: string;
  readonly secret?: string;
  readonly date?: string;
  /** Headers to add or replace before signing; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Names that the signature does not cover. */
  readonly unsigned?: readonly string[];
  /** Lines added after signing. */
  readonly lines?: readonly string[];
}

/** Returns a signed request in base64url, as the platform's SDK makes it. */
export function signAwsRequest(
  host: string,
  audience: string,
  identity: string,
  changes: AwsRequestChanges = {},
): string {
  const { method = "POST", target = "/?Action=GetCallerIdentity&Version=2011-06-15", body = "" } = changes;
  const date = changes.date ?? new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const all = {
    host,
    accept: "application/json",
    "chainguard-audience": audience,
    "chainguard-identity": identity,
    "x-amz-date": date,
    ...changes.headers,
  };
  const headers = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const signed = headers
    .map(([name]) => name)
    .filter((name) => !changes.unsigned?.includes(name))
    .sort();
  const signature = sign(
    { method, target, date, region, headers: Object.fromEntries(headers), signed, body: "" },
    changes.secret ?? secretKey,
  );
  const credential = `${accessKey}/${date.slice(0, 8)}/${region}/sts/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=${signed.join(";")}, Signature=${signature}`;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    `Authorization: ${authorization}`,
    ...(changes.lines ?? []),
  ];
  const text = Buffer.from(`${lines.join("\r\n")}\r\n\r\n${body}`).toString("base64url");
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}

interface Signable {
  readonly method: string;
  readonly target: string;
  readonly date: string;
  readonly region: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signed: readonly string[];
  readonly body: string;
}

function sign({ method, target, date, region, headers, signed, body }: Signable, secret: string): string {
  const [path = "", query = ""] = target.split("?");
  const canonicalHeaders = signed
    .map((name) => `${name}:${(headers[name] ?? "").trim().replace(/ +/g, " ")}\n`)
    .join("");
  const hash = (text: string) => createHash("sha256").update(text).digest("hex");
  const canonical = [method, path, query, canonicalHeaders, signed.join(";"), hash(body)].join("\n");
  const day = date.slice(0, 8);
  const text = ["AWS4-HMAC-SHA256", date, `${day}/${region}/sts/aws4_request`, hash(canonical)].join("\n");
  const hmac = (key: string | Buffer, value: string) => createHmac("sha256", key).update(value).digest();
  const key = [day, region, "sts", "aws4_request"].reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString("hex");
}

/** Starts the service. The known key signs as `user`. */
export async function startAwsSts(user: AwsUser) {
  const requests: { url: string; headers: IncomingMessage["headers"] }[] = [];
  const state = { user, status: 200 };
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? "", headers: request.headers });
    const status = state.status === 200 && !isSigned(request) ? 403 : state.status;
    const body = status === 200 ? callerIdentity(state.user) : { Error: {} };
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    state,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns the response to GetCallerIdentity. */
export function callerIdentity({ account, arn, userId }: AwsUser): object {
  return { GetCallerIdentityResponse: { GetCallerIdentityResult: { Account: account, Arn: arn, UserId: userId } } };
}

/** Whether the known key has signed a request with this body. */
export function isSigned({ method = "", url = "", headers }: IncomingMessage, body = ""): boolean {
  const { authorization = "" } = headers;
  const [, region = "", names = ""] =
    /Credential=[^/]+\/\d+\/([^/]+)\/.*SignedHeaders=([^,]*)/.exec(authorization) ?? [];
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  const date = plain["x-amz-date"] ?? "";
  const signable = { method, target: url, date, region, headers: plain, signed: names.split(";"), body };
  return authorization.endsWith(`Signature=${sign(signable, secretKey)}`);
}
