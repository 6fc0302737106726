// Runs in the page of another origin: calls by the clients that browsers use, each written as a program would.
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { GroupsService } from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";

/** The server to call, and the credentials. */
export interface Target {
  readonly url: string;
  readonly token: string;
  readonly groupUid: string;
}

/** Returns the result of each call: a name, a code, or the browser's word for a blocked response. */
export async function callAll(target: Target): Promise<Record<string, string>> {
  const { url: baseUrl } = target;
  return {
    rest: await updateOverRest(target),
    error: await readErrorOverRest(target),
    connect: await nameOver(createConnectTransport({ baseUrl }), target),
    "gRPC-web": await nameOver(createGrpcWebTransport({ baseUrl }), target),
    discovery: await readDiscovery(target),
  };
}

async function updateOverRest({ url, token, groupUid }: Target): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const init = { method: "PATCH", headers, body: JSON.stringify({ description: "seen" }) };
  return await outcomeOf(fetch(`${url}/iam/v2beta1/groups/${groupUid}`, init), "description");
}

async function readErrorOverRest({ url }: Target): Promise<string> {
  return await outcomeOf(fetch(`${url}/iam/v2beta1/groups`), "code");
}

async function readDiscovery({ url }: Target): Promise<string> {
  return await outcomeOf(fetch(`${url}/.well-known/openid-configuration`), "issuer");
}

async function outcomeOf(sent: Promise<Response>, field: string): Promise<string> {
  try {
    return String(((await (await sent).json()) as Record<string, unknown>)[field]);
  } catch (error) {
    return error instanceof TypeError ? "withheld" : String(error);
  }
}

async function nameOver(transport: Transport, { token, groupUid }: Target): Promise<string> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    return (await createClient(GroupsService, transport).getGroup({ uid: groupUid }, { headers })).name;
  } catch (error) {
    return String(error).includes("Failed to fetch") ? "withheld" : String(error);
  }
}

Object.assign(globalThis, { callAll });
