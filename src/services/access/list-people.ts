// Lists the people who hold roles at a group and below it.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type ListPeopleRequest,
  ListPeopleRequestSchema,
  type ListPeopleResponseSchema,
  type PersonSchema,
} from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { toTimestamp } from "../../aip/timestamps.ts";
import { callerOf, isNarrowed } from "../../pipeline/authorize.ts";
import type { Call } from "../../pipeline/call.ts";
import { type MessageRules, plainTextRule, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import type { Session } from "../../storage/engine/session.ts";
import { countPeople, type FoundPerson, findFirstBindings, findPeople } from "../../storage/iam/users.ts";
import { requireFewBindings } from "./few-bindings.ts";
import { accessPages } from "./pages.ts";
import { showBinding } from "./shown-binding.ts";
import { identityShower } from "./shown-identities.ts";

/** How many bindings of one person are shown. */
const maxShown = 20;

export const peopleRules: MessageRules = {
  schema: ListPeopleRequestSchema,
  fields: { group: uidRule, query: { ...plainTextRule, maxLength: 256 } },
};

/** Makes the function that lists people. */
export function listPeople(context: ServiceContext) {
  const pages = accessPages(context, "name");
  return async (request: ListPeopleRequest, call: Call): Promise<MessageInitShape<typeof ListPeopleResponseSchema>> => {
    const page = pages.read(request, call);
    return await context.database.read(async (session) => {
      const query = { groupUid: request.group, query: request.query.trim() };
      await requireFewBindings(session, request.group);
      const after = page.after === "" ? undefined : readCursor(page.after);
      const found = await findPeople(session, query, { ...page, after, limit: page.size + 1 });
      const shown = found.slice(0, page.size);
      return {
        people: await show(session, shown, request.group, call),
        nextPageToken: found.length > shown.length ? pages.next(page, formatCursor(shown.at(-1)!)) : "",
        totalCount: BigInt(await countPeople(session, query)),
        skipped: page.skip,
      };
    });
  };
}

// The order is by name, then by uid. The uid of a person is 40 characters long, so the rest is the name.
function formatCursor({ sortKey, uid }: FoundPerson): string {
  return uid + sortKey;
}

function readCursor(text: string) {
  return { uid: text.slice(0, 40), sortKey: text.slice(40) };
}

async function show(
  session: Session,
  people: readonly FoundPerson[],
  group: string,
  call: Call,
): Promise<MessageInitShape<typeof PersonSchema>[]> {
  const uids = people.map(({ uid }) => uid);
  const bindings = Map.groupBy(
    await findFirstBindings(session, uids, group, maxShown),
    ({ identityUid }) => identityUid,
  );
  const identityOf = await identityShower(session, uids, group, call);
  return people.map(({ uid, joinTime }) => {
    const held = bindings.get(uid) ?? [];
    const isSelf = uid === callerOf(call).uid && !isNarrowed(call);
    return {
      identity: identityOf(uid),
      ...(joinTime !== null && { joinTime: toTimestamp(joinTime) }),
      bindings: held.map((binding) => showBinding(binding, call, isSelf)),
      bindingCount: BigInt(held[0]?.total ?? 0),
      suspended: held.some(({ isSuspended }) => isSuspended),
    };
  });
}
