// Tests a login provider without a person: what a sign-in needs of it before a user is asked for a password.
import type * as client from "openid-client";
import { ApiError } from "../aip/errors.ts";
import { OutboundError } from "../outbound/error.ts";
import type { ProviderTesting } from "../services/iam/identity-providers/provider-tests.ts";
import type { LoginProvider } from "./login-provider.ts";
import { codeOf, discover, type UpstreamOptions } from "./openid-client.ts";
import type { Providers } from "./providers.ts";

/** One check and its outcome. */
export interface ProviderCheck {
  readonly name: "discovery" | "keys" | "client";
  readonly outcome: "passed" | "failed" | "skipped";
  readonly detail: string;
}

/** Makes the function that tests the provider with a uid. */
export function newProviderTest(
  providers: Pick<Providers, "find">,
  options: UpstreamOptions,
): ProviderTesting["testProvider"] {
  return async (uid) => {
    const provider = await providers.find(uid);
    if (!provider) return undefined;
    return { redirectUri: options.redirectUriOf(provider), checks: await testProvider(provider, options) };
  };
}

/** Runs the checks of a provider, in the order of a sign-in. Without a discovery document, the others are skipped. */
async function testProvider(provider: LoginProvider, options: UpstreamOptions): Promise<ProviderCheck[]> {
  let configuration: client.Configuration;
  try {
    configuration = await discover(provider, options);
  } catch (error) {
    const skipped = "the discovery document is missing";
    return [failed("discovery", error), skip("keys", skipped), skip("client", skipped)];
  }
  const { authorization_endpoint: endpoint = "" } = configuration.serverMetadata();
  const discovery: ProviderCheck = { name: "discovery", outcome: "passed", detail: `people sign in at ${endpoint}` };
  return [discovery, await testKeys(provider, options), await testClient(provider, configuration, options)];
}

async function testKeys({ issuer }: LoginProvider, { issuers }: UpstreamOptions): Promise<ProviderCheck> {
  try {
    await issuers.keysFor(issuer);
    return { name: "keys", outcome: "passed", detail: "the issuer publishes keys that can be used" };
  } catch (error) {
    return failed("keys", error);
  }
}

/** RFC 6749 §5.2: a code that nobody was given is an invalid grant of a valid client, and invalid_client of another one. */
async function testClient(
  provider: LoginProvider,
  configuration: client.Configuration,
  { redirectUriOf }: UpstreamOptions,
): Promise<ProviderCheck> {
  const oidc = await import("openid-client");
  try {
    await oidc.genericGrantRequest(configuration, "authorization_code", {
      code: "gatehouse-connection-test",
      redirect_uri: redirectUriOf(provider),
      code_verifier: oidc.randomPKCECodeVerifier(),
    });
    return skip("client", "the provider accepted a code that does not exist");
  } catch (error) {
    if (error instanceof OutboundError || (error as Error).cause instanceof OutboundError)
      return failed("client", error);
    const code = codeOf(oidc, error);
    if (code === "invalid_grant") return { name: "client", outcome: "passed", detail: "the provider knows the client" };
    if (code === "invalid_client" || code === "unauthorized_client")
      return { name: "client", outcome: "failed", detail: `the provider rejects client id or secret (${code})` };
    return skip("client", `the provider's response says nothing about the client (${code})`);
  }
}

function skip(name: ProviderCheck["name"], detail: string): ProviderCheck {
  return { name, outcome: "skipped", detail };
}

/** Returns a failed check. As in a sign-in, the detail never quotes the provider: it has only texts of this server. */
function failed(name: ProviderCheck["name"], error: unknown): ProviderCheck {
  const known = [error, (error as Error | null)?.cause].find(
    (one) => one instanceof OutboundError || one instanceof ApiError,
  );
  return { name, outcome: "failed", detail: (known as Error | undefined)?.message ?? "it cannot be read" };
}
