// Clients that read and write through all servers at once, and compare what each of them says.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { DescMethod } from "@bufbuild/protobuf";
import { create, fromBinary, type MessageInitShape, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";

/** A service configuration that any gRPC client understands (https://github.com/grpc/grpc/blob/master/doc/service_config.md). */
const serviceConfig = {
  loadBalancingConfig: [{ round_robin: {} }],
  methodConfig: [
    {
      name: [{}],
      retryPolicy: {
        maxAttempts: 5,
        initialBackoff: "0.1s",
        maxBackoff: "1s",
        backoffMultiplier: 2,
        retryableStatusCodes: ["UNAVAILABLE"],
      },
    },
  ],
};

/** The results of a load so far. */
export interface Results {
  /** Successful calls by the address of the server. */
  readonly calls: Map<string, number>;
  readonly failures: string[];
  /** The uids of the groups that exist. */
  readonly groups: string[];
}

/** A running load. */
export interface Load extends Disposable {
  readonly results: Results;
  /** Resolves once a server has answered this many more calls; rejects at the first failure. */
  answeredBy(address: string, count: number): Promise<void>;
  /** Lets running calls finish. */
  stop(): Promise<void>;
}

const { createGroup, getGroup, updateGroup, deleteGroup, listGroups } = GroupsService.method;

/** Starts clients on all addresses, of which some may not have a server. Each follows GOAWAY and retries UNAVAILABLE. */
export function startLoad(addresses: readonly string[], token: string, parent: string, clients = 8): Load {
  const results: Results = { calls: new Map(), failures: [], groups: [] };
  const channel = new Client(`ipv4:${addresses.join(",")}`, credentials.createInsecure(), {
    "grpc.service_config": JSON.stringify(serviceConfig),
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 500,
  });
  const call = newCaller(channel, token, results);
  let isRunning = true;
  // Another load may have left groups.
  const run = randomBytes(4).toString("hex");
  const loops = Array.from({ length: clients }, async (_, i) => {
    for (let n = 0; isRunning; n++) {
      try {
        await runStory(call, parent, `${run}-${i}-${n}`, results);
      } catch (error) {
        results.failures.push(String(error));
      }
      // Leaves time for the other processes of a small machine.
      await setTimeout(5);
    }
  });
  const stop = async () => {
    isRunning = false;
    await Promise.all(loops);
  };
  return {
    results,
    async answeredBy(address, count) {
      const wanted = (results.calls.get(address) ?? 0) + count;
      while ((results.calls.get(address) ?? 0) < wanted) {
        assert.deepEqual(results.failures, []);
        await setTimeout(20);
      }
    },
    stop,
    [Symbol.dispose]() {
      isRunning = false;
      channel.close();
    },
  };
}

type Call = <M extends DescMethod>(
  method: M,
  request: MessageInitShape<M["input"]>,
) => Promise<MessageShape<M["output"]>>;

/** Any server may answer each of these calls, so one that has not seen the write before fails the story. */
async function runStory(call: Call, parent: string, name: string, { groups }: Results): Promise<void> {
  const { uid } = await call(createGroup, { parent, group: { name, description: "new" } });
  assert.equal((await call(getGroup, { uid })).description, "new");
  await call(updateGroup, { group: { uid, name, description: "changed" }, updateMask: { paths: ["description"] } });
  assert.equal((await call(getGroup, { uid })).description, "changed");
  assert.deepEqual(
    (await call(listGroups, { name })).groups.map((group) => group.uid),
    [uid],
  );
  if (groups.length > 200) {
    await call(deleteGroup, { uid });
    assert.deepEqual((await call(listGroups, { name })).groups, []);
  } else groups.push(uid);
}

function newCaller(channel: Client, token: string, { calls }: Results): Call {
  return <M extends DescMethod>({ parent, name, input, output }: M, request: MessageInitShape<M["input"]>) =>
    new Promise<MessageShape<M["output"]>>((resolve, reject) => {
      const metadata = new Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      const running = channel.makeUnaryRequest(
        `/${parent.typeName}/${name}`,
        () => Buffer.from(toBinary(input, create(input, request))),
        (bytes: Buffer) => fromBinary(output, bytes) as MessageShape<M["output"]>,
        request,
        metadata,
        { deadline: Date.now() + 30_000 },
        (error, response) => {
          const peer = running.getPeer();
          if (error || !response) return reject(new Error(`${name} at ${peer}: ${error?.message}`));
          calls.set(peer, (calls.get(peer) ?? 0) + 1);
          resolve(response);
        },
      );
    });
}
