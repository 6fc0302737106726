// Asks the server and compares what it answers with the model.
import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import { defaultPageSize } from "../../../src/aip/pagination.ts";
import type { ApiClient } from "../../harness/api-clients.ts";
import { codeOf, methodPath, replyOf } from "../../security/ground.ts";
import { type Kind, type KindName, kinds, type Reader, type Rows, withoutEmpty } from "./kinds.ts";
import { type Caller, modelList, type Question, readerOf } from "./model.ts";

/** Asks for one page and compares it with the model; answers where the next one begins. */
export async function comparePage(
  apiClient: ApiClient,
  question: Question,
  rows: Rows,
  pageToken = "",
  from = 0,
): Promise<string> {
  const { caller, name, request } = question;
  const { service, plural, shown }: Kind = kinds[name];
  const method = `${service}/List${plural.charAt(0).toUpperCase()}${plural.slice(1)}`;
  const { skip = 0, ...rest } = request as { skip?: number } & JsonObject;
  const asked = pageToken ? { ...rest, pageToken } : request;
  const outcome = await apiClient.call(caller.token, methodPath(method), asked);
  const listed = modelList(question, rows);
  const says = `${apiClient.name} ${method} ${JSON.stringify(asked)} of ${caller.uid}`;
  assert.equal(codeOf(outcome), listed ? "OK" : "PERMISSION_DENIED", says);
  if (!listed) return "";
  const reply = replyOf(outcome);
  const start = pageToken ? from : skip;
  const wanted = listed.slice(start, start + Number(request.pageSize ?? defaultPageSize));
  const items = (reply[plural] ?? []) as JsonObject[];
  assert.deepEqual(
    items.map(({ uid }) => uid),
    wanted.map(({ uid }) => uid),
    says,
  );
  const reader = readerOf(caller, rows);
  for (const [i, item] of items.entries())
    assert.deepEqual(partOf(name, item, rows, reader), withoutEmpty(shown(wanted[i]!, rows, reader)), says);
  assert.equal(Number(reply.totalCount ?? 0), listed.length, says);
  assert.equal(reply.nextPageToken ? "more" : "", start + wanted.length < listed.length ? "more" : "", says);
  return String(reply.nextPageToken ?? "");
}

/** Returns the item that the model expects. */
function partOf(name: KindName, item: JsonObject, rows: Rows, reader: Reader): JsonObject {
  const row = rows[name].find(({ uid }) => uid === item.uid)!;
  const { events = [], ...rest } = item;
  const authors = (events as JsonObject[]).map(({ author }) => author!);
  const known = Object.keys(kinds[name].shown(row, rows, reader)).filter((key) => key !== "events");
  return withoutEmpty({ ...Object.fromEntries(known.map((key) => [key, rest[key]])), events: authors });
}

/** Asks for one row, which may have been deleted. */
export async function compareOne(
  apiClient: ApiClient,
  caller: Caller,
  name: KindName,
  uid: string,
  rows: Rows,
): Promise<void> {
  const { service }: Kind = kinds[name];
  const method = `${service}/Get${service.replace(/ies(?=Service)/, "y").replace(/s?Service$/, "")}`;
  const outcome = await apiClient.call(caller.token, methodPath(method), { uid });
  const row = rows[name].find((each) => each.uid === uid);
  // One that was deleted is still shown, as such.
  if (!row && name === "advisories") assert.ok(replyOf(outcome).deleteTime, uid);
  else assert.equal(codeOf(outcome), row ? "OK" : "NOT_FOUND", `${method} ${uid}`);
  const reader = readerOf(caller, rows);
  if (row)
    assert.deepEqual(partOf(name, replyOf(outcome), rows, reader), withoutEmpty(kinds[name].shown(row, rows, reader)));
}

/** Goes through all pages of a list that skips nothing. */
export async function walk(
  apiClient: ApiClient,
  { caller, name, request: { skip: _, ...request } }: Question,
  rows: Rows,
): Promise<void> {
  const question = { caller, name, request: { ...request, pageSize: 3 } };
  let from = 0;
  for (let pageToken = await comparePage(apiClient, question, rows); pageToken; ) {
    from += 3;
    pageToken = await comparePage(apiClient, question, rows, pageToken, from);
  }
}
