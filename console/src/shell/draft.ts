// Drafts: what was typed into a form stays in this tab, by address, until it is sent or discarded. It survives a reload, and a sign-in
// of the same person. Secrets, tokens and keys are never stored: use `useUnstored` for them.
import { useRouterState } from "@tanstack/react-router";
import { useEffect, useState, useSyncExternalStore } from "react";

/** A draft of a form that is open. */
interface OpenDraft {
  /** Whether something was typed. */
  readonly isFilled: () => boolean;
  /** True if the field began with a text that was typed before. */
  readonly isRestored: () => boolean;
  /** Removes it from the storage. */
  readonly forget: () => void;
  /** Begins anew. */
  readonly reset: () => void;
}

interface Draft<T> extends OpenDraft {
  readonly value: () => T;
  readonly set: (value: T) => void;
}

/** The drafts of the form that is open: one dialog is open at a time. */
const open = new Set<OpenDraft>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(): void {
  for (const listener of listeners) listener();
}

/**
 * Returns a value of a form and what sets it, as `useState` does. The value is stored while `isFilled`, by the address and `name`, which
 * no other value at the address has. It has to be plain data.
 */
export function useDraft<T>(
  name: string,
  initial: T | (() => T),
  isFilled?: (value: T) => boolean,
): readonly [T, (value: T) => void] {
  const address = useRouterState({ select: ({ location }) => location.href });
  return useOpen(() => newDraft(startOf(initial), draftKey(address, name), isFilled));
}

/** Returns the same for a secret: it is not stored, but the form asks before it is closed. */
export function useUnstored<T>(initial: T | (() => T)): readonly [T, (value: T) => void] {
  return useOpen(() => newDraft(startOf(initial), undefined));
}

function useOpen<T>(create: () => Draft<T>): readonly [T, (value: T) => void] {
  const [draft] = useState(create);
  useEffect(() => {
    open.add(draft);
    tell();
    return () => {
      open.delete(draft);
      tell();
    };
  }, [draft]);
  return [useSyncExternalStore(subscribe, draft.value), draft.set];
}

function startOf<T>(initial: T | (() => T)): T {
  return typeof initial === "function" ? (initial as () => T)() : initial;
}

function newDraft<T>(
  start: T,
  key: string | undefined,
  isFilled = (value: T) => JSON.stringify(value) !== JSON.stringify(start),
): Draft<T> {
  const stored = key === undefined ? undefined : readStored(key, start);
  let value = stored ?? start;
  let isRestored = stored !== undefined;
  const store = () => {
    if (key !== undefined) writeStored(key, isFilled(value) ? value : undefined);
  };
  return {
    value: () => value,
    set: (next) => {
      value = next;
      store();
      tell();
    },
    isFilled: () => isFilled(value),
    isRestored: () => isRestored,
    forget: () => key !== undefined && writeStored(key, undefined),
    reset: () => {
      value = start;
      isRestored = false;
      store();
      tell();
    },
  };
}

function readStored<T>(key: string, start: T): T | undefined {
  const text = sessionStorage.getItem(key);
  const stored: unknown = text === null ? undefined : JSON.parse(text);
  return hasShape(stored, start) ? (stored as T) : undefined;
}

/** The version before may have stored other fields. */
function hasShape(stored: unknown, start: unknown): boolean {
  if (typeof stored !== typeof start || Array.isArray(stored) !== Array.isArray(start)) return false;
  if (typeof start !== "object" || start === null || Array.isArray(start)) return true;
  const found = stored as Readonly<Record<string, unknown>> | null;
  return found !== null && Object.entries(start).every(([name, value]) => hasShape(found[name], value));
}

function writeStored(key: string, value: unknown): void {
  try {
    if (value === undefined) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(value));
  } catch {
    // The storage is full: the form works on without it.
  }
}

/** Leaves a draft for the form at another address, which opens with it as if it had been typed there. */
export function leaveDraft(address: string, name: string, value: unknown): void {
  writeStored(draftKey(address, name), value);
}

function draftKey(address: string, name: string): string {
  return `gatehouse-draft ${address} ${name}`;
}

/** Stores a value that was not typed, such as the progress of a wizard: no form asks because of it. Undefined removes it. */
export function keep(name: string, value: unknown): void {
  writeStored(`gatehouse-kept ${name}`, value);
}

/** Returns the value that is kept by this name; undefined without one of the shape of `like`. */
export function kept<T>(name: string, like: T): T | undefined {
  return readStored(`gatehouse-kept ${name}`, like);
}

/** Returns the state of the form that is open, and renders again when it changes. */
export function useOpenDrafts(): { readonly isFilled: boolean; readonly isRestored: boolean } {
  const isFilled = useSyncExternalStore(subscribe, isFormFilled);
  const isRestored = useSyncExternalStore(subscribe, () => [...open].some((draft) => draft.isRestored()));
  return { isFilled, isRestored: isRestored && isFilled };
}

/** Whether something was typed into the form that is open. */
export function isFormFilled(): boolean {
  return [...open].some((draft) => draft.isFilled());
}

/** Empties the form that is open. */
export function discardDrafts(): void {
  for (const draft of [...open]) draft.reset();
}

/** Returns a function that removes the drafts of the form that is open from the storage, also once the form is closed. */
export function draftsToForget(): () => void {
  const sent = [...open];
  return () => {
    for (const draft of sent) draft.forget();
  };
}
