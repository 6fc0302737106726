// Reads and takes the rows of sign-ins in progress, for the browser that they belong to.
import type { MaybePromise } from "../base/maybe-promise.ts";
import { findSignIn, takeSignIn } from "../storage/sign-in/sign-ins.ts";
import { readCookie } from "./cookies.ts";
import { bindingCookieName, isSameBrowser, openRow, type RowKind, rowId } from "./sealed-row.ts";
import { callbackPath, isSecure, type SignInDeps } from "./sign-in.ts";

/** Returns the content of the row with this state. Returns undefined if there is none, or if it is not that of the browser. */
export async function readStored<T>(
  deps: Pick<SignInDeps, "database" | "clock" | "baseUrl">,
  kind: RowKind,
  state: string,
  cookies: string | undefined,
): Promise<T | undefined> {
  const id = rowId(kind, state);
  const row = await findSignIn(deps.database.session, id);
  const cookie = readCookie(cookies, bindingCookieName(kind, id, isSecure(deps)));
  if (!row || row.expireTime <= deps.clock() || cookie === undefined) return undefined;
  // Prevents login CSRF: a user must not finish what someone else started (RFC 6819 §4.4.1.8).
  return isSameBrowser(kind, row, cookie) ? (openRow(kind, row, state) as T | undefined) : undefined;
}

/** Like `readStored`. Deletes the row: only one caller gets its content. `check` may throw before that. */
export async function takeStored<T>(
  deps: Pick<SignInDeps, "database" | "clock" | "baseUrl">,
  kind: RowKind,
  state: string,
  cookies: string | undefined,
  check: (content: T) => MaybePromise<void> = () => {},
): Promise<T | undefined> {
  const content = await readStored<T>(deps, kind, state, cookies);
  if (content === undefined) return undefined;
  await check(content);
  const context = { actor: "", method: callbackPath, requestId: "", time: deps.clock() };
  const isTaken = await deps.database.write(context, (tx) => takeSignIn(tx, rowId(kind, state)));
  return isTaken ? content : undefined;
}
