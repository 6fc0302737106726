// The link to the page of a person or workload.
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { identityText } from "../api/naming.ts";
import { useTexts } from "../texts/texts.ts";

/** The address of the page of a person or workload: their uids differ in form. */
export function profileAddress(uid: string): "/o/$org/people/$" | "/o/$org/workloads/$" {
  return uid.includes("/") ? "/o/$org/workloads/$" : "/o/$org/people/$";
}

interface ProfileLinkProps {
  readonly identity: Parameters<typeof identityText>[1];
  /** Shown in place of the name. */
  readonly children?: ReactNode;
}

/** The link, with the name as its text. */
export function ProfileLink({ identity, children }: ProfileLinkProps) {
  const { t } = useTexts();
  const { org = "" } = useParams({ strict: false });
  const { uid = "" } = identity ?? {};
  return (
    <Link to={profileAddress(uid)} params={{ org, _splat: uid }}>
      {children ?? <bdi>{identityText(t, identity)}</bdi>}
    </Link>
  );
}
