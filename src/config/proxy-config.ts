// The outbound proxies, from the settings of a server or the variables of a command.
import { type Proxies, parseBypass, parseProxy } from "../base/proxies.ts";
import { ConfigError, type ProxySettings } from "./settings.ts";

/** Parses the proxies. Throws a ConfigError that names the setting but contains no password. */
export function toProxies(raw: ProxySettings): Proxies {
  return {
    https: toProxy(raw, "https-proxy"),
    http: toProxy(raw, "http-proxy"),
    bypass: parseBypass(raw["no-proxy"]),
  };
}

function toProxy(raw: ProxySettings, name: "https-proxy" | "http-proxy"): URL | undefined {
  if (raw[name] === "") return undefined;
  const proxy = parseProxy(raw[name]);
  if (!proxy)
    throw new ConfigError(`${name}: is not the http or https URL of a proxy such as http://proxy.example.com:3128.`);
  return proxy;
}
