// Reads of one Gatehouse, whose size is part of the names.
import { GetGroupRequestSchema, ListGroupsRequestSchema } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { onceLoaded } from "../../src/base/lazy.ts";
import type { Gatehouse } from "../gatehouse.ts";
import { getGroups, groupsResource } from "../groups-load.ts";
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

/** The numbers of pages and of groups to read, spread over a listing. */
const scatteredPages = 900;
const scatteredGroups = 20_000;
/** As many groups as a page can have. */
const maxPage = 200;

/** Reads over REST whose cost may grow with the number of groups: GetGroup, and lists of 50 with their total. */
export function growingReads(gatehouse: Gatehouse): Scenario[] {
  const { landmarks } = gatehouse;
  const size = sizeName(landmarks.groups);
  return [
    getRest(gatehouse, `GetGroup REST ${size}`, http1Connections, oneOverHttp1),
    ...(landmarks.groups < scatteredGroups ? [] : [getScattered(gatehouse, `GetGroup, scattered REST ${size}`)]),
    list(gatehouse, "uid"),
    scatteredList(gatehouse, "uid"),
    ...[list(gatehouse, "name"), scatteredList(gatehouse, "name")].map(inFullRuns),
  ];
}

/** Returns the same reads through the other transports, and lists in another order and of another parent. */
export function otherReads(gatehouse: Gatehouse): Scenario[] {
  const size = sizeName(gatehouse.landmarks.groups);
  return [
    getConnect(gatehouse, `GetGroup Connect JSON ${size}`),
    grpc(gatehouse, `GetGroup gRPC ${size}`, "application/grpc"),
    ...[
      grpc(gatehouse, `GetGroup gRPC-web ${size}`, "application/grpc-web+proto"),
      list(gatehouse, "create_time"),
      teamList(gatehouse),
      listGrpc(gatehouse, `list by uid gRPC ${size}`),
      scatteredList(gatehouse, "create_time"),
    ].map(inFullRuns),
  ];
}

function inFullRuns(scenario: Scenario): Scenario {
  return { ...scenario, isOnlyInFullRuns: true };
}

function list(gatehouse: Gatehouse, field: string): Scenario {
  return rest(gatehouse, `list by ${field}`, firstPages, async () => [`orderBy=${field}`]);
}

function teamList(gatehouse: Gatehouse): Scenario {
  const { teamUid, teamSize } = gatehouse.landmarks;
  const query = `uidp.descendants_of=${teamUid}&orderBy=name`;
  return rest(gatehouse, `list by name of ${teamSize}`, firstPages, async () => [query]);
}

function scatteredList(gatehouse: Gatehouse, field: string): Scenario {
  const queries = () => scatteredQueries(gatehouse, field);
  return rest(gatehouse, `list by ${field}, scattered`, "scattered lists", queries);
}

/** GetGroup over REST on a thousand random rows, again and again. */
export function getRest(gatehouse: Gatehouse, name: string, connections: number, comparison: string): Scenario {
  const load = getGroups(gatehouse, { connections });
  return { name, server: gatehouse, comparison, baseline: rawHttp, load };
}

/** GetGroup over REST on more rows than are cached. */
function getScattered(gatehouse: Gatehouse, name: string): Scenario {
  const uids = onceLoaded(() => scatteredUids(gatehouse));
  const load = async (seconds: number) => await getGroups(gatehouse, {}, await uids())(seconds);
  return { name, server: gatehouse, comparison: oneOverHttp1, baseline: rawHttp, load };
}

/** More groups than are cached, from all over the tree. Reading them takes seconds. */
export async function scatteredUids({ url, landmarks, authorization }: Gatehouse): Promise<string[]> {
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
  return uids.map((_, i) => uids[(i * 7919) % uids.length]!);
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
function rest(gatehouse: Gatehouse, name: string, comparison: string, queries: () => Promise<string[]>): Scenario {
  const { port, landmarks, authorization } = gatehouse;
  const prepared = onceLoaded(async () => {
    const requests = (await queries()).map((query) => ({
      method: "GET",
      path: `${groupsResource}?pageSize=50&${query}`,
    }));
    return { port, connections: http1Connections, headers: { authorization }, requests };
  });
  return {
    name: `${name} REST ${sizeName(landmarks.groups)}`,
    server: gatehouse,
    comparison,
    baseline: rawHttp,
    load: async (seconds) => await loadHttp1(await prepared(), seconds),
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
