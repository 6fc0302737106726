// The call of a method as code, and a form that sends it with the token of the session.
import { useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useTexts } from "../texts/texts.ts";
import type { Call } from "./code/call.ts";
import { type Language, languages, languagesOf } from "./code/languages.ts";
import type { Grpc, Method, OpenApi, Operation } from "./documents.ts";
import { Body } from "./form/body.tsx";
import type { Violation } from "./form/check.ts";
import { checkDraft, givenNames } from "./form/check-draft.ts";
import { bodyField } from "./form/fields.ts";
import { Parameters } from "./form/parameters.tsx";
import { chosenLanguage, rememberLanguage } from "./language-memory.ts";
import { Code } from "./parts.tsx";
import { type Draft, firstDraft, httpCall } from "./request.ts";
import { Send } from "./send.tsx";

/** The tabs with the call, and the form. */
export function TryIt({
  grpc,
  document,
  service,
  method,
  operation,
}: {
  readonly grpc: Grpc;
  readonly document: OpenApi;
  readonly service: string;
  readonly method: Method;
  readonly operation: Operation | undefined;
}) {
  const { t } = useTexts();
  const frame = useRef<HTMLDivElement>(null);
  const [language, setLanguage] = useState(() => chosenLanguage({ grpc, service }));
  const [draft, setDraft] = useState<Draft>(() => firstDraft(operation));
  const [isAsked, setAsked] = useState(false);
  const call: Call = { origin: location.origin, grpc, service, method, operation, draft };
  const shown = attempt(() => languages[language].code(call));
  const body = operation && bodyField(grpc, method, operation);
  const violations = checkDraft({ grpc, document }, operation, body, draft);
  // An empty field counts as a mistake only after a try to send the call.
  const visible = (all: readonly Violation[]) => (isAsked ? all : all.filter(({ rule }) => rule !== "required"));
  const form = { grpc, document, method: method.name, given: givenNames(method) };
  const choose = (name: Language) => {
    rememberLanguage(name);
    setLanguage(name);
  };
  const showProblems = () => {
    flushSync(() => setAsked(true));
    const first = frame.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    first?.closest("details")?.setAttribute("open", "");
    first?.focus();
  };
  const protocol = language === "connect" || method.routes.length === 0 ? "connect" : "rest";
  return (
    <div className="stack" ref={frame}>
      <fieldset className="choices" aria-label={t("reference.language")}>
        {languagesOf({ grpc, service }).map((name) => (
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
      <Parameters
        form={{ ...form, violations: visible(violations.parameters) }}
        parameters={operation?.parameters ?? []}
        values={draft.parameters}
        onChange={(name, text) => setDraft({ ...draft, parameters: { ...draft.parameters, [name]: text } })}
      />
      {(body || !operation) && (
        <Body
          form={{ ...form, violations: visible(violations.body) }}
          field={body}
          text={draft.body}
          onChange={(text) => setDraft({ ...draft, body: text })}
        />
      )}
      <Send
        method={method}
        call={shown.error === undefined ? attempt(() => httpCall(protocol, call)).value : undefined}
        problems={violations.parameters.length + violations.body.length}
        isAsked={isAsked}
        onProblems={showProblems}
      />
    </div>
  );
}

function attempt<T>(make: () => T): { readonly value?: T; readonly error?: string } {
  try {
    return { value: make() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}
