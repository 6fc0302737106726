// Get and List of any declared resource.

import { create, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { notFound } from "../aip/errors.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { freezeLike, memoizeFrozen } from "../base/memoize-frozen.ts";
import { rootOf } from "../model/uid.ts";
import { callerOf, methodOf, scopeOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { Collection, ResourceRow } from "../storage/collection/collection.ts";
import { rowTag } from "../storage/collection/row-tag.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import { findMembershipsOf } from "../storage/iam/memberships.ts";
import type { Condition } from "../storage/list/list-rows.ts";
import { type Filters, listPage, type MakeItems, type Page, type PageRequest, rowsThatFit } from "./list-page.ts";
import type { ReadableResource } from "./resource.ts";
import { type PlaceFilter, selectSources } from "./selection.ts";
import type { ServiceContext } from "./service-context.ts";

/** The fields that every list request has. */
export type ListRequest = PageRequest & Message & { readonly uidp?: PlaceFilter | undefined };

/** The fields of a list response other than its items. */
type Envelope = Omit<Page<unknown>, "items">;

/** Returns the reading standard methods of a resource, and the parts that they are made of. */
export function readMethods<D extends DescMessage, R extends ResourceRow>(
  resource: ReadableResource<D, R>,
  context: ServiceContext,
) {
  function find(session: Session, uid: string): MaybePromise<R> {
    return mapMaybe(findRow(session, resource.collection, uid), (found) => known(found, uid));
  }

  function known(row: R | undefined, uid: string): R {
    if (!row) throw notFound(resource.type, uid);
    return row;
  }

  /** Finds the requested row for display only: it may come from the cache and must not be changed. */
  function row({ uid }: { readonly uid: string }): MaybePromise<R> {
    return mapMaybe(context.database.rows.find(resource.collection, uid), (found) => known(found, uid));
  }

  /** Reads one page of the rows that the caller may see, or of the items that `makeItems` makes of them. */
  async function page<T = R>(
    request: ListRequest,
    call: Call,
    filters: Filters,
    condition?: Condition,
    makeItems = rowsThatFit as MakeItems<R, T>,
  ): Promise<Page<T>> {
    const { includesGranted = false, includesRoots = false } = resource;
    const { name = "" } = filters;
    const scope = name === "" ? scopeOf(call) : await namedScope(context.database.session, call, request.uidp);
    const sources = selectSources(scope, request.uidp, { includesGranted, includesRoots });
    return await listPage(resource, context, { call, request, selection: { sources, filters, condition }, makeItems });
  }

  const toMessage = memoizeFrozen((from: R) => freezeLike(from, create(resource.schema, resource.toMessage(from))));
  const toMessages = memoizeFrozen((rows: readonly R[]) => freezeLike(rows, rows.map(toMessage)));

  /** Builds the response of a list: the messages stand under the plural of the resource, a key that the compiler does not know. */
  function reply(call: Call, messages: readonly Message[], envelope: Envelope): Envelope {
    const made = create(methodOf(call).descriptor.output, envelope);
    // Assigned after `create`, which would copy the list: the encoder memoizes by the identity of the cached one.
    return Object.assign(made as Message & Envelope, { [resource.plural]: messages });
  }

  return {
    find,

    row,

    get(request: { readonly uid: string }, call: Call): MaybePromise<MessageShape<D>> {
      return mapMaybe(row(request), (found) => {
        tagResponse(call, resource.collection, found);
        return toMessage(found);
      });
    },

    page,

    reply,

    async list(request: ListRequest, call: Call, filters: Filters = {}, condition?: Condition): Promise<Envelope> {
      const { items, ...envelope } = await page(request, call, filters, condition);
      return reply(call, toMessages(items), envelope);
    },
  };
}

/** Sets the entity tag of the resource that a response shows. */
export function tagResponse<R extends ResourceRow>(call: Call, collection: Collection<R>, row: R): void {
  call.setResponseHeader("etag", rowTag(collection, row));
}

/**
 * Returns the subtrees in which a filter by name looks. Anyone can bind a role to a user, so organizations that the user has not
 * accepted are left out, unless the place filter names them (docs/design/access.md).
 */
async function namedScope(session: Session, call: Call, place: PlaceFilter | undefined) {
  const { uid } = callerOf(call);
  const scope = scopeOf(call);
  if (uid.includes("/")) return scope;
  const named = place ? [place.descendantsOf, place.childrenOf, place.ancestorsOf, ...place.ids] : [];
  const roots = new Set(named.filter((text) => text !== "").map(rootOf));
  for (const { groupUid } of await findMembershipsOf(session, [uid])) roots.add(groupUid);
  return scope.filter((one) => roots.has(rootOf(one)));
}
