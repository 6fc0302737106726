// Tests servers that accept a connection during a sign-in and never respond: the sign-in ends.
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { describe, it, type TestContext } from "node:test";
import { loginHeadless } from "../../src/cli/auth/headless-login.ts";
import { findAmbientToken } from "../../src/cli/auth/identity-token.ts";
import { documentTimeoutMs } from "../../src/cli/client/reach.ts";
import { answerChallenge } from "../../src/cli/registry/sign-in.ts";
import { processShell } from "../../src/cli/shell.ts";

/** Starts a server whose first request is never answered, and times out as soon as it is there. */
async function startSilent(t: TestContext, next: RequestListener = () => {}): Promise<string> {
  const timedOut = new AbortController();
  const timeout = t.mock.method(AbortSignal, "timeout", () => timedOut.signal, { times: 1 });
  const server = createServer((request, response) => {
    if (timedOut.signal.aborted) return next(request, response);
    assert.deepEqual(timeout.mock.calls[0]?.arguments, [documentTimeoutMs]);
    timedOut.abort();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a server that never responds", () => {
  it("fails in time if a CI runner does not return an identity token", async (t) => {
    const url = await startSilent(t);
    const environment = { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: "t" };
    const target = { url, issuer: url, audience: url };
    await assert.rejects(
      findAmbientToken(processShell(environment), target),
      /^CommandFailure: the runner does not answer \(/,
    );
  });

  it("fails in time if a registry's sign-in does not respond", async (t) => {
    const url = await startSilent(t);
    const options = { credentials: undefined, sessionUrl: "http://127.0.0.1:1", sessionToken: async () => "" };
    await assert.rejects(
      answerChallenge(`Bearer realm="${url}"`, "s", options),
      /^CommandFailure: the sign-in of the registry at \S+ does not answer \(/,
    );
  });

  it("ends a sign-in without a browser at its first request", async (t) => {
    const url = await startSilent(t, (_request, response) => response.writeHead(403).end('{"message":"not here"}'));
    const stderr = new PassThrough() as unknown as NodeJS.WriteStream;
    const login = loginHeadless({ ...processShell({}), stderr }, { url, issuer: url, audience: url }, {});
    await assert.rejects(login, /does not answer/);
  });
});
