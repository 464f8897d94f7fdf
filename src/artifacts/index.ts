/** `allium/artifacts`: tools and hooks written as Markdown files, and the engine that runs their scripts. */

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
export { type EvaluateOptions, type EvaluateOutcome, evaluateStarlark } from './evaluate-starlark.ts';
export { type LoadArtifactsOptions, type LoadedArtifacts, loadArtifacts } from './load/load-artifacts.ts';
export { HOOK_EVENTS } from './load/read-hook.ts';
export { createScriptPool, type ScriptPool, type ScriptPoolOptions } from './sandbox/script-pool.ts';
export type { ArtifactHandler } from './script-tool.ts';
export { LINT_RULES } from './validate/lint-tools.ts';
export { type ValidateOptions, validateArtifacts, type Validation } from './validate/validate-artifacts.ts';
