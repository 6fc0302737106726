// Dialogs, and what panels have in common with them. Loaded with the first part that has one: their code is not in the first view.
import { type Drawer, Modal } from "@mantine/core";
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTexts } from "../texts/texts.ts";
import { ClosingProvider, useCloseQuestion } from "./closing.tsx";

/**
 * Gives the focus back to where it was when the component is removed, unless something else has taken it since. Mantine does so only
 * for what is closed and stays.
 */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
}

/** The properties of dialogs and panels. */
export interface OverlayProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog. It has the focus while it is open, and Escape closes it, after a question if something was typed. */
export function Dialog(props: OverlayProps) {
  const { close, question } = useCloseQuestion();
  const overlay = useOverlay({ ...props, onClose: () => close(props.onClose) });
  return (
    <Modal.Root {...overlay} fullScreen={isNarrow()}>
      <Modal.Overlay backgroundOpacity={0.5} />
      <Modal.Content>
        <OverlayContent of={Modal} {...props}>
          <ClosingProvider value={close}>
            {question}
            {props.children}
          </ClosingProvider>
        </OverlayContent>
      </Modal.Content>
    </Modal.Root>
  );
}

/** Returns the properties that dialogs and panels have in common. The policy blocks the style that locks the scroll bar. */
export function useOverlay({ onClose }: OverlayProps) {
  useFocusReturn();
  return { opened: true, onClose, lockScroll: false, size: "lg", transitionProps: { duration: 0 } };
}

/** The header with the button that closes, and the content. */
export function OverlayContent({ of, title, children }: OverlayProps & { readonly of: typeof Modal | typeof Drawer }) {
  const { t } = useTexts();
  const body = useRef<HTMLDivElement>(null);
  // Mantine gives the focus in a later task: a key that is pressed before it would be lost.
  useLayoutEffect(
    () => body.current?.querySelector<HTMLElement>("[data-autofocus]")?.focus({ preventScroll: true }),
    [],
  );
  return (
    <>
      <of.Header component="div">
        <of.Title component="h2">{title}</of.Title>
        <of.CloseButton aria-label={t("action.close")} />
      </of.Header>
      <of.Body ref={body}>{children}</of.Body>
    </>
  );
}

function isNarrow(): boolean {
  return matchMedia("(max-width: 767px)").matches;
}
