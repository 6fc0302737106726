// Generated requests, good and bad, that every way of serving a unary call must answer alike.
import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import fc from "fast-check";
import {
  GetGroupRequestSchema,
  GroupsService,
  ListGroupsRequestSchema,
  UpdateGroupRequestSchema,
} from "../../gen/chainguard/platform/iam/v2beta1/groups_pb.ts";
import { ListRolesRequestSchema, RolesService } from "../../gen/chainguard/platform/iam/v2beta1/roles_pb.ts";

/** One request; its message depends on the group that the caller owns. */
export interface UnaryRequest {
  readonly path: string;
  readonly schema: DescMessage;
  init(groupUid: string): MessageInitShape<DescMessage>;
}

const uid = fc
  .constantFrom("", "x", "a".repeat(40), "A".repeat(40), `${"a".repeat(40)}/..`, "OWN", "BELOW")
  .map((text) => (own: string) => text.replace("OWN", own).replace("BELOW", `${own}/${"0".repeat(16)}`));
// Half surrogates cannot be written as UTF-8; the encoder would not take them.
const text = fc.string({ unit: "binary", maxLength: 20 }).map((value) => value.toWellFormed());
const small = fc.integer({ min: -2, max: 300 });

function request<T extends DescMessage>(
  path: string,
  schema: T,
  init: (groupUid: string) => MessageInitShape<T>,
): UnaryRequest {
  return { path, schema, init: init as UnaryRequest["init"] };
}

/** Requests that change nothing and whose answers do not hold the time. */
export const unaryRequests: fc.Arbitrary<UnaryRequest> = fc.oneof(
  uid.map((of) => request(`/${GroupsService.typeName}/GetGroup`, GetGroupRequestSchema, (own) => ({ uid: of(own) }))),
  fc
    .record({
      uid,
      name: text,
      orderBy: fc.constantFrom("", "name", "name desc", "nope"),
      pageSize: small,
      skip: small,
      pageToken: fc.constantFrom("", "x", "AAAA"),
    })
    .map(({ uid: of, ...fields }) =>
      // One page only: the token of a next one holds the time.
      request(`/${GroupsService.typeName}/ListGroups`, ListGroupsRequestSchema, (own) => ({
        uidp: { childrenOf: of(own) },
        ...fields,
      })),
    ),
  fc.record({ uid, name: text, path: fc.constantFrom("name", "nope", "*") }).map(({ uid: of, name, path }) =>
    request(`/${GroupsService.typeName}/UpdateGroup`, UpdateGroupRequestSchema, (own) => ({
      group: { uid: of(own) === own ? "" : of(own), name },
      updateMask: { paths: [path] },
    })),
  ),
  fc.integer({ min: 0, max: 10 }).map((skip) =>
    request(`/${RolesService.typeName}/ListRoles`, ListRolesRequestSchema, () => ({
      skip,
      pageSize: 100,
      uidp: { inRoot: true },
    })),
  ),
);

/** Headers that take the place of a good token, or nothing. */
export const authorizations = fc.constantFrom<Record<string, string>>(
  {},
  {},
  {},
  { authorization: "" },
  { authorization: "Bearer x" },
  { authorization: "Basic x" },
);

/**
 * A clock for thousands of requests, which moves on with each of them: an address that shows more than 100 bad tokens in a second
 * is refused for that, however fast the machine is.
 */
export function requestClock(): { read(): number; tick(): void } {
  let requests = 0;
  return {
    read: () => Date.now() + 20 * requests,
    tick: () => {
      requests++;
    },
  };
}
