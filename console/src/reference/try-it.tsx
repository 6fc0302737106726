// The call of a method as code, and a form that sends it with the token of the session.
import { type RefObject, useId, useRef, useState } from "react";
import { apiToken, dropToken, signIn, useSessionState } from "../session/session.ts";
import { useTexts } from "../texts/texts.ts";
import type { Call } from "./code/call.ts";
import { type Language, languages, languagesOf } from "./code/languages.ts";
import type { Grpc, Method, Operation, Parameter } from "./documents.ts";
import { Code, Pre } from "./parts.tsx";
import { type Draft, firstDraft, type HttpCall, httpCall, missingVariables, targetOf } from "./request.ts";

/** The response of a call. */
interface Received {
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly text: string;
}

/** The tabs with the call, and the form. */
export function TryIt({
  grpc,
  service,
  method,
  operation,
}: {
  readonly grpc: Grpc;
  readonly service: string;
  readonly method: Method;
  readonly operation: Operation | undefined;
}) {
  const { t } = useTexts();
  const [chosen, setChosen] = useState(rememberedLanguage);
  const [draft, setDraft] = useState<Draft>(() => firstDraft(operation));
  const offered = languagesOf({ grpc, service });
  const language = offered.includes(chosen) ? chosen : "curl";
  const call: Call = { origin: location.origin, grpc, service, method, operation, draft };
  const shown = attempt(() => languages[language].code(call));
  const { parameters = [], requestBody } = operation ?? {};
  const change = (name: string, value: string) =>
    setDraft({ ...draft, parameters: { ...draft.parameters, [name]: value } });
  const choose = (name: Language) => {
    localStorage.setItem(remembered, name);
    setChosen(name);
  };
  const protocol = language === "connect" || method.routes.length === 0 ? "connect" : "rest";
  return (
    <div className="stack">
      <fieldset className="choices" aria-label={t("reference.language")}>
        {offered.map((name) => (
          <button key={name} type="button" aria-pressed={name === language} onClick={() => choose(name)}>
            {languages[name].name}
          </button>
        ))}
      </fieldset>
      {shown.value !== undefined && <Code text={shown.value} label={t("reference.call")} />}
      {shown.error !== undefined && (
        <p className="danger" role="alert">
          {t("reference.invalid", { problem: shown.error })}
        </p>
      )}
      {parameters
        .filter(({ required }) => required)
        .map((one) => (
          <Input key={one.name} parameter={one} value={draft.parameters[one.name] ?? ""} onChange={change} />
        ))}
      {parameters.some(({ required }) => !required) && (
        <details>
          <summary>{t("reference.optional", { count: parameters.filter(({ required }) => !required).length })}</summary>
          <div className="stack optional">
            {parameters
              .filter(({ required }) => !required)
              .map((one) => (
                <Input key={one.name} parameter={one} value={draft.parameters[one.name] ?? ""} onChange={change} />
              ))}
          </div>
        </details>
      )}
      {requestBody && (
        <label className="field">
          {t("reference.body")}
          <textarea
            className="input"
            rows={Math.min(16, draft.body.split("\n").length + 1)}
            spellCheck={false}
            value={draft.body}
            onChange={({ target }) => setDraft({ ...draft, body: target.value })}
          />
        </label>
      )}
      <Send
        method={method}
        call={shown.error === undefined ? attempt(() => httpCall(protocol, call)).value : undefined}
        missing={protocol === "rest" ? missingVariables(operation, draft) : []}
      />
    </div>
  );
}

const remembered = "gatehouse-reference-language";

/** Returns the tab that was chosen last. */
function rememberedLanguage(): Language {
  const name = localStorage.getItem(remembered) ?? "";
  return Object.hasOwn(languages, name) ? (name as Language) : "curl";
}

function attempt<T>(make: () => T): { readonly value?: T; readonly error?: string } {
  try {
    return { value: make() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

function Input({
  parameter: { name, schema, example, required },
  value,
  onChange,
}: {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (name: string, value: string) => void;
}) {
  const { t } = useTexts();
  const id = useId();
  const choices = schema.type === "boolean" ? ["true", "false"] : undefined;
  return (
    <label className="field" htmlFor={id}>
      <span>
        <code>{name}</code> {required ? <span className="danger small">{t("reference.required")}</span> : null}
        {schema.type === "array" && <span className="muted small">{t("reference.commas")}</span>}
      </span>
      {choices ? (
        <select id={id} className="select" value={value} onChange={({ target }) => onChange(name, target.value)}>
          <option value="">–</option>
          {choices.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          className="input"
          value={value}
          spellCheck={false}
          autoComplete="off"
          placeholder={example === undefined ? "" : String(example)}
          onChange={({ target }) => onChange(name, target.value)}
        />
      )}
    </label>
  );
}

/** Sends the call. One that may change something is confirmed first. */
function Send({
  method,
  call,
  missing,
}: {
  readonly method: Method;
  readonly call: HttpCall | undefined;
  readonly missing: readonly string[];
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
          disabled={call === undefined || missing.length > 0 || isPending}
          onClick={() => (isReadOnly ? void run() : dialog.current?.showModal())}
        >
          {t("reference.send")}
        </button>
        {missing.length > 0 && <span className="muted">{t("reference.missing", { names: missing.join(", ") })}</span>}
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
