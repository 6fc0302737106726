// A panel at the side of a view, for details of one cell or row.
import { Drawer } from "@mantine/core";
import { OverlayContent, type OverlayProps, useOverlay } from "./dialog.tsx";

/** The panel. It has the focus while it is open, and Escape closes it. */
export function SidePanel(props: OverlayProps) {
  return (
    <Drawer.Root {...useOverlay(props)} position="right">
      <Drawer.Overlay backgroundOpacity={0.3} />
      <Drawer.Content>
        <OverlayContent of={Drawer} {...props} />
      </Drawer.Content>
    </Drawer.Root>
  );
}
