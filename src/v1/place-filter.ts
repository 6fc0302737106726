// Filters of version 1 name a thing or its group in fields of their own; today those are members of the place filter.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UIDPFilter, UIDPFilterSchema } from "../../gen/chainguard/platform/common/uidp_pb.ts";
import type { FieldViolation } from "../aip/errors.ts";
import { platformRoot } from "../model/uid.ts";
import { fieldsOf } from "./fields.ts";

/** The members of the place filter that fields of a filter stand for. */
export type Places = Readonly<Record<string, "ids" | "children_of">>;

/** A filter of version 1; the fields that name a place are texts, empty when they filter nothing. */
export type Filter = { readonly uidp?: UIDPFilter } & Readonly<Record<string, unknown>>;

type PlaceInit = MessageInitShape<typeof UIDPFilterSchema>;

/** The place filter that a filter comes to, where all that is set must fit; undefined when nothing can. */
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
  // Whatever belongs to no group belongs to the platform, which goes by a sentinel.
  if (parent === platformRoot) return { ...place, inRoot: true };
  const { childrenOf = "" } = place;
  return childrenOf === "" || childrenOf === parent ? { ...place, childrenOf: parent } : undefined;
}

/** The violation under the name of the field that the caller filled. */
export function placedViolation(violation: FieldViolation, filter: Filter, places: Places): FieldViolation {
  const paths = { ids: "uidp.ids[0]", children_of: "uidp.children_of" };
  const said = Object.entries(places).find(
    ([name, member]) => paths[member] === violation.field && filter[name] !== "",
  );
  return said ? { ...violation, field: said[0] } : violation;
}
