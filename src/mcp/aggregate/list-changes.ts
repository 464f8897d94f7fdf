/** Says that a list changed, and not more often than somebody can read it again. */

import type { Clock } from '../../core/time/clock.ts';
import { type Changing, CHANGING } from './merge.ts';

export interface ListChanges {
  readonly changed: (kind: Changing) => void;
  close(): void;
}

const WINDOW_MS = 100;

/** The first is said at once; however many follow within the window are said as one at its end. */
export function listChanges(clock: Clock, say: (kind: Changing) => void): ListChanges {
  const windows = new Map<Changing, { takeBack: () => void; isOwed: boolean }>();
  const open = (kind: Changing): void => {
    const window = { isOwed: false, takeBack: clock.after(WINDOW_MS, () => close(kind)) };
    windows.set(kind, window);
    say(kind);
  };
  const close = (kind: Changing): void => {
    const isOwed = windows.get(kind)?.isOwed === true;
    windows.delete(kind);
    if (isOwed) open(kind);
  };
  return {
    changed(kind) {
      const window = windows.get(kind);
      if (window === undefined) open(kind);
      else window.isOwed = true;
    },
    close() {
      for (const { takeBack } of windows.values()) takeBack();
      windows.clear();
    },
  };
}

const METHODS = new Map<string, Changing>(
  CHANGING.map((kind) => [`notifications/${kind}/list_changed`, kind]),
);

/** Which list a notification says has changed. */
export const changedBy = (method: string): Changing | undefined => METHODS.get(method);
export const changedMethod = (kind: Changing): string => `notifications/${kind}/list_changed`;
