// Sources of the tokens of calls.

/** A source of tokens. */
export interface TokenSource {
  /** Returns the token to send. */
  current(): Promise<string>;
  /** Returns another token after the server rejected one; undefined if there is none. */
  renewed(rejected: string): Promise<string | undefined>;
}

/** A token, and when it expires, in milliseconds since the epoch. */
export interface ExpiringToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** Tokens are replaced this long before they expire, or in the second half of a shorter life. */
const marginMs = 60_000;

/** Reports whether a text can be sent as a bearer token (RFC 6750 §2.1). */
export function isBearerToken(text: string): boolean {
  return /^[\w.~+/-]+=*$/.test(text);
}

/** Returns the value of the header that sends a token. */
export function authorizationOf(token: string): string {
  // The error of the header would contain the token.
  if (!isBearerToken(token)) throw new Error("the token is empty, or has a character that a token cannot have");
  return `Bearer ${token}`;
}

/** Returns a source with one token that never changes. It may end with a newline, as in a file. */
export function staticToken(token: string): TokenSource {
  return { current: async () => token.trim(), renewed: async () => undefined };
}

/** Returns a source that reads a token whenever one is needed, for example from a file that another program replaces. */
export function readToken(read: () => Promise<string>): TokenSource {
  return {
    current: read,
    async renewed(rejected) {
      const token = await read();
      return token === rejected ? undefined : token;
    },
  };
}

/** Returns the time in milliseconds since the epoch. */
export type Clock = () => number;

/**
 * Returns a source that keeps a token until shortly before it expires by a clock, that of the system by default. Concurrent calls wait for
 * the same new token.
 */
export function cachedToken(issue: () => Promise<ExpiringToken>, clock: Clock = () => Date.now()): TokenSource {
  let kept: (ExpiringToken & { readonly renewAt: number }) | undefined;
  let issuing: Promise<string> | undefined;
  async function replace(): Promise<string> {
    const now = clock();
    const { token, expiresAt } = await issue();
    kept = { token, expiresAt, renewAt: expiresAt - Math.min(marginMs, (expiresAt - now) / 2) };
    return token;
  }
  function renew(): Promise<string> {
    issuing ??= replace().finally(() => {
      issuing = undefined;
    });
    return issuing;
  }
  return {
    async current() {
      const found = kept;
      if (found === undefined) return await renew();
      if (clock() < found.renewAt) return found.token;
      try {
        return await renew();
      } catch (error) {
        // Its issuer may be back before the token has expired.
        if (clock() < found.expiresAt) return found.token;
        throw error;
      }
    },
    async renewed(rejected) {
      return kept && kept.token !== rejected ? kept.token : await renew();
    },
  };
}
