// A write whose deadline has passed, or whose client has left, before the commit is not made: the response never denies a change.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { create, toBinary } from "@bufbuild/protobuf";
import { CreateGroupRequestSchema, GroupSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { rowExists } from "../../src/storage/collection/rows.ts";
import { findSubtreeRows } from "../../src/storage/collection/subtree-rows.ts";
import { groupCollection } from "../../src/storage/iam/collections.ts";
import { writingServers } from "../harness/databases.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { startTestServer, type TestServer } from "../harness/server.ts";

after(stopPostgres);

const path = "/chainguard.platform.iam.v2beta1.GroupsService/CreateGroup";
const deadlineMs = 100;

/** Ways to send a request and give up after a while. Each returns the text of the response; empty if the client has left. */
const clients: Readonly<Record<string, (server: TestServer, name: string) => Promise<string>>> = {
  "Connect with a deadline": ({ url, ...server }, name) => {
    const headers = { "content-type": "application/json", "connect-timeout-ms": `${deadlineMs}` };
    return textOf(server, `${url}${path}`, headers, JSON.stringify(requestOf(server, name)));
  },
  "Connect with compression and a deadline": ({ url, ...server }, name) => {
    const headers = {
      "content-type": "application/json",
      "content-encoding": "gzip",
      "connect-timeout-ms": `${deadlineMs}`,
    };
    return textOf(server, `${url}${path}`, headers, gzipSync(JSON.stringify(requestOf(server, name))));
  },
  "gRPC-web with a deadline": async ({ url, ...server }, name) => {
    const { parent, group } = requestOf(server, name);
    const message = create(CreateGroupRequestSchema, { parent, group: create(GroupSchema, group) });
    const bytes = toBinary(CreateGroupRequestSchema, message);
    const frame = Buffer.concat([Buffer.from([0, 0, 0, 0, bytes.length]), bytes]);
    const headers = { "content-type": "application/grpc-web+proto", "grpc-timeout": `${deadlineMs}m` };
    const text = await textOf(server, `${url}${path}`, headers, frame);
    return text.includes("grpc-status: 4") ? "deadline_exceeded" : text;
  },
  "REST with a client that leaves": ({ url, ...server }, name) => {
    const { parent, group } = requestOf(server, name);
    const address = `${url}/iam/v2beta1/groups/${parent}`;
    const headers = { "content-type": "application/json" };
    const signal = AbortSignal.timeout(deadlineMs);
    return textOf(server, address, headers, JSON.stringify(group), signal).catch(() => "deadline_exceeded");
  },
};

function requestOf({ groupUid }: Pick<TestServer, "groupUid">, name: string) {
  return { parent: groupUid, group: { name } };
}

async function textOf(
  { ownerToken }: Pick<TestServer, "ownerToken">,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<string> {
  const all = { ...headers, authorization: `Bearer ${ownerToken}` };
  const response = await fetch(url, { method: "POST", headers: all, body, ...(signal && { signal }) });
  return `${await response.text()} ${response.headers.get("grpc-status") === "4" ? "deadline_exceeded" : ""}`;
}

for (const [title, options] of Object.entries(writingServers)) {
  describe(`deadlines of writes: ${title}`, () => {
    let server: TestServer;
    before(async () => {
      server = await startTestServer(options);
    });
    after(() => server[Symbol.asyncDispose]());

    /** Runs the function while another write excludes all others, and lets that one end after their deadline. */
    async function whileLocked<T>(run: () => Promise<T>): Promise<T> {
      const { database } = server.server;
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      const { promise: locked, resolve: isLocked } = Promise.withResolvers<void>();
      const context = { actor: "", method: "test", requestId: "", time: server.clock(), isAlone: true };
      const holder = database.write(context, async (tx) => {
        await tx.lockTables([tx.tables.groups as never]);
        isLocked();
        await released;
      });
      await locked;
      const result = run();
      result.catch(() => {});
      await pause(deadlineMs + 300);
      release();
      await holder;
      return await result;
    }

    async function names(): Promise<readonly string[]> {
      const { database } = server.server;
      assert.ok(await rowExists(database.session, groupCollection, server.groupUid));
      const rows = await findSubtreeRows(database.session, groupCollection, server.groupUid, 100);
      return rows.map(({ name }) => name);
    }

    for (const [client, send] of Object.entries(clients)) {
      it(`a write that waited beyond its end is not made: ${client}`, async () => {
        const name = client.toLowerCase();
        const text = await whileLocked(() => send(server, name));
        assert.match(text, /deadline_exceeded/);
        // A later write has the lock only after the earlier one has given up.
        const body = JSON.stringify(requestOf(server, `${name} in time`));
        await textOf(server, `${server.url}${path}`, { "content-type": "application/json" }, body);
        assert.ok(!(await names()).includes(name), "the group exists");
        assert.ok((await names()).includes(`${name} in time`), "the later group does not exist");
      });
    }
  });
}
