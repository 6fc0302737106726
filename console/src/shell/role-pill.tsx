// A role as a pill that leads to it.
import { Link, useParams } from "@tanstack/react-router";
import type { BindingExplanation } from "../../../gen/gatehouse/access/v1/access_pb.ts";
import { useTexts } from "../texts/texts.ts";
import { Pill } from "./look.tsx";

/** The built-in roles that may do everything in an organization, or in the installation. */
export const strongRoles: ReadonlySet<string> = new Set(["owner", "operator"]);

/** The role of a binding, or words for one that the caller may not see. */
export function RolePill({
  binding,
}: {
  readonly binding: Pick<BindingExplanation, "roleUid" | "roleName"> | undefined;
}) {
  const { t } = useTexts();
  const { org = "" } = useParams({ strict: false });
  const { roleUid = "", roleName = "" } = binding ?? {};
  const pill = (
    <Pill tone={strongRoles.has(roleName) ? "high" : "neutral"} icon="id-badge">
      <bdi>{roleName || t("names.hidden")}</bdi>
    </Pill>
  );
  if (roleName === "") return pill;
  return (
    <Link to="/o/$org/roles/$" params={{ org, _splat: roleUid }}>
      {pill}
    </Link>
  );
}
