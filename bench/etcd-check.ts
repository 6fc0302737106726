// Whether etcd answers what was put, over both of its transports.
import assert from "node:assert/strict";
import { Client, credentials } from "@grpc/grpc-js";
import { etcdJson, etcdKey, etcdMessage, etcdPaths, etcdValue } from "./etcd.ts";

/** Puts the key over gRPC and reads it over gRPC and JSON. Throws when an answer is not what it should be. */
export async function checkEtcd(port: number): Promise<void> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  try {
    await call(client, etcdPaths.put, etcdMessage(etcdKey, etcdValue));
    const range = await call(client, etcdPaths.range, etcdMessage(etcdKey));
    assert.ok(range.includes(Buffer.from(etcdValue)), "etcd Range over gRPC: the value is missing");
  } finally {
    client.close();
  }
  const reply = await fetch(`http://127.0.0.1:${port}/v3/kv/range`, {
    method: "POST",
    body: etcdJson({ key: etcdKey }),
  });
  const { kvs } = (await reply.json()) as { kvs?: { value: string }[] };
  const value = Buffer.from(kvs?.[0]?.value ?? "", "base64").toString();
  assert.equal(value, etcdValue, "etcd Range over JSON: the value is another");
}

async function call(client: Client, path: string, message: Buffer): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const bytes = (value: Buffer) => value;
    client.makeUnaryRequest(path, bytes, bytes, message, (error, value) => {
      if (error) reject(error);
      else resolve(value ?? Buffer.alloc(0));
    });
  });
}
