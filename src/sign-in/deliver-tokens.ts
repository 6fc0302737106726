// Delivers the tokens of a sign-in.

import { insertHeadlessSession } from "../storage/sign-in/sign-ins.ts";
import { type PageReply, seeOther } from "../transport/pages/pages.ts";
import { codeUsed, encryptFor } from "./headless.ts";
import type { Granted } from "./issue-tokens.ts";
import { signInLimits } from "./limits.ts";
import type { LoginRequest } from "./login-request.ts";
import { withToken } from "./redirect.ts";
import { callbackPath, donePath, type SignInDeps } from "./sign-in.ts";

/** Sends the token to the program on the user's machine, stores it for the device that showed the code, or opens the console. */
export async function deliverTokens(
  deps: SignInDeps,
  target: LoginRequest["target"],
  granted: Granted,
): Promise<PageReply> {
  const { issued, refreshToken, sessionCookies } = granted;
  if ("page" in target) {
    if (target.replaces !== "") await deps.refreshStore.revoke(target.replaces);
    return seeOther(target.page, { "set-cookie": sessionCookies });
  }
  if ("redirect" in target) return seeOther(withToken(target.redirect, issued.token, refreshToken));
  const { publicKey, bytes } = encryptFor(target.headlessCode, issued.token);
  const now = deps.clock();
  const row = {
    code: target.headlessCode,
    publicKey,
    encryptedToken: bytes.toString("base64"),
    expireTime: now + signInLimits.headlessSessionMs,
  };
  const context = { actor: "", method: callbackPath, requestId: "", time: now };
  if (!(await deps.database.write(context, (tx) => insertHeadlessSession(tx, row)))) {
    throw codeUsed();
  }
  // A page with its own address can be reloaded; the callback works only once.
  return seeOther(deps.baseUrl + donePath);
}
