// The audiences that are ours (RFC 7519 §4.1.3), and which texts stand for one of them.

/** Audiences that are accepted. */
export interface Audiences {
  /** As they stand in tokens. */
  readonly names: readonly string[];
  /** The name that a text stands for; undefined when it stands for none of them. */
  find(text: string): string | undefined;
}

/**
 * Audiences of this service: with a slash at the end or without, since clients take the address of a server for one. In development,
 * `localhost`, `127.0.0.1` and `[::1]` are the same server.
 */
export function ownAudiences(names: readonly string[], isDevelopment: boolean): Audiences {
  const keyOf = isDevelopment ? (text: string) => withoutSlash(withLocalhost(text)) : withoutSlash;
  const byKey = new Map(names.toReversed().map((name) => [keyOf(name), name]));
  return { names, find: (text) => byKey.get(keyOf(text)) };
}

/** Audiences to the letter. */
export function exactAudiences(...names: readonly string[]): Audiences {
  return { names, find: (text) => (names.includes(text) ? text : undefined) };
}

/** Those of either. */
export function eitherAudiences(one: Audiences, other: Audiences): Audiences {
  return { names: [...one.names, ...other.names], find: (text) => one.find(text) ?? other.find(text) };
}

/** The audiences of an outside token that names none of an identity's choice: it must be meant for us (security case X10). */
export function defaultAudiences(issuer: string, isDevelopment: boolean): Audiences {
  return ownAudiences([issuer, issuer.replace(/^https?:\/\//, "")], isDevelopment);
}

/** Whether two texts stand for the same audience, where nobody says whether a server is one of development. */
export function isSameAudience(one: string, other: string): boolean {
  return ownAudiences([one], true).find(other) !== undefined;
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}

function withLocalhost(text: string): string {
  return text.replace(/^(https?:\/\/)?(?:127\.0\.0\.1|\[::1\])(?=[:/]|$)/, "$1localhost");
}
