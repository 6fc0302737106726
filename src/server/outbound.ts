// What the configuration says of the world outside: whom this server may ask, and by whom people sign in.
import type { Logger } from "pino";
import { fetchJson, type OutboundOptions, outboundLimits } from "../authn/outbound-http.ts";
import { memoizeByObject, once } from "../base/lazy.ts";
import { newNetworkList } from "../base/network-address.ts";
import type { Config, LoginConfig } from "../config/config.ts";
import type { LiveSecrets } from "../config/live-secrets.ts";
import type { LoginProvider } from "../sign-in/login-provider.ts";
import { callbackPath } from "../sign-in/sign-in.ts";
import type { AwsEndpoint } from "../sts/aws/caller-identity.ts";
import type { Mounts } from "../transport/pages/pages.ts";

/** The rules of requests to issuers. */
export function outboundOptions(config: Config): OutboundOptions {
  const allowedPrivate = newNetworkList(config.privateIssuerNetworks);
  const { proxies, issuerAuthorities } = config;
  const trust = issuerAuthorities === undefined ? {} : { trust: trustOf(config) };
  const loopback = { allowLoopbackHttp: config.dev, allowLoopbackHttps: config.dev };
  return { ...outboundLimits, ...loopback, allowedPrivate, proxies, ...trust };
}

/** The rules of requests that bring events: receivers may have something to do before they answer. */
export function sinkOptions(config: Config): OutboundOptions {
  const allowedPrivate = newNetworkList(config.privateSinkNetworks);
  return {
    ...outboundLimits,
    timeoutMs: 10_000,
    allowLoopbackHttp: config.dev,
    allowedPrivate,
    proxies: config.proxies,
  };
}

/** The certificates that issuers are trusted by, read once: there are some 150 of the usual authorities. */
const trustOf = memoizeByObject(({ issuerAuthorities = "" }: Config) =>
  once(() => {
    const { createSecureContext, getCACertificates } = process.getBuiltinModule("node:tls");
    return createSecureContext({ ca: [...getCACertificates("default"), issuerAuthorities] });
  }),
);

/** Who verifies the signed requests of AWS identities: the operator named it, and toConfig let nobody else answer. */
export function awsEndpoint({ awsStsEndpoint: url, proxies }: Config): AwsEndpoint {
  const options = { ...outboundLimits, allowLoopbackHttp: true, isOwn: true, proxies };
  return {
    url,
    host: new URL(url).host,
    post: (target, headers) => fetchJson(target, { ...options, method: "POST", headers }),
  };
}

/** The provider that people sign in with: the operator's, or in development mode one of our own. */
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

function operatorsProvider(login: LoginConfig, secrets: Pick<LiveSecrets, "loginClientSecret">): LoginProvider {
  return {
    uid: "",
    ...login,
    get clientSecret() {
      return secrets.loginClientSecret();
    },
  };
}
