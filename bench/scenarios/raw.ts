// The limits that everything else is compared with, measured in the same rounds, and the names of the comparisons.
import { fileURLToPath } from "node:url";
import { GetGroupRequestSchema, ListGroupsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { frameOf, grpcHeaders } from "../grpc-frame.ts";
import { loadHttp1, loadHttp2 } from "../load.ts";
import type { Scenario } from "../scenario.ts";
import { freePort, type ServerProcess, startServerProcess } from "../server-process.ts";

/** The names of the scenarios that are baselines. */
export const rawHttp = "raw node:http";
export const rawHttp2 = "raw node:http2";
export const connectList = "connect-node list of 50";

/** The comparisons that scenarios of several files belong to. */
export const oneOverHttp1 = "one resource over HTTP/1.1";
export const oneOverHttp2 = "one resource over HTTP/2";
export const firstPages = "first pages of 50";
export const durableWrites = "durable writes";

/** Paths of the methods, as gRPC has them. */
export const groupsPath = "/chainguard.platform.iam.v2beta1.GroupsService";

/** The connections of every HTTP/1.1 load unless its scenario is about something else. */
export const http1Connections = 32;

/** Starts the servers without a database. They end with the stack. */
export async function rawScenarios(stack: AsyncDisposableStack): Promise<Scenario[]> {
  const start = async (file: string): Promise<ServerProcess> => {
    const port = await freePort();
    const program = fileURLToPath(new URL(`../servers/${file}`, import.meta.url));
    return stack.use(await startServerProcess(process.execPath, [program, String(port)], port));
  };
  const [http, http2, connect] = [
    await start("raw-http.ts"),
    await start("raw-http2.ts"),
    await start("connect-hello.ts"),
  ];
  const path = `/iam/v2beta1/groups/${"0".repeat(40)}`;
  const grpc = {
    headers: grpcHeaders,
    path: `${groupsPath}/GetGroup`,
    body: frameOf(GetGroupRequestSchema, { uid: "0".repeat(40) }),
  };
  const list = {
    headers: grpcHeaders,
    path: `${groupsPath}/ListGroups`,
    body: frameOf(ListGroupsRequestSchema, { pageSize: 50 }),
  };
  const connectNode = { server: connect, baseline: rawHttp2, isOnlyInFullRuns: true };
  const get = { connections: http1Connections, headers: {}, requests: [{ method: "GET", path }] };
  return [
    {
      name: rawHttp,
      server: http,
      comparison: oneOverHttp1,
      load: (seconds) => loadHttp1({ port: http.port, ...get }, seconds),
    },
    {
      name: rawHttp2,
      server: http2,
      comparison: oneOverHttp2,
      load: (seconds) => loadHttp2({ port: http2.port, ...grpc }, seconds),
    },
    {
      ...connectNode,
      name: "connect-node hello",
      comparison: oneOverHttp2,
      load: (seconds) => loadHttp2({ port: connect.port, ...grpc }, seconds),
    },
    {
      ...connectNode,
      name: connectList,
      comparison: firstPages,
      load: (seconds) => loadHttp2({ port: connect.port, ...list }, seconds),
    },
  ];
}
