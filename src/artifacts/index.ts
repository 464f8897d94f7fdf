/**
 * `allium/artifacts`: tools and hooks written as Markdown files, and the engine that runs their
 * scripts.
 */

export type {
  ArtifactProblem,
  FileGrants,
  HookArtifact,
  Parameter,
  Position,
  ScriptText,
  ToolArtifact,
} from './artifact.ts';
export type { BuiltinGrants } from './builtins/builtin-use.ts';
export {
  HOOK_EFFECTS,
  type HookBuiltins,
  type HookBuiltinsOptions,
  type HookEffect,
  hookBuiltins,
} from './hook-builtins.ts';
export {
  type EvaluateOptions,
  type EvaluateOutcome,
  evaluateStarlark,
} from './evaluate-starlark.ts';
export {
  type LoadArtifactsOptions,
  type LoadedArtifacts,
  loadArtifacts,
} from './load/load-artifacts.ts';
export { HOOK_EVENTS } from './load/read-hook.ts';
export {
  createScriptPool,
  type ScriptPool,
  type ScriptPoolOptions,
} from './sandbox/script-pool.ts';
export type { ScriptOutcome, ScriptRequest } from './sandbox/script-request.ts';
export type { HostTree } from './sandbox/host-function.ts';
export type { ArtifactHandler } from './script-tool.ts';
export { asyncTool } from './tasks/async-tool.ts';
export {
  createTaskBoard,
  type TaskBoard,
  type TaskBoardOptions,
  type WaitOptions,
} from './tasks/task-board.ts';
export { taskTools } from './tasks/task-tools.ts';
export { LINT_RULES } from './validate/lint-tools.ts';
export {
  type ValidateOptions,
  validateArtifacts,
  type Validation,
} from './validate/validate-artifacts.ts';
