// Reads of one Gatehouse, whose size is part of the names.
import { GetGroupRequestSchema, ListGroupsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { Gatehouse } from "../gatehouse.ts";
import { frameOf, grpcHeaders } from "../grpc-frame.ts";
import { loadHttp1, loadHttp2 } from "../load.ts";
import type { Scenario } from "../scenario.ts";
import { sizeName } from "../sizes.ts";
import {
  connectList,
  firstPages,
  groupsPath,
  http1Connections,
  oneOverHttp1,
  oneOverHttp2,
  rawHttp,
  rawHttp2,
} from "./raw.ts";

const groupsResource = "/iam/v2beta1/groups";
/** How many pages, and groups, are read that lie all over a listing. */
const scatteredPages = 900;
const scatteredGroups = 20_000;
/** As many groups as a page can have. */
const maxPage = 200;

/** GetGroup and lists of 50 with their total, through every transport. */
export async function readScenarios(gatehouse: Gatehouse): Promise<Scenario[]> {
  const { landmarks } = gatehouse;
  const size = sizeName(landmarks.groups);
  const team = `uidp.descendants_of=${landmarks.teamUid}`;
  const lists = ["uid", "name", "create_time"].map((field) =>
    rest(gatehouse, `list by ${field}`, firstPages, [`orderBy=${field}`]),
  );
  const scattered = ["uid", "name", "create_time"].map(async (field) =>
    rest(gatehouse, `list by ${field}, scattered`, "scattered lists", await scatteredQueries(gatehouse, field)),
  );
  return [
    getRest(gatehouse, `GetGroup REST ${size}`, http1Connections, oneOverHttp1),
    ...(landmarks.groups < scatteredGroups ? [] : [await getScattered(gatehouse, `GetGroup, scattered REST ${size}`)]),
    getConnect(gatehouse, `GetGroup Connect JSON ${size}`),
    grpc(gatehouse, `GetGroup gRPC ${size}`, "application/grpc"),
    grpc(gatehouse, `GetGroup gRPC-web ${size}`, "application/grpc-web+proto"),
    ...lists,
    ...(await Promise.all(scattered)),
    rest(gatehouse, `list by uid of ${landmarks.teamSize}`, firstPages, [team]),
    rest(gatehouse, `list by name of ${landmarks.teamSize}`, firstPages, [`${team}&orderBy=name`]),
    listGrpc(gatehouse, `list by uid gRPC ${size}`),
  ];
}

/** GetGroup over REST on a thousand random rows, again and again. */
export function getRest(gatehouse: Gatehouse, name: string, connections: number, comparison: string): Scenario {
  return getGroups(gatehouse, name, connections, comparison, gatehouse.landmarks.sampleUids);
}

/** GetGroup over REST on more rows than are remembered, from all over the tree. */
async function getScattered(gatehouse: Gatehouse, name: string): Promise<Scenario> {
  const { url, landmarks, authorization } = gatehouse;
  const uids: string[] = [];
  for (let i = 0; i < scatteredGroups / maxPage; i++) {
    const skip = Math.floor((i * landmarks.groups * maxPage) / scatteredGroups);
    const reply = await fetch(`${url}${groupsResource}?pageSize=${maxPage}&skip=${skip}`, {
      headers: { authorization },
    });
    const { groups } = (await reply.json()) as { groups: readonly { readonly uid: string }[] };
    uids.push(...groups.map(({ uid }) => uid));
  }
  // Not neighbour after neighbour: those share a page of the database.
  const mixed = uids.map((_, i) => uids[(i * 7919) % uids.length]!);
  return getGroups(gatehouse, name, http1Connections, oneOverHttp1, mixed);
}

function getGroups(
  gatehouse: Gatehouse,
  name: string,
  connections: number,
  comparison: string,
  uids: readonly string[],
): Scenario {
  const { port, authorization } = gatehouse;
  const requests = uids.map((uid) => ({ method: "GET", path: `${groupsResource}/${uid}` }));
  const load = { port, connections, headers: { authorization }, requests };
  return { name, server: gatehouse, comparison, baseline: rawHttp, load: (seconds) => loadHttp1(load, seconds) };
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
  const compared = { comparison: oneOverHttp1, baseline: rawHttp };
  return { name, server: gatehouse, ...compared, load: (seconds) => loadHttp1(load, seconds) };
}

function grpc(gatehouse: Gatehouse, name: string, contentType: string): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const body = frameOf(GetGroupRequestSchema, { uid: landmarks.sampleUids[0]! });
  const headers = { ...grpcHeaders, "content-type": contentType, authorization };
  const load = { port, headers, path: `${groupsPath}/GetGroup`, body };
  const compared = { comparison: oneOverHttp2, baseline: rawHttp2 };
  return { name, server: gatehouse, ...compared, load: (seconds) => loadHttp2(load, seconds) };
}

function listGrpc(gatehouse: Gatehouse, name: string): Scenario {
  const { port, authorization } = gatehouse;
  const body = frameOf(ListGroupsRequestSchema, { pageSize: 50 });
  const load = { port, headers: { ...grpcHeaders, authorization }, path: `${groupsPath}/ListGroups`, body };
  const compared = { comparison: firstPages, baseline: connectList };
  return { name, server: gatehouse, ...compared, load: (seconds) => loadHttp2(load, seconds) };
}

/** Lists of 50 over REST, by these queries in turn. */
function rest(gatehouse: Gatehouse, name: string, comparison: string, queries: readonly string[]): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const requests = queries.map((query) => ({ method: "GET", path: `${groupsResource}?pageSize=50&${query}` }));
  const load = { port, connections: http1Connections, headers: { authorization }, requests };
  return {
    name: `${name} REST ${sizeName(landmarks.groups)}`,
    server: gatehouse,
    comparison,
    baseline: rawHttp,
    load: (seconds) => loadHttp1(load, seconds),
  };
}

/** Queries of pages that lie all over a listing, more than are remembered: their page tokens come from the rows before them. */
async function scatteredQueries({ url, landmarks, authorization }: Gatehouse, field: string): Promise<string[]> {
  const queries: string[] = [];
  for (let i = 0; i < scatteredPages; i++) {
    const skip = Math.floor((i * (landmarks.groups - 100)) / scatteredPages);
    const path = `${groupsResource}?orderBy=${field}&pageSize=1&skip=${skip}`;
    const reply = await fetch(`${url}${path}`, { headers: { authorization } });
    const { nextPageToken } = (await reply.json()) as { nextPageToken?: string };
    if (!nextPageToken) throw new Error(`list by ${field}: no page follows the one at ${skip}`);
    queries.push(`orderBy=${field}&pageToken=${encodeURIComponent(nextPageToken)}`);
  }
  return queries;
}
