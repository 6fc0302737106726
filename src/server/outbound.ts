// The rules of outbound requests, from the configuration.
import type { Logger } from "pino";
import { memoizeByObject, once } from "../base/lazy.ts";
import { newNetworkList } from "../base/network-address.ts";
import type { Config } from "../config/config.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import type { LoginConfig } from "../config/sign-in-config.ts";
import type { SenderOptions } from "../events/sender.ts";
import { fetchJson, type OutboundOptions, outboundLimits } from "../outbound/http.ts";
import type { LoginProvider } from "../sign-in/login-provider.ts";
import { callbackPath } from "../sign-in/sign-in.ts";
import type { AwsEndpoint } from "../sts/aws/caller-identity.ts";
import type { Mounts } from "../transport/pages/pages.ts";
import type { ServerContext } from "./server-context.ts";

/** Returns the rules of requests to issuers. */
export function outboundOptions(config: Config): OutboundOptions {
  const allowedPrivate = newNetworkList(config.privateIssuerNetworks);
  const { proxies, issuerAuthorities, staysLocal } = config;
  const trust = issuerAuthorities === undefined ? {} : { trust: trustOf(config) };
  const loopback = { allowLoopbackHttp: config.dev, allowLoopbackHttps: config.dev };
  return { ...outboundLimits, ...loopback, allowedPrivate, proxies, staysLocal, ...trust };
}

/** Returns the rules of event deliveries, whose receivers may take longer to respond. */
export function sinkOptions(config: Config): OutboundOptions {
  const allowedPrivate = newNetworkList(config.privateSinkNetworks);
  return {
    ...outboundLimits,
    timeoutMs: 10_000,
    allowLoopbackHttp: config.dev,
    allowedPrivate,
    proxies: config.proxies,
    staysLocal: config.staysLocal,
  };
}

/** Returns the dependencies of sending events. */
export function eventSender(
  { config, clock }: Pick<ServerContext, "config" | "clock">,
  keys: SenderOptions["keys"],
): SenderOptions {
  return { issuer: config.baseUrl, keys, clock, outbound: sinkOptions(config) };
}

/** The certificates that are trusted for issuers. Read once: there are some 150 authorities. */
const trustOf = memoizeByObject(({ issuerAuthorities = "" }: Config) =>
  once(() => {
    const { createSecureContext, getCACertificates } = process.getBuiltinModule("node:tls");
    return createSecureContext({ ca: [...getCACertificates("default"), issuerAuthorities] });
  }),
);

/** Returns the endpoint that verifies signed requests of AWS identities; toConfig has checked its address. */
export function awsEndpoint({ awsStsEndpoint: url, proxies, staysLocal }: Config): AwsEndpoint {
  const options = { ...outboundLimits, allowLoopbackHttp: true, isOwn: true, proxies, staysLocal };
  return {
    url,
    host: new URL(url).host,
    post: (target, headers) => fetchJson(target, { ...options, method: "POST", headers }),
  };
}

/** Returns the login provider of users: the operator's, or the built-in one in development mode. */
export async function operatorsLogin(
  config: Config,
  secrets: Pick<LiveSecrets, "loginClientSecret">,
  log: Pick<Logger, "info">,
): Promise<{ login: LoginProvider | undefined; mounts: Mounts }> {
  if (config.login) return { login: operatorsProvider(config.login, secrets), mounts: {} };
  if (!config.dev) return { login: undefined, mounts: {} };
  const { developmentLogin, developmentPath } = await import("./development/login-provider.ts");
  const { provider, handler } = developmentLogin(config.baseUrl, config.baseUrl + callbackPath, log);
  return { login: provider, mounts: { [`${developmentPath}/`]: handler } };
}

/** Returns the issuer of that provider without opening it; empty if users cannot sign in by it. */
export async function operatorsLoginIssuer({ login, dev, baseUrl }: Config): Promise<string> {
  if (login || !dev) return login?.issuer ?? "";
  return baseUrl + (await import("./development/login-provider.ts")).developmentPath;
}

function operatorsProvider(login: LoginConfig, secrets: Pick<LiveSecrets, "loginClientSecret">): LoginProvider {
  return {
    uid: "",
    ...login,
    get clientSecret() {
      return secrets.loginClientSecret();
    },
  };
}
