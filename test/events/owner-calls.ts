// Calls of the owner of an organization, about its subscriptions.
import assert from "node:assert/strict";
import { rest } from "../harness/rest.ts";
import type { TestServer } from "../harness/server.ts";

// biome-ignore lint/suspicious/noExplicitAny: responses of any method.
export type Body = any;

/** Returns the function that calls a method as the owner, at any time of the clock, or with another token. It expects success. */
export function callAsOwner({ url, ownerUid, tokenOf }: TestServer) {
  return async (method: string, path: string, body?: object, token?: string): Promise<Body> => {
    const response = await rest(url, token ?? (await tokenOf(ownerUid)), method, path, body);
    assert.equal(response.status, 200, JSON.stringify(response.body));
    return response.body;
  };
}

/** Subscribes a sink to the organization. Returns the uid of the subscription. */
export async function subscribe(server: TestServer, sink: string): Promise<string> {
  return (await callAsOwner(server)("POST", `/events/v2beta1/subscriptions/${server.groupUid}`, { sink })).uid;
}

/** Returns the path of the state of a subscription. */
export const stateAt = (uid: string) => `/gatehouse/events/v1/deliveryStates/${uid}`;
