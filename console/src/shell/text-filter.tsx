// A field whose text stands in the address of a view.
import { TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { isUid } from "../api/uids.ts";
import filterStyles from "./filters.module.css";
import { useDelayed } from "./parts.tsx";

interface TextFilterProps {
  readonly label: string;
  /** The text in the address. */
  readonly value: string;
  /** Changes the address, once typing pauses. Undefined removes the text. */
  readonly onChange: (text: string | undefined) => void;
  /** Opens a pasted uid, instead of filtering by it. */
  readonly onUid?: (uid: string) => void;
  /** Whether the label stands in the field. */
  readonly isBare?: boolean;
}

/** The field. It follows the address when that is changed elsewhere. */
export function TextFilter({ label, value, onChange, onUid, isBare = false }: TextFilterProps) {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  const [sent, setSent] = useState(value);
  if (shown !== value) {
    setShown(value);
    // Changed elsewhere, such as by "Clear filters" or by the button that goes back. Typing goes on while the own change arrives.
    if (value !== sent) {
      setSent(value);
      setTyped(value);
    }
  }
  const wanted = useDelayed(typed.trim(), 250);
  const latest = useRef({ onChange, onUid, value });
  latest.current = { onChange, onUid, value };
  useEffect(() => {
    const { onChange: change, onUid: openUid, value: known } = latest.current;
    if (wanted === known) return;
    if (openUid && isUid(wanted)) {
      setTyped(known);
      openUid(wanted);
      return;
    }
    setSent(wanted);
    change(wanted || undefined);
  }, [wanted]);
  return (
    <TextInput
      type="search"
      {...(isBare ? { "aria-label": label, placeholder: label, className: filterStyles.search } : { label })}
      value={typed}
      maxLength={256}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
    />
  );
}
