// Tests the token sources of the client package, and how long it keeps tokens.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it, mock } from "node:test";
import { Code, ConnectError } from "@connectrpc/connect";
import { GroupsService } from "../../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import {
  cachedToken,
  exchangedToken,
  fileToken,
  gitHubActionsToken,
  openClient,
  refreshedToken,
  staticToken,
  type Tokens,
} from "../../../packages/client/src/node.ts";
import { userUid } from "../../../src/services/iam/users/user-uid.ts";
import { answersOf, signInAs, signInUrl } from "../../harness/browser.ts";
import { type IdentityProvider, startIdentityProvider } from "../../harness/identity-provider.ts";
import { rest } from "../../harness/rest.ts";
import { startTestServer, type TestServer } from "../../harness/server.ts";
import { addWorkload, viewerRole } from "../../security/tree.ts";
import { startFailingServer } from "./failing-server.ts";

let server: TestServer;
let provider: IdentityProvider;
let identity: string;
const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-tokens-"));

describe("tokens in the client package", () => {
  before(async () => {
    server = await startTestServer();
    provider = await startIdentityProvider(["deployer"]);
    identity = await addWorkload(server, provider.issuer, "deployer");
    // The person has not signed in yet: the API makes a pre-registered user.
    await rest(server.url, server.ownerToken, "POST", `/iam/v2beta1/roleBindings/${server.groupUid}`, {
      identityUid: userUid(`${server.url}/development/login`, "owner"),
      roleUid: viewerRole.uid,
    });
  });

  after(async () => {
    await provider[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns the number of groups that a client with these tokens sees. */
  async function countGroups(tokens: Tokens): Promise<number> {
    using client = openClient({ url: server.url, tokens });
    return (await client.service(GroupsService).listGroups({})).groups.length;
  }

  /** Writes a token of the deployer to a file, as a kubelet does. */
  async function writeToken(): Promise<string> {
    const file = path.join(folder, "token");
    writeFileSync(file, `${await provider.issueToken("deployer", server.url)}\n`);
    return file;
  }

  describe("tokens for calls", () => {
    it("a single token authenticates calls", async () => {
      assert.equal(await countGroups(staticToken(server.ownerToken)), 1);
      await assert.rejects(countGroups(staticToken("nonsense")), /unauthenticated/);
      assert.equal(await countGroups(staticToken(`${server.ownerToken}\n`)), 1, "as read from a file");
    });

    for (const token of ["", "of two\nlines", "ключ"])
      it(`cannot be ${JSON.stringify(token)}, and the error does not repeat it`, async () => {
        const odd = staticToken(token);
        for (const tokens of [odd, exchangedToken({ subject: odd })])
          await assert.rejects(countGroups(tokens), (error) => {
            assert.match(String(error), /the token is empty, or has a character/);
            return token === "" || !String(error).includes(token);
          });
      });

    it("can be exchanged for that of a file, once for concurrent calls", async () => {
      const file = await writeToken();
      let reads = 0;
      const token = fileToken(file);
      const subject = {
        ...token,
        current() {
          reads++;
          return token.current();
        },
      };
      using client = openClient({ url: server.url, tokens: exchangedToken({ subject, identity }) });
      const groups = client.service(GroupsService);
      await Promise.all([1, 2, 3].map(() => groups.listGroups({})));
      await groups.listGroups({});
      assert.equal(reads, 1);
    });

    it("exchanged tokens can be narrowed", async () => {
      const subject = fileToken(await writeToken());
      await assert.rejects(
        countGroups(exchangedToken({ subject, identity, capabilities: ["repo.list"] })),
        /permission/,
      );
    });

    it("can be exchanged for that of a GitHub Actions job", async () => {
      const asked: string[] = [];
      const runner = createServer(async (request, response) => {
        const { searchParams } = new URL(request.url!, "http://runner");
        asked.push(
          `${request.headers.authorization} ${searchParams.get("audience")} ${searchParams.get("api-version")}`,
        );
        response.end(JSON.stringify({ value: await provider.issueToken("deployer", searchParams.get("audience")!) }));
      });
      await new Promise<void>((resolve) => runner.listen(0, "127.0.0.1", resolve));
      const environment = {
        ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(runner.address() as AddressInfo).port}/?api-version=2.0`,
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of the job",
      };
      const subject = gitHubActionsToken({ audience: server.url, environment });
      assert.equal(await countGroups(exchangedToken({ subject, identity })), 1);
      assert.deepEqual(asked, [`Bearer of the job ${server.url} 2.0`]);
      runner.close();
    });

    it("fail outside of such a job", async () => {
      const subject = gitHubActionsToken({ audience: server.url, environment: {} });
      await assert.rejects(countGroups(exchangedToken({ subject, identity })), /id-token: write/);
    });

    it("can be those of a person, with each refresh token used once and stored before", async () => {
      const url = signInUrl(server.url, { create_refresh_token: "true" });
      const { refresh_token: first = "" } = answersOf(await signInAs("owner", url));
      const stored = [first];
      const tokens = refreshedToken({ load: () => stored.at(-1)!, store: (token) => void stored.push(token) });
      for (const _ of [1, 2]) await countGroups(tokens);
      assert.equal(new Set(stored).size, 3);
    });
  });

  describe("a rejected token", () => {
    it("a rejected token is replaced once", async () => {
      const unauthenticated = new ConnectError("it was retired", Code.Unauthenticated);
      await using failing = await startFailingServer([unauthenticated]);
      let issued = 0;
      const tokens = cachedToken(async () => ({ token: `t${++issued}`, expiresAt: Date.now() + 3_600_000 }));
      using client = openClient({ url: failing.url, tokens });
      await client.service(GroupsService).createGroup({});
      assert.deepEqual(failing.tokens, ["Bearer t1", "Bearer t2"]);
    });

    it("fails if the next one is rejected as well", async () => {
      const unauthenticated = new ConnectError("no", Code.Unauthenticated);
      await using failing = await startFailingServer(Array(9).fill(unauthenticated));
      let issued = 0;
      const tokens = cachedToken(async () => ({ token: `t${++issued}`, expiresAt: Date.now() + 3_600_000 }));
      using client = openClient({ url: failing.url, tokens });
      await assert.rejects(client.service(GroupsService).createGroup({}), /unauthenticated/);
      assert.equal(failing.tokens.length, 2);
    });
  });

  describe("a token that expires", () => {
    const lifeMs = 3_600_000;

    /** Runs a body on a clock of its own, with tokens that are issued unless `isAway`. */
    async function onClock(body: (current: () => Promise<string>, issuer: { isAway: boolean }) => Promise<void>) {
      mock.timers.enable({ apis: ["Date"], now: 0 });
      const issuer = { isAway: false };
      let issued = 0;
      const { current } = cachedToken(async () => {
        if (issuer.isAway) throw new Error("the issuer is away");
        return { token: `t${++issued}`, expiresAt: Date.now() + lifeMs };
      });
      try {
        await body(current, issuer);
      } finally {
        mock.timers.reset();
      }
    }

    it("a token is kept until a minute before its expiry", async () => {
      await onClock(async (current) => {
        assert.equal(await current(), "t1");
        mock.timers.setTime(lifeMs - 60_001);
        assert.equal(await current(), "t1");
        mock.timers.setTime(lifeMs - 60_000);
        assert.equal(await current(), "t2");
      });
    });

    it("a token is used until its expiry if its issuer is unavailable", async () => {
      await onClock(async (current, issuer) => {
        await current();
        issuer.isAway = true;
        mock.timers.setTime(lifeMs - 1);
        assert.equal(await current(), "t1");
        mock.timers.setTime(lifeMs);
        await assert.rejects(current(), /away/);
        issuer.isAway = false;
        assert.equal(await current(), "t2");
      });
    });
  });
});
