// The pages of the sign-in.
import type { HttpRequest } from "../transport/http/message.ts";
import { type PageReply, type Pages, text } from "../transport/pages/pages.ts";
import { callbackPage } from "./callback-page.ts";
import { markup, page } from "./html.ts";
import { callbackPath, donePath, queryOf, type SignInDeps, startPath } from "./sign-in.ts";
import { startPage } from "./start-page.ts";

/** Returns the pages by path. */
export function signInPages(deps: SignInDeps): Pages {
  const callback = callbackPage(deps);
  return {
    [startPath]: startPage(deps),
    [callbackPath]: callback,
    [`${callbackPath}/`]: callback,
    [donePath]: () =>
      page(200, "You are signed in", markup`<p>Go back to the other device. You can close this page.</p>`),
    "/orgcheck": (request) => organizationCheck(deps, request),
  };
}

/** Reports whether users of an organization sign in with their own provider. Answers for verified names only. */
async function organizationCheck(deps: SignInDeps, request: HttpRequest): Promise<PageReply> {
  const name = queryOf(request).get("name") ?? "";
  if (name === "") return text(400, "name is required");
  const answer = await deps.providers.hasProvider(name);
  return { status: 200, contentType: "application/json", text: `${JSON.stringify(answer)}\n` };
}
