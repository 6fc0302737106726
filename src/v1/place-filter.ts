// Maps filter fields of version 1 that name a resource or its group to the current place filter.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UIDPFilter, UIDPFilterSchema } from "../../gen/chainguard/platform/common/uidp_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import { platformRoot } from "../model/uid.ts";
import { fieldsOf } from "./fields.ts";

/** Filter fields and the members of the place filter to which they map. */
export type Places = Readonly<Record<string, "ids" | "children_of">>;

/** A filter of version 1. An empty place field filters nothing. */
export type Filter = { readonly uidp?: UIDPFilter } & Readonly<Record<string, unknown>>;

type PlaceInit = MessageInitShape<typeof UIDPFilterSchema>;

/** Builds the place filter that matches what all set fields match; undefined if nothing can match. */
export function placeFilter(filter: Filter, places: Places): PlaceInit | undefined {
  let place: PlaceInit | undefined = filter.uidp ? fieldsOf(filter.uidp) : {};
  for (const [name, member] of Object.entries(places)) {
    const value = filter[name] as string;
    if (value !== "" && place) place = member === "ids" ? withId(place, value) : withParent(place, value);
  }
  return place;
}

function withId(place: PlaceInit, id: string): PlaceInit | undefined {
  const { ids = [] } = place;
  return ids.length === 0 || ids.includes(id) ? { ...place, ids: [id] } : undefined;
}

function withParent(place: PlaceInit, parent: string): PlaceInit | undefined {
  // The platform, the parent of organizations, has a reserved uid.
  if (parent === platformRoot) return { ...place, inRoot: true };
  const { childrenOf = "" } = place;
  return childrenOf === "" || childrenOf === parent ? { ...place, childrenOf: parent } : undefined;
}

/** Renames a violation of the place filter to the field that the caller set. */
export function placedViolation(violation: FieldViolation, filter: Filter, places: Places): FieldViolation {
  const paths = { ids: "uidp.ids[0]", children_of: "uidp.children_of" };
  const source = Object.entries(places).find(
    ([name, member]) => paths[member] === violation.field && filter[name] !== "",
  );
  return source ? { ...violation, field: source[0] } : violation;
}
