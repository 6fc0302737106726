// What a view shows when it has no data: denied, not found, failed.

import type { DescMethodUnary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { Button } from "@mantine/core";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { errorDetails } from "../../../packages/client/src/errors.ts";
import { may, requiredBy, useMe } from "../api/access.ts";
import { errorText } from "../api/error-text.ts";
import { useNamed } from "../api/naming.ts";
import { useTexts } from "../texts/texts.ts";
import { lazyPart } from "./lazy-part.tsx";
import { useOrganizationName } from "./organization.tsx";
import { Copyable, Heading, Loading } from "./parts.tsx";

const Owners = lazyPart(async () => (await import("./owners.tsx")).Owners, null, "frame");

const RequestAccess = lazyPart(
  async () => (await import("./requests/request-access.tsx")).RequestAccess,
  null,
  "requests",
);

interface DeniedProps {
  readonly capabilities: readonly string[];
  readonly uid: string;
  /** Whether it stands for a whole page, which needs a heading. */
  readonly isPage?: boolean;
}

/** Says which capabilities the caller lacks, where, and what to send to an owner. */
export function Denied({ capabilities, uid, isPage = false }: DeniedProps) {
  const { t } = useTexts();
  const { data: me } = useMe();
  const { org = "" } = useParams({ strict: false });
  const [first] = capabilities;
  const organization = useOrganizationName();
  const named = useNamed([uid]);
  const values = { capabilities: capabilities.join(", "), place: uid === org ? organization : named(uid) };
  return (
    <div className="notice warn">
      {isPage ? <Heading>{t("state.denied.title")}</Heading> : <h2>{t("state.denied.title")}</h2>}
      <p>{t("state.denied", values)}</p>
      <RequestAccess uid={uid} capabilities={capabilities} />
      <Owners uid={uid} />
      <p>{t("state.denied.ask")}</p>
      <Copyable
        what={t("state.denied.title")}
        value={t("state.denied.request", { uid: me?.email || me?.subject, ...values })}
      />
      {org !== "" && first !== undefined && (
        <div>
          <Link to="/o/$org/access" params={{ org }} search={{ tab: "ask", group: uid, capability: first }}>
            {t("state.denied.why")}
          </Link>
        </div>
      )}
    </div>
  );
}

interface FailureProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
  /** Whether it stands for a whole page, which needs a heading. */
  readonly isPage?: boolean;
}

/** An error of a call. A denial looks like a missing resource: it says nothing about existence. */
export function Failure({ error, onRetry, isPage = false }: FailureProps) {
  const { t } = useTexts();
  const { code } = ConnectError.from(error);
  const { requestId } = errorDetails(error);
  if (code === Code.NotFound || code === Code.PermissionDenied) {
    const id = requestId !== "" && <Copyable value={requestId} what={t("state.error.id", { id: "" })} />;
    if (isPage) return <NotFound>{id}</NotFound>;
    return (
      <div className="notice warn">
        <p>{t("state.notFound")}</p>
        {id}
      </div>
    );
  }
  return (
    <div className="notice bad" role="alert">
      {isPage ? <Heading>{t("state.error.title")}</Heading> : <h2>{t("state.error.title")}</h2>}
      <p>{errorText(t, error)}</p>
      {requestId !== "" && <Copyable value={requestId} what={t("state.error.id", { id: "" })} />}
      {onRetry && (
        <div>
          <Button variant="default" size="sm" onClick={onRetry}>
            {t("action.retry")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** The page of an address where nothing is, or nothing that the caller may see. */
export function NotFound({ children }: { readonly children?: ReactNode }) {
  const { t } = useTexts();
  return (
    <div className="stack">
      <Heading>{t("state.notFound.title")}</Heading>
      <div className="notice warn">
        <p>{t("state.notFound")}</p>
        {children}
      </div>
    </div>
  );
}

interface UnreadPageProps {
  /** The method that reads the object. */
  readonly method: DescMethodUnary;
  readonly uid: string;
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** The page of an object that has not been read: the caller may not read it, it does not exist, the call failed, or it takes time. */
export function UnreadPage({ method, uid, error, onRetry }: UnreadPageProps) {
  const { data: me } = useMe();
  if (me && !may(me, method, uid)) return <Denied capabilities={requiredBy(method)} uid={uid} isPage />;
  if (error) return <Failure error={error} onRetry={onRetry} isPage />;
  return <Loading />;
}
