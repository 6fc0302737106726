// Gatehouse with the tree of the question. GetGroup answers it, and returns the group.
import assert from "node:assert/strict";
import type { Data } from "../data.ts";
import { type Gatehouse, startProduction } from "../gatehouse.ts";
import { groupsResource } from "../groups-load.ts";
import type { Cores } from "../server-process.ts";
import { leaves, organization, tree } from "./question.ts";

const atOnce = 32;

/** Starts a server with a worker for each core it may use, and creates the tree. The samples are its lowest groups. */
export async function startTree(data: Data, cores: Cores): Promise<Gatehouse> {
  const server = await startProduction(data, { workers: cores === "one" ? "1" : "auto", cores });
  try {
    const uids = await createTree(server);
    const sampleUids = leaves.map((id) => uids.get(id)!);
    const response = await fetch(`${server.url}${groupsResource}/${sampleUids[0]}`);
    assert.equal(response.status, 401, "Gatehouse: a stranger is not rejected");
    return { ...server, landmarks: { ...server.landmarks, sampleUids } };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

/** Creates the groups level by level, and returns their uids. */
async function createTree(server: Gatehouse): Promise<ReadonlyMap<string, string>> {
  const uids = new Map([[organization, server.landmarks.groupUid]]);
  let rest = tree;
  while (rest.length > 0) {
    const ready = rest.filter(({ parent }) => uids.has(parent)).slice(0, atOnce);
    const made = await Promise.all(ready.map(({ id, parent }) => create(server, uids.get(parent)!, id)));
    for (const [i, { id }] of ready.entries()) uids.set(id, made[i]!);
    rest = rest.filter(({ id }) => !uids.has(id));
  }
  return uids;
}

async function create({ url, authorization }: Gatehouse, parent: string, name: string): Promise<string> {
  const response = await fetch(`${url}${groupsResource}/${parent}`, {
    method: "POST",
    headers: { authorization, "content-type": "application/json" },
    body: JSON.stringify({ name, description: `What ${name} needs to do its work` }),
  });
  if (!response.ok) throw new Error(`creating a group: ${await response.text()}`);
  return ((await response.json()) as { uid: string }).uid;
}
