// The outside world of the token exchange: issuers with keys that sign, on loopback ports or under any name.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CompactSign } from "jose";
import { OutboundError } from "../../src/outbound/error.ts";
import { fetchJson, type OutboundOptions, outboundLimits } from "../../src/outbound/http.ts";

/** A key pair of an outside issuer. */
export interface OutsideKeyPair {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly jwk: Readonly<Record<string, unknown>>;
}

const pairs = new Map<string, OutsideKeyPair>();

/** Returns the key pair for an algorithm with a kid, the same one for the whole run: making RSA keys is slow. */
export function keyPair(alg: string, kid = `${alg}-1`): OutsideKeyPair {
  const name = `${alg} ${kid}`;
  const known = pairs.get(name);
  if (known) return known;
  const { privateKey, publicKey } = generate(alg);
  const pair = { kid, alg, privateKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, alg, use: "sig" } };
  pairs.set(name, pair);
  return pair;
}

function generate(alg: string) {
  if (alg === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === "ES384") return generateKeyPairSync("ec", { namedCurve: "P-384" });
  if (alg === "ES512") return generateKeyPairSync("ec", { namedCurve: "P-521" });
  if (alg === "EdDSA") return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/** A signer: a key pair, possibly without a kid. */
type Signer = Pick<OutsideKeyPair, "alg" | "privateKey"> & { readonly kid: string | undefined };

/** Returns a token with these claims, signed by the key. */
export function signOutside(
  { alg, kid, privateKey }: Signer,
  claims: Record<string, unknown>,
  header: { typ?: string } = { typ: "JWT" },
): Promise<string> {
  // As JSON.stringify writes them, so JSON.rawJSON gives a number any spelling.
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg, ...(kid !== undefined && { kid }), ...header })
    .sign(privateKey);
}

/** The JSON text of a key set. */
export function keySetText(...keys: readonly OutsideKeyPair[]): string {
  return JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
}

/** An HTTP server on a free loopback port; `answers` are by path, and what has none is not found. */
export async function startServer(answers: Record<string, Answer> = {}) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    const answer = answers[request.url ?? ""];
    if (typeof answer === "function") answer(request, response);
    else if (answer === undefined) response.writeHead(404).end();
    else writeJson(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The response at a path: a JSON document or a handler. */
export type Answer = object | RequestListener;

/** Answers with a JSON document. */
export function writeJson(response: ServerResponse, document: object): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(document));
}

export const discoveryPath = "/.well-known/openid-configuration";

/** Returns an issuer on loopback that publishes these keys. */
export async function startIssuer(...keys: readonly OutsideKeyPair[]) {
  const server = await startServer();
  server.answers[discoveryPath] = { issuer: server.url, jwks_uri: `${server.url}/keys` };
  server.answers["/keys"] = JSON.parse(keySetText(...keys));
  return server;
}

/** Fetches from loopback, under limits that let tests end. */
export function fetchLoopback(options: Partial<OutboundOptions> = {}) {
  return (url: string) => fetchJson(url, { allowLoopbackHttp: true, ...outboundLimits, ...options });
}

/** Returns a network of issuers under any name, each with the same keys; other addresses do not answer. */
export function network(issuers: readonly string[], ...keys: readonly OutsideKeyPair[]) {
  const requests: string[] = [];
  const documents = new Map<string, unknown>();
  for (const issuer of issuers) {
    const base = issuer.replace(/\/$/, "");
    documents.set(base + discoveryPath, { issuer, jwks_uri: `${base}/keys` });
    documents.set(`${base}/keys`, JSON.parse(keySetText(...keys)));
  }
  return {
    requests,
    documents,
    async fetchJson(url: string): Promise<unknown> {
      requests.push(url);
      if (documents.has(url)) return structuredClone(documents.get(url));
      throw new OutboundError("unavailable", "there is no such host");
    },
  };
}
