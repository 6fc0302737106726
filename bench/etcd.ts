// etcd on the same core, and what it is asked: one key of the size of a group.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { freePort, type ServerProcess, startServerProcess } from "./server-process.ts";

/** The key and the value that are put and read. */
export const etcdKey = "5f3c1a9e0b7d42688c1e5a3f7b9d0c2e4f6a8b0d/0123456789abcdef/fedcba9876543210";
export const etcdValue = "v".repeat(143);

/** The paths of the methods over gRPC. */
export const etcdPaths = { range: "/etcdserverpb.KV/Range", put: "/etcdserverpb.KV/Put" } as const;

/** Starts etcd alone, on one processor, with its data in a temporary folder. */
export async function startEtcd(): Promise<ServerProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), "gatehouse-etcd-"));
  const [port, peerPort] = [await freePort(), await freePort()];
  const [client, peer] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const flags = {
    "data-dir": folder,
    "listen-client-urls": client,
    "advertise-client-urls": client,
    "listen-peer-urls": peer,
    "initial-advertise-peer-urls": peer,
    "initial-cluster": `default=${peer}`,
    logger: "zap",
    "log-level": "error",
  };
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
  const environment = { ...process.env, GOMAXPROCS: "1" };
  // It complains of every connection that a load generator leaves at its end.
  const server = await startServerProcess("etcd", args, port, { environment, stderr: "ignore" });
  return {
    ...server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The protobuf of RangeRequest and PutRequest: field 1 is the key, field 2 the value; both are shorter than 128. */
export function etcdMessage(...fields: readonly string[]): Buffer {
  return Buffer.concat(fields.flatMap((text, i) => [lengthPrefix(i + 1, Buffer.byteLength(text)), Buffer.from(text)]));
}

function lengthPrefix(field: number, length: number): Buffer {
  const tag = (field << 3) | 2;
  return Buffer.from(length < 128 ? [tag, length] : [tag, (length & 127) | 128, length >> 7]);
}

/** The same for the JSON gateway, which takes bytes as base64. */
export function etcdJson(fields: Readonly<Record<string, string>>): string {
  const entries = Object.entries(fields).map(([name, text]) => [name, Buffer.from(text).toString("base64")]);
  return JSON.stringify(Object.fromEntries(entries));
}
