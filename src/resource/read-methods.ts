// Get and list of any declared resource. It names no resource.
import { create, type DescMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { notFound } from "../aip/errors.ts";
import { type MaybePromise, mapMaybe } from "../base/maybe-promise.ts";
import { freezeLike, memoizeFrozen } from "../base/memoize-frozen.ts";
import { methodOf, scopeOf } from "../pipeline/authorize.ts";
import type { Call } from "../pipeline/call.ts";
import type { ResourceRow } from "../storage/collection/collection.ts";
import { findRow } from "../storage/collection/rows.ts";
import type { Session } from "../storage/engine/session.ts";
import type { Condition } from "../storage/list/list-rows.ts";
import { type Filters, listPage, type MakeItems, type Page, type PageRequest, rowsThatFit } from "./list-page.ts";
import { namedScope } from "./named-scope.ts";
import type { ReadableResource } from "./resource.ts";
import { type PlaceFilter, selectSources } from "./selection.ts";
import type { ServiceContext } from "./service-context.ts";

/** The fields that every list request has. */
export type ListRequest = PageRequest & Message & { readonly uidp?: PlaceFilter | undefined };

/** What the reply to a list says besides its items. */
type Envelope = Omit<Page<unknown>, "items">;

/** Binds the standard methods that read to a resource. */
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

  /** The row that a request asks for, to be shown: it may be remembered, and is not to be changed. */
  function row({ uid }: { readonly uid: string }): MaybePromise<R> {
    return mapMaybe(context.database.rows.find(resource.collection, uid), (found) => known(found, uid));
  }

  /** One page of what the caller may see: of rows, or of what `fill` makes of them. */
  async function page<T = R>(
    request: ListRequest,
    call: Call,
    filters: Filters,
    condition?: Condition,
    fill = rowsThatFit as MakeItems<R, T>,
  ): Promise<Page<T>> {
    const { includesGranted = false, includesRoots = false } = resource;
    const { name = "" } = filters;
    const scope = name === "" ? scopeOf(call) : await namedScope(context.database.session, call, request.uidp);
    const sources = selectSources(scope, request.uidp, { includesGranted, includesRoots });
    return await listPage(resource, context, call, request, { sources, filters, condition }, fill);
  }

  const toMessage = memoizeFrozen((from: R) => freezeLike(from, create(resource.schema, resource.toMessage(from))));
  const toMessages = memoizeFrozen((rows: readonly R[]) => freezeLike(rows, rows.map(toMessage)));

  /** The reply to a list: messages under the plural of the resource, a key that the compiler cannot know. */
  function reply(call: Call, messages: readonly Message[], envelope: Envelope): Envelope {
    const made = create(methodOf(call).descriptor.output, envelope);
    // Put there afterwards, since `create` makes a list of its own, of which nothing is remembered.
    return Object.assign(made as Message & Envelope, { [resource.plural]: messages });
  }

  return {
    find,

    row,

    get(request: { readonly uid: string }): MaybePromise<MessageShape<D>> {
      return mapMaybe(row(request), toMessage);
    },

    page,

    reply,

    async list(request: ListRequest, call: Call, filters: Filters = {}, condition?: Condition): Promise<Envelope> {
      const { items, ...envelope } = await page(request, call, filters, condition);
      return reply(call, toMessages(items), envelope);
    },
  };
}
