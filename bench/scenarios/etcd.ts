// etcd's Range and Put, over gRPC and through its JSON gateway, by the same generators.
import { etcdJson, etcdKey, etcdMessage, etcdPaths, etcdValue, startEtcd } from "../etcd.ts";
import { checkEtcd } from "../etcd-check.ts";
import { frame, grpcHeaders } from "../grpc-frame.ts";
import { loadHttp1, loadHttp2 } from "../load.ts";
import type { Scenario } from "../scenario.ts";
import { durableWrites, http1Connections, oneOverHttp1, oneOverHttp2, rawHttp, rawHttp2 } from "./raw.ts";

/** Starts etcd, checks its answers, and measures it. It ends with the stack. */
export async function etcdScenarios(stack: AsyncDisposableStack): Promise<Scenario[]> {
  const server = stack.use(await startEtcd());
  const { port } = server;
  await checkEtcd(port);
  const grpc = (name: string, comparison: string, path: string, message: Buffer): Scenario => ({
    name,
    server,
    comparison,
    baseline: rawHttp2,
    load: (seconds) => loadHttp2({ port, headers: grpcHeaders, path, body: frame(message) }, seconds),
  });
  const json = (name: string, comparison: string, path: string, body: string): Scenario => ({
    name,
    server,
    comparison,
    baseline: rawHttp,
    load: (seconds) =>
      loadHttp1(
        {
          port,
          connections: http1Connections,
          headers: { "content-type": "application/json" },
          requests: [{ method: "POST", path, body }],
        },
        seconds,
      ),
  });
  return [
    grpc("etcd Range gRPC", oneOverHttp2, etcdPaths.range, etcdMessage(etcdKey)),
    json("etcd Range JSON", oneOverHttp1, "/v3/kv/range", etcdJson({ key: etcdKey })),
    grpc("etcd Put gRPC", durableWrites, etcdPaths.put, etcdMessage(etcdKey, etcdValue)),
    json("etcd Put JSON", durableWrites, "/v3/kv/put", etcdJson({ key: etcdKey, value: etcdValue })),
  ];
}
