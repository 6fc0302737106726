// The two cookies of a browser session (docs/decisions/0072).
import { cookieLine, readCookie } from "../cookies.ts";
import { isSecure } from "../sign-in.ts";

/** The path of the session endpoints. Browsers send the session cookie nowhere else. */
export const sessionPath = "/oauth/session";

/** The two cookies of a session. Neither is valid without the other. */
export interface SessionSecrets {
  /** A refresh token. */
  readonly token: string;
  /** Binds the session to this browser. */
  readonly browser: string;
}

/** Returns the header lines that set the cookies for so many milliseconds. */
export function sessionCookies(baseUrl: string, { token, browser }: SessionSecrets, lifeMs: number): string[] {
  const names = cookieNames(baseUrl);
  const common = { sameSite: "Strict", lifeMs, isSecure: isSecure({ baseUrl }) } as const;
  return [
    cookieLine({ name: names.token, value: token, path: sessionPath, ...common }),
    cookieLine({ name: names.browser, value: browser, path: "/", ...common }),
  ];
}

/** Returns the header lines that delete the cookies. */
export function clearedSessionCookies(baseUrl: string): string[] {
  return sessionCookies(baseUrl, { token: "", browser: "" }, 0);
}

/** Reads the cookies of a request. Returns undefined unless each is there exactly once. */
export function readSessionCookies(baseUrl: string, header: string | undefined): SessionSecrets | undefined {
  const names = cookieNames(baseUrl);
  const [token, browser] = [readCookie(header, names.token), readCookie(header, names.browser)];
  return token && browser ? { token, browser } : undefined;
}

/**
 * RFC 6265bis §4.1.3: with these prefixes no unencrypted connection can set the cookies, and no other host the second one.
 * Without TLS, which is for development, the names differ by port: browsers share cookies between the ports of a host.
 */
function cookieNames(baseUrl: string) {
  if (isSecure({ baseUrl })) return { token: "__Secure-gatehouse-session", browser: "__Host-gatehouse-browser" };
  const { port } = new URL(baseUrl);
  return { token: `gatehouse-session-${port}`, browser: `gatehouse-browser-${port}` };
}
