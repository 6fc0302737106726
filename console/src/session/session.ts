// The session of this browser. The API token lives here and nowhere else: not in storage, not in an address.
import { useSyncExternalStore } from "react";

/** The state of the session, as far as the page knows it. */
export type SessionState = "unknown" | "signed-in" | "signed-out";

/** The server rejected the session or does not respond. `status` is 0 without a response. */
export class SessionError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A token with less time than this is replaced before it is used. */
const marginMs = 30_000;

let token = "";
let expiresAt = 0;
let identity = "";
let state: SessionState = "unknown";
let pending: Promise<string> | undefined;
const listeners = new Set<() => void>();

/** Changed by each sign-out. A tab that finds another value than it began with was signed out, also when it slept meanwhile. */
const signOutMark = "gatehouse-signed-out";
const markAtStart = localStorage.getItem(signOutMark);
addEventListener("storage", () => leaveIfSignedOut());
// The browser shows a page of its history as it was (https://web.dev/articles/bfcache).
addEventListener("pageshow", ({ persisted }) => persisted && checkSession());
document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && checkSession());

/** Returns the state of the session, and renders again when it changes. */
export function useSessionState(): SessionState {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => state,
  );
}

/** Returns a valid API token. Rejects with a SessionError if the browser has no session. */
export async function apiToken(): Promise<string> {
  if (expiresAt - Date.now() > marginMs) return token;
  pending ??= renew().finally(() => {
    pending = undefined;
  });
  return await pending;
}

/** Drops the token, which the server has rejected: the next call gets another one. */
export function dropToken(): void {
  expiresAt = 0;
}

async function renew(): Promise<string> {
  try {
    const issued = await post<{ token: string; expireTime: string; identity: string }>("token");
    // Someone else has signed in, in another tab: nothing that this page shows is theirs.
    if (identity !== "" && identity !== issued.identity) location.reload();
    // The clocks of server and browser may differ: a token of ten minutes is used for eight.
    token = issued.token;
    expiresAt = Date.now() + 8 * 60_000 + marginMs;
    identity = issued.identity;
    claimStorage();
    setState("signed-in");
    return token;
  } catch (error) {
    if (error instanceof SessionError && error.status === 401) {
      // The person at the screen now may be another one than the one who has read it.
      if (state === "signed-in") location.reload();
      forget();
    }
    throw error;
  }
}

/** Goes to the login provider. The browser comes back to the page that it is on. */
export async function signIn(parameters: Readonly<Record<string, string>> = {}): Promise<void> {
  const page = location.pathname + location.search;
  const { url } = await post<{ url: string }>("sign-in", { page, ...parameters });
  location.assign(url);
}

/** Ends the session. All tabs go to the sign-in page and drop what they have read. */
export async function signOut(): Promise<void> {
  await post("sign-out");
  localStorage.setItem(signOutMark, crypto.randomUUID());
  leave();
}

/** Empties the storage of the tab if someone else has used it: forms keep there what was typed (shell/draft.ts). */
function claimStorage(): void {
  const name = "gatehouse-person";
  if (sessionStorage.getItem(name) === identity) return;
  sessionStorage.clear();
  sessionStorage.setItem(name, identity);
}

function leaveIfSignedOut(): boolean {
  const isOut = state !== "signed-out" && localStorage.getItem(signOutMark) !== markAtStart;
  if (isOut) leave();
  return isOut;
}

/** Goes to the sign-in page. A new document has nothing of what this one has read; until it is there, nothing is shown. */
function leave(): void {
  const isConsole = location.pathname.startsWith("/console/");
  sessionStorage.clear();
  forget();
  if (isConsole) location.replace("/console/");
  else location.reload();
}

/** Asks the server whether the session still exists: it may have ended elsewhere while the page was not looked at. */
function checkSession(): void {
  if (leaveIfSignedOut() || state !== "signed-in") return;
  // Other failures say nothing about the session.
  renew().catch(() => {});
}

/** A session of the person. */
export interface ListedSession {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly isBrowser: boolean;
  readonly createTime: string;
  readonly expireTime: string;
  readonly lastUseTime?: string;
  readonly client?: string;
  readonly userAgent?: string;
}

/** Lists the sessions of the person. */
export async function listSessions(): Promise<readonly ListedSession[]> {
  return (await post<{ sessions: ListedSession[] }>("list")).sessions;
}

/** Ends a session of the person. */
export async function endSession(id: string): Promise<void> {
  await post("revoke", { id });
}

/** Ends all sessions of the person but this one. */
export async function endOtherSessions(): Promise<void> {
  await post("revoke-others");
}

function forget(): void {
  token = "";
  expiresAt = 0;
  setState("signed-out");
}

function setState(next: SessionState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

async function post<T>(name: string, body: object = {}): Promise<T> {
  const response = await fetch(`/oauth/session/${name}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new SessionError(0, "the server does not respond");
  });
  const content = (await response.json().catch(() => ({}))) as T & { message?: string };
  if (!response.ok) throw new SessionError(response.status, content.message ?? response.statusText);
  return content;
}
