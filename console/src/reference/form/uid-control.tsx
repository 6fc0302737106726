// The control of a uid: what it names is chosen by name, or its uid is typed.
import { type ComponentType, lazy, Suspense } from "react";
import type { UidControlProps } from "./uid-picker.tsx";

/** With the field of the console, and its styles. Without its code the uid is typed. */
const UidPicker = lazy<ComponentType<UidControlProps>>(async () => {
  try {
    return { default: (await import("./uid-picker.tsx")).UidPicker };
  } catch {
    return { default: ({ typed }: UidControlProps) => typed };
  }
});

/** The field in which names are chosen. */
export function UidControl(props: UidControlProps) {
  return (
    <Suspense fallback={props.typed}>
      <UidPicker {...props} />
    </Suspense>
  );
}
