// Says what uids are called.
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  NameState,
  type ResolveNamesRequest,
  ResolveNamesRequestSchema,
  type ResolveNamesResponseSchema,
} from "../../../gen/gatehouse/search/v1/search_pb.ts";
import { invalidField } from "../../aip/errors.ts";
import type { Call } from "../../pipeline/call.ts";
import { type MessageRules, uidRule } from "../../pipeline/text-rules.ts";
import type { ServiceContext } from "../../resource/service-context.ts";
import { findNames } from "./find-names.ts";

/** How many names one call resolves: a page of a list. */
const maxUids = 200;

export const resolveRules: MessageRules = {
  schema: ResolveNamesRequestSchema,
  fields: { uids: uidRule },
  bounds: { uids: { maxItems: maxUids } },
};

/** Makes the function that resolves names. */
export function resolveNames({ database }: Pick<ServiceContext, "database">) {
  return async (
    { uids }: ResolveNamesRequest,
    call: Call,
  ): Promise<MessageInitShape<typeof ResolveNamesResponseSchema>> => {
    if (uids.length > maxUids) throw invalidField("uids", `must not have more than ${maxUids} items`);
    const { names } = await database.read((session) => findNames(session, [...new Set(uids)], call));
    // Like `NAME_STATE_HIDDEN` for what exists: strangers learn nothing from the difference.
    return { names: uids.map((uid) => names.get(uid) ?? { uid, state: NameState.HIDDEN }) };
  };
}
