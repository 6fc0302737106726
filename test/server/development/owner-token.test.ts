// The owner's token of a development server, as people find it in its file.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startDevelopmentServer } from "../../documentation/development-server.ts";
import { freePort } from "../../harness/postgres.ts";
import { rest } from "../../harness/rest.ts";

describe("the owner's token of a development server", () => {
  it("is renewed once its signing key has been retired", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-owner-token-"));
    try {
      const listen = `127.0.0.1:${await freePort()}`;
      await using _server = await startDevelopmentServer(path.join(folder, "data"), listen);
      const token = () => readFileSync(path.join(folder, "data/owner-token"), "utf8");
      const call = (method: string, at: string, body?: object) => rest(`http://${listen}`, token(), method, at, body);
      const before = token();
      const { kid } = JSON.parse(Buffer.from(before.split(".")[0]!, "base64url").toString());
      assert.equal((await call("POST", "/gatehouse/operate/v1/signingKeys:rotate", {})).status, 200);
      assert.equal((await call("POST", `/gatehouse/operate/v1/signingKeys/${kid}:retire`, {})).status, 200);
      while (token() === before) await pause(50);
      assert.equal((await call("GET", "/auth/v1/ok")).status, 200);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
