// The accepted audiences (RFC 7519 §4.1.3), and alternative spellings of them.

/** A set of accepted audiences. */
export interface Audiences {
  /** The audiences as tokens contain them. */
  readonly names: readonly string[];
  /** Returns the audience that a text means, or undefined if it means none of them. */
  find(text: string): string | undefined;
}

/**
 * Returns the audiences of this service. A trailing slash is ignored, because clients use the address of the server as its audience. In
 * development `localhost`, `127.0.0.1` and `[::1]` are the same server.
 */
export function ownAudiences(names: readonly string[], isDevelopment: boolean): Audiences {
  const keyOf = isDevelopment ? (text: string) => withoutSlash(withLocalhost(text)) : withoutSlash;
  const byKey = new Map(names.toReversed().map((name) => [keyOf(name), name]));
  return { names, find: (text) => byKey.get(keyOf(text)) };
}

/** Audiences that match exactly. */
export function exactAudiences(...names: readonly string[]): Audiences {
  return { names, find: (text) => (names.includes(text) ? text : undefined) };
}

/** Returns the audiences of both sets. */
export function eitherAudiences(one: Audiences, other: Audiences): Audiences {
  return { names: [...one.names, ...other.names], find: (text) => one.find(text) ?? other.find(text) };
}

/** Returns the audience of subject tokens for identities that name none: the token must be issued for us (security case X10). */
export function defaultAudiences(issuer: string, isDevelopment: boolean): Audiences {
  return ownAudiences([issuer, issuer.replace(/^https?:\/\//, "")], isDevelopment);
}

/**
 * Returns the audiences of the tokens that workloads sign in to a registry with. A token for the API is accepted only
 * where the registry has no name of its own: clients store what they sign in with. Pull tokens are for the API (behaviour
 * of the platform).
 */
export function registryAudiences(
  { service, isShared }: { readonly service: string; readonly isShared: boolean },
  ofApi: Audiences,
): { readonly defaultAudiences: Audiences; readonly staticKeysAudiences: Audiences } {
  const ofRegistry = exactAudiences(service);
  return isShared
    ? { defaultAudiences: ofApi, staticKeysAudiences: ofApi }
    : { defaultAudiences: ofRegistry, staticKeysAudiences: eitherAudiences(ofApi, ofRegistry) };
}

/** Reports whether two texts mean the same audience, when it is unknown whether the server runs in development. */
export function isSameAudience(one: string, other: string): boolean {
  return ownAudiences([one], true).find(other) !== undefined;
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}

function withLocalhost(text: string): string {
  return text.replace(/^(https?:\/\/)?(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, "$1localhost");
}
