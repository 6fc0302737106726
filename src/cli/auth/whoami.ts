// `gatehouse whoami`: the caller's identity and access, as the server sees them.
import type { JsonObject } from "@bufbuild/protobuf";
import { Auth } from "../../../gen/chainguard/platform/auth/v1/auth_pb.ts";
import type { Session } from "../client/session.ts";
import type { Section } from "../output/details.ts";
import { inOrder } from "../output/order.ts";
import type { View } from "../output/view.ts";
import { identities } from "../resources/identities.ts";
import { withNames } from "../resources/path-names.ts";
import { getSeen } from "../resources/relations/section.ts";

const view: View = {
  noun: "identities",
  id: "identity",
  columns: [
    { title: "identity", value: "identity" },
    { title: "name", value: "name" },
    { title: "email", value: "email" },
    { title: "server", value: "server" },
    { title: "audience", value: "audience" },
    { title: "expires", value: "expires" },
    { title: "token from", value: "source" },
  ],
};

const roleView: View = {
  noun: "roles",
  columns: [
    { title: "role", value: "role" },
    { title: "group", value: "group" },
    { title: "group uid", value: "groupUid" },
  ],
};

/** Prints the identity. Fails if the server rejects the token. */
export async function showWhoAmI(session: Session): Promise<void> {
  const said = await session.call(Auth.method.validate, {});
  const uid = String(said.subject ?? "");
  const identity = await getSeen(session, identities, uid);
  const held = ((said.capabilities ?? []) as JsonObject[]).map(toRole);
  const roles: Section = { key: "roles", title: "Roles", view: roleView, rows: inOrder(roleView, held) };
  const row = {
    identity: uid,
    ...(identity?.name !== undefined && { name: identity.name }),
    ...(said.email !== undefined && said.email !== "" && { email: said.email }),
    server: session.url,
    audience: said.audience ?? [],
    ...(said.expiry !== undefined && { expires: said.expiry }),
    source: (await session.credential()).source,
  };
  const named = await withNames(session, identities, view, identity ? [identity] : [], () => uid);
  await session.output.details(named, row, [roles]);
}

function toRole({ group, role, capabilities }: JsonObject): JsonObject {
  const [{ id = "", name = "" }, { name: roleName = "" }] = [group, role] as [JsonObject, JsonObject];
  return { role: roleName, group: name, groupUid: id, capabilities: capabilities ?? [] };
}
