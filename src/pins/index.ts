/** `allium/pins`: definitions of tools as they were accepted, and what becomes of others. */

export { filePins } from './pin-stores.ts';
export type { PinStore } from './pin-book.ts';
export { type Finding, type KeeperOptions, type PinKeeper, pinKeeper } from './pin-keeper.ts';
export {
  objectionTo,
  quarantinedCall,
  quarantinedSpec,
  quarantineLine,
  type QuarantineReport,
  quarantineReporter,
} from './quarantine.ts';
