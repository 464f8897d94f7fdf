/** `allium/host-bridge`: tools of another process, in any language, over a pipe or a socket. */

export type { HostBridge, HostBridgeOptions } from './host-bridge.ts';
export { hostBridge } from './host-bridge.ts';
export type { BridgeProblem, BridgeProblemKind } from './problems.ts';
export { HOST_BRIDGE_PROTOCOL } from './protocol.ts';
export type { RefusedTool } from './read-tools.ts';
export type { ServedHost, ServedTools, ServeHostToolsOptions } from './serve-host-tools.ts';
export { serveHostTools } from './serve-host-tools.ts';
export type { BridgeChannel } from './wire.ts';
