// The link to the page of a person or workload.
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** The address of the page of a person or workload: their uids differ in form. */
export function profileAddress(uid: string): "/o/$org/people/$" | "/o/$org/workloads/$" {
  return uid.includes("/") ? "/o/$org/workloads/$" : "/o/$org/people/$";
}

/** The link. */
export function ProfileLink({ uid, children }: { readonly uid: string; readonly children: ReactNode }) {
  const { org = "" } = useParams({ strict: false });
  return (
    <Link to={profileAddress(uid)} params={{ org, _splat: uid }}>
      {children}
    </Link>
  );
}
