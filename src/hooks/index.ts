/**
 * `allium/hooks`: scripts that have a say about events. What a hook is, where hooks come from, what
 * they are shown, and what becomes of their answers. The engine is loaded with the first script.
 */

export type { LetThrough, PassedCalls } from './around-call.ts';
export { askAfter, askBefore, passedCalls, recheck } from './around-call.ts';
export type { Hook, HookDefinition } from './hook.ts';
export type { HookSource, HookSourceOptions } from './hook-source.ts';
export { HOOKED_EFFECTS, hookSource } from './hook-source.ts';
export { hooksLine } from './refusals.ts';
export type { Blocked, HookChain, HookRun } from './run-hooks.ts';
export { blockedText, hooksAfter, hooksBefore, hooksOn } from './run-hooks.ts';
