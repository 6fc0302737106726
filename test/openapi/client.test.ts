// A client that is generated from the document that a server serves: its types, and what it sends and receives.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { startTestServer, type TestServer } from "../harness/server.ts";

const root = path.resolve(import.meta.dirname, "../..");
const generator = path.join(root, "test/openapi/generator/node_modules/.bin/openapi-typescript");

describe("a generated client", () => {
  let server: TestServer;
  let directory: string;
  /** The directory of the repository, since packages are looked for above the client. */
  before(async () => {
    server = await startTestServer();
    mkdirSync(path.join(root, ".cache"), { recursive: true });
    directory = mkdtempSync(path.join(root, ".cache/openapi-client-"));
    cpSync(path.join(root, "test/openapi/client"), directory, { recursive: true });
    const document = path.join(directory, "v2beta1.json");
    writeFileSync(document, await (await fetch(`${server.url}/openapi/v2beta1.json`)).text());
    run(process.execPath, generator, document, "-o", path.join(directory, "v2beta1.ts"));
  });
  after(async () => {
    rmSync(directory, { recursive: true, force: true });
    await server[Symbol.asyncDispose]();
  });

  it("compiles, and wrong use of it does not", () => {
    const tsconfig = { extends: path.join(root, "tsconfig.json"), include: ["*.ts"] };
    writeFileSync(path.join(directory, "tsconfig.json"), JSON.stringify(tsconfig));
    run(path.join(root, "node_modules/.bin/tsc"), "--noEmit", "-p", directory);
  });

  it("lists, creates, gets, changes and deletes, and has errors as data", async () => {
    const { openClient, reasonOf } = await import(pathToFileURL(path.join(directory, "client.ts")).href);
    const sent: Request[] = [];
    const client = openClient(server.url, server.ownerToken, (request: Request) => {
      sent.push(request);
      return fetch(request);
    });
    /** Returns the last request, with its path below `groups`. */
    const last = () => {
      const { method, url, headers } = sent.at(-1)!;
      return [method, url.slice(`${server.url}/iam/v2beta1/groups`.length), headers.get("content-type")];
    };

    assert.deepEqual(
      (await client.listRoots()).map(({ uid }: { uid: string }) => uid),
      [server.groupUid],
    );
    assert.deepEqual(last(), ["GET", "?uidp.inRoot=true", null]);

    const { uid } = await client.create(server.groupUid, "first");
    assert.deepEqual(last(), ["POST", `/${server.groupUid}`, "application/json"]);
    const other = await client.create(server.groupUid, "second");

    const listed = await client.list([uid, other.uid]);
    assert.deepEqual(
      listed.map(({ name }: { name: string }) => name),
      ["second", "first"],
    );
    const [a, b] = [uid, other.uid].map(encodeURIComponent);
    assert.deepEqual(last(), ["GET", `?pageSize=2&uidp.ids=${a}&uidp.ids=${b}&orderBy=name%20desc`, null]);

    assert.equal((await client.get(uid)).name, "first");
    assert.deepEqual(last(), ["GET", `/${server.groupUid}%2F${uid.split("/")[1]}`, null]);

    assert.equal((await client.rename(uid, "renamed")).name, "renamed");
    assert.deepEqual(last(), ["PATCH", `/${a}?updateMask=name`, "application/json"]);

    assert.equal(await client.remove(uid), undefined);
    assert.deepEqual(last(), ["DELETE", `/${a}`, null]);

    const failure = await client.get(uid);
    assert.deepEqual([failure.code, reasonOf(failure)], [5, "NOT_FOUND"]);
  });
});

/** Runs a program; what it prints is in the error when it fails. */
function run(program: string, ...args: string[]): void {
  try {
    execFileSync(program, args, { cwd: root, stdio: "pipe", encoding: "utf8" });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${path.basename(program)}: ${stdout}${stderr}`, { cause: error });
  }
}
