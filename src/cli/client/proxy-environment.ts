// The environment that names the proxies of a command. What reads it (proxy.ts) loads TLS, so it is loaded with the first
// request: help and completion send none.

let environment: NodeJS.ProcessEnv = {};

/** Sets the environment whose proxies are used. */
export function useProxiesOf(given: NodeJS.ProcessEnv): void {
  environment = given;
}

/** Returns the environment whose proxies are used. */
export function proxyEnvironment(): NodeJS.ProcessEnv {
  return environment;
}
