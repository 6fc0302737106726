// The loads on servers with generated groups, over REST and gRPC.
import { GetGroupRequestSchema } from "../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { Gatehouse } from "./gatehouse.ts";
import { frameOf, grpcHeaders } from "./grpc-frame.ts";
import { type Http1Load, loadHttp1, loadHttp2 } from "./load.ts";
import type { LoadResult } from "./load-output.ts";
import { groupsPath, http1Connections } from "./scenarios/raw.ts";
import type { Cores } from "./server-process.ts";

/** The path of groups in the REST API. */
export const groupsResource = "/iam/v2beta1/groups";

/** A load's differences from the default of 32 connections from one core. */
export type LoadOptions = Partial<Pick<Http1Load, "connections" | "isBackground" | "cores">>;

type Load = (seconds: number) => Promise<LoadResult>;

/** GetGroup over REST of these groups in turn; of the samples of the generated data when absent. */
export function getGroups(server: Gatehouse, options: LoadOptions = {}, uids = server.landmarks.sampleUids): Load {
  return rest(
    server,
    uids.map((uid) => ({ method: "GET", path: `${groupsResource}/${uid}` })),
    options,
  );
}

/** GetGroup over gRPC, of one group. */
export function getGroupGrpc(
  { port, authorization, landmarks }: Gatehouse,
  cores: Cores = "one",
  uid = landmarks.sampleUids[0]!,
): Load {
  const body = frameOf(GetGroupRequestSchema, { uid });
  const load = { port, headers: { ...grpcHeaders, authorization }, path: `${groupsPath}/GetGroup`, body, cores };
  return (seconds) => loadHttp2(load, seconds);
}

/** Returns the first page of 50 groups by name, with the total. */
export function listGroups(server: Gatehouse, options: LoadOptions = {}): Load {
  return rest(server, [{ method: "GET", path: `${groupsResource}?pageSize=50&orderBy=name` }], options);
}

/** Creates groups in a group that was empty. */
export function createGroups(server: Gatehouse, options: LoadOptions = {}): Load {
  const body = JSON.stringify({ name: "made by the benchmark", description: "One of many" });
  return rest(server, [{ method: "POST", path: `${groupsResource}/${server.landmarks.emptyUid}`, body }], options);
}

function rest({ port, authorization }: Gatehouse, requests: Http1Load["requests"], options: LoadOptions): Load {
  const headers = { authorization, "content-type": "application/json" };
  const load = { port, connections: http1Connections, headers, requests, ...options };
  return (seconds) => loadHttp1(load, seconds);
}
