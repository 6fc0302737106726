// An issuer of workload tokens on loopback, in the place of the one that a page names. Its tokens have the claims that the real one documents.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { shapes } from "../sts/workload-shapes.ts";

/** A running issuer. */
export interface WorkloadIssuer extends AsyncDisposable {
  readonly issuer: string;
  /** Returns a token of the workload for an audience. */
  issue(audience: string): Promise<string>;
}

const lifeSeconds = 600;

/**
 * Starts an issuer of tokens as a kind of workload has them, with its discovery document and its keys. Any other path returns a token
 * for the audience in its query: as JSON like the runner of GitHub Actions, or as text like the metadata server of Google.
 */
export async function startWorkloadIssuer(kind: string, form: "json" | "text" = "json"): Promise<WorkloadIssuer> {
  const shape = shapes.find(({ name }) => name === kind);
  if (!shape) throw new Error(`there is no kind of workload ${kind}`);
  const { alg, claims } = shape;
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const keys = [{ ...(await exportJWK(publicKey)), alg, kid: "key-1", use: "sig" }];
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, issuer);
    if (pathname === "/.well-known/openid-configuration")
      return response.end(
        JSON.stringify({ issuer, jwks_uri: `${issuer}/keys`, id_token_signing_alg_values_supported: [alg] }),
      );
    if (pathname === "/keys") return response.end(JSON.stringify({ keys }));
    const token = await issue(searchParams.get("audience") ?? "");
    response.end(form === "json" ? JSON.stringify({ count: token.length, value: token }) : token);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issue = (audience: string) =>
    new SignJWT({ ...claims, iss: issuer, aud: audience })
      .setProtectedHeader({ alg, kid: "key-1" })
      .setIssuedAt()
      .setExpirationTime(`${lifeSeconds}s`)
      .sign(privateKey);
  return {
    issuer,
    issue,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
