// A panel at the side of a view, for details of one cell or row.
import { Drawer } from "@mantine/core";
import type { ReactNode } from "react";
import { useTexts } from "../texts/texts.ts";
import { useFocusReturn } from "./parts.tsx";

/** The panel. It has the focus while it is open, and Escape closes it. */
export function SidePanel({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const { t } = useTexts();
  useFocusReturn();
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      lockScroll={false}
      size="lg"
      transitionProps={{ duration: 0 }}
    >
      <Drawer.Overlay backgroundOpacity={0.3} />
      <Drawer.Content>
        <Drawer.Header component="div">
          <Drawer.Title component="h2">{title}</Drawer.Title>
          <Drawer.CloseButton aria-label={t("action.close")} />
        </Drawer.Header>
        <Drawer.Body>{children}</Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}
