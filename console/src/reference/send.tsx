// Sends a call with the token of the session, and shows the response.
import { type RefObject, useRef, useState } from "react";
import { apiToken, dropToken, signIn, useSessionState } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import type { Method } from "./documents.ts";
import { Code, Pre } from "./parts.tsx";
import { type HttpCall, targetOf } from "./request.ts";

/** The response of a call. */
interface Received {
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly text: string;
}

/** Sends the call. One that may change something is confirmed first. */
export function Send({
  method,
  call,
  problems,
  isAsked,
  onProblems,
}: {
  readonly method: Method;
  readonly call: HttpCall | undefined;
  /** The number of rules that the call breaks. */
  readonly problems: number;
  /** Whether somebody wanted to send the call while it broke a rule. */
  readonly isAsked: boolean;
  readonly onProblems: () => void;
}) {
  const { t } = useTexts();
  const session = useSessionState();
  const dialog = useRef<HTMLDialogElement>(null);
  const [received, setReceived] = useState<Received>();
  const [isPending, setPending] = useState(false);
  if (session !== "signed-in")
    return (
      <div className="notice">
        <p>{t("reference.signInLead")}</p>
        <div>
          <button type="button" className="button" onClick={() => void signIn()}>
            {t("signIn.button")}
          </button>
        </div>
      </div>
    );
  const run = async () => {
    dialog.current?.close();
    setPending(true);
    setReceived(await send(call!, method.access.type === "token"));
    setPending(false);
  };
  const isReadOnly = method.routes[0]?.method === "GET";
  return (
    <>
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={call === undefined || isPending}
          onClick={() => (problems > 0 ? onProblems() : isReadOnly ? void run() : dialog.current?.showModal())}
        >
          {t("reference.send")}
        </button>
        {isAsked && problems > 0 && (
          <span className="danger" role="status">
            {t("reference.notSent", { count: problems })}
          </span>
        )}
      </div>
      {call && <Confirmation dialog={dialog} call={call} onSend={() => void run()} />}
      {received && <Result received={received} />}
    </>
  );
}

function Confirmation({
  dialog,
  call,
  onSend,
}: {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly call: HttpCall;
  readonly onSend: () => void;
}) {
  const { t } = useTexts();
  return (
    <dialog ref={dialog} className="confirmation" aria-labelledby="confirmation">
      <div className="stack">
        <h2 id="confirmation">{t("reference.confirm")}</h2>
        <p>{t("reference.confirmLead", { host: location.host })}</p>
        <Pre text={`${call.method} ${targetOf(call)}${call.body === undefined ? "" : `\n\n${call.body}`}`} />
        <div className="row">
          <button type="button" className="button" onClick={onSend}>
            {t("reference.send")}
          </button>
          <button type="button" className="plain" onClick={() => dialog.current?.close()}>
            {t("action.cancel")}
          </button>
        </div>
      </div>
    </dialog>
  );
}

function Result({ received: { status, durationMs, requestId, text } }: { readonly received: Received }) {
  const { t } = useTexts();
  const isGood = status >= 200 && status < 300;
  return (
    <section className="stack" aria-label={t("reference.result")}>
      <p role="status">
        <strong className={isGood ? "good" : "danger"}>
          {isGood ? "✓" : "✕"} {status === 0 ? t("reference.noResponse") : status}
        </strong>{" "}
        <span className="muted">
          {t("reference.took", { ms: Math.round(durationMs) })}
          {requestId !== "" && ` · ${t("state.error.id", { id: requestId })}`}
        </span>
      </p>
      <Code text={text} label={t("reference.result")} />
    </section>
  );
}

async function send(call: HttpCall, withToken: boolean): Promise<Received> {
  const startedAt = performance.now();
  const took = () => performance.now() - startedAt;
  try {
    const response = await fetch(targetOf(call), {
      method: call.method,
      headers: {
        ...(withToken && { authorization: `Bearer ${await apiToken()}` }),
        ...(call.body !== undefined && { "content-type": "application/json" }),
      },
      ...(call.body !== undefined && { body: call.body }),
    });
    if (response.status === 401) dropToken();
    const requestId = response.headers.get("x-request-id") ?? "";
    return { status: response.status, durationMs: took(), requestId, text: pretty(await response.text()) };
  } catch (error) {
    return {
      status: 0,
      durationMs: took(),
      requestId: "",
      text: error instanceof Error ? error.message : String(error),
    };
  }
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
