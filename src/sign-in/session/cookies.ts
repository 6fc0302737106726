// The two cookies of a browser session (docs/decisions/0072).

/** The path of the session endpoints. Browsers send the session cookie nowhere else. */
export const sessionPath = "/oauth/session";

/** What the browser holds of a session. Neither is valid without the other. */
export interface SessionSecrets {
  /** A refresh token. */
  readonly token: string;
  /** Binds the session to this browser. */
  readonly browser: string;
}

/** Returns the header lines that set the cookies for so many milliseconds. */
export function sessionCookies(baseUrl: string, { token, browser }: SessionSecrets, lifeMs: number): string[] {
  const names = cookieNames(baseUrl);
  const seconds = Math.floor(lifeMs / 1000);
  const attributes = ["HttpOnly", "SameSite=Strict", `Max-Age=${seconds}`, ...(names.isSecure ? ["Secure"] : [])];
  return [
    [`${names.token}=${token}`, `Path=${sessionPath}`, ...attributes].join("; "),
    [`${names.browser}=${browser}`, "Path=/", ...attributes].join("; "),
  ];
}

/** Returns the header lines that delete the cookies. */
export function clearedSessionCookies(baseUrl: string): string[] {
  return sessionCookies(baseUrl, { token: "", browser: "" }, 0);
}

/**
 * Reads the cookies of a request. Returns undefined unless each is there exactly once: another host of the same domain can
 * add a cookie of the same name (RFC 6265bis §8.6).
 */
export function readSessionCookies(baseUrl: string, header: string | undefined): SessionSecrets | undefined {
  const names = cookieNames(baseUrl);
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  const only = (name: string) => {
    const found = pairs.filter((pair) => pair.startsWith(`${name}=`));
    return found.length === 1 ? found[0]!.slice(name.length + 1) : "";
  };
  const secrets = { token: only(names.token), browser: only(names.browser) };
  return secrets.token === "" || secrets.browser === "" ? undefined : secrets;
}

/**
 * RFC 6265bis §4.1.3: with these prefixes no unencrypted connection can set the cookies, and no other host the second one.
 * Without TLS, which is for development, the names differ by port: browsers share cookies between the ports of a host.
 */
function cookieNames(baseUrl: string) {
  const { protocol, port } = new URL(baseUrl);
  const isSecure = protocol === "https:";
  if (isSecure) return { isSecure, token: "__Secure-gatehouse-session", browser: "__Host-gatehouse-browser" };
  return { isSecure, token: `gatehouse-session-${port}`, browser: `gatehouse-browser-${port}` };
}
