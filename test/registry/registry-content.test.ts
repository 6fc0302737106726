// Reading from the registry for responses: how much at a time, and what counts as read.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { describe, it } from "node:test";
import { ApiError, codeName } from "../../src/aip/errors.ts";
import { readingLimits } from "../../src/registry-contents/limits.ts";
import { registryContent } from "../../src/registry-contents/registry-content.ts";
import type { FetchContent } from "../../src/registry-notifications/image.ts";
import { insertRow } from "../../src/storage/collection/rows.ts";
import { groupRow, groups, repoRow, repos, write } from "../storage/fixtures.ts";
import { openSqliteStore } from "../storage/stores.ts";

const bytes = Buffer.from("{}");
const digest = `sha256:${hash("sha256", bytes)}`;

/** Returns a store with organizations that have one repo each, and a reader for them. */
async function arrange(organizations: number, fetch: FetchContent) {
  const store = await openSqliteStore();
  const repoUids: string[] = [];
  await write(store.database, async (tx) => {
    for (let i = 0; i < organizations; i++) {
      const group = groupRow(null, i);
      const repo = { ...repoRow(group.uid, organizations + i), name: "shop" };
      await insertRow(tx, groups, group);
      await insertRow(tx, repos, repo);
      repoUids.push(repo.uid);
    }
  });
  const names = { registryGroup: "", maxDepth: 32 };
  const content = registryContent(store.database, { documents: fetch, manifests: fetch }, names);
  return { content, repoUids, [Symbol.asyncDispose]: () => store[Symbol.asyncDispose]() };
}

const codeOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "OK",
    (error: unknown) => (error instanceof ApiError ? codeName(error.code) : String(error)),
  );

describe("reading from the registry for responses", () => {
  it("an organization that waits for the registry leaves room for the others, and all together have a limit", async () => {
    const { reads, readsOfOrganization } = readingLimits;
    const waiting: (() => void)[] = [];
    const fetch: FetchContent = () => new Promise((resolve) => waiting.push(() => resolve(bytes)));
    await using at = await arrange(reads / readsOfOrganization + 1, fetch);
    const [first, ...others] = at.repoUids as [string, ...string[]];
    const read = (repoUid: string) => codeOf(at.content.readBlob(repoUid, digest));
    const running = Array.from({ length: readsOfOrganization }, () => read(first));
    assert.equal(await read(first), "RESOURCE_EXHAUSTED");
    const last = others.pop()!;
    for (const other of others) running.push(...Array.from({ length: readsOfOrganization }, () => read(other)));
    assert.equal(await read(last), "RESOURCE_EXHAUSTED");
    while (waiting.length < reads) await new Promise((resolve) => setImmediate(resolve));
    for (const finish of waiting.splice(0)) finish();
    assert.deepEqual(new Set(await Promise.all(running)), new Set(["OK"]));
    const again = read(last);
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    waiting[0]!();
    assert.equal(await again, "OK");
  });

  it("content with another digest counts as absent", async () => {
    await using at = await arrange(1, async () => Buffer.from("[]"));
    const [repoUid] = at.repoUids as [string];
    assert.equal(await at.content.readBlob(repoUid, digest), undefined);
    assert.equal(await at.content.readConfiguration(repoUid, digest, "amd64"), undefined);
  });
});
