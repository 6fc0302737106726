// Checks at the start whether the login provider of the settings can be reached: otherwise the first person who signs in notices.
import type { Logger } from "pino";
import { discoveryPath } from "../authn/discovery.ts";
import { OutboundError } from "../outbound/error.ts";
import { fetchJson, type OutboundOptions } from "../outbound/http.ts";
import { every } from "./every.ts";
import { limits } from "./limits.ts";
import { outboundOptions } from "./outbound.ts";
import type { ServerContext } from "./server-context.ts";

/** The check of the login provider. Disposing it ends it. */
export interface LoginCheck extends AsyncDisposable {
  /** Returns why people cannot sign in, with the setting that helps; undefined if they can, or before the first check. */
  problem(): string | undefined;
}

/** Starts the check, which is repeated until it passes. Of several workers, one writes to the log. */
export function checkLogin({ config, log, group, draining }: ServerContext): LoginCheck {
  const { login } = config;
  if (!login) return { problem: () => undefined, [Symbol.asyncDispose]: async () => {} };
  const isLogging = !group || group.isWriter;
  const options = { ...outboundOptions(config), signal: draining };
  let problem: string | undefined;
  let hasPassed = false;
  const look = async () => {
    if (hasPassed) return;
    const found = await problemOf(login.issuer, options);
    if (draining.aborted) return;
    if (isLogging) logChange(log, login.issuer, problem, found);
    problem = found;
    hasPassed = found === undefined;
  };
  const checks = every(limits.loginCheckMs, look, { logFailure: () => {}, signal: draining });
  const first = look();
  return {
    problem: () => problem,
    async [Symbol.asyncDispose]() {
      await Promise.all([first, checks[Symbol.asyncDispose]()]);
    },
  };
}

function logChange(log: Logger, issuer: string, before: string | undefined, now: string | undefined): void {
  if (now !== undefined && now !== before) log.warn({ event: "login_provider_unusable", issuer }, now);
  if (now === undefined && before !== undefined)
    log.info({ event: "login_provider_usable", issuer }, "the login provider can be used now");
}

async function problemOf(issuer: string, options: OutboundOptions): Promise<string | undefined> {
  try {
    const document = await fetchJson(issuer.replace(/\/$/, "") + discoveryPath, options);
    // OpenID Connect Discovery §4.3.
    if ((document as { issuer?: unknown } | null)?.issuer === issuer) return undefined;
    return `login-issuer: the discovery document of ${issuer} names another issuer; write the issuer that it names`;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return `login-issuer: ${issuer} cannot be used: ${error.message}${remedyOf(error)}`;
  }
}

/** Names the setting that admits a provider in a private network, or with an authority of its own. */
function remedyOf({ failure, message, cause }: OutboundError): string {
  if (failure === "untrusted") return "; name a file with its certificate authority in issuer-ca";
  const isPrivate = (cause as NodeJS.ErrnoException | undefined)?.code === "EPRIVATE" || /is not public$/.test(message);
  return isPrivate ? "; its address is private: add the network to private-issuer-networks" : "";
}
