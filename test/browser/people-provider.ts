// An OpenID provider of the real make (oidc-provider) that people sign in with, on a page where any name and password do.
import { generateKeyPairSync } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";

/** A running provider, and this server's credentials there. */
export interface PeopleProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Registers this server as a client that people are sent back to. */
  register(redirectUri: string): void;
}

/** Starts a provider without any client. */
export async function startPeopleProvider(): Promise<PeopleProvider> {
  // By a name that is not a literal, since there are no types to resolve.
  const name: string = "oidc-provider";
  const { default: Provider } = (await import(name)) as {
    default: new (issuer: string, configuration: object) => { callback(): RequestListener };
  };
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: "gatehouse", clientSecret: "only for this test" };
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwks = { keys: [{ ...privateKey.export({ format: "jwk" }), use: "sig", alg: "RS256" }] };
  return {
    issuer,
    ...client,
    register(redirectUri) {
      const { clientId: client_id, clientSecret: client_secret } = client;
      const clients = [{ client_id, client_secret, redirect_uris: [redirectUri] }];
      server.on("request", new Provider(issuer, { clients, jwks }).callback());
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Signs in on the provider's page, and agrees to what it asks. */
export async function signInThere(page: Page, name: string): Promise<void> {
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
}
