// Whether the Gatehouse under load says the same thing, and the right one, through every transport: asked by real clients.
import assert from "node:assert/strict";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { type Group, GroupsService } from "../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import type { Gatehouse } from "./gatehouse.ts";

/** The part of a group's JSON that is compared. */
interface RestGroup {
  readonly uid: string;
  readonly name: string;
  readonly description: string;
  readonly createTime: string;
}

/** Checks GetGroup and the lists before anything is measured. Throws when an answer is not what it should be. */
export async function checkReads(gatehouse: Gatehouse): Promise<void> {
  const uid = gatehouse.landmarks.sampleUids[0]!;
  const wanted = await readRest<RestGroup>(gatehouse, `/${uid}`);
  assert.equal(wanted.uid, uid, "GetGroup over REST: the uid is another");
  for (const [apiClient, transport] of transportsOf(gatehouse.url)) {
    const { authorization } = gatehouse;
    const group = await createClient(GroupsService, transport).getGroup({ uid }, { headers: { authorization } });
    assert.deepEqual(comparable(group), comparableRest(wanted), `GetGroup over ${apiClient} differs from REST`);
  }
  for (const field of ["uid", "name", "create_time"] as const) await checkList(gatehouse, field);
}

/** Checks that every group which a client was told of is there, and counted. */
export async function checkCreated(gatehouse: Gatehouse, created: number): Promise<void> {
  const { emptyUid } = gatehouse.landmarks;
  const { totalCount } = await readRest<ListReply>(gatehouse, `?pageSize=1&uidp.children_of=${emptyUid}`);
  // The server also made the groups whose requests the generator cut off at the end of a run without counting them.
  assert.ok(Number(totalCount) >= created, `${created} groups were created, but the total is ${totalCount}`);
}

interface ListReply {
  readonly groups: readonly RestGroup[];
  readonly nextPageToken?: string;
  readonly totalCount: string;
}

async function checkList(gatehouse: Gatehouse, field: "uid" | "name" | "create_time"): Promise<void> {
  const query = `?pageSize=50&orderBy=${field}`;
  const first = await readRest<ListReply>(gatehouse, query);
  const token = encodeURIComponent(first.nextPageToken ?? "");
  const second = await readRest<ListReply>(gatehouse, `${query}&pageToken=${token}`);
  const groups = [...first.groups, ...second.groups];
  assert.equal(groups.length, 100, `list by ${field}: two pages hold 100 groups`);
  assert.equal(new Set(groups.map(({ uid }) => uid)).size, 100, `list by ${field}: a group is there twice`);
  const keys = groups.map((group) => ({ uid: group.uid, name: group.name, create_time: group.createTime })[field]);
  assert.deepEqual(keys, [...keys].sort(), `list by ${field}: is out of order`);
  // The organization itself is listed too.
  const total = gatehouse.landmarks.groups + 1;
  assert.equal(Number(first.totalCount), total, `list by ${field}: the total is wrong`);
}

async function readRest<T>({ url, authorization }: Gatehouse, suffix: string): Promise<T> {
  const reply = await fetch(`${url}/iam/v2beta1/groups${suffix}`, { headers: { authorization } });
  const body = await reply.text();
  assert.equal(reply.status, 200, `GET /iam/v2beta1/groups${suffix}: ${body}`);
  return JSON.parse(body) as T;
}

function transportsOf(baseUrl: string): [string, Transport][] {
  return [
    ["gRPC", createGrpcTransport({ baseUrl })],
    ["gRPC-web", createGrpcWebTransport({ baseUrl, httpVersion: "2" })],
    ["Connect", createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false })],
  ];
}

function comparable({ uid, name, description, createTime }: Group) {
  const millis = createTime && Number(createTime.seconds) * 1000 + createTime.nanos / 1e6;
  return { uid, name, description, createTime: millis };
}

function comparableRest({ uid, name, description, createTime }: RestGroup) {
  return { uid, name, description, createTime: Date.parse(createTime) };
}
