// Reads of one Gatehouse, whose size is part of the names.
import { GetGroupRequestSchema, ListGroupsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { Gatehouse } from "../gatehouse.ts";
import { frameOf, grpcHeaders } from "../grpc-frame.ts";
import { loadHttp1, loadHttp2 } from "../load.ts";
import type { Scenario } from "../scenario.ts";
import { sizeName } from "../sizes.ts";
import { connectList, groupsPath, http1Connections, rawHttp, rawHttp2 } from "./raw.ts";

const groupsResource = "/iam/v2beta1/groups";
/** How far into a listing the pages lie that are read by cursor. */
const depthOfCursor = 0.8;

/** GetGroup and lists of 50 with their total, through every door. */
export async function readScenarios(gatehouse: Gatehouse): Promise<Scenario[]> {
  const { landmarks } = gatehouse;
  const size = sizeName(landmarks.groups);
  const team = `uidp.descendants_of=${landmarks.teamUid}`;
  const lists = ["uid", "name", "create_time"].map((field) =>
    rest(gatehouse, `list by ${field}`, [`orderBy=${field}`]),
  );
  const deep = ["uid", "name"].map(async (field) =>
    rest(gatehouse, `list by ${field} at 80 %`, [await deepQuery(gatehouse, field)]),
  );
  return [
    getRest(gatehouse, `GetGroup REST ${size}`, http1Connections),
    getConnect(gatehouse, `GetGroup Connect JSON ${size}`),
    grpc(gatehouse, `GetGroup gRPC ${size}`, "application/grpc"),
    grpc(gatehouse, `GetGroup gRPC-web ${size}`, "application/grpc-web+proto"),
    ...lists,
    ...(await Promise.all(deep)),
    rest(gatehouse, `list by uid of ${landmarks.teamSize}`, [team]),
    rest(gatehouse, `list by name of ${landmarks.teamSize}`, [`${team}&orderBy=name`]),
    listGrpc(gatehouse, `list by uid gRPC ${size}`),
  ];
}

/** GetGroup over REST on random rows. */
export function getRest(gatehouse: Gatehouse, name: string, connections: number): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const requests = landmarks.sampleUids.map((uid) => ({ method: "GET", path: `${groupsResource}/${uid}` }));
  const load = { port, connections, headers: { authorization }, requests };
  return { name, server: gatehouse, baseline: rawHttp, load: (seconds) => loadHttp1(load, seconds) };
}

function getConnect(gatehouse: Gatehouse, name: string): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const load = {
    port,
    connections: http1Connections,
    headers: { authorization, "content-type": "application/json" },
    requests: landmarks.sampleUids.map((uid) => ({
      method: "POST",
      path: `${groupsPath}/GetGroup`,
      body: JSON.stringify({ uid }),
    })),
  };
  return { name, server: gatehouse, baseline: rawHttp, load: (seconds) => loadHttp1(load, seconds) };
}

function grpc(gatehouse: Gatehouse, name: string, contentType: string): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const body = frameOf(GetGroupRequestSchema, { uid: landmarks.sampleUids[0]! });
  const headers = { ...grpcHeaders, "content-type": contentType, authorization };
  const load = { port, headers, path: `${groupsPath}/GetGroup`, body };
  return { name, server: gatehouse, baseline: rawHttp2, load: (seconds) => loadHttp2(load, seconds) };
}

function listGrpc(gatehouse: Gatehouse, name: string): Scenario {
  const { port, authorization } = gatehouse;
  const body = frameOf(ListGroupsRequestSchema, { pageSize: 50 });
  const load = { port, headers: { ...grpcHeaders, authorization }, path: `${groupsPath}/ListGroups`, body };
  return { name, server: gatehouse, baseline: connectList, load: (seconds) => loadHttp2(load, seconds) };
}

/** A list of 50 over REST. */
function rest(gatehouse: Gatehouse, name: string, query: readonly string[]): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const path = `${groupsResource}?${["pageSize=50", ...query].join("&")}`;
  const load = { port, connections: http1Connections, headers: { authorization }, requests: [{ method: "GET", path }] };
  return {
    name: `${name} REST ${sizeName(landmarks.groups)}`,
    server: gatehouse,
    baseline: rawHttp,
    load: (seconds) => loadHttp1(load, seconds),
  };
}

/** The query of a page that lies deep in a listing: its page token comes from the page before it. */
async function deepQuery({ url, landmarks, authorization }: Gatehouse, field: string): Promise<string> {
  const skip = Math.floor(landmarks.groups * depthOfCursor);
  const query = `orderBy=${field}&pageSize=50`;
  const reply = await fetch(`${url}${groupsResource}?${query}&skip=${skip}`, { headers: { authorization } });
  const { nextPageToken } = (await reply.json()) as { nextPageToken?: string };
  if (!nextPageToken) throw new Error(`list by ${field}: no page follows the one at ${skip}`);
  return `orderBy=${field}&pageToken=${encodeURIComponent(nextPageToken)}`;
}
