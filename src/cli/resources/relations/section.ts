// The parts that sections of `describe` are made of.
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

/** So many of one kind are shown; a list has all of them. */
const shownItems = 50;

/** A section of what a list has. */
export interface ListSection {
  readonly key: string;
  readonly title: string;
  readonly resource: Resource;
  readonly request: JsonObject;
  /** The columns, when they are others than those of a list. */
  readonly columns?: readonly Column[];
}

/** The first of what a list has. */
export async function listSection(session: Session, section: ListSection): Promise<Section> {
  const { key, title, resource, request, columns = resource.view.columns } = section;
  const found = await seen(listFirst(session, resource, request, shownItems));
  const view = { ...resource.view, columns };
  return { key, title, view, rows: found && inOrder(view, found.rows), total: found?.total };
}

/** Resolves to undefined where the caller may not see it, or it is gone. */
export async function seen<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    const unseen = ["PermissionDenied", "NotFound", "Unimplemented"];
    if (error instanceof CommandFailure && unseen.includes(error.status)) return undefined;
    throw error;
  }
}

/** One resource by its uid; undefined where it is not to be seen. */
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

/** The groups that something lies in, from the organization down; of those that are not to be seen, the uid. */
export async function parentSection(session: Session, uid: string, title = "Parents"): Promise<Section> {
  return await groupsSection(session, ancestorsOf(uid), title);
}

/** Groups by their uids, in this order. */
export async function groupsSection(session: Session, uids: readonly string[], title: string): Promise<Section> {
  const rows = await Promise.all(
    uids.map(async (uid): Promise<JsonObject> => {
      const group = await getSeen(session, groups, uid);
      return { ...(group && { name: group.name ?? "" }), uid };
    }),
  );
  return { key: "parents", title, view: parentView, rows };
}

/** A section that is made here, of what was read already. */
export function madeSection(
  key: string,
  title: string,
  columns: readonly Column[],
  rows: readonly JsonObject[],
): Section {
  return { key, title, view: { noun: title.toLowerCase(), columns }, rows };
}
