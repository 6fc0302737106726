// Building blocks of the sections of `describe`.
import type { JsonObject } from "@bufbuild/protobuf";
import { ancestorsOf } from "../../../model/uid.ts";
import type { Session } from "../../client/session.ts";
import { CommandFailure } from "../../failure.ts";
import type { Section } from "../../output/details.ts";
import { inOrder } from "../../output/order.ts";
import type { Column, View } from "../../output/view.ts";
import { groups } from "../groups.ts";
import { listFirst } from "../lookup.ts";
import { standardMethod } from "../methods.ts";
import type { Resource } from "../resource.ts";

/** The maximum number of rows in a section; a list shows all. */
const shownItems = 50;

/** A section with the results of a list. */
export interface ListSection {
  readonly key: string;
  readonly title: string;
  readonly resource: Resource;
  readonly request: JsonObject;
  /** The columns, if they differ from those of the list. */
  readonly columns?: readonly Column[];
}

/** Returns a section with the first results of a list. */
export async function listSection(session: Session, section: ListSection): Promise<Section> {
  const { key, title, resource, request, columns = resource.view.columns } = section;
  const found = await seen(listFirst(session, resource, request, shownItems));
  const view = { ...resource.view, columns };
  return { key, title, view, rows: found && inOrder(view, found.rows), total: found?.total };
}

/** Resolves to undefined if the caller may not see the resource, or if it is gone. */
export async function seen<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const unseen = ["PermissionDenied", "NotFound", "Unimplemented"];
    if (error instanceof CommandFailure && unseen.includes(error.status)) return undefined;
    throw error;
  }
}

/** Returns a resource by uid; undefined if the caller cannot see it. */
export async function getSeen(session: Session, resource: Resource, uid: string): Promise<JsonObject | undefined> {
  if (uid === "") return undefined;
  return await seen(session.call((await standardMethod(resource, "Get")).method, { uid }));
}

const parentView: View = {
  noun: "parents",
  columns: [
    { title: "name", value: "name" },
    { title: "uid", value: "uid" },
  ],
};

/** Returns the ancestors of a resource, from the organization down; for those that the caller cannot see, the uid. */
export async function parentSection(session: Session, uid: string, title = "Parents"): Promise<Section> {
  return await groupsSection(session, ancestorsOf(uid), title);
}

/** Returns groups by uid, in this order. */
export async function groupsSection(session: Session, uids: readonly string[], title: string): Promise<Section> {
  const rows = await Promise.all(
    uids.map(async (uid): Promise<JsonObject> => {
      const group = await getSeen(session, groups, uid);
      return { ...(group && { name: group.name ?? "" }), uid };
    }),
  );
  return { key: "parents", title, view: parentView, rows };
}

/** Returns a section with rows that were read already. */
export function madeSection(
  key: string,
  title: string,
  columns: readonly Column[],
  rows: readonly JsonObject[],
): Section {
  return { key, title, view: { noun: title.toLowerCase(), columns }, rows };
}
