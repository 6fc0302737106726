// The field of the console that chooses a resource or a person by name, in the API reference.
import "../../styles.ts";
import type { ReactNode } from "react";
import { organizationsOf, useMe } from "../../api/access.ts";
import type { NamedKind } from "../../api/named-kinds.ts";
import { lastUsed } from "../../shell/organization-memory.ts";
import { Picker } from "../../shell/picker.tsx";
import { Providers } from "../../shell/providers.tsx";

/** The properties of the control. */
export interface UidControlProps {
  readonly kind: NamedKind;
  readonly name: string;
  readonly value: string;
  /** The id of the input, which the label names. */
  readonly id: string;
  readonly hint: ReactNode;
  readonly problem: string | undefined;
  readonly onChange: (uid: string) => void;
  /** The control in which a uid is typed, with hint and problem. */
  readonly typed: ReactNode;
}

/** The field. */
export function UidPicker(props: UidControlProps) {
  return (
    <Providers>
      <Choice {...props} />
    </Providers>
  );
}

/** Names are searched in the organization that was opened last in the console. */
function Choice({ kind, name, value, id, hint, problem, onChange, typed }: UidControlProps) {
  const { data: me } = useMe();
  const organizations = organizationsOf(me);
  const within = lastUsed().find((uid) => organizations.includes(uid)) ?? organizations[0];
  if (within === undefined) return typed;
  return <Picker {...{ kind, within, value, id, onChange }} label={name} description={hint} error={problem} />;
}
