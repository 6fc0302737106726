// Sign-in with a browser on this machine: the token returns to a local port and a state that only this sign-in knows.
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { isSameSecret } from "../../base/secret-text.ts";
import type { Target } from "../client/credential.ts";
import { printable } from "../escape.ts";
import { CommandFailure } from "../failure.ts";
import { note, type Shell } from "../shell.ts";
import { type LoginOptions, loginAddress } from "./login-address.ts";
import { startWaiting } from "./waiting.ts";

/** The tokens of a sign-in. The refresh token is empty unless one was issued. */
export interface SignedIn {
  readonly token: string;
  readonly refreshToken: string;
}

const done = pageOf("You are signed in", "This window can be closed.");
const failed = pageOf("You are not signed in", "The command line says why.");
const unknown = pageOf("Not found", "This is not the sign-in that the command line waits for.");

/** Opens the browser, or prints the address, and waits for the token. */
export async function loginInBrowser(
  shell: Shell,
  target: Target,
  options: LoginOptions & { readonly browser?: boolean },
): Promise<SignedIn> {
  const state = randomBytes(16).toString("hex");
  const signedIn = Promise.withResolvers<SignedIn>();
  const shown = Promise.withResolvers<void>();
  const server = createServer((request, response) => {
    response.on("close", () => request.url === "/" && shown.resolve());
    answer(request, response, state, signedIn);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  using waiting = startWaiting(shell);
  waiting.signal.addEventListener("abort", () => signedIn.reject(waiting.signal.reason));
  try {
    const { port } = server.address() as AddressInfo;
    // The state prevents other pages from passing us a token of theirs (RFC 6749 §10.12).
    const redirect = `http://localhost:${port}/callback?token=true&error=true&state=${state}`;
    const address = loginAddress(target, options, { exit: "redirect", redirect });
    note(shell, `Sign in with a browser at\n\n  ${address}\n`);
    // Not awaited: a fast user, or one who opens the address elsewhere, returns before the browser is found.
    if (options.browser !== false) void openBrowser(address);
    const tokens = await signedIn.promise;
    // The browser still requests the page that it was redirected to.
    await Promise.race([shown.promise, sleep(2_000, undefined, { ref: false })]);
    return tokens;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  state: string,
  waiter: PromiseWithResolvers<SignedIn>,
): void {
  const url = URL.parse(request.url ?? "", "http://localhost");
  const query = url?.searchParams ?? new URLSearchParams();
  if (url?.pathname === "/") page(response, 200, done);
  else if (url?.pathname !== "/callback" || !isSameSecret(query.get("state") ?? "", state))
    page(response, 404, unknown);
  else if (["", "true"].includes(query.get("token") ?? "")) {
    page(response, 400, failed);
    waiter.reject(refusal(query));
  } else {
    // Removes the token from the address bar before anything is shown.
    response.writeHead(308, { location: "/", "cache-control": "no-store" }).end();
    waiter.resolve({ token: query.get("token") ?? "", refreshToken: query.get("refresh_token") ?? "" });
  }
}

function refusal(query: URLSearchParams): CommandFailure {
  const hint =
    query.get("status_code") === "404"
      ? "There is no account for you here. With an invite, sign in with --invite-code CODE."
      : "";
  return new CommandFailure(`not signed in: ${printable(query.get("error") ?? "the server did not say why")}`, {
    hint,
  });
}

/** As plain as the server's pages, and without style: browsers have one for light and dark. */
function pageOf(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - Gatehouse</title>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>
</main>
</body>
</html>
`;
}

function page(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    connection: "close",
  });
  response.end(body);
}

/** Never rejects: without a browser, the printed address is enough. */
async function openBrowser(address: string): Promise<void> {
  try {
    const { default: open } = await import("open");
    const child = await open(address);
    child.on("error", () => {});
  } catch {}
}
